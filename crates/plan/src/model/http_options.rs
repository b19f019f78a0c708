//! How requests are made and judged: what a request may say itself, and `defaults` for those that do not.

use serde_json::{Value, json};

use super::user_time::{TimeOfUser, UserTime};
use crate::keys::{
    self, Bool, Chosen, Key, Keys, Like, Maybe, Of, OwnProxy, Positive, Short, ShortOr, Size,
    Small, Templated, Union, record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

/// Most steps or resources at the same time, where the plan does not say: so many connections a browser opens to one
/// host over HTTP/1.1.
pub const DEFAULT_PARALLEL: u32 = 6;
/// Most that a plan may ask for.
pub const MAX_PARALLEL: u32 = 1_000;

record! {
    /// How a request is made and judged, as far as `defaults` may say it too. A request's own take precedence over those
    /// of its scenario's defaults, and these over those of the plan's.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct HttpOptions as "options of a request" {
        /// Timeouts: of the whole request, or of each of its phases.
        #[key([ShortOr<Timeouts>])]
        pub timeout: Timeouts,
        /// Maximum number of redirects followed in one request.
        #[key(default "0: a step is one request")]
        pub redirects: Option<u32>,
        /// Whether any redirect of a method other than HEAD is followed by a GET without a body, and a 307 only of GET and HEAD;
        /// otherwise that is so for 303, and for 301 and 302 of POST, and 307 and 308 keep method and body.
        #[key(default "false")]
        pub redirect_to_get: Option<bool>,
        /// Headers that follow a redirect to another origin, though they are credentials or Host;
        /// `Authorization` is that of `auth` too.
        #[key(default "none")]
        pub redirect_headers: Option<Vec<Spanned<String>>>,
        /// Whether `User-Agent` and `Accept` are sent where the plan gives no such header.
        #[key(default "true")]
        pub default_headers: Option<bool>,
        /// Whether the user's cookies go along, and those of the response are kept.
        #[key(default "true")]
        pub cookies: Option<bool>,
        /// Name of the user's jar that they are in: each user has one of each name.
        #[key(default "the jar without a name")]
        pub cookie_jar: Option<String>,
        /// Whether responses that lead on set cookies; otherwise only the last one does.
        #[key(default "true")]
        pub redirect_cookies: Option<bool>,
        /// Whether the user has a cache, for requests that are a GET.
        #[key(default "false")]
        pub cache: Option<CacheUse>,
        /// Name of that cache, which the resources of pages share: each user has one of each name.
        #[key(default "the cache without a name")]
        pub cache_name: Option<String>,
        /// Whether compressed responses are asked for (Accept-Encoding), and decompressed for the checks
        /// and extracts that read them.
        #[key(default "false")]
        pub compression: Option<bool>,
        /// Credentials.
        pub auth: Option<Auth>,
        /// Name of the client certificate that connections over TLS are made with, of `tls` in `connections`. Connections
        /// are reused only with the same one.
        #[key(default "`cert` of `tls`")]
        pub client_cert: Option<Template>,
        /// HTTP proxy, as in `connections`, whatever `no_proxy` says there; `none`: without; empty: as if it were not given.
        /// Connections are reused only with the same one.
        #[key([Maybe<Like<Templated, OwnProxy>>] default "`proxy` of `connections`")]
        pub proxy: Option<Template>,
        /// Local IP address that connections are made from; empty: as if it were not given. Connections are reused only with
        /// the same one.
        #[key(default "`source_addresses` of `connections` in turn")]
        pub source_address: Option<Template>,
        /// Maximum number of bytes of the body, as received and as decompressed; beyond it the request fails as
        /// `body_too_large`.
        #[key([Maybe<Size>] default "any")]
        pub max_body: Option<u64>,
        /// Maximum number of decompressed bytes for each byte of a compressed body; the first MiB is free.
        #[key([Maybe<Positive>] default "200")]
        pub max_decompression_ratio: Option<u64>,
        /// Whether a status of 400 and above is an error where no check looks at `status`.
        #[key(default "true")]
        pub status_errors: Option<bool>,
        /// Whether a request is repeated on a new connection where the target had closed the old one before
        /// it was delivered.
        #[key(default "true")]
        pub retry_stale: Option<bool>,
        /// Whether a request carries a trace ID of its own (`traceparent`), by which the target's tracing system knows it,
        /// unless its `headers` have that. Redirects belong to its trace, with a span each; what a page loads as well
        /// has traces of its own.
        #[key(default "false")]
        pub trace_context: Option<bool>,
        /// What pages load as well: images, styles, scripts, frames and icons.
        #[key([Maybe<ShortOr<Resources>>] default "false")]
        pub resources: Option<Resources>,
    }
}

impl HttpOptions {
    /// These, and those of the defaults where these say nothing.
    pub fn or(&self, defaults: &HttpOptions) -> HttpOptions {
        HttpOptions {
            timeout: self.timeout.or(&defaults.timeout),
            redirects: self.redirects.or(defaults.redirects),
            redirect_to_get: self.redirect_to_get.or(defaults.redirect_to_get),
            redirect_headers: either(&self.redirect_headers, &defaults.redirect_headers),
            default_headers: self.default_headers.or(defaults.default_headers),
            cookies: self.cookies.or(defaults.cookies),
            cookie_jar: either(&self.cookie_jar, &defaults.cookie_jar),
            redirect_cookies: self.redirect_cookies.or(defaults.redirect_cookies),
            cache: self.cache.or(defaults.cache),
            cache_name: either(&self.cache_name, &defaults.cache_name),
            compression: self.compression.or(defaults.compression),
            auth: either(&self.auth, &defaults.auth),
            client_cert: either(&self.client_cert, &defaults.client_cert),
            proxy: either(&self.proxy, &defaults.proxy),
            source_address: either(&self.source_address, &defaults.source_address),
            max_body: self.max_body.or(defaults.max_body),
            max_decompression_ratio: self
                .max_decompression_ratio
                .or(defaults.max_decompression_ratio),
            status_errors: self.status_errors.or(defaults.status_errors),
            retry_stale: self.retry_stale.or(defaults.retry_stale),
            trace_context: self.trace_context.or(defaults.trace_context),
            resources: either(&self.resources, &defaults.resources),
        }
    }
}

fn either<T: Clone>(own: &Option<T>, defaults: &Option<T>) -> Option<T> {
    own.as_ref().or(defaults.as_ref()).cloned()
}

record! {
    /// The resources of a page (images, styles, scripts, frames, icons), loaded as a browser does.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Resources as "resources" {
        /// Whether they are loaded: a request may do without what the defaults ask for.
        #[key(no)]
        pub load: bool,
        /// Maximum number of requests at the same time.
        #[key([Small<1, MAX_PARALLEL>])]
        pub limit: u32,
        /// A regular expression that the URL of each must match.
        pub include: Option<Spanned<String>>,
        /// A regular expression that it must not match.
        pub exclude: Option<Spanned<String>>,
        /// Which hosts they are loaded from.
        pub hosts: ResourceHosts,
        /// Whether what styles name by `url(...)` is loaded, images and fonts: all of it, where a browser loads what the rules
        /// that apply need.
        pub css_urls: bool,
        /// Whether users have a cache for them.
        pub cache: CacheUse,
        /// Whether they are requested with the headers of the page, in addition to those of `defaults`.
        pub headers: bool,
    }
}

impl Default for Resources {
    fn default() -> Self {
        Resources {
            load: true,
            limit: DEFAULT_PARALLEL,
            include: None,
            exclude: None,
            hosts: ResourceHosts::default(),
            css_urls: true,
            cache: CacheUse::Full,
            headers: false,
        }
    }
}

/// Whether they are loaded at all.
impl Short for Resources {
    type Form = Bool;
    fn from_short(load: bool) -> Resources {
        Resources { load, ..Resources::default() }
    }
    fn short(&self) -> Option<bool> {
        (*self == Resources::from_short(self.load)).then_some(self.load)
    }
}

/// Whether a user has a cache for what it asks for. It keeps what there is to know of responses, and no bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheUse {
    /// There is none.
    #[default]
    Off,
    /// What is fresh is not asked for again, what is stale is asked for with conditions (RFC 9111).
    Full,
    /// Everything cached is requested conditionally, fresh or not.
    Revalidate,
}

/// The form of a cache's use.
pub(crate) struct UseOfCache;

impl keys::Form for UseOfCache {
    type Value = CacheUse;
    fn shape() -> keys::Shape {
        let about = "Everything cached is requested conditionally, fresh or not.";
        keys::Shape::Either(vec![Bool::shape(), keys::Shape::Words(vec![("revalidate", about)])])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<CacheUse> {
        if node.is_text("revalidate") {
            return Some(CacheUse::Revalidate);
        }
        let is_full = Bool::read(reader, node)?;
        Some(if is_full { CacheUse::Full } else { CacheUse::Off })
    }
    fn print(value: &CacheUse) -> Value {
        match value {
            CacheUse::Off => json!(false),
            CacheUse::Full => json!(true),
            CacheUse::Revalidate => json!("revalidate"),
        }
    }
}

impl keys::Plain for CacheUse {
    type Form = UseOfCache;
}

words! {
    /// From where resources are loaded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ResourceHosts {
        /// The host of the page.
        #[default]
        Same = "same",
        /// All hosts that requests may go to.
        All = "all",
    }
}

record! {
    /// Limits of time of a request; `None`: inherited, and in the end the engine's defaults.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Timeouts as "a timeout" {
        /// Waiting for a connection of the plan's own pool.
        #[key(default "60s")]
        pub pool: Option<UserTime>,
        /// Name lookup, connect and TLS handshake.
        #[key(default "10s")]
        pub connect: Option<UserTime>,
        /// From the send to the first byte of the response.
        #[key(default "any")]
        pub first_byte: Option<UserTime>,
        /// The whole request, redirects not included.
        #[key(default "60s")]
        pub total: Option<UserTime>,
        /// The whole request with its redirects.
        #[key(default "any")]
        pub all: Option<UserTime>,
    }
}

impl Timeouts {
    /// These, and those of the defaults where these say nothing.
    pub fn or(&self, defaults: &Timeouts) -> Timeouts {
        Timeouts {
            pool: either(&self.pool, &defaults.pool),
            connect: either(&self.connect, &defaults.connect),
            first_byte: either(&self.first_byte, &defaults.first_byte),
            total: either(&self.total, &defaults.total),
            all: either(&self.all, &defaults.all),
        }
    }
}

/// The limit of the whole request.
impl Short for Timeouts {
    type Form = TimeOfUser;
    fn from_short(total: UserTime) -> Timeouts {
        Timeouts { total: Some(total), ..Timeouts::default() }
    }
    fn short(&self) -> Option<UserTime> {
        self.total.clone().filter(|total| *self == Timeouts::from_short(total.clone()))
    }
}

/// Credentials of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Auth {
    /// RFC 7617.
    Basic {
        /// User name.
        user: Template,
        /// Password, masked in every output.
        password: Template,
    },
    /// `Authorization: Bearer ...`, RFC 6750.
    Bearer(Template),
    /// RFC 7616: MD5, SHA-256, SHA-512-256 and their -sess variants, qop=auth and auth-int.
    Digest {
        /// User name.
        user: Template,
        /// Password, masked in every output.
        password: Template,
    },
}

record! {
    /// A user name and a password.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Login as "a login" {
        /// User name.
        #[key(required)]
        pub user: Template,
        /// Password, masked in every output.
        #[key(required)]
        pub password: Template,
    }
}

impl Union for Auth {
    fn variants() -> Vec<Auth> {
        let (user, password) = (Template::default(), Template::default());
        let basic = Auth::Basic { user: user.clone(), password: password.clone() };
        vec![basic, Auth::Bearer(Template::default()), Auth::Digest { user, password }]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        let (name, about, user, password) = match self {
            Auth::Bearer(token) => {
                let about = "`Authorization: Bearer ...` (RFC 6750).";
                return keys.key::<Templated>(token, Key::required("bearer", about));
            }
            Auth::Basic { user, password } => ("basic", "HTTP Basic (RFC 7617).", user, password),
            Auth::Digest { user, password } => {
                let about = "HTTP Digest (RFC 7616): MD5, SHA-256, SHA-512-256 and their -sess variants, qop=auth and \
                             auth-int.";
                ("digest", about, user, password)
            }
        };
        let mut login = Login { user: user.clone(), password: password.clone() };
        keys.key::<Of<Login>>(&mut login, Key::required(name, about));
        (*user, *password) = (login.user, login.password);
    }
}

impl keys::Choice for Auth {
    const TITLE: &'static str = "auth";
}

impl keys::Plain for Auth {
    type Form = Chosen<Auth>;
}
