//! k6's options: from the script, a `--config` file, the environment and the command line, as what they mean. Pure.
//!
//! What is wrong is said with the option's name and with where it was given. What squall cannot do is refused, or warned of
//! where it changes nothing that is measured.

mod executor;
mod layers;
mod load;
mod network;
mod requirements;
mod table;
mod threshold;
mod value;

use std::time::Duration;

use squall_script::ScriptMetric;

pub use self::executor::{Executor, Rate, Stage};
pub use self::layers::Layers;
pub use self::load::{DEFAULT, GRACEFUL_STOP, Scenario};
pub use self::network::{Http, Network, Reuse, TlsVersion};
pub use self::requirements::{Requirements, print_time, requirements};
pub use self::table::{Kind, Known, OPTIONS, known};
pub use self::threshold::{Aggregate, Threshold};
use self::value::At;
pub use self::value::{OptionError, Source};
use crate::summary::{Statistic, SummaryOptions, TimeUnit};

/// What the options of a test come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// At least one.
    pub scenarios: Vec<Scenario>,
    pub thresholds: Vec<Threshold>,
    /// Tags of everything that is measured.
    pub tags: Vec<(String, String)>,
    pub http: Http,
    pub network: Network,
    /// The least length of an iteration: one that is shorter waits.
    pub min_iteration: Option<Duration>,
    pub runs_setup: bool,
    pub runs_teardown: bool,
    /// What the summary at the end shows.
    pub summary: SummaryOptions,
    /// What will not be as it was meant, in sentences.
    pub warnings: Vec<String>,
}

/// What squall has nothing like, and what to do.
const REFUSED: [(&str, &str); 7] = [
    (
        "rps",
        "squall has no limit of requests per second for all users: use an executor with an arrival rate",
    ),
    ("blacklistIPs", "squall has no list of addresses that requests may not go to: leave it out"),
    ("blockHostnames", "squall has no list of hosts that requests may not go to: leave it out"),
    (
        "tlsAuth",
        "squall reads certificates of the client from files: run the script with a `script` step of a plan, whose `connections.tls` names them",
    ),
    ("tlsCipherSuites", "squall offers the cipher suites of its own TLS: leave it out"),
    ("executionSegment", FLEET),
    ("executionSegmentSequence", FLEET),
];

const FLEET: &str =
    "squall divides a load over machines itself: `squall run --nodes`, with a fleet";

/// What has no effect, and why.
const WITHOUT_EFFECT: [(&str, &str); 6] = [
    ("httpDebug", "`squall try` shows requests and responses"),
    ("systemTags", "tags are recorded where thresholds ask for them"),
    ("setupTimeout", "setup() ends when its requests have ended or timed out"),
    ("teardownTimeout", "teardown() ends when its requests have ended or timed out"),
    ("paused", "the test begins at once"),
    ("linger", "squall ends with the test"),
];

impl Options {
    /// Reads options. `metrics` are those that the script makes.
    ///
    /// # Errors
    /// An option is not what is expected, or squall has nothing like it.
    pub fn read(layers: &Layers, metrics: &[ScriptMetric]) -> Result<Options, OptionError> {
        let mut warnings = layers.warnings.clone();
        for (name, why) in REFUSED {
            if let Some(own) = layers.get(name).filter(is_asked_for) {
                return Err(own.refused(why));
            }
        }
        for (name, why) in WITHOUT_EFFECT {
            if let Some(own) = layers.get(name).filter(is_asked_for) {
                warnings.push(format!("option `{name}` ({}) has no effect: {why}", own.source));
            }
        }
        let thresholds = layers
            .get("thresholds")
            .filter(|_| layers.get("noThresholds").is_none_or(|own| !is_asked_for(&own)));
        let scenarios = load::scenarios(layers, &mut warnings)?;
        let network = network::network(layers)?;
        warnings.extend(not_quite(&scenarios, &network));
        Ok(Options {
            scenarios,
            thresholds: thresholds
                .map(|own| threshold::thresholds(&own, metrics))
                .transpose()?
                .unwrap_or_default(),
            tags: layers.read("tags", At::pairs)?.unwrap_or_default(),
            http: network::http(layers)?,
            network,
            min_iteration: layers
                .read("minIterationDuration", At::time)?
                .filter(|own| !own.is_zero()),
            runs_setup: !layers.is_on("noSetup")?,
            runs_teardown: !layers.is_on("noTeardown")?,
            summary: summary(layers)?,
            warnings,
        })
    }
}

/// What squall does in another way.
fn not_quite(scenarios: &[Scenario], network: &Network) -> Vec<String> {
    let mut found = Vec::new();
    if network.reuse == Reuse::Never {
        found.push("option `noConnectionReuse`: connections end with each iteration, not with each request".to_owned());
    }
    for own in scenarios {
        let Executor::RampingVus { graceful_ramp_down, .. } = own.executor else { continue };
        if graceful_ramp_down != executor::GRACEFUL_RAMP_DOWN {
            let option = format!("scenarios.{}.gracefulRampDown", own.name);
            found.push(format!(
                "option `{option}` has no effect: users that leave finish their iteration"
            ));
        }
    }
    let stops: Vec<Duration> = scenarios.iter().map(|own| own.graceful_stop).collect();
    if stops.iter().any(|own| *own != stops[0]) {
        found.push(
            "option `gracefulStop`: the longest one of all scenarios holds for each of them"
                .to_owned(),
        );
    }
    found
}

/// Whether a value asks for something: nobody asks for a limit of 0, for nothing or for an empty list.
fn is_asked_for(at: &At<'_>) -> bool {
    match at.value {
        serde_json::Value::Null => false,
        serde_json::Value::Bool(own) => *own,
        serde_json::Value::Number(own) => own.as_f64() != Some(0.0),
        serde_json::Value::String(own) => !own.is_empty(),
        serde_json::Value::Array(own) => !own.is_empty(),
        serde_json::Value::Object(own) => !own.is_empty(),
    }
}

fn summary(layers: &Layers) -> Result<SummaryOptions, OptionError> {
    let statistic = |at: &At<'_>| {
        let own = at.text()?;
        Statistic::parse(own).map_err(|why| at.refused(why)).map(|_| own.to_owned())
    };
    let stats =
        layers.read("summaryTrendStats", |all| all.list()?.iter().map(statistic).collect())?;
    let unit = |at: At<'_>| TimeUnit::parse(at.text()?).map_err(|why| at.refused(why));
    let time_unit = layers.get("summaryTimeUnit").filter(is_asked_for).map(unit).transpose()?;
    let usual = SummaryOptions::default();
    Ok(SummaryOptions {
        time_unit,
        trend_stats: stats.unwrap_or(usual.trend_stats),
        ..SummaryOptions::default()
    })
}

#[cfg(test)]
mod tests;
