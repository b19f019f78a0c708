//! What scripts ask of HTTP, and what they get: plain data, for whoever performs it.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;

/// What holds for the requests of a script that do not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// Bodies of responses are not kept.
    pub discards_bodies: bool,
    /// Requests of one `batch` at a time, and to one host.
    pub limit: usize,
    pub limit_of_host: usize,
    /// Requests that fail throw.
    pub throws: bool,
    pub redirects: u32,
    pub user_agent: String,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            discards_bodies: false,
            limit: 20,
            limit_of_host: 6,
            throws: false,
            redirects: 10,
            user_agent: concat!("squall/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// A request, as a script has made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HttpRequest {
    /// What it says but for its body. Requests of a stage that say the same share it, as long as the stage remembers it: so
    /// whoever performs them can keep by its address what follows from it.
    pub head: Rc<HttpHead>,
    pub body: Vec<u8>,
}

impl Deref for HttpRequest {
    type Target = HttpHead;

    fn deref(&self) -> &HttpHead {
        &self.head
    }
}

/// What a request says but for its body.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct HttpHead {
    /// In capitals.
    pub method: String,
    pub url: String,
    /// The name under which it is counted; `None`: its URL.
    pub name: Option<String>,
    /// Each name once, in the script's order, with the user agent. What follows from the rest is not there: host, length,
    /// cookies, credentials.
    pub headers: Vec<(String, String)>,
    pub params: HttpParams,
}

/// What a script may say of a request beside what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct HttpParams {
    /// Most redirects that are followed; `None`: as the options say.
    pub redirects: Option<u32>,
    pub timeout: Option<Duration>,
    pub tags: Vec<(String, String)>,
    /// Cookies for this request alone: name, value, and whether it replaces one that the jar has.
    pub cookies: Vec<(String, String, bool)>,
    pub body: BodyKind,
    /// `basic` or `digest`, with the name and password of the URL; `None`: none.
    pub auth: Option<String>,
    /// The jar that its cookies are in: 0 is the user's own.
    pub jar: u16,
    /// Encodings of the body that are yet to be applied, in this order. Whoever performs the request gets it with none: they
    /// are applied by then.
    pub compression: Vec<Encoding>,
    /// Statuses, from and to, that are no failure; `None`: 200 to 399.
    pub expected: Option<Vec<(u16, u16)>>,
}

/// How a body is made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    pub const ALL: [Encoding; 4] =
        [Encoding::Gzip, Encoding::Deflate, Encoding::Brotli, Encoding::Zstd];

    /// As headers say it.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Deflate => "deflate",
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
        }
    }
}

/// What becomes of a response's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BodyKind {
    #[default]
    Text,
    Binary,
    /// It is not kept.
    None,
}

/// What came of a request. With an error there may be no response, and then its status is 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HttpResponse {
    pub status: u16,
    /// The head as it came: a status line, and a line for each header. That of HTTP/2 is written in the same way. It is read
    /// when a script asks for what it says.
    pub head: Vec<u8>,
    /// The last URL, after redirects; `None`: none was asked.
    pub url: Option<Rc<str>>,
    pub body: Option<Vec<u8>>,
    /// Where it came from; `None`: not over TCP.
    pub remote: Option<SocketAddr>,
    pub error: String,
    /// One of k6's numbers; 0: none.
    pub error_code: u32,
    /// `blocked`, `looking_up`, `connecting`, `tls_handshaking`, `sending`, `waiting` and `receiving`, in ms.
    pub timings: [f64; 7],
    /// `tls1.3`; empty: no TLS.
    pub tls_version: &'static str,
    /// `TLS_AES_128_GCM_SHA256`; empty: no TLS.
    pub tls_cipher_suite: &'static str,
    pub cookies: Vec<Cookie>,
}

impl HttpResponse {
    /// `HTTP/1.1`, `HTTP/2.0`; empty: there is no response.
    pub fn proto(&self) -> Cow<'_, str> {
        match self.status_line().0 {
            b"HTTP/2" => Cow::Borrowed("HTTP/2.0"),
            own => String::from_utf8_lossy(own),
        }
    }

    /// The status with the words behind it: `404 Not Found`.
    pub fn status_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.status_line().1.trim_ascii())
    }

    /// Names and values of the headers, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let value = line[colon + 1..].trim_ascii();
            Some((String::from_utf8_lossy(&line[..colon]), String::from_utf8_lossy(value)))
        })
    }

    /// The protocol, and what stands behind it.
    fn status_line(&self) -> (&[u8], &[u8]) {
        let line = self.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.trim_ascii_end();
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        line.split_at(end)
    }
}

/// A cookie of a response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    pub path: String,
    pub http_only: bool,
    pub secure: bool,
    pub max_age: i64,
    /// In ms since 1970; 0: none.
    pub expires: i64,
}
