//! Proxies: what a text says of one, and which one a request goes through.

use std::fmt;
use std::sync::Arc;

use squall_base::form;
use squall_wire::{Origin, Proxy};

use super::hosts::Hosts;
use super::url::{self, host_and_port};

/// The port of a proxy where its URL has none: that of Squid.
const DEFAULT_PORT: u16 = 3128;

/// The word for no proxy at all.
const NONE: &str = "none";

/// The proxy of a plan, and the hosts to which requests go without it.
#[derive(Debug, Default)]
pub(crate) struct PlanProxy {
    pub proxy: Option<Arc<Proxy>>,
    pub except: Hosts,
}

/// What a request says of its proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ProxyChoice {
    /// That of the plan.
    #[default]
    OfPlan,
    Direct,
    Own(Arc<Proxy>),
}

impl ProxyChoice {
    /// The meaning of a text: empty, `none`, or the URL of a proxy.
    ///
    /// # Errors
    /// It is none of these.
    pub(crate) fn read(text: &str) -> Result<ProxyChoice, String> {
        match text {
            "" => Ok(ProxyChoice::OfPlan),
            NONE => Ok(ProxyChoice::Direct),
            _ => read(text).map(|proxy| ProxyChoice::Own(Arc::new(proxy))),
        }
    }

    /// Whether it is allowed by a list of hosts: what a proxy gets to see is as much as a target does.
    ///
    /// # Errors
    /// Why it is not.
    pub(crate) fn is_allowed(&self, hosts: &Hosts) -> Result<(), String> {
        let ProxyChoice::Own(proxy) = self else { return Ok(()) };
        let Proxy { host, port, .. } = &**proxy;
        let known = match host.contains(':') {
            true => url::host(&format!("[{host}]")),
            false => url::host(host),
        };
        match known {
            Ok(host) if hosts.allows(&host, *port) => Ok(()),
            _ => Err(hosts.explain(host, *port, None)),
        }
    }

    /// The proxy that is in between where requests go to an origin.
    pub(crate) fn toward(&self, origin: &Origin, plan: &PlanProxy) -> Option<Arc<Proxy>> {
        let proxy = match self {
            ProxyChoice::Own(proxy) => Some(proxy),
            ProxyChoice::Direct => None,
            ProxyChoice::OfPlan => {
                plan.proxy.as_ref().filter(|_| !plan.except.allows(&origin.host, origin.port))
            }
        };
        proxy.filter(|_| origin.is_http()).cloned()
    }
}

/// An HTTP proxy from its URL, `http://[user:password@]host:port`; what may not stand in a URL is percent-encoded.
///
/// # Errors
/// The text is none; the error says what was expected, and shows no credentials.
pub(crate) fn read(text: &str) -> Result<Proxy, String> {
    let shown = match text.rsplit_once('@') {
        Some((_, place)) => format!("...@{place}"),
        None => text.to_owned(),
    };
    let bad = |reason: &dyn fmt::Display| {
        format!("invalid proxy `{shown}`: {reason}; write it as http://host:port")
    };
    let rest =
        text.strip_prefix("http://").ok_or_else(|| bad(&"it does not begin with http://"))?;
    let rest = rest.trim_end_matches('/');
    let (credentials, authority) = match rest.rsplit_once('@') {
        Some((credentials, authority)) => (Some(credentials), authority),
        None => (None, rest),
    };
    if authority.contains(['/', '?', '#']) {
        return Err(bad(&"a proxy has no path"));
    }
    // In a form a plus is a space, and here it is itself.
    let decoded = |text: &str| {
        let bytes = form::decode(text.replace('+', "%2B").as_bytes())?;
        String::from_utf8(bytes).ok()
    };
    let credentials = match credentials.map(decoded) {
        Some(None) => {
            return Err(bad(&"a `%` of its user or password is written as `%25`"));
        }
        known => known.flatten(),
    };
    let (host, port) = host_and_port(authority).map_err(|error| bad(&error))?;
    Ok(Proxy { host: host.to_owned(), port: port.unwrap_or(DEFAULT_PORT), credentials })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::url;

    #[test]
    fn proxies_by_their_urls() {
        for (text, host, port, credentials) in [
            ("http://proxy", "proxy", 3128, None),
            ("http://[::1]:81/", "::1", 81, None),
            ("http://ada:p%40s+s%25@proxy:80", "proxy", 80, Some("ada:p@s+s%")),
            ("http://ada:p@ss@proxy", "proxy", 3128, Some("ada:p@ss")),
            ("http://ada@proxy", "proxy", 3128, Some("ada")),
        ] {
            let credentials = credentials.map(str::to_owned);
            assert_eq!(read(text), Ok(Proxy { host: host.to_owned(), port, credentials }));
        }
        for text in
            ["proxy:80", "https://proxy", "http://", "http://a:x", "http://ada:swordfish%@a"]
        {
            let error = read(text).expect_err(text);
            assert!(
                error.starts_with("invalid proxy `") && !error.contains("swordfish"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_path_of_a_proxy_is_not_its_port() {
        for text in ["http://x:1/path", "http://x?a", "http://ada:p@x/path"] {
            let error = read(text).expect_err(text);
            assert!(error.contains(": a proxy has no path; write it as"), "{error}");
        }
    }

    #[test]
    fn which_proxy_a_request_goes_through() {
        let proxy = |text| Arc::new(read(text).expect("a proxy"));
        let mut except = Hosts::default();
        except.allow("*.local.test").expect("hosts");
        let plan = PlanProxy { proxy: Some(proxy("http://plan")), except };
        let [shop, near] = ["https://shop.test", "http://a.local.test"]
            .map(|text| url::parse(text).expect("a URL").origin);
        let bytes = url::tcp("db.test:7000").expect("a place");
        for (choice, expected) in [
            ("", [Some("http://plan"), None, None]),
            ("none", [None; 3]),
            ("http://own", [Some("http://own"), Some("http://own"), None]),
        ] {
            let choice = ProxyChoice::read(choice).expect("a choice");
            let found = [&shop, &near, &bytes].map(|origin| choice.toward(origin, &plan));
            assert_eq!(found, expected.map(|text| text.map(proxy)), "{choice:?}");
        }
    }
}
