//! What requests share, said once: in the defaults of the plan, or of a scenario. What each request does stays the same.

use std::collections::HashSet;

use crate::model::{
    Body, CacheUse, Defaults, HttpOptions, Load, Plan, Request, Resources, Session, Step, StepKind,
};
use crate::secrets::{Secrets, is_credential};
use crate::span::{Span, Spanned};
use crate::template::Template;

/// Headers that belong to one request.
const OWN_HEADERS: [&str; 4] = ["content-length", "transfer-encoding", "cookie", "host"];

impl Plan {
    /// Says once what requests, or scenarios, have in common.
    pub fn hoist(&mut self) {
        let secrets = self.secrets();
        let plain = Defaults::default();
        if self.scenarios.iter().all(|scenario| scenario.defaults == plain) {
            let lists = self.scenarios.iter_mut().map(|scenario| &mut scenario.steps);
            let lists = lists.chain([&mut self.setup, &mut self.teardown]);
            let outer = Defaults { http: otherwise(), ..Defaults::default() };
            let mut all = Group::new(&mut self.defaults, &outer, lists.flatten());
            all.share_following(&secrets);
            all.share();
        }
        let outer = Defaults {
            http: self.defaults.http.or(&otherwise()),
            headers: self.defaults.headers.clone(),
            tags: Vec::new(),
        };
        for scenario in &mut self.scenarios {
            Group::new(&mut scenario.defaults, &outer, scenario.steps.iter_mut()).share();
        }
        self.hoist_of_scenarios();
    }

    /// What scenarios say that holds without it.
    fn hoist_of_scenarios(&mut self) {
        let first = self.scenarios.first().and_then(|own| own.on_error);
        if let Some(on_error) = first
            && self.scenarios.iter().all(|own| own.on_error == first)
        {
            self.on_error = on_error;
        }
        for scenario in &mut self.scenarios {
            scenario.on_error = scenario.on_error.filter(|own| *own != self.on_error);
            let session = scenario.load.as_ref().map(|load| match load.value {
                Load::Closed(_) => Session::PerUser,
                Load::Open(_) => Session::PerIteration,
            });
            let otherwise = self.session.or(session);
            scenario.session = scenario.session.filter(|own| Some(*own) != otherwise);
        }
    }
}

/// What holds of requests where neither they nor the defaults say anything.
fn otherwise() -> HttpOptions {
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

/// Requests that have the same defaults.
struct Group<'g> {
    /// Each with all that holds for it.
    requests: Vec<(&'g mut Request, HttpOptions)>,
    /// Whether there are exchanges over TCP, for which some of the defaults hold, too.
    has_tcp: bool,
    defaults: &'g mut Defaults,
    /// What holds without the defaults.
    outer: &'g Defaults,
}

impl<'g> Group<'g> {
    fn new(
        defaults: &'g mut Defaults,
        outer: &'g Defaults,
        steps: impl Iterator<Item = &'g mut Step>,
    ) -> Group<'g> {
        let inherited = defaults.http.or(&outer.http);
        let mut group = Group { requests: Vec::new(), has_tcp: false, defaults, outer };
        steps.for_each(|step| group.add(step, &inherited));
        group
    }

    fn add(&mut self, step: &'g mut Step, inherited: &HttpOptions) {
        match &step.kind {
            StepKind::Request(_) => {
                if let StepKind::Request(request) = &mut step.kind {
                    let http = request.http.or(inherited);
                    self.requests.push((request, http));
                }
            }
            StepKind::Tcp(_) => self.has_tcp = true,
            _ => step.inner_mut().for_each(|inner| self.add(inner, inherited)),
        }
    }

    fn share(&mut self) {
        let always = |_: &Request, _: &HttpOptions| true;
        self.option(|http| &mut http.redirects, always);
        self.option(|http| &mut http.redirect_to_get, is_changed_to_get);
        self.option(|http| &mut http.default_headers, lacks_usual_headers);
        self.option(|http| &mut http.cookies, always);
        self.option(|http| &mut http.cookie_jar, always);
        self.option(|http| &mut http.redirect_cookies, |_, http| follows(http));
        self.option(|http| &mut http.cache, |request, _| request.method == "GET");
        self.option(|http| &mut http.cache_name, always);
        self.option(|http| &mut http.compression, always);
        self.option(|http| &mut http.auth, always);
        self.option(|http| &mut http.client_cert, always);
        self.option(|http| &mut http.proxy, always);
        self.option(|http| &mut http.max_decompression_ratio, always);
        self.option(|http| &mut http.status_errors, always);
        self.option(|http| &mut http.retry_stale, always);
        self.option(|http| &mut http.trace_context, always);
        self.option(|http| &mut http.resources, always);
        if !self.has_tcp {
            self.option(|http| &mut http.source_address, always);
            self.option(|http| &mut http.max_body, always);
            self.option(|http| &mut http.timeout.pool, always);
            self.option(|http| &mut http.timeout.connect, always);
            self.option(|http| &mut http.timeout.first_byte, always);
            self.option(|http| &mut http.timeout.total, always);
            self.option(|http| &mut http.timeout.all, always);
        }
        self.share_headers();
    }

    /// Makes the value of an option that most requests have a default. Those for which it does not matter say nothing. One for
    /// which nothing at all is said could not say so any more, if there were a default.
    fn option<T: Clone + PartialEq>(
        &mut self,
        of: fn(&mut HttpOptions) -> &mut Option<T>,
        matters: fn(&Request, &HttpOptions) -> bool,
    ) {
        let outer = of(&mut self.outer.http.clone()).clone();
        let mut asked: Vec<Option<T>> = Vec::new();
        for (request, http) in &mut self.requests {
            if !matters(request, http) {
                asked.push(None);
            } else if let Some(value) = of(http).clone() {
                asked.push(Some(value));
            } else {
                return;
            }
        }
        let Some(best) = most_frequent(asked.iter().flatten(), outer.as_ref()) else { return };
        for ((request, _), asked) in self.requests.iter_mut().zip(&asked) {
            *of(&mut request.http) = asked.clone().filter(|own| *own != best);
        }
        *of(&mut self.defaults.http) = Some(best).filter(|best| Some(best) != outer.as_ref());
    }

    /// The same of headers that all requests have.
    fn share_headers(&mut self) {
        let loads = |http: &HttpOptions| http.resources.as_ref().filter(|own| own.load).cloned();
        // What pages load is asked for with all headers of the defaults.
        if self.requests.iter().any(|(_, http)| loads(http).is_some_and(|own| !own.headers)) {
            return;
        }
        let Some((first, _)) = self.requests.first() else { return };
        let mut names: Vec<Template> = Vec::new();
        for (name, _) in &first.headers {
            if name.literal().is_some_and(|name| !is_own(name)) {
                names.push(name.clone());
            }
        }
        names.iter().for_each(|name| self.share_header(name));
    }

    fn share_header(&mut self, name: &Template) {
        let inherited = only(&self.defaults.headers, name).or(only(&self.outer.headers, name));
        let outer = only(&self.outer.headers, name).cloned();
        let mut values: Vec<Template> = Vec::new();
        for (request, _) in &self.requests {
            let own = only(&request.headers, name);
            let inherited = inherited.filter(|_| count(&request.headers, name) == 0);
            let Some(value) = own.or(inherited) else { return };
            values.push(value.clone());
        }
        if self.requests.iter().all(|(request, _)| count(&request.headers, name) > 0) {
            self.defaults.headers.retain(|(other, _)| !is_named(other, name));
        }
        let Some(best) = most_frequent(values.iter(), outer.as_ref()) else { return };
        // What a request has to make of its variables may mean nothing to another.
        let is_same = values.iter().all(|value| *value == best);
        let is_type = name.source().eq_ignore_ascii_case("content-type");
        let takes_type = |(request, _): &(&mut Request, HttpOptions)| takes_any_type(&request.body);
        if !(is_same || best.literal().is_some())
            || is_type && !self.requests.iter().all(takes_type)
        {
            return;
        }
        for ((request, _), value) in self.requests.iter_mut().zip(values) {
            request.headers.retain(|(other, _)| !is_named(other, name));
            if value != best {
                request.headers.push((name.clone(), value));
            }
        }
        self.defaults.headers.retain(|(other, _)| !is_named(other, name));
        if Some(&best) != outer.as_ref() {
            self.defaults.headers.push((name.clone(), best));
        }
    }

    /// Leaves of the headers that follow redirects those that would not do so by themselves, and makes them a default where
    /// no request keeps such a header to itself.
    fn share_following(&mut self, secrets: &Secrets) {
        let mut all: Vec<String> = Vec::new();
        let mut held: HashSet<String> = HashSet::new();
        let mut asked: Vec<Vec<String>> = Vec::new();
        for (request, http) in &self.requests {
            let headers = request.headers.iter().chain(&self.defaults.headers);
            let mut confined: HashSet<String> = headers
                .filter(|header| is_confined(header, secrets))
                .map(|(name, _)| name.source().to_ascii_lowercase())
                .collect();
            if http.auth.is_some() {
                confined.insert("authorization".to_owned());
            }
            if !follows(http) {
                confined.clear();
            }
            let mut listed = Vec::new();
            for name in http.redirect_headers.iter().flatten() {
                if confined.remove(&name.value.to_ascii_lowercase()) {
                    listed.push(name.value.clone());
                }
            }
            held.extend(confined);
            for name in &listed {
                if !all.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                    all.push(name.clone());
                }
            }
            asked.push(listed);
        }
        let is_shared = asked.iter().filter(|names| !names.is_empty()).count() > 1
            && !all.iter().any(|name| held.contains(&name.to_ascii_lowercase()));
        let given = |names: Vec<String>| {
            let spanned = |name| Spanned::new(name, Span::default());
            (!names.is_empty()).then(|| names.into_iter().map(spanned).collect())
        };
        for ((request, _), names) in self.requests.iter_mut().zip(asked) {
            request.http.redirect_headers = given(names).filter(|_| !is_shared);
        }
        self.defaults.http.redirect_headers = given(all).filter(|_| is_shared);
    }
}

/// The value that most have; in doubt the one that holds without being said, if any. One that only one has is said by that.
fn most_frequent<'v, T: Clone + PartialEq + 'v>(
    values: impl Iterator<Item = &'v T>,
    outer: Option<&T>,
) -> Option<T> {
    let mut counts: Vec<(T, usize)> = outer.map(|outer| (outer.clone(), 1)).into_iter().collect();
    for value in values {
        match counts.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value.clone(), 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    if most == 1 && outer.is_none() {
        return None;
    }
    counts.into_iter().find(|(_, count)| *count == most).map(|(value, _)| value)
}

fn loads_resources(http: &HttpOptions) -> bool {
    http.resources.as_ref().is_some_and(|resources| resources.load)
}

/// Whether redirects are followed: those of the page, or of what it loads, whose redirects always are.
fn follows(http: &HttpOptions) -> bool {
    http.redirects > Some(0) || loads_resources(http)
}

/// Whether a redirect of it goes on otherwise where all turn into GET.
fn is_changed_to_get(request: &Request, http: &HttpOptions) -> bool {
    let is_plain = matches!(request.method.as_str(), "GET" | "HEAD")
        && request.body == Body::None
        && request.headers.iter().all(|(name, _)| {
            name.literal().is_some_and(|name| !name.to_ascii_lowercase().starts_with("content-"))
        });
    follows(http) && !is_plain
}

/// Whether it, or what it loads, may have a header that is only there because the plan gives none.
fn lacks_usual_headers(request: &Request, http: &HttpOptions) -> bool {
    let has = |name: &str| count(&request.headers, &Template::text(name)) > 0;
    !(has("User-Agent") && has("Accept")) || loads_resources(http)
}

/// Whether a header does not go along to another origin unless the plan says so.
fn is_confined((name, value): &(Template, Template), secrets: &Secrets) -> bool {
    let is_secret = |value: &str| secrets.mask_own(value) != value;
    let name = name.source();
    name.eq_ignore_ascii_case("host")
        || is_credential(name)
        || value.literal().is_none_or(is_secret)
}

fn is_own(name: &str) -> bool {
    OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a body may have any content type.
fn takes_any_type(body: &Body) -> bool {
    matches!(body, Body::None | Body::Text(_) | Body::File { .. })
}

fn is_named(header: &Template, name: &Template) -> bool {
    header.source().eq_ignore_ascii_case(name.source())
}

fn count(headers: &[(Template, Template)], name: &Template) -> usize {
    headers.iter().filter(|(own, _)| is_named(own, name)).count()
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h [(Template, Template)], name: &Template) -> Option<&'h Template> {
    let mut values = headers.iter().filter(|(own, _)| is_named(own, name)).map(|(_, value)| value);
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::yaml::{load_str, print};

    fn load(text: &str) -> Plan {
        let loaded = load_str("p", text, Path::new(""), &Default::default());
        loaded.unwrap_or_else(|error| panic!("{:?}\n{text}", error.diagnostics)).plan
    }

    /// A plan of these steps, with this before them, as it is printed when what they share was hoisted.
    fn hoisted(before: &str, steps: &[&str]) -> String {
        let steps = steps.join(", ");
        let mut plan = load(&format!(
            "target: http://h\n{before}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{steps}]}}}}"
        ));
        plan.hoist();
        let text = print(&plan, false);
        assert_eq!(load(&text), plan, "{text}");
        text
    }

    #[test]
    fn what_most_requests_say_is_a_default_and_the_others_say_theirs() {
        let redirecting = "{get: /a, redirects: 20, cookies: true}";
        let text = hoisted(
            "defaults: {cookies: false}",
            &[redirecting, redirecting, redirecting, "{get: /b}"],
        );
        assert_eq!(text.matches("redirects: 20").count(), 1, "{text}");
        assert!(text.contains("{get: /b, redirects: 0, cookies: false}"), "{text}");
        assert!(!text.contains("cookies: true"), "{text}");
    }

    #[test]
    fn what_nobody_can_take_back_is_no_default() {
        let with = "{get: /a, auth: {bearer: x}}";
        let text = hoisted("", &[with, with, "{get: /b}"]);
        assert_eq!(text.matches("bearer").count(), 2, "{text}");
        assert_eq!(hoisted("", &[with, with]).matches("bearer").count(), 1);
    }

    #[test]
    fn headers_that_all_requests_have_are_defaults() {
        let own = |value: &str| format!("{{get: /, headers: {{Accept: {value}, X: '${{user}}'}}}}");
        let text =
            hoisted("defaults: {headers: {Accept: '*/*'}}", &[&own("a"), &own("a"), &own("b")]);
        assert_eq!(text.matches("Accept: a").count(), 1, "{text}");
        assert!(text.contains("Accept: b") && !text.contains("*/*"), "{text}");
        assert_eq!(text.matches("${user}").count(), 1, "{text}");
        // What its variables are may be known to one request alone.
        let text = hoisted("", &[&own("a"), &own("a"), "{get: /, headers: {X: y}}"]);
        assert_eq!(text.matches("${user}").count(), 2, "{text}");
        // Images would be asked for with them.
        let page = "{get: /, resources: true, headers: {Accept: a}}";
        assert_eq!(hoisted("", &[page, page]).matches("Accept: a").count(), 2);
    }

    #[test]
    fn headers_that_follow_redirects_by_themselves_are_not_listed() {
        let with = "{get: /, redirects: 5, redirect_headers: [Accept, X-Token], headers: {Accept: a, X-Token: t}}";
        let text = hoisted("", &[with, with]);
        assert_eq!(text.matches("redirect_headers").count(), 1, "{text}");
        assert!(
            !text.contains("[Accept") && text.contains("redirect_headers: [X-Token]"),
            "{text}"
        );
        let without = "{get: /, redirects: 5, headers: {X-Token: t}}";
        let text = hoisted("", &[with, with, without]);
        assert_eq!(text.matches("redirect_headers").count(), 2, "one keeps it to itself: {text}");
    }
}
