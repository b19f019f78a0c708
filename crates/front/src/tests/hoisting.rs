//! That requests do the same whether or not what they share is said once. What counts is said here as the engine has it,
//! not as the hoist sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use squall_plan::model::{CacheUse, Defaults, HttpOptions, Load, Plan, Request, Resources};
use squall_plan::model::{Session, Step, StepKind};
use squall_plan::secrets::{Secrets, is_credential};
use squall_plan::vars::LoadOptions;
use squall_plan::yaml;

use super::{PlanText, Translated, Values, samples};

/// What a request does, as far as its options decide.
#[derive(Debug, PartialEq)]
struct Effect {
    http: HttpOptions,
    /// By their names in small letters.
    headers: BTreeMap<String, Vec<String>>,
    /// Those that the resources of a page are asked for with, if not with all.
    of_resources: BTreeMap<String, Vec<String>>,
    across: BTreeSet<String>,
}

fn effect(request: &Request, defaults: &Defaults, secrets: &Secrets) -> Effect {
    let mut http = request.http.or(&defaults.http).or(&unsaid());
    let own = Defaults { headers: request.headers.clone(), ..Defaults::default() };
    let all = own.over(defaults).headers;
    let headers = by_name(all.iter().map(|(name, value)| (name.source(), value.source())));
    let resources = http.resources.clone().filter(|own| own.load);
    let follows = http.redirects > Some(0) || resources.is_some();
    let has = |name: &str| headers.contains_key(name);
    if !follows {
        (http.redirect_cookies, http.redirect_to_get) = (None, None);
    }
    if matches!(request.method.as_str(), "GET" | "HEAD") && !has("content-type") {
        http.redirect_to_get = None;
    }
    if has("user-agent") && has("accept") && resources.is_none() {
        http.default_headers = None;
    }
    if request.method != "GET" {
        http.cache = None;
    }
    // Of the headers that are sent, those that stay behind unless they are listed.
    let is_secret = |own: &String| own.contains("${") || secrets.mask_own(own) != *own;
    let is_confined = |name: &str| match headers.get(name) {
        Some(values) => name == "host" || is_credential(name) || values.iter().any(is_secret),
        None => name == "authorization" && http.auth.is_some(),
    };
    let across = http.redirect_headers.iter().flatten().map(|name| name.value.to_ascii_lowercase());
    let across = across.filter(|name| follows && is_confined(name)).collect();
    http.redirect_headers = None;
    let defaults = defaults.headers.iter().map(|(name, value)| (name.source(), value.source()));
    let of_resources = resources.filter(|own| !own.headers).map(|_| by_name(defaults));
    Effect { http, headers, of_resources: of_resources.unwrap_or_default(), across }
}

/// What holds where nobody says anything.
fn unsaid() -> HttpOptions {
    HttpOptions {
        redirects: Some(0),
        redirect_to_get: Some(false),
        default_headers: Some(true),
        cookies: Some(true),
        redirect_cookies: Some(true),
        cache: Some(CacheUse::Off),
        compression: Some(false),
        status_errors: Some(true),
        retry_stale: Some(true),
        trace_context: Some(false),
        resources: Some(Resources { load: false, ..Resources::default() }),
        ..HttpOptions::default()
    }
}

fn by_name<'h>(all: impl Iterator<Item = (&'h str, &'h str)>) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    all.for_each(|(name, value)| {
        found.entry(name.to_ascii_lowercase()).or_default().push(value.to_owned());
    });
    found
}

/// What all requests of a plan do, in their order, and what scenarios do after an error and with their users.
fn effects(plan: &Plan) -> Vec<String> {
    fn each(step: &Step, seen: &mut dyn FnMut(&Request)) {
        if let StepKind::Request(request) = &step.kind {
            seen(request);
        }
        step.inner().for_each(|inner| each(inner, seen));
    }
    let secrets = plan.secrets();
    let mut found = Vec::new();
    let mut add = |steps: &[Step], defaults: &Defaults| {
        let mut seen = |request: &Request| {
            let name = request.url.source();
            found.push(format!("{name}: {:#?}", effect(request, defaults, &secrets)));
        };
        steps.iter().for_each(|step| each(step, &mut seen));
    };
    add(&plan.setup, &plan.defaults);
    add(&plan.teardown, &plan.defaults);
    for scenario in &plan.scenarios {
        add(&scenario.steps, &scenario.defaults.over(&plan.defaults));
    }
    for scenario in &plan.scenarios {
        let session = scenario.load.as_ref().map(|load| match load.value {
            Load::Closed(_) => Session::PerUser,
            Load::Open(_) => Session::PerIteration,
        });
        let session = scenario.session.or(plan.session).or(session);
        found.push(format!("{:?} {session:?}", scenario.on_error.unwrap_or(plan.on_error)));
    }
    found
}

fn assert_same_when_hoisted(plan: &Plan) {
    let mut hoisted = plan.clone();
    hoisted.hoist();
    let [before, after] = [plan, &hoisted].map(effects);
    for (before, after) in before.iter().zip(&after) {
        let lines = before.lines().zip(after.lines());
        let other: Vec<_> = lines.filter(|(before, after)| before != after).collect();
        assert!(before == after, "{other:#?}\n{}", yaml::print(&hoisted, false));
    }
    assert_eq!(before.len(), after.len());
}

fn load(text: &str) -> Plan {
    let loaded = yaml::load_str("p", text, Path::new("/plans"), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{:?}\n{text}", error.diagnostics)).plan
}

#[test]
fn requests_that_differ_in_anything_go_on_doing_so() {
    let redirecting = "redirects: 20, redirect_cookies: false, redirect_to_get: true";
    let named = "headers: {User-Agent: a, Accept: b}, default_headers: false";
    let requests = [
        format!("{{get: /, {redirecting}}}"),
        format!("{{post: /, body: a, {redirecting}}}"),
        "{get: /, redirects: 0}".to_owned(),
        "{post: /, body: a, redirects: 0, resources: true}".to_owned(),
        "{get: /, redirects: 0, resources: true}".to_owned(),
        "{post: /, redirects: 0, resources: {headers: true}, headers: {Content-Type: a}}".to_owned(),
        format!("{{get: /, {named}}}"),
        "{get: /, resources: {headers: false}, headers: {User-Agent: a, Accept: b}}".to_owned(),
        "{get: /, cache: true, status_errors: false}".to_owned(),
        "{get: /, redirects: 5, redirect_headers: [X-Token, Accept], headers: {X-Token: t, Accept: b}}".to_owned(),
        "{get: /, redirects: 5, headers: {X-Token: t, Accept: b}}".to_owned(),
    ];
    for first in &requests {
        for other in &requests {
            for before in ["", "defaults: {redirects: 3, headers: {Accept: c}}"] {
                let steps = [first, first, other].map(String::as_str).join(", ");
                assert_same_when_hoisted(&load(&format!(
                    "target: http://h\n{before}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{steps}]}}}}"
                )));
            }
        }
    }
}

#[test]
fn plans_that_are_there_do_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["examples/first.yaml", "examples/mix.yaml"] {
        let text = std::fs::read_to_string(root.join(name)).expect("an example");
        assert_same_when_hoisted(&load(&text));
    }
    let values = Values { skips_unsupported: true, ..Values::default() };
    for path in samples() {
        let plan = PlanText::read(&path).expect("a plan");
        if let Ok(read) = Translated::of(&plan, &values) {
            assert_same_when_hoisted(&read.plan);
        }
    }
}
