//! The secrets of a plan: what it says of them, errors about them, and a printed plan without them.

use serde_json::{Map, Value as Printed};

use crate::diagnostic::Diagnostic;
use crate::feed_target::{FeedKind, masked, secrets_of_url};
use crate::model::{Auth, Json, Plan, Script, Step, StepKind, Target, Var};
use crate::secrets::{
    MASK, MAX_SECRET_BYTES, MAX_SECRETS, SHORTEST, Secrets, add_of_url, credentials,
    credentials_in_urls, credentials_of_proxy, env_sounds_secret, is_short, replaced,
    sounds_secret,
};
use crate::span::Span;
use crate::template::Template;

impl Secrets {
    /// What is wrong if there are more than may be.
    pub fn too_many(&self) -> Option<Diagnostic> {
        let most = squall_base::units::count(MAX_SECRETS as u64);
        let message = format!(
            "too many secrets: expected at most {most} that come to at most {} MiB",
            MAX_SECRET_BYTES >> 20
        );
        let help = "read credentials of many users from a file with `data`, or write `{value: …, secret: false}` for \
                    variables that are none";
        self.is_full().then(|| Diagnostic::error(Span::default(), message).with_help(help))
    }
}

impl Plan {
    /// What the plan itself says of its secrets: variables, and the credentials that it writes out. What
    /// variables come to is known to whoever evaluates them.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        for var in self.vars.iter().chain(own) {
            match var.is_secret() {
                true => {
                    add_literals(&var.value, &mut secrets);
                    var.replaced.iter().for_each(|own| add_replaced(own, &mut secrets));
                }
                false => add_urls(&var.value, &mut secrets),
            }
        }
        if let Some(Target::Url(url)) = &self.target {
            secrets.add_query(url.source());
        }
        let defaults = self.scenarios.iter().map(|scenario| &scenario.defaults);
        for defaults in defaults.chain([&self.defaults]) {
            add_credentials(defaults.http.auth.as_ref(), &defaults.headers, &mut secrets);
            add_proxy(defaults.http.proxy.as_ref(), &mut secrets);
        }
        let steps = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        for step in steps.chain(&self.setup).chain(&self.teardown) {
            add_requests(step, &mut secrets);
        }
        let of_sources = self.scripts.secrets.iter().flat_map(|source| &source.secrets);
        for (_, value) in self.secret_env().into_iter().chain(of_sources) {
            value.literal().into_iter().for_each(|text| secrets.add(text));
        }
        add_proxy(self.connections.proxy.as_ref(), &mut secrets);
        let store = self.connections.tls.key_store.as_ref();
        if let Some(password) = store.and_then(|store| store.password.literal()) {
            secrets.add(password);
        }
        self.connections.tls.host_certs.iter().for_each(|own| secrets.add(&own.key));
        for url in self.monitor.iter().filter_map(|own| own.url()) {
            secrets_of_url(url).iter().for_each(|secret| secrets.add(secret));
        }
        for feed in &self.feeds {
            feed.target.value.secrets().iter().for_each(|secret| secrets.add(secret));
        }
        secrets
    }

    /// What scripts have in `__ENV` under names that sound secret.
    fn secret_env(&self) -> Vec<&(Template, Template)> {
        let of_calls = self.script_calls().into_iter().flat_map(|own| &own.env);
        let all = self.scripts.env.iter().chain(of_calls);
        all.filter(|(name, _)| name.literal().is_some_and(env_sounds_secret)).collect()
    }

    /// Whether one of its steps calls a script.
    pub fn calls_scripts(&self) -> bool {
        !self.script_calls().is_empty()
    }

    /// The calls of scripts.
    fn script_calls(&self) -> Vec<&Script> {
        fn of_step<'p>(step: &'p Step, found: &mut Vec<&'p Script>) {
            if let StepKind::Script(script) = &step.kind {
                found.push(script);
            }
            step.inner().for_each(|step| of_step(step, found));
        }
        let mut found = Vec::new();
        let steps = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        steps.chain(&self.setup).chain(&self.teardown).for_each(|step| of_step(step, &mut found));
        found
    }

    /// Errors about secrets that are only stars: they were masked when the plan was stored, and are to be given again.
    pub(crate) fn masked_secrets(&self) -> Vec<Diagnostic> {
        let is_masked = |json: &Json| has_literal(json, &|text| text == MASK);
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let all = self.vars.iter().chain(own);
        let masked = all.filter(|var| var.is_secret() && is_masked(&var.value));
        let mut found: Vec<Diagnostic> = masked
            .map(|Var { name, .. }| {
                let message =
                    format!("the value of `{}` was masked when this plan was stored", name.value);
                let help =
                    format!("give it again with `--set {0}=…` or in SQUALL_VAR_{0}", name.value);
                Diagnostic::error(name.span, message).with_help(&help)
            })
            .collect();
        if found.is_empty() && self.secrets().has_mask() {
            let message = "a password of this plan was masked when it was stored";
            let help = "write it, or better a variable, in place of each `***`";
            found.push(Diagnostic::error(Span::default(), message).with_help(help));
        }
        found
    }

    /// Warnings about secrets that are too short to be masked everywhere.
    pub(crate) fn short_secrets(&self) -> Vec<Diagnostic> {
        let is_short =
            |json: &Json| has_literal(json, &|text| !text.trim().is_empty() && is_short(text));
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let all = self.vars.iter().chain(own);
        // What has no place no person wrote.
        let all = all.filter(|var| var.name.span.is_known());
        let short = all.filter(|var| var.is_secret() && is_short(&var.value));
        short
            .map(|var| {
                let message = format!(
                    "`{}` is secret and shorter than {SHORTEST} characters: it is masked only where a \
                     request uses it as a whole value",
                    var.name.value
                );
                let help = "so short a text may occur elsewhere by chance: use a longer secret";
                Diagnostic::warning(var.name.span, message).with_help(help)
            })
            .collect()
    }
}

/// What requests hold, whose keys are a server's words and no plan's.
const CONTENTS: [&str; 6] = ["json", "form", "multipart", "query", "extract", "set"];

/// Puts stars in place of the values of a printed plan's secrets where they are written: in `vars`, where `feeds` go, in the
/// URLs of proxies, in `auth`, in headers, in a `key_store` and in `host_certs`. Those that are masked everywhere need no place.
pub(crate) fn hide_in_place(printed: &mut Printed) {
    match printed {
        Printed::Array(items) => items.iter_mut().for_each(hide_in_place),
        Printed::Object(map) => map.iter_mut().for_each(|(key, value)| hide_behind(key, value)),
        _ => {}
    }
}

/// The same of what stands behind a key.
fn hide_behind(key: &str, value: &mut Printed) {
    match (key, value) {
        ("feeds", value) => hide_receivers(value),
        ("monitor", value) => hide_monitored(value),
        ("vars", Printed::Object(vars)) => {
            vars.iter_mut().for_each(|(name, var)| hide_value(name, var));
        }
        ("auth" | "key_store", value) => hide_passwords(value),
        ("host_certs", Printed::Array(all)) => {
            let keys = all.iter_mut().filter_map(|own| own.get_mut("key"));
            keys.for_each(|key| *key = MASK.into());
        }
        ("headers", value) => hide_headers(value),
        ("env", Printed::Object(texts)) => hide_texts(texts, env_sounds_secret),
        ("secrets", Printed::Object(sources)) => {
            let sources = sources.values_mut().filter_map(Printed::as_object_mut);
            sources.for_each(|texts| hide_texts(texts, |_| true));
        }
        ("proxy", Printed::String(url)) => *url = proxy_masked(url),
        (key, _) if CONTENTS.contains(&key) => {}
        (_, value) => hide_in_place(value),
    }
}

/// Puts stars in place of what is written behind `password` and `bearer`.
fn hide_passwords(printed: &mut Printed) {
    for (key, value) in printed.as_object_mut().into_iter().flatten() {
        let is_written = value.as_str().is_some_and(|text| !text.contains("${"));
        match is_written && matches!(key.as_str(), "password" | "bearer") {
            true => *value = MASK.into(),
            false => hide_passwords(value),
        }
    }
}

/// Puts stars in place of the credentials of headers, behind their scheme.
fn hide_headers(printed: &mut Printed) {
    for (name, value) in printed.as_object_mut().into_iter().flatten() {
        let Some(text) = value.as_str().filter(|text| !text.contains("${")) else { continue };
        // The first has all others in it, and stands at the end.
        let Some(own) = credentials::of_header(name, text).first().map(|own| own.len()) else {
            continue;
        };
        *value = format!("{}{MASK}", &text[..text.len() - own]).into();
    }
}

/// Puts stars in place of texts whose names say that they are secret.
fn hide_texts(texts: &mut Map<String, Printed>, is_secret: impl Fn(&str) -> bool) {
    for (_, text) in texts.iter_mut().filter(|(name, _)| is_secret(name)) {
        if text.as_str().is_some_and(|text| !text.contains("${")) {
            *text = MASK.into();
        }
    }
}

/// The URL of a proxy with stars in place of what authorizes.
fn proxy_masked(text: &str) -> String {
    replaced(text, credentials_of_proxy(text).as_slice())
}

/// The same of feeds, behind the names of their kinds.
fn hide_receivers(printed: &mut Printed) {
    hide_in_place(printed);
    for feed in printed.as_array_mut().into_iter().flatten().filter_map(Printed::as_object_mut) {
        for (key, value) in feed.iter_mut() {
            let Some(text) = value.as_str() else { continue };
            if FeedKind::from_label(key).is_some() {
                *value = masked(text).into();
            } else if key == "token" && !text.contains("${") {
                *value = MASK.into();
            }
        }
    }
}

/// The same of monitors, behind the names of those kinds that ask a URL.
fn hide_monitored(printed: &mut Printed) {
    hide_in_place(printed);
    let monitors = printed.as_object_mut().into_iter().flatten();
    for (key, value) in monitors.filter_map(|(_, own)| own.as_object_mut()).flatten() {
        if let Some(text) = value.as_str()
            && matches!(key.as_str(), "prometheus" | "nginx" | "postgres")
        {
            *value = masked(text).into();
        }
    }
}

/// The same of a variable, which is a value or `{value, secret}`.
fn hide_value(name: &str, var: &mut Printed) {
    let marked = var.get("secret").and_then(Printed::as_bool);
    if !marked.unwrap_or_else(|| sounds_secret(name)) {
        return hide_urls(var);
    }
    match var.get_mut("value").filter(|_| marked.is_some()) {
        Some(value) => *value = MASK.into(),
        None => *var = MASK.into(),
    }
}

/// Puts stars in place of the passwords of URLs.
fn hide_urls(value: &mut Printed) {
    match value {
        Printed::String(text) => *text = replaced(text, &credentials_in_urls(text)),
        Printed::Array(items) => items.iter_mut().for_each(hide_urls),
        Printed::Object(map) => map.values_mut().for_each(hide_urls),
        _ => {}
    }
}

/// Adds the credentials of a step's requests.
fn add_requests(step: &Step, secrets: &mut Secrets) {
    if let StepKind::Request(request) = &step.kind {
        add_credentials(request.http.auth.as_ref(), &request.headers, secrets);
        secrets.add_query(request.url.source());
        add_proxy(request.http.proxy.as_ref(), secrets);
    }
    step.inner().for_each(|step| add_requests(step, secrets));
}

/// Adds what authorizes in the URL of a proxy, where it is written out.
fn add_proxy(proxy: Option<&Template>, secrets: &mut Secrets) {
    let source = proxy.map_or("", Template::source);
    credentials_of_proxy(source).into_iter().for_each(|hit| add_of_url(&source[hit], secrets));
}

/// Adds the passwords of URLs among a variable's texts: it may be that of a proxy.
fn add_urls(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| {
        credentials_in_urls(text).into_iter().for_each(|hit| add_of_url(&text[hit], secrets));
    });
}

/// Adds the credentials that are written out in `auth` and in headers.
fn add_credentials(auth: Option<&Auth>, headers: &[(Template, Template)], secrets: &mut Secrets) {
    if let Some(
        Auth::Basic { password: text, .. }
        | Auth::Digest { password: text, .. }
        | Auth::Bearer(text),
    ) = auth
    {
        text.literal().into_iter().for_each(|text| secrets.add(text));
    }
    for (name, value) in headers {
        let (Some(name), Some(value)) = (name.literal(), value.literal()) else { continue };
        credentials::of_header(name, value).into_iter().for_each(|own| secrets.add(own));
    }
}

fn add_literals(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| secrets.add(text));
}

/// Adds what another value took the place of: it may stand elsewhere in the plan. A short one is most likely a word that
/// only held the place.
fn add_replaced(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| {
        if !is_short(text) {
            secrets.add(text);
        }
    });
}

/// Whether any of them is such a one.
fn has_literal(json: &Json, is_such: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    each_literal(json, &mut |text| found |= is_such(text));
    found
}

/// Looks at each text and number that is written out in a value.
fn each_literal(json: &Json, look: &mut dyn FnMut(&str)) {
    match json {
        Json::Text(text) => text.literal().into_iter().for_each(look),
        Json::List(items) => items.iter().for_each(|item| each_literal(item, look)),
        Json::Map(entries) => entries.iter().for_each(|(_, value)| each_literal(value, look)),
        Json::Int(number) => look(&number.to_string()),
        Json::Float(number) => look(&number.to_string()),
        Json::Null | Json::Bool(_) => {}
    }
}
