//! Where requests may go: nobody loads a third party by accident.

/// Hosts that a plan names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    /// Host in small letters; `None`: any port.
    exact: Vec<(String, Option<u16>)>,
    /// What a host must end with, beginning with the dot.
    suffixes: Vec<String>,
}

impl Hosts {
    /// Allows `host`, `host:port` or `*.suffix`.
    pub(crate) fn allow(&mut self, text: &str) {
        let text = text.trim().to_ascii_lowercase();
        if let Some(suffix) = text.strip_prefix('*') {
            return self.suffixes.push(suffix.to_owned());
        }
        let port =
            text.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
        match port.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?))) {
            Some((host, port)) => self.exact.push((bare(&host).to_owned(), Some(port))),
            None => self.exact.push((bare(&text).to_owned(), None)),
        }
    }

    /// Allows an origin that the plan names literally.
    pub(crate) fn allow_origin(&mut self, host: &str, port: u16) {
        self.exact.push((host.to_ascii_lowercase(), Some(port)));
    }

    /// Whether requests may go there.
    pub(crate) fn allows(&self, host: &str, port: u16) -> bool {
        let exact =
            |(own, on): &(String, Option<u16>)| own == host && on.is_none_or(|on| on == port);
        self.exact.iter().any(exact)
            || self.suffixes.iter().any(|suffix| host.ends_with(suffix.as_str()))
    }

    /// Why requests may not go there, and what to do.
    pub(crate) fn explain(&self, host: &str, port: u16) -> String {
        format!(
            "the plan does not name {host}:{port}, and a host that only setup or a response names has to be \
             allowed: if it is yours to load, add it to `allow_hosts`"
        )
    }
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_allowed() {
        let mut hosts = Hosts::default();
        ["a.example", "b.example:8080", "*.c.example", "[::1]:90"]
            .iter()
            .for_each(|text| hosts.allow(text));
        for (host, port, allowed) in [
            ("a.example", 1, true),
            ("b.example", 8080, true),
            ("b.example", 80, false),
            ("x.c.example", 5, true),
            ("c.example", 5, false),
            ("evil-c.example", 5, false),
            ("::1", 90, true),
            ("::1", 91, false),
        ] {
            assert_eq!(hosts.allows(host, port), allowed, "{host}:{port}");
        }
    }
}
