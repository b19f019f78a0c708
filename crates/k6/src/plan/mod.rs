//! Options and a script as a squall plan that means the same. Pure.

mod load;
mod network;
#[cfg(test)]
mod tests;
mod thresholds;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use squall_plan::model::{
    self, Defaults, Json, Parallel, Plan, Scripts, SecretSource, Session, Step, StepKind, Tags,
    Think, Thinking,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use crate::options::{DEFAULT, Executor, OptionError, Options, Scenario, Source};
pub use crate::script::HANDLE_SUMMARY;

/// The variable that has what `setup()` has returned.
pub const SETUP_DATA: &str = "setup_data";
/// The variable that has what `handleSummary` has returned.
pub const SUMMARY: &str = "summary";
/// Longer than a load that does nothing once.
const ONCE: Duration = Duration::from_secs(60);
/// The JSONPath of all there is.
const ALL: &str = "$";

/// What a plan needs to know of a script.
pub struct Described<'d> {
    /// Its file, as the plan names it.
    pub file: PathBuf,
    /// Whether it exports a function of a name.
    pub exports: &'d dyn Fn(&str) -> bool,
    /// What is added to `__ENV`.
    pub env: Vec<(String, String)>,
    /// Whether `__ENV` has the environment too.
    pub has_system_env: bool,
    /// What `k6/secrets` gives.
    pub secrets: Vec<squall_script::SecretSource>,
}

impl fmt::Debug for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Described").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The plan that means the same.
///
/// # Errors
/// A scenario calls what the script does not export, or squall has nothing like a threshold.
pub fn plan(script: &Described<'_>, options: &Options) -> Result<Plan, OptionError> {
    let has = |name: &str| (script.exports)(name);
    let (has_setup, has_teardown) =
        (options.runs_setup && has("setup"), options.runs_teardown && has("teardown"));
    let data = match has_setup {
        true => vec![Json::Text(variable(SETUP_DATA))],
        false => Vec::new(),
    };
    let call = |name: &str, args: Vec<Json>| model::Script {
        file: at(script.file.clone()),
        call: Some(at(name.to_owned())).filter(|own| own.value != DEFAULT),
        args,
        ..model::Script::default()
    };
    let setup = model::Script {
        returns: vec![(at(SETUP_DATA.to_owned()), at(ALL.to_owned()))],
        ..call("setup", Vec::new())
    };
    let mut scenarios = Vec::new();
    for own in &options.scenarios {
        if !has(&own.exec) {
            return Err(not_exported(own));
        }
        let call = model::Script { env: texts(&own.env), ..call(&own.exec, data.clone()) };
        scenarios.push(scenario(own, options, call));
    }
    Ok(Plan {
        scenarios,
        setup: if has_setup { vec![step(setup)] } else { Vec::new() },
        teardown: if has_teardown { vec![step(call("teardown", data))] } else { Vec::new() },
        // The hosts of a script are known when it asks for them.
        allow_hosts: vec![at("*".to_owned())],
        defaults: Defaults { tags: tags(&options.tags), ..Defaults::default() },
        connections: network::connections(&options.network),
        scripts: scripts(script, options),
        setup_timeout: has_setup.then_some(options.setup_timeout),
        teardown_timeout: has_teardown.then_some(options.teardown_timeout),
        graceful_stop: Some(longest(options)),
        whole_iterations: true,
        thresholds: options
            .thresholds
            .iter()
            .map(thresholds::threshold)
            .collect::<Result<_, _>>()?,
        ..Plan::default()
    })
}

/// The longest time that iterations have after the end of their scenario.
fn longest(options: &Options) -> Duration {
    options.scenarios.iter().map(|own| own.graceful_stop).max().unwrap_or_default()
}

/// A plan that calls the script's `handleSummary` with the data of a summary: in its setup, whose variable [`SUMMARY`] then has
/// what was returned. All else is as in the plan of the script.
pub fn of_summary(plan: &Plan, file: &Path, data: &Value) -> Plan {
    let call = model::Script {
        file: at(file.to_owned()),
        call: Some(at(HANDLE_SUMMARY.to_owned())),
        args: vec![literal(data)],
        returns: vec![(at(SUMMARY.to_owned()), at(ALL.to_owned()))],
        ..model::Script::default()
    };
    let once = Executor::SharedIterations { users: 1, iterations: 1, max_duration: ONCE };
    let nothing = model::Scenario {
        name: at(DEFAULT.to_owned()),
        load: Some(at(load::load(&once))),
        steps: vec![Step {
            kind: StepKind::Think(Thinking::Known(Think::Fixed(Duration::ZERO))),
            span: Span::default(),
        }],
        ..model::Scenario::default()
    };
    Plan {
        setup: vec![step(call)],
        scenarios: vec![nothing],
        teardown: Vec::new(),
        thresholds: Vec::new(),
        ..plan.clone()
    }
}

/// A value that is written out.
fn literal(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(own) => Json::Bool(*own),
        Value::Number(own) => match own.as_i64() {
            Some(own) => Json::Int(own),
            None => Json::Float(own.as_f64().unwrap_or_default()),
        },
        Value::String(own) => Json::Text(Template::text(own)),
        Value::Array(own) => Json::List(own.iter().map(literal).collect()),
        Value::Object(own) => {
            Json::Map(own.iter().map(|(key, own)| (Template::text(key), literal(own))).collect())
        }
    }
}

fn scenario(own: &Scenario, options: &Options, call: model::Script) -> model::Scenario {
    let session = if options.http.keeps_cookies { Session::PerUser } else { Session::PerIteration };
    model::Scenario {
        name: at(own.name.clone()),
        load: Some(at(load::load(&own.executor))),
        start_after: own.start_time,
        graceful_stop: Some(own.graceful_stop).filter(|own| *own < longest(options)),
        tags: tags(&own.tags),
        session: Some(session),
        steps: vec![match options.min_iteration {
            Some(least) => at_least(least, call),
            None => step(call),
        }],
        ..model::Scenario::default()
    }
}

/// A call that takes at least so long: beside it is a wait.
fn at_least(time: Duration, call: model::Script) -> Step {
    let wait = StepKind::Think(Thinking::Known(Think::Fixed(time)));
    let steps = vec![step(call), Step { kind: wait, span: Span::default() }];
    let kind = StepKind::Parallel(Box::new(Parallel { steps, ..Parallel::default() }));
    Step { kind, span: Span::default() }
}

fn scripts(script: &Described<'_>, options: &Options) -> Scripts {
    let http = &options.http;
    // The options have limits that fit.
    let number = |own: u64| u32::try_from(own).unwrap_or(u32::MAX);
    Scripts {
        system_env: script.has_system_env,
        env: texts(&script.env),
        secrets: sources(&script.secrets),
        discard_bodies: http.discards_bodies,
        batch: http.batch.map(number),
        batch_per_host: http.batch_per_host.map(number),
        throw: http.throws,
        redirects: http.max_redirects.map(number),
        user_agent: http.user_agent.clone(),
        max_rate: http.rps.map(|own| own as f64),
        options: Some(Json::of(&options.consolidated)),
        ..Scripts::default()
    }
}

fn not_exported(own: &Scenario) -> OptionError {
    let help = match own.exec.as_str() {
        DEFAULT => "add `export default function () { ... }`".to_owned(),
        name => format!("add `export function {name}() {{ ... }}`, or name another one"),
    };
    OptionError {
        name: format!("scenarios.{}.exec", own.name),
        source: Source::Script,
        message: format!("the script exports no function `{}`: {help}", own.exec),
    }
}

fn step(call: model::Script) -> Step {
    Step { kind: StepKind::Script(Box::new(call)), span: Span::default() }
}

fn at<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn texts(pairs: &[(String, String)]) -> Vec<(Template, Template)> {
    pairs.iter().map(|(name, value)| (Template::text(name), Template::text(value))).collect()
}

/// Sources of secrets, as a plan has them.
pub fn sources(all: &[squall_script::SecretSource]) -> Vec<SecretSource> {
    let source = |own: &squall_script::SecretSource| SecretSource {
        name: at(own.name.clone()),
        secrets: texts(&own.secrets),
    };
    all.iter().map(source).collect()
}

fn tags(pairs: &[(String, String)]) -> Tags {
    pairs.iter().map(|(name, value)| (at(name.clone()), Template::text(value))).collect()
}

/// The value of a variable, of whatever type.
fn variable(name: &str) -> Template {
    // It is an expression: the name of a constant above.
    Template::parse(&format!("${{{name}}}"), Span::default()).unwrap_or_default()
}
