//! How a request is made beside what it sends: redirects, what a page loads, the cache, credentials, and the client
//! that JMeter would take.

use squall_plan::model::{
    Auth, CacheUse, Cookie, Request, ResourceHosts, Resources, Step, StepKind,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::Translator;
use super::group::Gathered;
use super::pattern;
use super::reader::Reader;
use super::request::Options;
use super::stores;
use crate::properties::{PropertyValue, elements};
use crate::scope::Scope;
use crate::tree::ElementId;

/// Most redirects that JMeter follows.
const MOST_REDIRECTS: u32 = 20;
/// Most resources at the same time, where a page does not say.
const RESOURCES_AT_ONCE: i64 = 6;

/// Which HTTP client JMeter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Apache,
    /// That of Java itself.
    Java,
}

impl Client {
    /// What JMeter says of a body, given what it says of it with Apache's client.
    pub(super) fn content_type(self, of_apache: Option<ContentType>) -> Option<String> {
        const FORM: &str = "application/x-www-form-urlencoded";
        match (self, of_apache?) {
            (Client::Apache, ContentType::Text(charset)) => {
                Some(format!("text/plain; charset={charset}"))
            }
            (Client::Apache, ContentType::Form(charset)) => {
                Some(format!("{FORM}; charset={charset}"))
            }
            (Client::Java, ContentType::Text(_) | ContentType::Form(_)) => Some(FORM.to_owned()),
            (_, ContentType::Of(text)) => Some(text),
        }
    }
}

/// What a body is, unless the plan says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContentType {
    /// A text in a charset.
    Text(String),
    /// A form in a charset.
    Form(String),
    Of(String),
}

impl Translator<'_> {
    /// Sets all of that but for credentials, which depend on the URL.
    pub(super) fn transfer(
        &self,
        id: ElementId,
        options: &Options<'_>,
        held: &Scope,
        gathered: &mut Gathered,
        request: &mut Request,
    ) {
        request.http.redirects =
            options.flag("HTTPSampler.follow_redirects").then_some(MOST_REDIRECTS);
        // A plain GET goes on as what it is in any case.
        let is_plain = match request.method.as_str() {
            "GET" => !options.flag("HTTPSampler.postBodyRaw"),
            method => method == "HEAD",
        };
        request.http.redirect_to_get =
            (request.http.redirects.is_some() && !is_plain).then_some(true);
        if options.flag("HTTPSampler.auto_redirects") {
            request.http.redirects = Some(MOST_REDIRECTS);
            request.http.redirect_to_get = None;
            request.http.redirect_cookies = request.http.cookies.map(|_| false);
            match (request.method.as_str(), self.client(id, options)) {
                ("GET" | "HEAD" | "POST", _) => {}
                (method @ "DELETE", _) | (method, Client::Java) => {
                    self.obstacle(id, format!("redirects of {method} within the HTTP client"));
                }
                // Apache's client does not follow those of others.
                _ => (request.http.redirects, request.http.redirect_cookies) = (None, None),
            }
        }
        // JMeter follows them to whatever host they lead.
        if request.http.redirects.is_some() {
            self.any_host.set(true);
        }
        let cache = self.cache(held, gathered, &mut request.http.cache_name);
        request.http.resources = self.resources(id, options, cache);
        let is_cached = cache != CacheUse::Off && request.method == "GET";
        request.http.cache = is_cached.then_some(cache);
        self.note_look_up(held, self.client(id, options));
    }

    /// Which client a request asks for.
    pub(super) fn client(&self, id: ElementId, options: &Options<'_>) -> Client {
        let name = options.constant("HTTPSampler.implementation").unwrap_or_default();
        match name.as_str() {
            // JMeter takes its HttpClient 4 for 3.1, which it has no more.
            "" | "HttpClient4" | "HttpClient3.1" => Client::Apache,
            "Java" => Client::Java,
            other => {
                self.obstacle(id, format!("the implementation `{other}`"));
                Client::Apache
            }
        }
    }

    /// The cache of the outermost manager, which is the one that JMeter takes.
    fn cache(&self, held: &Scope, gathered: &mut Gathered, name: &mut Option<String>) -> CacheUse {
        let managers = held.configs.iter().filter(|id| self.class(**id) == "CacheManager");
        let Some(manager) = managers.last() else { return CacheUse::Off };
        gathered.cache_managers.push(*manager);
        *name = Some(stores::of(*manager));
        let reader = self.read(*manager);
        let is_full = reader.flag("useExpires", false);
        // How many responses are kept, and when they are forgotten: see the group.
        reader.pass(&["maxSize", "clearEachIteration", "CacheManager.controlledByThread"]);
        reader.finish();
        if is_full { CacheUse::Full } else { CacheUse::Revalidate }
    }

    /// The cookies that a manager has at first, put into its jar.
    pub(super) fn given_cookies(&self, manager: &ElementId, jar: Option<&String>) -> Vec<Step> {
        let reader = self.read(*manager);
        let cookies = reader.list("CookieManager.cookies").iter().filter_map(|item| {
            let PropertyValue::Element { properties, .. } = &item.value else { return None };
            let reader = Reader::new(self, *manager, properties);
            let text = |name| self.template(*manager, reader.source(name));
            let path = text("Cookie.path");
            let cookie = Cookie {
                name: self.template(*manager, &item.name),
                value: text("Cookie.value"),
                url: None,
                domain: Some(text("Cookie.domain")),
                path: (!path.source().is_empty()).then_some(path),
                secure: reader.flag("Cookie.secure", false),
                cookie_jar: jar.cloned(),
            };
            let has_domain = !reader.source("Cookie.domain").trim().is_empty();
            // JMeter sends one whatever it says of its end.
            reader.pass(&["Cookie.expires", "Cookie.path_specified", "Cookie.domain_specified"]);
            reader.finish();
            // One without a domain JMeter sends nowhere.
            has_domain.then_some(Step {
                kind: StepKind::SetCookie(Box::new(cookie)),
                span: Span::default(),
            })
        });
        cookies.collect()
    }

    /// What a page loads.
    fn resources(
        &self,
        id: ElementId,
        options: &Options<'_>,
        cache: CacheUse,
    ) -> Option<Resources> {
        let loads = options.flag("HTTPSampler.image_parser");
        let at_once = options.flag("HTTPSampler.concurrentDwn");
        let pool = options.constant("HTTPSampler.concurrentPool").unwrap_or_default();
        let (include, exclude) = (
            options.constant("HTTPSampler.embedded_url_re"),
            options.constant("HTTPSampler.embedded_url_exclude_re"),
        );
        if !loads {
            return None;
        }
        self.any_host.set(true);
        // A number that is none is taken for the usual one.
        let pool = pool.trim().parse().ok().filter(|pool| *pool > 0).unwrap_or(RESOURCES_AT_ONCE);
        let limit = if at_once { u32::try_from(pool).unwrap_or(1).min(1_000) } else { 1 };
        let whole = |text: Option<String>| {
            let text = text.filter(|text| !text.is_empty())?;
            let pattern = pattern::regex(&text, pattern::Subject::Whole);
            let pattern = pattern.map_err(|what| self.obstacle(id, what)).ok()?;
            Some(Spanned::new(format!(r"\A(?:{pattern})\z"), Span::default()))
        };
        Some(Resources {
            load: true,
            limit,
            include: whole(include),
            exclude: whole(exclude),
            hosts: ResourceHosts::All,
            css_urls: true,
            cache,
            headers: true,
        })
    }

    /// Sets the credentials that a request's URL has: those of the first that begins like it.
    pub(super) fn credentials(&self, id: ElementId, held: &Scope, request: &mut Request) {
        // The outermost manager is the one that JMeter takes.
        let managers = held.configs.iter().filter(|id| self.class(**id) == "AuthManager");
        let Some(manager) = managers.last() else { return };
        let reader = self.read(*manager);
        let list = reader.list("AuthManager.auth_list");
        // Credentials that are sent at once are the same after they were forgotten.
        reader.pass(&["AuthManager.clearEachIteration", "AuthManager.controlledByThreadGroup"]);
        reader.finish();
        let source = request.url.source();
        let known = without_port(source.split("${").next().unwrap_or_default());
        let is_all = known.len() == without_port(source).len();
        for properties in elements(list) {
            let reader = Reader::new(self, *manager, properties);
            let Some(url) = reader.constant("Authorization.url") else { continue };
            let url = without_port(&url);
            if known.starts_with(&url) {
                // A header of the plan's own goes before what would be sent at once.
                let is_own = |name: &Template| name.source().eq_ignore_ascii_case("authorization");
                let has_own = request.headers.iter().any(|(name, _)| is_own(name));
                let auth = self.authorization(&reader);
                request.http.auth =
                    auth.filter(|auth| !has_own || !matches!(auth, Auth::Basic { .. }));
                reader.finish();
                return;
            }
            if !is_all && url.starts_with(&known) {
                self.obstacle(id, "credentials for a URL that is known only while the plan runs");
            }
        }
    }

    fn authorization(&self, reader: &Reader<'_>) -> Option<Auth> {
        let id = reader.element;
        let user = self.template(id, reader.source("Authorization.username"));
        let password = self.template(id, reader.source("Authorization.password"));
        let mechanism = reader.constant("Authorization.mechanism").unwrap_or_default();
        reader.given("Authorization.domain", "credentials of a domain");
        // A realm would choose among credentials that are asked for; these are sent at once.
        reader.pass(&["Authorization.realm"]);
        match mechanism.as_str() {
            "" | "BASIC" | "BASIC_DIGEST" => Some(Auth::Basic { user, password }),
            "DIGEST" => Some(Auth::Digest { user, password }),
            other => {
                self.obstacle(id, format!("the mechanism `{other}`"));
                None
            }
        }
    }
}

/// A URL without a port that is its protocol's.
fn without_port(url: &str) -> String {
    let port = if url.starts_with("https:") { ":443" } else { ":80" };
    let Some(host) = url.find("://").map(|at| at + 3) else { return url.to_owned() };
    let path = url[host..].find('/').map_or(url.len(), |at| host + at);
    let (origin, path) = url.split_at(path);
    format!("{}{path}", origin.strip_suffix(port).unwrap_or(origin))
}

#[cfg(test)]
mod tests {
    use super::without_port;

    #[test]
    fn ports_of_protocols_go_without_saying() {
        for (url, expected) in [
            ("http://a:80/b", "http://a/b"),
            ("https://a:443", "https://a"),
            ("http://a:443/:80", "http://a:443/:80"),
            ("", ""),
        ] {
            assert_eq!(without_port(url), expected);
        }
    }
}
