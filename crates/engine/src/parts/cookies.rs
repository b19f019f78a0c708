//! A user's cookies: which a jar takes, keeps and sends (RFC 6265bis, sections 5.7 and 5.8, without a
//! list of public suffixes, which would cost more than the rest). An empty jar is one pointer.

use std::borrow::Cow;
use std::cell::Cell;

use super::set_cookie::SetCookie;

/// Most cookies of a user for one domain, and in all; beyond that the one that was used least
/// recently goes. Section 6.1 asks for 50 a domain.
const MAX_OF_DOMAIN: usize = 50;
const MAX_IN_ALL: usize = 180;

/// The cookies of one user.
#[derive(Debug, Default)]
pub(crate) struct Jar(Option<Box<Cookies>>);

#[derive(Debug, Default)]
struct Cookies {
    /// In the order in which they are sent: longer paths first, then the older.
    all: Vec<Stored>,
    /// Goes on with every use, which has no time of its own.
    clock: Cell<u64>,
}

#[derive(Debug)]
struct Stored {
    name: Box<[u8]>,
    value: Box<[u8]>,
    domain: Box<str>,
    /// Whether it goes to the host that set it, and to no other.
    host_only: bool,
    path: Box<[u8]>,
    secure: bool,
    /// Seconds since 1970; `None`: with the user.
    expires: Option<i64>,
    /// When it was set last, and set or sent last, on the clock of [`Cookies`].
    set: u64,
    used: Cell<u64>,
}

/// Where a request goes, as far as cookies care.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    pub host: &'a str,
    pub path: &'a str,
    pub secure: bool,
    /// Seconds since 1970.
    pub now: i64,
}

impl Jar {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Keeps, replaces or removes a cookie as a Set-Cookie line says; one that may not be set there is
    /// passed over. Returns whether it was not.
    pub(crate) fn set(&mut self, line: &[u8], site: Site<'_>) -> bool {
        let Some(cookie) = SetCookie::parse(line).and_then(|line| Stored::new(line, site)) else {
            return false;
        };
        let jar = self.0.get_or_insert_default();
        let taken = jar.insert(cookie, site);
        if jar.all.is_empty() {
            self.0 = None;
        }
        taken
    }

    /// Appends `name=value; name=value` of the cookies that go there; whether there is any.
    pub(crate) fn header(&self, site: Site<'_>, out: &mut Vec<u8>) -> bool {
        let Some(jar) = &self.0 else { return false };
        let (from, now) = (out.len(), jar.tick());
        for cookie in jar.all.iter().filter(|cookie| cookie.goes_to(site)) {
            if out.len() > from {
                out.extend_from_slice(b"; ");
            }
            if !cookie.name.is_empty() {
                out.extend_from_slice(&cookie.name);
                out.push(b'=');
            }
            out.extend_from_slice(&cookie.value);
            cookie.used.set(now);
        }
        out.len() > from
    }

    /// Names and values of the cookies that go there, in the order in which they are sent.
    pub(crate) fn pairs(&self, site: Site<'_>) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = self.0.iter().flat_map(|jar| &jar.all).filter(|own| own.goes_to(site));
        all.map(|own| (text(&own.name), text(&own.value))).collect()
    }

    /// Forgets the cookies that go there: the one of a name, or all.
    pub(crate) fn forget(&mut self, site: Site<'_>, name: Option<&str>) {
        let Some(jar) = &mut self.0 else { return };
        let is_meant = |own: &Stored| name.is_none_or(|name| *own.name == *name.as_bytes());
        jar.all.retain(|own| !(is_meant(own) && own.goes_to(site)));
        if jar.all.is_empty() {
            self.0 = None;
        }
    }

    /// The value of the cookie of a name that was set last, is not over, and goes to pages of a host, if one is given; what is
    /// not UTF-8 in it is replaced.
    pub(crate) fn get(&self, name: &str, host: Option<&str>, now: i64) -> Option<Cow<'_, str>> {
        let all = self.0.iter().flat_map(|jar| &jar.all);
        let is_meant = |cookie: &&Stored| {
            *cookie.name == *name.as_bytes()
                && host.is_none_or(|host| cookie.is_of(host))
                && !cookie.is_over(now)
        };
        let found = all.filter(is_meant).max_by_key(|c| c.set);
        found.map(|cookie| String::from_utf8_lossy(&cookie.value))
    }
}

impl Cookies {
    fn tick(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }

    /// Returns whether the cookie may be set.
    fn insert(&mut self, mut cookie: Stored, site: Site<'_>) -> bool {
        // A page that came in the clear may not replace what came over TLS.
        let guarded = |own: &Stored| {
            own.secure
                && own.name == cookie.name
                && (matches_domain(&own.domain, &cookie.domain)
                    || matches_domain(&cookie.domain, &own.domain))
                && matches_path(&cookie.path, &own.path)
        };
        if !site.secure && !cookie.secure && self.all.iter().any(guarded) {
            return false;
        }
        self.all.retain(|own| !own.is_over(site.now) || own.is_same(&cookie));
        cookie.set = self.tick();
        cookie.used.set(cookie.set);
        match self.all.iter().position(|own| own.is_same(&cookie)) {
            Some(at) if cookie.is_over(site.now) => drop(self.all.remove(at)),
            Some(at) => self.all[at] = cookie,
            None if cookie.is_over(site.now) => {}
            None => {
                let domain = cookie.domain.clone();
                let longer = |own: &Stored| own.path.len() >= cookie.path.len();
                let at = self.all.partition_point(longer);
                self.all.insert(at, cookie);
                self.shrink(MAX_OF_DOMAIN, |own| own.domain == domain);
                self.shrink(MAX_IN_ALL, |_| true);
            }
        }
        true
    }

    /// Removes the least recently used of some cookies if there are more than `most`.
    fn shrink(&mut self, most: usize, of: impl Fn(&Stored) -> bool) {
        let some = || self.all.iter().enumerate().filter(|(_, cookie)| of(cookie));
        if some().count() > most
            && let Some((at, _)) = some().min_by_key(|(_, cookie)| cookie.used.get())
        {
            self.all.remove(at);
        }
    }
}

impl Stored {
    /// The cookie of a line, if this site may set it.
    fn new(line: SetCookie<'_>, site: Site<'_>) -> Option<Stored> {
        let SetCookie { name, value, domain, path, secure, expires, max_age, .. } = line;
        // A cookie may be for a parent of its host, but not for another, nor for a whole top level.
        let allowed = domain.is_empty()
            || (matches_domain(site.host, &domain)
                && (domain.contains('.') || domain == site.host));
        // What is said of a name holds for a cookie without one, too: servers cannot tell them apart.
        let called = if name.is_empty() { value } else { name };
        let begins = |prefix: &[u8]| {
            called.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
        };
        let prefixed = if begins(b"__Host-") {
            !name.is_empty() && secure && domain.is_empty() && path == Some(b"/")
        } else if begins(b"__Secure-") {
            !name.is_empty() && secure
        } else {
            true
        };
        if !allowed || !prefixed || (secure && !site.secure) {
            return None;
        }
        let path = path.unwrap_or(default_path(site.path).as_bytes());
        Some(Stored {
            name: name.into(),
            value: value.into(),
            host_only: domain.is_empty(),
            domain: if domain.is_empty() { site.host.into() } else { domain.into() },
            path: path.into(),
            secure,
            expires: max_age.map(|age| site.now.saturating_add(age)).or(expires),
            set: 0,
            used: Cell::new(0),
        })
    }

    /// Whether one replaces the other.
    fn is_same(&self, other: &Stored) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.host_only == other.host_only
            && self.path == other.path
    }

    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    fn is_of(&self, host: &str) -> bool {
        if self.host_only { *self.domain == *host } else { matches_domain(host, &self.domain) }
    }

    fn goes_to(&self, site: Site<'_>) -> bool {
        self.is_of(site.host)
            && matches_path(site.path.as_bytes(), &self.path)
            && (site.secure || !self.secure)
            && !self.is_over(site.now)
    }
}

/// RFC 6265, section 5.1.3.
fn matches_domain(host: &str, domain: &str) -> bool {
    let below = || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    host == domain || (below() && host.parse::<std::net::IpAddr>().is_err())
}

/// RFC 6265, section 5.1.4.
fn matches_path(path: &[u8], of_cookie: &[u8]) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with(b"/") || rest.starts_with(b"/"))
}

/// RFC 6265, section 5.1.4.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) if at > 0 && path.starts_with('/') => &path[..at],
        _ => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site<'a>(host: &'a str, path: &'a str) -> Site<'a> {
        Site { host, path, secure: false, now: 1_000 }
    }

    fn sent(jar: &Jar, site: Site<'_>) -> String {
        let mut out = Vec::new();
        jar.header(site, &mut out);
        String::from_utf8(out).expect("text")
    }

    /// The value of a cookie of any host, at the time of [`site`].
    fn get(jar: &Jar, name: &str) -> Option<String> {
        jar.get(name, None, 1_000).map(Cow::into_owned)
    }

    #[test]
    fn a_cookie_that_is_over_or_of_another_host_has_no_value() {
        let mut jar = Jar::default();
        for line in ["a=1; Max-Age=2; Path=/cart", "b=2; Domain=shop.example", "a=3; Path=/x"] {
            jar.set(line.as_bytes(), site("www.shop.example", "/"));
        }
        jar.set(b"a=4; Max-Age=3", site("other.example", "/"));
        for (name, host, now, expected) in [
            ("a", Some("other.example"), 1_002, Some("4")),
            ("a", Some("other.example"), 1_003, None),
            ("a", Some("www.shop.example"), 1_000, Some("3")),
            ("a", None, 1_000, Some("4")),
            ("a", None, 1_003, Some("3")),
            ("a", Some("shop.example"), 1_000, None),
            ("b", Some("api.shop.example"), 1_000, Some("2")),
            ("b", Some("other.example"), 1_000, None),
        ] {
            let found = jar.get(name, host, now);
            assert_eq!(found.as_deref(), expected, "{name} {host:?} {now}");
        }
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let mut jar = Jar::default();
        for line in [
            "a=1",
            "b=2; Domain=shop.example; Path=/",
            "c=3; Path=/cart",
            "d=no; Secure; Path=/",
            "e=5; Max-Age=10; Path=/",
        ] {
            jar.set(line.as_bytes(), site("www.shop.example", "/x/y"));
        }
        assert_eq!(get(&jar, "d"), None, "it may not be set in the clear");
        let tls = Site { secure: true, ..site("www.shop.example", "/x/y") };
        assert!(jar.set(b"d=4; Secure; Path=/", tls));
        jar.set(b"evil=1; Domain=other.example", site("www.shop.example", "/"));
        jar.set(b"top=1; Domain=example", site("www.shop.example", "/"));
        assert_eq!(sent(&jar, site("www.shop.example", "/x/z")), "a=1; b=2; e=5");
        assert_eq!(sent(&jar, site("api.shop.example", "/cart/1")), "b=2");
        assert_eq!(sent(&jar, site("www.shop.example", "/cartoon")), "b=2; e=5");
        assert_eq!(
            sent(&jar, Site { secure: true, ..site("www.shop.example", "/cart") }),
            "c=3; b=2; e=5; d=4"
        );
        assert_eq!(sent(&jar, Site { now: 2_000, ..site("www.shop.example", "/") }), "b=2");
        assert_eq!(get(&jar, "c").as_deref(), Some("3"));
    }

    #[test]
    fn a_cookie_is_replaced_and_removed() {
        let mut jar = Jar::default();
        jar.set(b"a=1; Path=/", site("h", "/"));
        jar.set(b"a=2; Path=/", site("h", "/"));
        assert_eq!(sent(&jar, site("h", "/")), "a=2");
        jar.set(b"a=; Path=/; Max-Age=0", site("h", "/"));
        assert!(jar.is_empty());
        assert_eq!(size_of::<Jar>(), 8);
    }

    /// A response's cookie that holds a line end made a request of this jar carry another header.
    #[test]
    fn no_cookie_ends_a_line_of_the_request() {
        for bad in ["a=1\rX-Evil: 1", "a=1\nX-Evil: 1", "a=1\0", "a\r=1", "a=1; Path=/\r"] {
            let mut jar = Jar::default();
            jar.set(bad.as_bytes(), site("h", "/"));
            assert!(jar.is_empty(), "{bad:?}");
        }
    }

    #[test]
    fn longer_paths_go_first_then_older_cookies() {
        let mut jar = Jar::default();
        for line in ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/"] {
            jar.set(line.as_bytes(), site("h", "/x/y/z"));
        }
        jar.set(b"a=5; Path=/", site("h", "/"));
        assert_eq!(sent(&jar, site("h", "/x/y/z")), "b=2; c=3; a=5; d=4", "a is as old as before");
        jar.set(b"nameless; Path=/", site("h", "/"));
        assert_eq!(sent(&jar, site("h", "/")), "a=5; d=4; nameless");
    }

    #[test]
    fn the_least_recently_used_cookie_of_a_domain_goes() {
        let mut jar = Jar::default();
        for n in 0..50 {
            jar.set(format!("n{n}=1; Path=/{n}").as_bytes(), site("a.example", "/"));
        }
        sent(&jar, site("a.example", "/0"));
        jar.set(b"new=1; Path=/", site("a.example", "/"));
        assert_eq!(get(&jar, "n0").as_deref(), Some("1"), "it has just been sent");
        assert_eq!((get(&jar, "n1"), get(&jar, "new").as_deref()), (None, Some("1")));
        assert_eq!(jar.0.as_ref().map(|jar| jar.all.len()), Some(50));
    }

    #[test]
    fn cookies_that_are_over_go_first() {
        let mut jar = Jar::default();
        for n in 0..50 {
            let line = format!("n{n}=1; Max-Age={}", if n == 30 { 10 } else { 5_000 });
            jar.set(line.as_bytes(), site("h", "/"));
        }
        jar.set(b"new=1", Site { now: 2_000, ..site("h", "/") });
        assert_eq!((get(&jar, "n30"), get(&jar, "n0").as_deref()), (None, Some("1")));
    }

    #[test]
    fn a_user_has_no_more_than_180_cookies_of_all_domains() {
        let mut jar = Jar::default();
        for n in 0..500 {
            let host = format!("h{}.example", n % 20);
            jar.set(format!("n{n}=1").as_bytes(), site(&host, "/"));
        }
        assert_eq!(jar.0.as_ref().map(|jar| jar.all.len()), Some(180));
        assert_eq!((get(&jar, "n319"), get(&jar, "n320").as_deref()), (None, Some("1")));
    }

    #[test]
    fn names_with_prefixes_hold_what_they_promise() {
        let tls = Site { secure: true, ..site("www.shop.example", "/x") };
        for (line, taken) in [
            ("__Secure-a=1; Secure", true),
            ("__Secure-a=1", false),
            ("__host-a=1; Secure; Path=/", true),
            ("__Host-a=1; Secure", false),
            ("__Host-a=1; Secure; Path=/x", false),
            ("__Host-a=1; Path=/", false),
            ("__Host-a=1; Secure; Path=/; Domain=shop.example", false),
            ("=__Host-a=1; Secure; Path=/", false),
            ("__Secure-; Secure", false),
        ] {
            let mut jar = Jar::default();
            jar.set(line.as_bytes(), tls);
            assert_eq!(!jar.is_empty(), taken, "{line}");
            jar.set(line.as_bytes(), Site { secure: false, host: "other.example", ..tls });
            assert_eq!(
                jar.0.map_or(0, |jar| jar.all.len()),
                usize::from(taken),
                "{line} in the clear"
            );
        }
    }

    #[test]
    fn what_came_over_tls_is_not_replaced_in_the_clear() {
        let clear = site("www.shop.example", "/");
        let tls = Site { secure: true, ..clear };
        let mut jar = Jar::default();
        jar.set(b"sid=good; Secure; Path=/", tls);
        jar.set(b"sid=bad; Path=/", clear);
        jar.set(b"sid=bad; Domain=shop.example; Path=/", clear);
        assert_eq!(sent(&jar, tls), "sid=good");
        jar.set(b"sid=better; Path=/", tls);
        assert_eq!(sent(&jar, clear), "sid=better");
    }

    #[test]
    fn domains_match_whole_labels_of_names_only() {
        for (host, domain, matches) in [
            ("a.b.c", "a.b.c", true),
            ("a.b.c", "b.c", true),
            ("ab.c", "b.c", false),
            ("b.c", "a.b.c", false),
            ("10.0.0.1", "0.0.1", false),
            ("10.0.0.1", "10.0.0.1", true),
            ("::1", "1", false),
        ] {
            assert_eq!(matches_domain(host, domain), matches, "{host} {domain}");
        }
        for (path, default) in
            [("/a/b", "/a"), ("/a/", "/a"), ("/a", "/"), ("/", "/"), ("", "/"), ("a/b", "/")]
        {
            assert_eq!(default_path(path), default, "{path}");
        }
    }

    #[test]
    fn bytes_come_back_as_they_came() {
        let mut jar = Jar::default();
        jar.set(b"a=\xe9\xff", site("h", "/"));
        let mut out = Vec::new();
        assert!(jar.header(site("h", "/"), &mut out));
        assert_eq!(out, b"a=\xe9\xff");
    }

    #[test]
    fn any_line_is_a_cookie_or_nothing() {
        use proptest::prelude::*;
        proptest!(|(line in prop::collection::vec(any::<u8>(), 0..60))| {
            let mut jar = Jar::default();
            jar.set(&line, site("host.example", "/p"));
            let mut out = Vec::new();
            jar.header(site("host.example", "/p"), &mut out);
            prop_assert!(out.iter().all(|byte| !byte.is_ascii_control() || *byte == b'\t'));
        });
    }
}
