//! How many users there are and when: scenarios, and the short forms that stand for one. Pure.

use std::time::Duration;

use super::executor::{self, Executor};
use super::layers::Layers;
use super::value::{At, OptionError, Source};

/// How long iterations that go on at the end may take, unless a scenario says otherwise.
pub const GRACEFUL_STOP: Duration = Duration::from_secs(30);

/// The name of the scenario that a short form stands for.
pub const DEFAULT: &str = "default";

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub name: String,
    pub executor: Executor,
    /// When it starts, counted from the start of the test.
    pub start_time: Duration,
    /// How long iterations that go on at its end may take.
    pub graceful_stop: Duration,
    /// The function that its users call.
    pub exec: String,
    /// What is added to `__ENV`.
    pub env: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
}

/// The scenarios of a test, at least one. `warnings` get what will not be as it was meant.
///
/// # Errors
/// An option is not what is expected, or two of them contradict each other.
pub fn scenarios(
    layers: &Layers,
    warnings: &mut Vec<String>,
) -> Result<Vec<Scenario>, OptionError> {
    refuse_several(layers)?;
    if let Some(own) = given(layers) {
        return own_scenarios(&own);
    }
    if let (Some(_), Some(users)) = (layers.get("scenarios"), layers.get("vus")) {
        warnings.push(format!("option `vus` ({}) replaces the script's scenarios", users.source));
    }
    let short = executor::of_short_forms(layers)?;
    Ok(vec![Scenario {
        name: DEFAULT.to_owned(),
        executor: short,
        start_time: Duration::ZERO,
        graceful_stop: GRACEFUL_STOP,
        exec: DEFAULT.to_owned(),
        env: Vec::new(),
        tags: Vec::new(),
    }])
}

/// The scenarios that were given, unless a number of users that was given in a stronger place replaces them.
pub(super) fn given(layers: &Layers) -> Option<At<'_>> {
    let strength = |own: &Source| match own {
        Source::Config(_) => 0,
        Source::Script => 1,
        Source::Environment(_) => 2,
        Source::Flag(_) => 3,
    };
    let own = layers.get("scenarios")?;
    let users = layers.get("vus").filter(|users| strength(users.source) > strength(own.source));
    if users.is_some() { None } else { Some(own) }
}

/// Refuses short forms that contradict each other: those that are there are of the same place.
fn refuse_several(layers: &Layers) -> Result<(), OptionError> {
    let pairs = [
        ("stages", "duration"),
        ("stages", "iterations"),
        ("scenarios", "stages"),
        ("scenarios", "duration"),
        ("scenarios", "iterations"),
    ];
    for (one, other) in pairs {
        if let (Some(own), Some(_)) = (layers.get(one), layers.get(other)) {
            return Err(own.refused(format!(
                "`{one}` and `{other}` contradict each other: leave out one of them"
            )));
        }
    }
    Ok(())
}

fn own_scenarios(all: &At<'_>) -> Result<Vec<Scenario>, OptionError> {
    let own = all.map()?;
    if own.is_empty() {
        return Err(all.refused("expected at least one scenario"));
    }
    own.into_iter().map(|(name, at)| scenario(name, &at)).collect()
}

fn scenario(name: String, at: &At<'_>) -> Result<Scenario, OptionError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(at.refused("expected a name of letters, digits, `-` and `_`"));
    }
    let time = |key: &str| at.key(key).map(|own| own.time()).transpose();
    let pairs = |key: &str| at.key(key).map(|own| own.pairs()).transpose();
    let exec = at.key("exec").map(|own| own.text().map(str::to_owned)).transpose()?;
    Ok(Scenario {
        executor: executor::read(at)?,
        start_time: time("startTime")?.unwrap_or_default(),
        graceful_stop: time("gracefulStop")?.unwrap_or(GRACEFUL_STOP),
        exec: exec.unwrap_or_else(|| DEFAULT.to_owned()),
        env: pairs("env")?.unwrap_or_default(),
        tags: pairs("tags")?.unwrap_or_default(),
        name,
    })
}
