//! Where modules come from: files, and URLs. Pure.

use std::fmt;
use std::path::{Path, PathBuf};

use url::{Host, Url};

use crate::module::Language;

/// Where a module comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// What a URL has given before; it has no fragment and no user.
    Url(Box<Url>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => path.display().fmt(f),
            Origin::Url(url) => url.fmt(f),
        }
    }
}

impl Origin {
    /// Its file; `None`: it comes from a URL.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Url(_) => None,
        }
    }

    /// The language that it is written in.
    pub(crate) fn language(&self) -> Language {
        match self {
            Origin::File(path) => Language::of(&path.to_string_lossy()),
            Origin::Url(url) => Language::of(url.path()),
        }
    }

    /// The URL that a module from here means by what it imports; `None`: it means no URL.
    ///
    /// # Errors
    /// Modules are not taken from such a URL, in words that follow it.
    pub(crate) fn url(&self, source: &str) -> Option<Result<Url, String>> {
        let url = match self {
            _ if source.contains("://") => Url::parse(source),
            Origin::Url(own) if is_path(source) => own.join(source),
            _ => return None,
        };
        Some(url.map_err(|error| format!("it cannot be read as a URL: {error}")).and_then(checked))
    }
}

/// Whether what is imported is a path.
pub(crate) fn is_path(source: &str) -> bool {
    ["./", "../", "/"].iter().any(|own| source.starts_with(own)) || matches!(source, "." | "..")
}

/// A URL from which a module may be taken, without its fragment.
fn checked(mut url: Url) -> Result<Url, String> {
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Err("modules come from files, and from URLs that begin with https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its user and password would be written to a file: leave them out".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_relative_to_the_module_that_imports_them() {
        let file = Origin::File("/t/a.js".into());
        let url = Url::parse("https://a.example/lib/1.0/x.js?v=1").expect("a URL");
        let url = Origin::Url(Box::new(url));
        let of = |own: &Origin, source: &str| own.url(source).map(|own| own.map(String::from));
        for (source, expected) in [
            ("./y.js", "https://a.example/lib/1.0/y.js"),
            ("../z.ts#part", "https://a.example/lib/z.ts"),
            ("/root.js", "https://a.example/root.js"),
            ("https://b.example/q.js?x=1", "https://b.example/q.js?x=1"),
        ] {
            assert_eq!(of(&url, source), Some(Ok(expected.to_owned())), "{source}");
        }
        assert_eq!(of(&url, "lodash"), None);
        assert_eq!(of(&file, "./y.js"), None);
        for local in ["http://127.0.0.1:1/x.js", "http://localhost/x.js", "http://[::1]:2/x.js"] {
            assert_eq!(of(&file, local), Some(Ok(local.to_owned())));
        }
        for (source, said) in [
            ("http://a.example/x.js", "begin with https://"),
            ("http://localhost.a.example/x.js", "begin with https://"),
            ("file:///etc/x.js", "begin with https://"),
            ("https://me:word@a.example/x.js", "its user and password"),
            ("https://", "it cannot be read as a URL"),
        ] {
            let error = of(&file, source).expect(source).expect_err(source);
            assert!(error.contains(said), "{source}: {error}");
        }
    }
}
