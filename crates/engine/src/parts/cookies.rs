//! A user's cookies (RFC 6265). An empty jar is one pointer. Parsing is the `cookie` crate's; the
//! jar's rules (domain, path, secure, expiry) are here, since a full store with a public suffix list
//! would cost each of many thousand users several KB.

use cookie::Cookie;
use cookie::time::OffsetDateTime;

/// Most cookies of a user; the oldest goes first.
const MAX_COOKIES: usize = 50;

/// The cookies of one user.
#[derive(Debug, Default)]
#[allow(clippy::box_collection)] // a pointer in place of three: most users have no cookie
pub(crate) struct Jar(Option<Box<Vec<Stored>>>);

#[derive(Debug)]
struct Stored {
    name: Box<str>,
    value: Box<str>,
    domain: Box<str>,
    /// Whether it goes to the host that set it, and to no other.
    host_only: bool,
    path: Box<str>,
    secure: bool,
    /// Seconds since 1970; `None`: with the user.
    expires: Option<i64>,
}

/// Where a request goes, as far as cookies care.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    pub host: &'a str,
    /// Without query.
    pub path: &'a str,
    pub secure: bool,
    /// Seconds since 1970.
    pub now: i64,
}

impl Jar {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Keeps, replaces or removes a cookie as a Set-Cookie line says (section 5.3).
    pub(crate) fn set(&mut self, line: &[u8], site: Site<'_>) {
        let Ok(cookie) = Cookie::parse(String::from_utf8_lossy(line).into_owned()) else { return };
        let domain =
            cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
        let domain = domain.filter(|domain| !domain.is_empty());
        // A cookie may be for a parent of its host, but not for another, nor for a whole top level.
        if domain.as_deref().is_some_and(|domain| {
            !matches_domain(site.host, domain) || !(domain.contains('.') || domain == site.host)
        }) {
            return;
        }
        let path =
            cookie.path().filter(|path| path.starts_with('/')).unwrap_or(default_path(site.path));
        let expires = match (cookie.max_age(), cookie.expires_datetime()) {
            (Some(age), _) => Some(site.now.saturating_add(age.whole_seconds())),
            (None, Some(at)) => Some(OffsetDateTime::unix_timestamp(at)),
            (None, None) => None,
        };
        let stored = Stored {
            name: cookie.name().into(),
            value: cookie.value().into(),
            host_only: domain.is_none(),
            domain: domain.unwrap_or_else(|| site.host.to_owned()).into(),
            path: path.into(),
            secure: cookie.secure().unwrap_or(false),
            expires,
        };
        let all = self.0.get_or_insert_default();
        all.retain(|own| {
            (&own.name, &own.domain, &own.path) != (&stored.name, &stored.domain, &stored.path)
        });
        if stored.expires.is_none_or(|at| at > site.now) {
            if all.len() >= MAX_COOKIES {
                all.remove(0);
            }
            all.push(stored);
        }
        if all.is_empty() {
            self.0 = None;
        }
    }

    /// Appends `name=value; name=value` of the cookies that go there; whether there is any.
    pub(crate) fn header(&self, site: Site<'_>, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        for cookie in self.0.iter().flat_map(|all| all.iter()).filter(|cookie| cookie.goes_to(site))
        {
            if out.len() > from {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(cookie.name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(cookie.value.as_bytes());
        }
        out.len() > from
    }

    /// The value of the newest cookie of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter().flat_map(|all| all.iter().rev());
        all.find(|cookie| &*cookie.name == name).map(|cookie| &*cookie.value)
    }
}

impl Stored {
    fn goes_to(&self, site: Site<'_>) -> bool {
        let domain = if self.host_only {
            *self.domain == *site.host
        } else {
            matches_domain(site.host, &self.domain)
        };
        domain
            && matches_path(site.path, &self.path)
            && (site.secure || !self.secure)
            && self.expires.is_none_or(|at| at > site.now)
    }
}

/// Section 5.1.3.
fn matches_domain(host: &str, domain: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>().is_ok();
    host == domain
        || (!address && host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
}

/// Section 5.1.4.
fn matches_path(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
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

    #[test]
    fn cookies_go_where_they_belong() {
        let mut jar = Jar::default();
        for line in [
            "a=1",
            "b=2; Domain=shop.example; Path=/",
            "c=3; Path=/cart",
            "d=4; Secure; Path=/",
            "e=5; Max-Age=10; Path=/",
        ] {
            jar.set(line.as_bytes(), site("www.shop.example", "/x/y"));
        }
        jar.set(b"evil=1; Domain=other.example", site("www.shop.example", "/"));
        jar.set(b"top=1; Domain=example", site("www.shop.example", "/"));
        assert_eq!(sent(&jar, site("www.shop.example", "/x/z")), "a=1; b=2; e=5");
        assert_eq!(sent(&jar, site("api.shop.example", "/cart/1")), "b=2");
        assert_eq!(sent(&jar, site("www.shop.example", "/cartoon")), "b=2; e=5");
        assert_eq!(
            sent(&jar, Site { secure: true, ..site("www.shop.example", "/cart") }),
            "b=2; c=3; d=4; e=5"
        );
        assert_eq!(sent(&jar, Site { now: 2_000, ..site("www.shop.example", "/") }), "b=2");
        assert_eq!(jar.get("c"), Some("3"));
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

    #[test]
    fn any_line_is_a_cookie_or_nothing() {
        use proptest::prelude::*;
        proptest!(|(line in prop::collection::vec(any::<u8>(), 0..60))| {
            let mut jar = Jar::default();
            jar.set(&line, site("host.example", "/p"));
            sent(&jar, site("host.example", "/p"));
        });
    }
}
