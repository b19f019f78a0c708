//! k6's options: from the script, a `--config` file, the environment and the command line, as what they mean. Pure.
//!
//! What is wrong is said with the option's name and with where it was given. What squall cannot do is refused, or warned of
//! where it changes nothing that is measured.

mod consolidated;
mod executor;
mod hosts;
mod layers;
mod load;
mod network;
mod requirements;
mod system_tags;
mod table;
mod threshold;
mod tls;
mod value;

use std::time::Duration;

use serde_json::Value;
use squall_script::ScriptMetric;

pub use self::executor::{Executor, Rate, Stage};
pub use self::layers::Layers;
pub use self::load::{DEFAULT, GRACEFUL_STOP, Scenario};
pub use self::network::{Http, Network, Reuse};
pub use self::requirements::{Requirements, print_time};
pub use self::system_tags::SystemTags;
pub use self::table::{Kind, Known, OPTIONS, known};
pub use self::threshold::{Aggregate, Threshold};
pub use self::tls::{ClientCert, Tls, TlsVersion};
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
    /// How long `setup()` may take, ...
    pub setup_timeout: Duration,
    /// ... and `teardown()`.
    pub teardown_timeout: Duration,
    /// The tags that k6 is asked to give what outputs are told of.
    pub system_tags: SystemTags,
    /// What the summary at the end shows.
    pub summary: SummaryOptions,
    /// All options, as `exec.test.options` gives them.
    pub consolidated: Value,
    /// What is logged of requests and responses; `None`: nothing.
    pub http_debug: Option<HttpDebug>,
    /// What will not be as it was meant, in sentences.
    pub warnings: Vec<String>,
}

/// How long `setup()` and `teardown()` may take unless the options say otherwise.
const PHASE_TIMEOUT: Duration = Duration::from_secs(60);

/// What squall has nothing like, and what to do.
const REFUSED: [(&str, &str); 2] =
    [("executionSegment", FLEET), ("executionSegmentSequence", FLEET)];

const FLEET: &str =
    "squall divides a load over machines itself: `squall run --nodes`, with a fleet";

/// What has no effect, and why.
const WITHOUT_EFFECT: [(&str, &str); 2] =
    [("paused", "the test begins at once"), ("linger", "squall ends with the test")];

/// What is logged of requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpDebug {
    /// Their heads.
    Heads,
    /// Bodies too.
    Full,
}

impl HttpDebug {
    /// As in k6, whatever else it says asks for heads.
    fn read(at: &At<'_>) -> Result<HttpDebug, OptionError> {
        Ok(match at.as_text()?.as_str() {
            "full" => HttpDebug::Full,
            _ => HttpDebug::Heads,
        })
    }
}

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
        let thresholds = thresholds
            .map(|own| threshold::thresholds(&own, metrics, &scenarios, &mut warnings))
            .transpose()?
            .unwrap_or_default();
        Ok(Options {
            scenarios,
            thresholds,
            tags: layers.read("tags", At::pairs)?.unwrap_or_default(),
            http: network::http(layers)?,
            network,
            min_iteration: layers
                .read("minIterationDuration", At::time)?
                .filter(|own| !own.is_zero()),
            runs_setup: !layers.is_on("noSetup")?,
            runs_teardown: !layers.is_on("noTeardown")?,
            setup_timeout: layers.read("setupTimeout", At::time)?.unwrap_or(PHASE_TIMEOUT),
            teardown_timeout: layers.read("teardownTimeout", At::time)?.unwrap_or(PHASE_TIMEOUT),
            system_tags: layers.read("systemTags", SystemTags::read)?.unwrap_or_default(),
            http_debug: layers
                .get("httpDebug")
                .filter(is_asked_for)
                .map(|own| HttpDebug::read(&own))
                .transpose()?,
            summary: summary(layers)?,
            consolidated: consolidated::consolidated(layers)?,
            warnings,
        })
    }
}

/// Whether a value asks for something: nobody asks for a limit of 0, for nothing or for an empty list.
fn is_asked_for(at: &At<'_>) -> bool {
    match at.value {
        Value::Null => false,
        Value::Bool(own) => *own,
        Value::Number(own) => own.as_f64() != Some(0.0),
        Value::String(own) => !own.is_empty(),
        Value::Array(own) => !own.is_empty(),
        Value::Object(own) => !own.is_empty(),
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
