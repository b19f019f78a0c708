//! Experiments as YAML: reading with every error that can be found in one go, and printing.

use std::path::Path;

use super::load::sort;
use super::print::print_value;
use crate::diagnostic::{Diagnostic, Severity, Sources};
use crate::keys::{ByName, Form, Of};
use crate::model::{Experiment, FactorForm, FactorKind, FactorVariant, Json, PlanSource, Server};
use crate::nodes::{Node, Reader};
use crate::span::Span;
use crate::vars::LoadOptions;

/// An experiment and where it came from.
#[derive(Debug, Clone)]
pub struct LoadedExperiment {
    pub experiment: Experiment,
    pub sources: Sources,
    /// What may not mean what was meant.
    pub warnings: Vec<Diagnostic>,
}

/// What is wrong with an experiment.
#[derive(Debug, Clone)]
pub struct ExperimentErrors {
    /// The errors, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The file that they stand in.
    pub sources: Sources,
}

/// Reads an experiment from a text; relative paths in it are relative to `folder`. `options` have the values of variables,
/// for a plan that stands in the file.
///
/// # Errors
/// It is no good experiment.
pub fn load_experiment(
    name: &str,
    text: &str,
    folder: &Path,
    options: &LoadOptions,
) -> Result<LoadedExperiment, ExperimentErrors> {
    let mut reader = Reader::new(folder, options.clone());
    let root = reader.parse(name, text);
    if let Some(root) = &root {
        let first = first_values(&mut reader, root);
        reader.give_factors(first);
    }
    let read = root.and_then(|root| Of::<Experiment>::read(&mut reader, &root));
    let (mut found, sources) = reader.finish();
    let mut experiment = read.unwrap_or_default();
    if let PlanSource::Inline(plan) = &mut experiment.plan
        && options.factors.is_empty()
    {
        // Those of the first variant have only stood in for all: they are no part of what the file says.
        plan.vars.retain(|var| var.name.span.is_known());
    }
    if found.iter().all(|own| own.severity == Severity::Warning) {
        found.extend(whole(&experiment));
    }
    sort(&mut found);
    let (diagnostics, warnings): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.severity == Severity::Error);
    if !diagnostics.is_empty() {
        return Err(ExperimentErrors { diagnostics, sources });
    }
    if experiment.name.is_empty() {
        let stem = Path::new(name).file_stem();
        experiment.name =
            stem.map_or("experiment".into(), |own| own.to_string_lossy()).into_owned();
    }
    if let Some(server) = experiment.server.take() {
        let name = crate::span::Spanned::from("server");
        experiment.servers.push(Server { name, ..server });
    }
    Ok(LoadedExperiment { experiment, sources, warnings })
}

/// An experiment as YAML.
pub fn print_experiment(experiment: &Experiment) -> String {
    print_value(&Of::<Experiment>::print(experiment))
}

/// The variables of the first variant: a plan that stands in the file may use them.
fn first_values(reader: &mut Reader, root: &Node) -> Vec<(String, Json)> {
    let mut own = Experiment::default();
    for (key, is_factor) in [("factors", true), ("variants", false)] {
        let Some(node) = root.get(key).filter(|node| node.is_map()) else { continue };
        reader.quietly(|reader| match is_factor {
            true => own.factors = ByName::<FactorForm>::read(reader, node).unwrap_or_default(),
            false => {
                own.variants = ByName::<Of<FactorVariant>>::read(reader, node).unwrap_or_default()
            }
        });
    }
    let factors = own.factors.into_iter().filter(|own| own.kind == FactorKind::Variable);
    let factors = factors.filter_map(|own| Some((own.name.value, own.values.into_iter().next()?)));
    let vars = own.variants.into_iter().flat_map(|own| own.vars);
    let mut first: Vec<(String, Json)> = Vec::new();
    for (name, value) in factors.chain(vars.map(|var| (var.name.value, var.value))) {
        if !first.iter().any(|(own, _)| *own == name) {
            first.push((name, value));
        }
    }
    first
}

/// What is wrong with an experiment as a whole.
fn whole(experiment: &Experiment) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut error = |span: Span, message: &str, help: &str| {
        found.push(Diagnostic::error(span, message).with_help(help));
    };
    if experiment.factors.is_empty() && experiment.variants.is_empty() {
        let help = "add `factors` (what differs, and its values), or `variants`";
        error(Span::default(), "an experiment compares variants, and there are none", help);
    }
    for factor in experiment.factors.iter().filter(|factor| factor.values.len() < 2) {
        let message = format!("factor `{}` has one value: nothing differs", factor.name.value);
        error(factor.name.span, &message, "add another value, or put it where it is used");
    }
    if let [only] = experiment.variants.as_slice() {
        error(only.name.span, "there is one variant: nothing can be compared", "add another one");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CountInvalid, LoadKey, Order, ReadyWhen, Warmup};
    use std::time::Duration;

    const ALL: &str = r#"
name: threads and parsers
plan: shop.yaml
factors:
  threads: [virtual, classic]
  parser: [own, gson]
  users: {load: users, values: [100, 1000]}
  reuse: {plan: connections.reuse, values: [per_user, per_iteration]}
  tw_reuse: {sysctl: net.ipv4.tcp_tw_reuse, values: [0, 1]}
measure: [mean(store), mean(compute), p99, rate, cpu(server), rss(server)]
repeat: 5
order: random
prepare: [[mvn, -q, package, "-Dparser=${parser}"]]
server:
  command: [java, -jar, server.jar, "--threads=${threads}", "--parser=${parser}"]
  ready: {http: "http://127.0.0.1:30001/health", within: 20s}
  env: {JAVA_OPTS: "-Xmx512m"}
  cpus: "1"
  version: [java, -version]
warmup: auto
count_invalid: [ports]
before: [[sh, -c, "sync"]]
"#;

    fn load(text: &str) -> Result<LoadedExperiment, String> {
        let options = LoadOptions::default();
        load_experiment("it.yaml", text, Path::new("/folder"), &options).map_err(|errors| {
            let each = errors.diagnostics.iter().map(|own| errors.sources.render(own));
            each.collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn all_keys_are_read() {
        let own = load(ALL).unwrap().experiment;
        assert_eq!(own.factors.len(), 5);
        let kinds: Vec<FactorKind> = own.factors.iter().map(|own| own.kind.clone()).collect();
        assert_eq!(kinds[0], FactorKind::Variable);
        assert_eq!(kinds[2], FactorKind::Load(LoadKey::Users));
        assert_eq!(kinds[3], FactorKind::Plan("connections.reuse".into()));
        assert_eq!(kinds[4], FactorKind::Sysctl("net.ipv4.tcp_tw_reuse".into()));
        assert_eq!(
            own.plan,
            PlanSource::File(crate::span::Spanned {
                value: "/folder/shop.yaml".into(),
                span: Span::default()
            })
        );
        let server = &own.servers[0];
        assert_eq!((server.name.value.as_str(), server.command.len()), ("server", 5));
        let ready = server.ready.as_ref().unwrap();
        assert_eq!(ready.within, Some(Duration::from_secs(20)));
        assert!(matches!(&ready.when, ReadyWhen::Http(url) if url.source().ends_with("/health")));
        assert_eq!((own.order, own.warmup), (Order::Random, Some(Warmup::Auto)));
        assert_eq!(own.prepare[0].len(), 4);
        assert_eq!(server.version.len(), 2);
        assert_eq!(own.count_invalid, CountInvalid::By(vec!["ports".into()]));
    }

    #[test]
    fn what_is_printed_reads_the_same() {
        let inline = "
plan: {target: 'http://127.0.0.1:1', scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}}
variants:
  old: {vars: {port: 8080}}
  new: {vars: {port: 8081}, plan: {connections.reuse: per_user}, sysctl: {net.core.somaxconn: 128}}
until: {relative_error: 2%, most: 20}
count_invalid: true
servers: {db: {command: [db], ready: 2s}, web: {command: [web], ready: {output: listening}}}
";
        for text in [ALL, inline] {
            let own = load(text).unwrap().experiment;
            let printed = print_experiment(&own);
            assert_eq!(
                load(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")).experiment,
                own,
                "{printed}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_said_where_it_stands() {
        for (text, line, said) in [
            ("plan: a.yaml", 0, "there are none"),
            ("plan: a.yaml\nfactors: {one: [1]}", 2, "factor `one` has one value"),
            ("plan: a.yaml\nvariants: {one: {}}", 2, "there is one variant"),
            ("factors: {one: [1, 2]}", 1, "`plan`"),
            ("plan: a.yaml\nfactors: {one: [1, 2]}\nvariants: {a: {}, b: {}}", 3, "variants"),
            ("plan: a.yaml\nfactors: {one: {load: speed, values: [1, 2]}}", 2, "users"),
            ("plan: a.yaml\nfactors: {one: [1, 2]}\nrepeat: 0", 3, "from 1"),
            ("plan: a.yaml\nfactors: {one: [1, 2]}\nserver: {ready: 1s}", 3, "command"),
            ("plan: a.yaml\nfactors: {one: [1, 2]}\ncount_invalid: []", 3, "list is empty"),
            (
                "plan: a.yaml\nfactors: {one: [1, 2]}\nserver: {command: a, ready: {within: 1s}}",
                3,
                "http",
            ),
            (
                "plan: {scenarios: {a: {load: {users: 0}, steps: [{gte: /}]}}}\nfactors: {one: [1, 2]}",
                1,
                "gte",
            ),
        ] {
            let error = load(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
            let place = if line == 0 { "it.yaml".to_owned() } else { format!("it.yaml:{line}:") };
            assert!(line == 0 || error.contains(&place), "{text}: {error}");
        }
    }
}
