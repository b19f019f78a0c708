//! The documentation is true: its plans are good plans, and it names what there is.

use std::path::Path;

use squall_analysis::Threshold;
use squall_metrics::{Counters, PHASES};
use squall_plan::expr::functions::FUNCTIONS;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{load_experiment, load_str};

fn doc(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a language in a Markdown text.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    text.split(&begin)
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_plan_in_the_documentation_is_valid() {
    for (name, least) in [("docs/plan.md", 7), ("README.md", 1), ("docs/monitors.md", 1)] {
        let found = blocks(&doc(name), "yaml");
        assert!(found.len() >= least, "{name} has {} plans", found.len());
        for text in found {
            let loaded = load_str(name, &text, Path::new(""), &LoadOptions::default());
            let plan = loaded.unwrap_or_else(|failure| {
                let errors: String =
                    failure.diagnostics.iter().map(|d| failure.sources.render(d)).collect();
                panic!("{name}: {errors}\n{text}")
            });
            for threshold in &plan.plan.thresholds {
                assert!(
                    Threshold::parse(&threshold.text.value).is_ok(),
                    "{}",
                    threshold.text.value
                );
            }
        }
    }
}

#[test]
fn the_experiment_in_the_documentation_is_valid() {
    let name = "docs/experiments.md";
    let text = blocks(&doc(name), "yaml").into_iter().next().expect("an experiment");
    let loaded = load_experiment(name, &text, Path::new(""), &LoadOptions::default());
    assert_eq!(
        loaded.map(|own| own.experiment.factors.len()).map_err(|own| own.diagnostics),
        Ok(2)
    );
}

#[test]
fn every_function_is_documented() {
    let text = doc("docs/plan.md");
    for function in FUNCTIONS {
        assert!(text.contains(&format!("| `{}` |", function.name)), "{}", function.name);
    }
}

#[test]
fn every_key_of_run_json_is_documented() {
    let text = doc("docs/run.md");
    let run = squall_report::document(&squall_report::Run::default());
    let json = serde_json::to_value(run).expect("JSON");
    let top = json.as_object().expect("an object").keys().cloned();
    let row = json["totals"].as_object().expect("an object").keys().cloned();
    let latency = json["totals"]["latency_us"].as_object().expect("an object").keys().cloned();
    let meta = json["meta"].as_object().expect("an object").keys().cloned();
    let generator = json["generator"].as_object().expect("an object").keys().cloned();
    let node = serde_json::to_value(squall_report::NodeReport::default()).expect("JSON");
    let node = node.as_object().expect("an object").keys().cloned();
    let counters = Counters::default();
    let counters = counters.named().map(|(name, _)| name.to_owned());
    let time_accounting = json["time_accounting"].as_object().expect("an object").keys().cloned();
    let host = squall_metrics::HostSample::default();
    let host_metrics = host.gauges().chain(host.counters()).map(|(name, _)| name.to_owned());
    let phases = PHASES.map(str::to_owned);
    let of_nodes = node.chain(generator).chain(host_metrics);
    let inner = row.chain(latency).chain(meta).chain(of_nodes).chain(time_accounting);
    for key in top.chain(inner).chain(counters).chain(phases) {
        assert!(text.contains(&format!("`{key}`")), "{key}");
    }
}

/// The rules of validity that there are: each is a function of its name.
fn rules() -> Vec<String> {
    let source = doc("crates/analysis/src/validity.rs");
    let named = |module: &str| -> Vec<String> {
        let begin = format!("{module}::");
        let rules =
            source.split(&begin).skip(1).filter_map(|rest| rest.split([',', '(', ';']).next());
        let is_rule = |name: &&str| !name.contains([' ', '{']) && *name != "samples_needed";
        rules.filter(is_rule).map(str::to_owned).collect()
    };
    ["fleet", "generator", "host", "neighbours", "target"].into_iter().flat_map(named).collect()
}

#[test]
fn every_rule_of_validity_is_explained_and_provoked() {
    let (reference, guide) = (doc("docs/measurement.md"), doc("docs/howto/questionable.md"));
    let mut provoked =
        ["generator", "outside"].map(|name| doc(&format!("bench/provoke/{name}.py"))).to_vec();
    // Those of a fleet are provoked by what nodes say.
    let of_fleets = doc("crates/analysis/src/validity/fleet.rs");
    provoked.push(of_fleets.split_once("mod tests").expect("tests").1.to_owned());
    let rules = rules();
    assert!(rules.len() >= 25 && rules.contains(&"coverage".to_owned()), "{rules:?}");
    for rule in rules {
        assert!(reference.contains(&format!("| `{rule}` |")), "{rule}");
        assert!(guide.contains(&format!("`{rule}`")), "{rule}");
        assert!(provoked.iter().any(|text| text.contains(&format!("\"{rule}\""))), "{rule}");
    }
}
