//! What a compiled request, or a program to run, is made of: bytes, templates bound to slots,
//! extractors and checks. Plain data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use squall_extract::{Charset, Extractor};
use squall_metrics::{MetricKey, PlaceId};
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::model::{ByteForm, CacheUse, HashAlgorithm, KeepOpen, Match};
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;
use squall_wire::{BytesEnd, Fields};

use super::places::Intrinsic;
use crate::parts::replace::Markers;

/// A request, compiled.
#[derive(Debug)]
pub(crate) struct RequestOp {
    pub name: NameOp,
    /// Where a name counts that is made while the run goes on.
    pub place: PlaceId,
    /// The number of its step, such as `3.1`.
    pub step: Box<str>,
    pub method: Box<str>,
    pub url: UrlOp,
    /// The whole request, where nothing in it depends on the user. What a user adds (cookies, digest) goes
    /// between the lines of its head and the empty line behind them.
    pub prepared: Option<Prepared>,
    /// Headers beside those that follow from the rest.
    pub headers: Vec<HeaderOp>,
    /// Query parameters, appended percent-encoded.
    pub query: Vec<(BoundTemplate, BoundTemplate)>,
    pub body: BodyOp,
    /// The encoding of a text body, a form and the query; `None`: UTF-8.
    pub charset: Option<Charset>,
    pub auth: AuthOp,
    /// What it says of how its origin is reached.
    pub via: Option<Box<ViaOp>>,
    /// Whether something looks at what was sent.
    pub reads_sent: bool,
    /// Whether the credentials of `auth` follow a redirect to another origin.
    pub auth_follows: bool,
    /// Whether the plan's own headers already hold a Cookie line.
    pub own_cookie: bool,
    /// What that line says where the user has no cookie for the URL.
    pub other_cookie: Option<BoundTemplate>,
    /// Whether the user's cookies go along, and those of the response are kept.
    pub cookies: bool,
    /// The number of the jar that they are in.
    pub jar: u16,
    /// Whether responses that lead on set cookies too.
    pub redirect_cookies: bool,
    /// Whether what they lead to is a GET, whatever led there but HEAD.
    pub redirect_to_get: bool,
    /// Whether the user has a cache for it, where it is a GET.
    pub cache: CacheUse,
    /// The number of that cache.
    pub cache_number: u16,
    /// Whether `User-Agent` and `Accept` are sent where the plan has no such header.
    pub default_headers: bool,
    pub limits: Limits,
    /// Its limits of time, where the user's variables decide them.
    pub timeouts: Option<Box<TimeoutsOp>>,
    /// Where the response's body goes besides.
    pub capture: Option<CaptureOp>,
    /// Whether what was captured takes the place of the body.
    pub sees_digest: bool,
    /// Whether it is repeated on a new connection where the target had closed the old one.
    pub retry_stale: bool,
    /// Whether it carries a trace ID of its own.
    pub trace_context: bool,
    /// Whether it counts.
    pub counted: bool,
    /// Whether a status of 400 and above is an error by itself.
    pub status_errors: bool,
    /// What is done with the reply, in the plan's order.
    pub post: Vec<PostOp>,
    /// How the resources of the page are loaded.
    pub resources: Option<Box<ResourcesOp>>,
}

impl RequestOp {
    /// How much of what stands for the body those see who read it.
    pub fn seen_of_body(&self) -> u64 {
        if self.sees_digest { u64::MAX } else { self.limits.keep }
    }
}

/// How the origin of a request is reached, as far as the request says it.
#[derive(Debug)]
pub(crate) struct ViaOp {
    /// The name of the client certificate that its connection is made with.
    pub client_cert: Option<BoundTemplate>,
    /// Its proxy, see [`crate::parts::proxy::ProxyChoice`].
    pub proxy: Option<BoundTemplate>,
    /// Whether the plan itself names the host of that: no response can lead it elsewhere.
    pub names_proxy: bool,
    /// The address that its connection is made from; empty: one of the plan's.
    pub source_address: Option<BoundTemplate>,
    /// Whether some of this is known only to the user.
    pub is_of_user: bool,
}

/// What requests of a plan say of how their origins are reached.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ViaUse {
    /// Whether some name a client certificate, ...
    pub certificates: bool,
    /// ... or a source address.
    pub source_addresses: bool,
    /// Whether some of it is known only to users.
    pub of_users: bool,
}

/// A header of the plan's.
#[derive(Debug)]
pub(crate) struct HeaderOp {
    /// Its name and `: `, as bytes.
    pub name: Box<[u8]>,
    pub value: BoundTemplate,
    /// Whether it goes along to another origin than the request's own, as a redirect has it.
    pub across: Across,
}

/// Whether a header goes along to another origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Across {
    Never,
    /// Not where there is a secret in its value.
    UnlessSecret,
    Always,
}

/// How the resources of a page are loaded.
#[derive(Debug)]
pub(crate) struct ResourcesOp {
    /// Where the page with all that belongs to it counts, which is a group of the page's name.
    pub group: PlaceId,
    /// Most at the same time, at least 1.
    pub limit: usize,
    /// What their URLs must match.
    pub include: Option<Arc<Extractor>>,
    /// What they must not match.
    pub exclude: Option<Arc<Extractor>>,
    /// Whether they are loaded from the host of the page alone.
    pub same_host: bool,
    /// Whether what styles name by `url(...)` is loaded.
    pub css_urls: bool,
    /// Whether users have a cache for them.
    pub cache: CacheUse,
    /// How one is requested of which nobody reads the body, ...
    pub file: RequestOp,
    /// ... and one whose body names others.
    pub document: RequestOp,
}

/// What is done with a reply.
#[derive(Debug)]
pub(crate) enum PostOp {
    Extract(ExtractOp),
    Check(CheckOp),
}

impl PostOp {
    /// Whether it needs the body of the reply.
    pub(super) fn reads_body(&self) -> bool {
        let PostOp::Extract(extract) = self else { return false };
        extract.of.is_none()
            && matches!(
                extract.from,
                FromOp::Body(_)
                    | FromOp::Links(_)
                    | FromOp::XPath(_)
                    | FromOp::Fact(Intrinsic::Body)
            )
    }
}

/// A request rendered before the run.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub bytes: Box<[u8]>,
    /// Where the head's last, empty line begins.
    pub head_end: usize,
    /// Where the body begins.
    pub body_at: usize,
    /// The head for HTTP/2, where connections may speak that.
    pub fields: Option<Fields>,
}

impl Prepared {
    /// Where it goes, as its first line says it: path and query, or to a proxy the whole URL.
    pub(crate) fn target(&self) -> &[u8] {
        self.bytes.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
    }

    /// The body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[self.body_at..]
    }
}

/// The name under which a request or a program is counted.
#[derive(Debug)]
pub(crate) enum NameOp {
    Static(u32),
    Rendered(BoundTemplate),
    /// Method and collapsed path, known only when the URL is.
    FromUrl,
}

impl NameOp {
    /// The number of the name, if it is known before the run.
    pub fn known(&self) -> Option<u32> {
        match self {
            NameOp::Static(name) => Some(*name),
            NameOp::Rendered(_) | NameOp::FromUrl => None,
        }
    }
}

/// Where a request goes.
#[derive(Debug)]
pub(crate) enum UrlOp {
    /// Known before the run: origin, and path with query.
    Static { origin: u32, path: Box<[u8]> },
    /// A path on the target, rendered for each request.
    Path { origin: u32, prefix: Box<[u8]>, path: BoundTemplate },
    /// Anything: rendered, then split.
    Any(BoundTemplate),
}

/// What a request carries.
#[derive(Debug)]
pub(crate) enum BodyOp {
    None,
    Text(BoundTemplate),
    Json(JsonOp),
    Form(Vec<(BoundTemplate, BoundTemplate)>),
    File(FileOp),
    Replaced(Arc<Markers>, Vec<BoundTemplate>),
    Multipart(Vec<PartOp>, MultipartKind),
}

/// A file that is sent.
#[derive(Debug)]
pub(crate) enum FileOp {
    /// Its path is known before the run.
    Known(PathBuf),
    /// Its name is made for each request.
    Named(Box<NamedFile>),
}

/// A file that stays below a folder, whatever its name comes to.
#[derive(Debug)]
pub(crate) struct NamedFile {
    /// The folder that the plan itself names, without links in its path.
    pub folder: PathBuf,
    /// What the plan says of the name, ...
    pub begin: Box<str>,
    /// ... and what comes behind it.
    pub rest: BoundTemplate,
    /// The whole path as the plan has it, for messages.
    pub source: Box<str>,
}

/// How a multipart body is announced.
#[derive(Debug)]
pub(crate) struct MultipartKind {
    /// Its content type, without the boundary.
    pub media: Box<str>,
    /// The boundary of a header of the plan's; otherwise each body has one of its own.
    pub boundary: Option<Box<str>>,
}

impl Default for MultipartKind {
    fn default() -> Self {
        MultipartKind { media: "multipart/form-data".into(), boundary: None }
    }
}

/// A part of a multipart body.
#[derive(Debug)]
pub(crate) enum PartOp {
    Text {
        name: BoundTemplate,
        text: BoundTemplate,
        content_type: Option<BoundTemplate>,
        transfer_encoding: Option<Box<str>>,
    },
    File {
        name: BoundTemplate,
        file: FileOp,
        filename: Option<BoundTemplate>,
        content_type: Option<BoundTemplate>,
        transfer_encoding: Option<Box<str>>,
    },
}

/// Credentials.
#[derive(Debug)]
pub(crate) enum AuthOp {
    None,
    Basic { user: BoundTemplate, password: BoundTemplate },
    Bearer(BoundTemplate),
    Digest { user: BoundTemplate, password: BoundTemplate },
}

/// Where the body of a response goes while it is received.
#[derive(Debug)]
pub(crate) enum CaptureOp {
    Hash(HashAlgorithm),
    /// A file. `fixed`: what of its path the plan itself says, if it does not say all of it: what comes
    /// behind the last `/` of that stays below it.
    File {
        path: BoundTemplate,
        fixed: Option<Box<str>>,
    },
}

/// Bounds of a request, in nanoseconds and bytes; `u64::MAX`: none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Waiting for a connection of the plan's pool.
    pub pool: u64,
    pub connect: u64,
    pub first_byte: u64,
    pub total: u64,
    /// With all redirects.
    pub all: u64,
    pub redirects: u32,
    pub max_body: u64,
    /// Most decompressed bytes for each byte of a compressed body.
    pub max_decompression_ratio: u64,
    /// How much of the body's beginning is kept for those who read it.
    pub keep: u64,
    /// Whether compressed responses are asked for, and so may have to be decompressed.
    pub compression: bool,
}

impl Limits {
    /// Everything as long and as large as it comes, of which nothing is kept.
    pub const NONE: Limits = Limits {
        pool: u64::MAX,
        connect: u64::MAX,
        first_byte: u64::MAX,
        total: u64::MAX,
        all: u64::MAX,
        redirects: 0,
        max_body: u64::MAX,
        max_decompression_ratio: u64::MAX,
        keep: 0,
        compression: false,
    };
}

/// A limit of time.
#[derive(Debug)]
pub(crate) enum TimeOp {
    Known(Duration),
    OfUser(BoundTemplate),
}

/// The limits of a request, where one of them is made from the user's variables.
#[derive(Debug)]
pub(crate) struct TimeoutsOp {
    pub pool: TimeOp,
    pub connect: TimeOp,
    pub first_byte: TimeOp,
    pub total: TimeOp,
    pub all: TimeOp,
}

/// A JSON-like value with variables.
#[derive(Debug)]
pub(crate) enum JsonOp {
    Constant(Value),
    Text(BoundTemplate),
    List(Vec<JsonOp>),
    Map(Vec<(BoundTemplate, JsonOp)>),
}

/// A value to take from a response.
#[derive(Debug)]
pub(crate) struct ExtractOp {
    pub slot: Slot,
    pub variable: Box<str>,
    /// Where it comes from, as messages say it: `json $.id`.
    pub source: Box<str>,
    pub from: FromOp,
    pub which: Match,
    pub default: Option<JsonOp>,
    /// What is searched in the place of the body.
    pub of: Option<BoundTemplate>,
    /// Whether responses that lead on are searched, too.
    pub redirects: bool,
    /// Whether what the page loads is searched, too.
    pub resources: bool,
}

/// Where it comes from.
#[derive(Debug)]
pub(crate) enum FromOp {
    /// Shared with the threads that search long bodies.
    Body(Arc<Extractor>),
    /// An XPath that variables decide.
    XPath(BoundTemplate),
    /// What a page leads to, in the same way.
    Links(Arc<Extractor>),
    /// In the head of the response.
    Head(Arc<Extractor>),
    Header(Box<str>),
    Cookie(Box<str>),
    /// What every response has.
    Fact(Intrinsic),
    /// The hash of the body, or the path of its file: what [`CaptureOp`] made of it.
    Captured,
}

/// An assertion about a response.
#[derive(Debug)]
pub(crate) struct CheckOp {
    /// Its row.
    pub row: u32,
    pub formula: BoundExpr,
    /// What it is called in reports.
    pub text: Box<str>,
    /// What is said of what fails it; `None`: that, and its formula.
    pub message: Option<BoundTemplate>,
    pub warn: bool,
    /// What is looked at in the place of the body.
    pub of: Option<BoundTemplate>,
    /// Whether responses that lead on must pass it, too.
    pub redirects: bool,
}

/// A text that is looked at as a response is.
#[derive(Debug)]
pub(crate) struct LookOp {
    pub text: BoundTemplate,
    pub status: BoundExpr,
    /// `None`: that it is OK.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// What is done with it, in the plan's order.
    pub post: Vec<PostOp>,
}

/// A text that is written to a file.
#[derive(Debug)]
pub(crate) struct WriteOp {
    pub file: PathBuf,
    pub text: BoundTemplate,
    /// Whether it is added to what is there.
    pub append: bool,
}

/// A cookie to set.
#[derive(Debug)]
pub(crate) struct CookieOp {
    pub name: BoundTemplate,
    pub value: BoundTemplate,
    pub place: CookiePlace,
    /// Whether it goes over TLS alone.
    pub secure: bool,
    /// The number of the jar that it is put into.
    pub jar: u16,
}

/// Where a cookie goes.
#[derive(Debug)]
pub(crate) enum CookiePlace {
    /// Where one goes that the response of this URL sets.
    Url(BoundTemplate),
    /// To the target's host, or to a domain with what is below it; to a path with what is below it.
    Domain { domain: Option<BoundTemplate>, path: Option<BoundTemplate> },
}

/// A value to record.
#[derive(Debug)]
pub(crate) struct MetricOp {
    /// Name and kind, with the tags where all of them are known before the run.
    pub key: MetricKey,
    pub value: BoundExpr,
    /// All tags, where one of them depends on the user.
    pub tags: Vec<(Box<str>, BoundTemplate)>,
}

/// Bytes to send over TCP.
#[derive(Debug)]
pub(crate) struct TcpOp {
    pub name: NameOp,
    /// Where its row is.
    pub place: PlaceId,
    /// The number of its step.
    pub step: Box<str>,
    pub to: TcpTo,
    pub via: Option<Box<ViaOp>>,
    /// What is sent.
    pub send: BoundTemplate,
    /// How texts stand for bytes.
    pub form: ByteForm,
    pub end: BytesEnd,
    /// Whether what comes also ends where the server closes.
    pub or_close: bool,
    pub connection: KeepOpen,
    /// Whether its close is a reset.
    pub reset: bool,
    pub limits: Limits,
    /// Its limits of time, where the user's variables decide them.
    pub timeouts: Option<Box<TimeoutsOp>>,
    /// Whether it counts.
    pub counted: bool,
    /// What is done with what comes, in the plan's order.
    pub post: Vec<PostOp>,
}

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum TcpTo {
    /// To this origin.
    Known(u32),
    /// To where the user's variables say, if that is allowed.
    OfUser(BoundTemplate),
}

/// A program to run.
#[derive(Debug)]
pub(crate) struct ExecOp {
    pub name: NameOp,
    /// Where its row is.
    pub place: PlaceId,
    /// The number of its step.
    pub step: Box<str>,
    pub command: Vec<BoundTemplate>,
    /// Variables of its environment.
    pub env: Vec<(BoundTemplate, BoundTemplate)>,
    pub directory: Option<BoundTemplate>,
    /// Files in place of its standard streams.
    pub stdin: Option<BoundTemplate>,
    pub stdout: Option<BoundTemplate>,
    pub stderr: Option<BoundTemplate>,
    pub timeout: TimeOp,
    /// Its exit code, as it were, where it took too long.
    pub timeout_status: Option<i32>,
    /// What is said of its exit code.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// Whether it counts.
    pub counted: bool,
    /// What is done with its output, in the plan's order.
    pub post: Vec<PostOp>,
}
