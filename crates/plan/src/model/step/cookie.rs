//! A step that sets a cookie.

use super::kind::Kind;
use crate::keys::{Rule, record};
use crate::template::Template;

record! {
    /// A cookie that a step sets. It obeys what those of servers obey, see RFC 6265bis.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Cookie as "a cookie" {
        /// Its name, not empty.
        #[key(required)]
        pub name: Template,
        /// Its value.
        #[key(required)]
        pub value: Template,
        /// The page whose response would have set it.
        pub url: Option<Template>,
        /// The host that it is sent to, including subdomains.
        #[key(default "the target's host only")]
        pub domain: Option<Template>,
        /// The path that it is sent to, including paths below it.
        #[key(default "/")]
        pub path: Option<Template>,
        /// Whether it is sent over TLS only.
        pub secure: bool,
        /// Name of the user's jar that it is put into.
        #[key(default "the jar without a name")]
        pub cookie_jar: Option<String>,
    }
    rules(_this, keys) {
        let help = "a cookie has either `url`, or `domain` and `path`";
        keys.rule(Rule::Excludes("url", "domain", help));
        keys.rule(Rule::Excludes("url", "path", help));
    }
}

impl<S> Kind<S> for Cookie {}
