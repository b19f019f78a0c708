//! What a compiled request sends: templates bound to slots, and what of it was rendered before the run. Plain data.

use std::path::PathBuf;
use std::sync::Arc;

use squall_extract::Charset;
use squall_plan::template::BoundTemplate;
use squall_wire::Fields;

use super::ops::JsonOp;
use crate::parts::replace::Markers;

/// What a request of the plan sends: the template of a call.
#[derive(Debug)]
pub(crate) struct CallOp {
    pub method: Box<str>,
    pub url: UrlOp,
    /// Query parameters, appended percent-encoded.
    pub query: Vec<(BoundTemplate, BoundTemplate)>,
    /// What it says of how its origin is reached.
    pub via: Option<Box<ViaOp>>,
    pub content: ContentOp,
    /// The whole request, where nothing in it depends on the user.
    pub prepared: Option<Prepared>,
}

/// What a request carries, wherever it goes: headers, credentials, a body. One made of constants is made of values.
#[derive(Debug, Default)]
pub(crate) struct ContentOp {
    /// Headers beside those that follow from the rest.
    pub headers: Vec<HeaderOp>,
    /// Whether `User-Agent` and `Accept` are sent where there is no such header.
    pub default_headers: bool,
    /// Whether compressed responses are asked for.
    pub compression: bool,
    /// Whether the headers already have a Cookie line.
    pub own_cookie: bool,
    /// What that line says where the user has no cookie for the URL.
    pub other_cookie: Option<BoundTemplate>,
    /// Whether it carries a trace ID of its own.
    pub trace_context: bool,
    pub auth: AuthOp,
    /// Whether the credentials of `auth` follow a redirect to another origin.
    pub auth_follows: bool,
    pub body: BodyOp,
    /// The encoding of a text body, a form and the query; `None`: UTF-8.
    pub charset: Option<Charset>,
}

/// A request rendered before the run.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub path: Box<[u8]>,
    pub bytes: Box<[u8]>,
    /// Where the head's last, empty line begins: before it comes what a user adds.
    pub head_end: usize,
    /// Where the body begins.
    pub body_at: usize,
    /// The head for HTTP/2, where connections may speak that.
    pub fields: Option<Fields>,
}

impl Prepared {
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[self.body_at..]
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

/// The body of a request.
#[derive(Debug, Default)]
pub(crate) enum BodyOp {
    #[default]
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
pub(crate) struct PartOp {
    pub name: BoundTemplate,
    pub content: PartContent,
    pub content_type: Option<BoundTemplate>,
    pub transfer_encoding: Option<Box<str>>,
}

/// What a part of a multipart body has.
#[derive(Debug)]
pub(crate) enum PartContent {
    Text(BoundTemplate),
    File { file: FileOp, filename: Option<BoundTemplate> },
}

#[derive(Debug, Default)]
pub(crate) enum AuthOp {
    #[default]
    None,
    Basic {
        user: BoundTemplate,
        password: BoundTemplate,
    },
    Bearer(BoundTemplate),
    Digest {
        user: BoundTemplate,
        password: BoundTemplate,
    },
}
