//! What is read as what, and that a translated plan is the one that its YAML is read as.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use squall_plan::model::{Body, Plan, Step, StepKind};
use squall_plan::template::Template;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded};

use super::*;
use crate::readable::readable;

mod hoisting;
mod k6;

/// A plan of JMeter with this in its thread group.
fn jmx(elements: &str) -> String {
    format!(
        r#"<?xml version="1.0"?>
<jmeterTestPlan><hashTree><TestPlan testname="shop"/><hashTree>
<ThreadGroup testname="users">
  <stringProp name="ThreadGroup.num_threads">${{__P(users,1)}}</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <stringProp name="LoopController.loops">1</stringProp>
    <boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
</ThreadGroup><hashTree>
{elements}
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

const HOME: &str = r#"<HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.path">/${id}</stringProp></HTTPSamplerProxy><hashTree>
<RegexExtractor testname="ids"><stringProp name="RegexExtractor.refname">id</stringProp>
<stringProp name="RegexExtractor.regex">id=(.)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
</RegexExtractor><hashTree/></hashTree>"#;

fn text(name: &str, text: &str) -> PlanText {
    PlanText { name: name.to_owned(), text: text.to_owned(), folder: PathBuf::from("/plans") }
}

fn read(name: &str, plan: &str, values: &Values) -> Loaded {
    import(&text(name, plan), values).plan.unwrap_or_else(|error| panic!("{error:?}"))
}

/// Why a plan is refused as a whole.
fn refused(name: &str, plan: &str, values: &Values) -> String {
    match import(&text(name, plan), values).plan {
        Err(ImportError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// What is said of a plan, a line each.
fn said(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(|own| loaded.sources.render(own)).collect()
}

const YAML: &str = "target: http://a\nvars: {users: 1}\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: '/${users}'}]}}\n";

#[test]
fn plans_are_recognised_by_their_content() {
    let of_jmeter = read("plan.yaml", &jmx(HOME), &Values::default());
    assert_eq!(of_jmeter.plan.name, "shop");
    let own = read("plan.jmx", YAML, &Values::default());
    assert_eq!((own.plan.name.as_str(), own.plan.scenarios.len()), ("plan", 1));
    let outline = |plan: &str| import(&text("x", plan), &Values::default()).outline;
    assert!(outline(&jmx(HOME)).is_some_and(|all| all.contains("HTTP Request \"home\"")));
    assert_eq!(outline(YAML), None);
    // What stands in a text of the plan is not what the plan is.
    let body = "<stringProp name=\"TestPlan.comments\">\nopenapi: 3.1.0\nimport 'k6'\n</stringProp></HTTPSamplerProxy>";
    read("plan.jmx", &jmx(&HOME.replacen("</HTTPSamplerProxy>", body, 1)), &Values::default());
    let why = refused("plan.yaml", "import http from 'k6/http';\n", &Values::default());
    assert!(
        why.starts_with("plan.yaml: this is a script of k6: squall runs it as a script if"),
        "{why}"
    );
}

#[test]
fn what_is_for_plans_of_jmeter_is_refused_for_others() {
    let values = Values { skips_unsupported: true, ..Values::default() };
    let why = refused("plan.yaml", YAML, &values);
    assert_eq!(why, "plan.yaml: --skip-unsupported is for JMeter plans, and this is none");
}

#[test]
fn only_files_are_plans() {
    let why = |path: &str| PlanText::read(Path::new(path)).expect_err("no plan");
    assert!(why("/dev/zero").contains("a device, a pipe or a socket"));
    assert!(why("/").contains("a folder"));
}

#[test]
fn values_are_variables_or_properties_and_the_last_one_counts() {
    let values = |given: &[&str]| {
        let mut values = Values {
            files: vec![("users".to_owned(), "2".to_owned())],
            environment: vec![("users".to_owned(), "3".to_owned())],
            ..Values::default()
        };
        given.iter().for_each(|text| values.give(text).expect("NAME=VALUE"));
        values
    };
    let users = |given: &[&str]| {
        let loaded = read("plan.jmx", &jmx(HOME), &values(given));
        let load = loaded.plan.scenarios[0].load.clone().expect("a load").value;
        assert_eq!(read("plan.yaml", YAML, &values(given)).warnings, []);
        match load {
            squall_plan::model::Load::Closed(load) => load.users,
            squall_plan::model::Load::Open(_) => None,
        }
    };
    assert_eq!((users(&[]), users(&["users=7"])), (Some(3), Some(7)));
    let loaded = read("plan.jmx", &jmx(HOME), &values(&["usres=7", "jmeter.save.x=1"]));
    let told = said(&loaded).concat();
    assert!(told.contains("warning: `usres`: the plan asks for no such property"), "{told}");
    assert!(told.contains("did you mean `users`?") && !told.contains("jmeter.save"), "{told}");
    let Err(ImportError::Plan(errors)) = import(&text("p", YAML), &values(&["usres=7"])).plan
    else {
        panic!("there is no such variable")
    };
    assert_eq!(errors.diagnostics[0].help.as_deref(), Some("did you mean `users`?"));
    assert_eq!(Values::default().give("users 7"), Err("`users`: expected NAME=VALUE".to_owned()));
}

#[test]
fn what_is_said_stands_at_the_elements_of_the_file() {
    let elements = format!("<com.example.Teapot testname=\"brew\"/><hashTree/>\n{HOME}");
    let values = Values { skips_unsupported: true, ..Values::default() };
    let loaded = read("plan.jmx", &jmx(&elements), &values);
    let place = "plan.jmx:9:1: warning: shop > users > brew (com.example.Teapot): left out: ";
    let told = said(&loaded);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with(place), "{told:?}");
    let scenario = &loaded.plan.scenarios[0];
    assert_eq!((scenario.span.line, scenario.steps[0].span.line), (3, 10));
    let why = refused("plan.jmx", &jmx(&elements), &Values::default());
    assert!(
        why.contains("\n  shop > users > brew (com.example.Teapot): nothing is known"),
        "{why}"
    );
}

/// A time beyond those that a plan can have is the longest one.
#[test]
fn a_ramp_that_is_cut_short_is_said() {
    let limited = jmx(HOME).replace(
        "<elementProp name=\"ThreadGroup",
        "<stringProp name=\"ThreadGroup.ramp_time\">99999999999999</stringProp>
         <boolProp name=\"ThreadGroup.scheduler\">true</boolProp>
         <stringProp name=\"ThreadGroup.duration\">60</stringProp><elementProp name=\"ThreadGroup",
    );
    let loaded = read("plan.jmx", &limited, &Values::default());
    let told = said(&loaded).concat();
    let place = "plan.jmx:3:1: warning: shop > users (Thread Group): the ramp-up period (2562047h";
    assert!(told.starts_with(place) && told.contains("the duration (1m)"), "{told}");
}

/// What nobody wrote has no place; what is set and asked for in disabled elements alone was written with intent.
#[test]
fn only_variables_that_nothing_mentions_have_a_place() {
    let span = |plan: &str, name: &str| {
        let loaded = read("plan.jmx", plan, &Values::default());
        let var = loaded.plan.vars.iter().find(|var| var.name.value == name);
        var.map(|var| var.name.span.line)
    };
    let unused = HOME.replace("${id}", "");
    assert_eq!((span(&jmx(HOME), "id"), span(&jmx(&unused), "id")), (Some(0), Some(11)));
    let disabled = HOME.replace("<HTTPSamplerProxy", "<HTTPSamplerProxy enabled=\"false\"");
    assert_eq!(span(&jmx(&format!("{unused}{disabled}")), "id"), Some(0));
    let all = read("plan.jmx", &jmx(&unused), &Values::default()).plan.vars;
    assert!(all.iter().all(|var| var.name.value == "id" || !var.name.span.is_known()), "{all:?}");
}

/// Plans that are there to be tried: those of the repository, and of the folder that `SQUALL_JMX` names.
fn samples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("bench/peers")];
    folders.extend(std::env::var_os("SQUALL_JMX").map(PathBuf::from));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|own| own == "jmx") {
                found.push(path);
            }
        }
    }
    found
}

/// What runs is what is written, to the letter and as one to maintain.
#[test]
fn what_is_converted_reads_back_as_the_same_plan() {
    let all = samples();
    assert!(all.len() >= 2, "{all:?}");
    let values = Values { skips_unsupported: true, ..Values::default() };
    for path in all {
        let plan = PlanText::read(&path).expect("a plan");
        let Ok(read) = Translated::of(&plan, &values) else { continue };
        let load = |text: &str| {
            let read = yaml::load_str(&plan.name, text, &plan.folder, &LoadOptions::default());
            let read = read.unwrap_or_else(|error| panic!("{path:?}: {:?}", error.diagnostics));
            read.plan
        };
        let mut again = load(&read.exact());
        // What has a name several times is printed with all its values together: no other order is lost.
        assert_eq!(yaml::print(&again, false), read.exact(), "{}", path.display());
        assert!(again == read.plan || has_repeated(&read.plan), "{}", path.display());
        squall_jmeter::simplify(&mut again);
        let text = read.readable(&plan.folder);
        assert!(load(&text) == again, "{}: {text}", path.display());
    }
}

/// Whether a request has a header or a field several times.
fn has_repeated(plan: &Plan) -> bool {
    fn of_step(step: &Step) -> bool {
        let twice = |pairs: &[(Template, Template)]| {
            let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| name.source()).collect();
            names.len() < pairs.len()
        };
        let own = match &step.kind {
            StepKind::Request(request) => match &request.body {
                Body::Form(pairs) => twice(pairs) || twice(&request.headers),
                _ => twice(&request.headers),
            },
            _ => false,
        };
        own || step.inner().any(of_step)
    }
    plan.scenarios.iter().flat_map(|own| &own.steps).any(of_step)
}

#[test]
fn paths_are_relative_and_texts_that_look_like_them_stay() {
    let folder = Path::new("/plans/shop");
    let text = "name: a\ntarget: http://h\ndata: {d: {csv: /plans/shop/d.csv}, e: {csv: /plans/e.csv}}\n\
                scenarios: {a: {load: {users: 1, for: 1s}, steps: [{post: /, body: /plans/shop/d.csv}]}}\n";
    let plan = yaml::load_str("a", text, folder, &LoadOptions::default());
    let plan = plan.unwrap_or_else(|error| panic!("{:?}", error.diagnostics)).plan;
    let text = readable(&plan, folder);
    for line in ["csv: d.csv", "csv: /plans/e.csv", "body: /plans/shop/d.csv"] {
        assert!(text.contains(line), "{text}");
    }
}
