//! What a test is: plain, inert data. No parsing, no I/O, no evaluation here.
//!
//! A plan is made by [`crate::yaml`] (or from flags, or by another front end) and read by the
//! engine, which compiles it. Equality ignores source positions, so that a plan that is printed
//! and read again is equal to the first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::expr::Expr;
use crate::span::{Span, Spanned};
use crate::template::Template;

/// A whole test: who does what, how often, against which target, and how it is judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// Name of the test, used in reports; the file's stem where the plan gives none.
    pub name: String,
    /// Where requests with a relative URL go.
    pub target: Option<Target>,
    /// Variables known to every user at its start, in the order of the file.
    pub vars: Vec<Var>,
    /// Files of data rows.
    pub data: Vec<DataSource>,
    /// What every request gets unless it says otherwise.
    pub defaults: Defaults,
    /// How connections are made and kept.
    pub connections: Connections,
    /// Hosts (`host` or `host:port`, or `*.suffix`) that requests may go to beside those that the
    /// plan names literally.
    pub allow_hosts: Vec<Spanned<String>>,
    /// One load shared by all scenarios that have a `weight`.
    pub load: Option<Spanned<Load>>,
    /// The kinds of virtual users.
    pub scenarios: Vec<Scenario>,
    /// Steps that run once before the load, with one user; what they set or extract is known to all.
    pub setup: Vec<Step>,
    /// Steps that run once after the load.
    pub teardown: Vec<Step>,
    /// What a failed request does to its user, unless the scenario says otherwise.
    pub on_error: OnError,
    /// How long what is in flight at the end may take to finish.
    pub graceful_stop: Option<Duration>,
    /// How the beginning of the run is told from its steady part.
    pub warmup: Warmup,
    /// Rules that judge the whole run; text in the language of `squall-analysis`.
    pub thresholds: Vec<Spanned<String>>,
    /// Seed of everything random; drawn and reported when absent.
    pub seed: Option<u64>,
    /// Limits of a user's bytes a second, unless the scenario has its own.
    pub bandwidth: Bandwidth,
    /// How long a session lasts, unless the scenario says otherwise.
    pub session: Option<Session>,
    /// How many names of requests, groups and programs are counted separately, above 0; those that are
    /// known before the run always are. Default 1,000.
    pub max_names: Option<Spanned<u64>>,
}

/// How long a user's session lasts: its cookies, what steps have set its variables to, and the
/// credentials that it has negotiated. Default: of an open workload, where each arrival is somebody
/// else, an iteration; of a closed workload the user's whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// Each iteration begins with a fresh one.
    PerIteration,
    /// A user keeps it over all its iterations.
    PerUser,
}

/// Limits of the bytes a second of one user, to be a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bandwidth {
    /// Bytes a second of responses, above 0; `None`: any.
    pub down: Option<u64>,
    /// Bytes a second of requests, above 0; `None`: any.
    pub up: Option<u64>,
}

/// Where the requests go.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The built-in target, started for the run.
    Builtin,
    /// A base URL; may hold variables known before the run.
    Url(Template),
}

/// A variable of the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    /// Its name, an identifier.
    pub name: Spanned<String>,
    /// Its value; texts in it may hold `${...}` over variables defined before it.
    pub value: Json,
    /// Whether its value is masked in every output (`secret: true`, or a name that says so).
    pub secret: bool,
}

/// A JSON-like value whose texts are templates: bodies, variables, lists.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A text. One that is a single `${...}` keeps the type of its value.
    Text(Template),
    /// A list.
    List(Vec<Json>),
    /// An object, in the order of the file.
    Map(Vec<(Template, Json)>),
}

/// A file of rows, each row known to a user under the source's name: `${people.name}`.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSource {
    /// Name under which the row is known.
    pub name: Spanned<String>,
    /// The file, relative paths already joined to the folder of the plan.
    pub file: Spanned<PathBuf>,
    /// Its form.
    pub format: DataFormat,
    /// Match row is taken.
    pub pick: Pick,
    /// Who shares the place in the file.
    pub share: Share,
    /// What happens after the last row.
    pub at_end: AtEnd,
}

/// The form of a data file.
#[derive(Debug, Clone, PartialEq)]
pub enum DataFormat {
    /// Comma separated values, RFC 4180 quoting.
    Csv {
        /// One byte between fields, `,` unless given.
        delimiter: u8,
        /// Column names where the file has no header line; `None`: the first line is the header.
        columns: Option<Vec<String>>,
    },
    /// One JSON object a line.
    JsonLines,
}

/// Match row of a data source an iteration gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    /// The next one, in the order of the file.
    #[default]
    Next,
    /// Any one, from the run's seed.
    Random,
    /// A user keeps the row it got first.
    OncePerUser,
}

/// Who advances together through a data source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// All users of all scenarios.
    #[default]
    All,
    /// The users of one scenario.
    Scenario,
    /// Each user on its own, from the first row.
    User,
}

/// What happens when a data source has no more rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEnd {
    /// From the first row again.
    #[default]
    Cycle,
    /// The user that finds no row stops.
    Stop,
}

/// What every request gets unless it says otherwise. A scenario may have its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Defaults {
    /// Headers added unless the request has one of that name.
    pub headers: Vec<(Template, Template)>,
    /// Limits of time.
    pub timeout: Timeouts,
    /// Most redirects followed in one request. Default 0: a step is one request.
    pub redirects: Option<u32>,
    /// Whether compressed responses are asked for (Accept-Encoding), and decompressed for the checks
    /// and extracts that read them.
    pub compression: Option<bool>,
    /// Credentials.
    pub auth: Option<Auth>,
    /// Most bytes of a body that may arrive before the request fails as "body too large".
    pub max_body: Option<u64>,
    /// Most decompressed bytes for each byte of a compressed body, above 0. Default 200; a MiB is free.
    pub max_decompression_ratio: Option<u64>,
    /// Whether a status of 400 and above is an error where no check of the request looks at
    /// `status`. Default true.
    pub status_errors: Option<bool>,
    /// Whether a request is repeated on a new connection where the target had closed the old one before
    /// it was delivered. Default true.
    pub retry_stale: Option<bool>,
    /// What pages load besides. Default: nothing.
    pub resources: Option<Resources>,
}

/// The resources of a page (images, styles, scripts, frames, icons), loaded as a browser does.
#[derive(Debug, Clone, PartialEq)]
pub struct Resources {
    /// Whether they are loaded: a request may do without what the defaults ask for.
    pub load: bool,
    /// Most requests at the same time, from 1 to [`MAX_PARALLEL`].
    pub limit: u32,
    /// A regular expression that the URL of each must match.
    pub include: Option<Spanned<String>>,
    /// A regular expression that it must not match.
    pub exclude: Option<Spanned<String>>,
    /// From where they are loaded.
    pub hosts: ResourceHosts,
    /// Whether users have a cache for them. Default true.
    pub cache: bool,
}

impl Default for Resources {
    fn default() -> Self {
        Resources {
            load: true,
            limit: DEFAULT_PARALLEL,
            include: None,
            exclude: None,
            hosts: ResourceHosts::default(),
            cache: true,
        }
    }
}

/// From where resources are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResourceHosts {
    /// The host of the page.
    #[default]
    Same,
    /// All hosts that requests may go to.
    All,
}

/// Limits of time of a request; `None`: inherited, and in the end the engine's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// Waiting for one of the plan's own pool of connections. Default 60 s.
    pub pool: Option<Duration>,
    /// Name look-up, connect and TLS handshake.
    pub connect: Option<Duration>,
    /// From the send to the first byte of the response.
    pub first_byte: Option<Duration>,
    /// The whole request, redirects not included.
    pub total: Option<Duration>,
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
    /// RFC 7616: MD5, SHA-256 and their -sess variants, qop=auth.
    Digest {
        /// User name.
        user: Template,
        /// Password, masked in every output.
        password: Template,
    },
}

/// How connections are made and kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connections {
    /// Who uses one again, and for how long.
    pub reuse: ConnectionReuse,
    /// The version of HTTP that they speak.
    pub http: HttpVersion,
    /// `host` or `host:port` to the addresses used in place of DNS, as curl's `--resolve`.
    pub resolve: BTreeMap<String, Vec<Spanned<String>>>,
    /// Local addresses that connections are made from, used in turn.
    pub source_addresses: Vec<Spanned<String>>,
    /// Unix socket that takes the place of TCP to the target.
    pub unix: Option<PathBuf>,
    /// HTTP proxy, `http://[user:password@]host:port`: CONNECT for https, absolute form for http.
    pub proxy: Option<Template>,
    /// TLS settings.
    pub tls: Tls,
}

/// The version of HTTP that connections speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    V1,
    /// HTTP/2: agreed on by ALPN over TLS, by prior knowledge without.
    V2,
    /// Over TLS what the target prefers, without it HTTP/1.1.
    Auto,
}

/// Who uses a connection again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConnectionReuse {
    /// Each user has its own, kept over its iterations.
    #[default]
    PerUser,
    /// Closed at the end of each iteration.
    PerIteration,
    /// A pool of at most this many over all users (split over the workers).
    Pool(u32),
}

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tls {
    /// PEM file of certificates trusted beside the system's.
    pub ca: Option<PathBuf>,
    /// PEM file of the client's certificate chain.
    pub cert: Option<PathBuf>,
    /// PEM file of the client's private key.
    pub key: Option<PathBuf>,
    /// Name sent and verified in place of the host.
    pub server_name: Option<String>,
    /// Accept any certificate.
    pub insecure: bool,
    /// Whether sessions are resumed. Default true.
    pub resume: Option<bool>,
}

/// A kind of virtual user.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: Spanned<String>,
    /// Its own load, or
    pub load: Option<Spanned<Load>>,
    /// its part of the plan's shared load.
    pub weight: Option<Spanned<f64>>,
    /// When its load starts, counted from the start of the run.
    pub start_after: Duration,
    /// Defaults of its requests, before the plan's.
    pub defaults: Defaults,
    /// What a failed request does.
    pub on_error: Option<OnError>,
    /// Limits of a user's bytes a second; `None`: the plan's.
    pub bandwidth: Option<Bandwidth>,
    /// How long a session lasts; `None`: as the plan says.
    pub session: Option<Session>,
    /// What a user does in one iteration.
    pub steps: Vec<Step>,
    /// Where it stands.
    pub span: Span,
}

/// How many and when.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// A closed workload: a number of virtual users.
    Closed(Closed),
    /// An open workload: arrivals at a rate.
    Open(Open),
}

/// A number of users, each starting its next iteration when the last is done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Closed {
    /// Users at the end of `ramp`; exclusive with `stages`.
    pub users: Option<u64>,
    /// Time over which they start, evenly; see [`Closed::start_time`].
    pub ramp: Duration,
    /// Users over time; from 0 (or `users`) to each stage's number in turn.
    pub stages: Vec<Stage>,
    /// Distance between the starts of a user's iterations.
    pub pacing: Option<Duration>,
    /// End: time since the load's start, ramp included.
    pub duration: Option<Duration>,
    /// End: iterations of each user.
    pub iterations: Option<u64>,
    /// End: iterations of all users together.
    pub total_iterations: Option<u64>,
    /// Who ends when the first user has made its iterations.
    pub end: End,
}

impl Closed {
    /// The longest time over which users with a pacing and without a ramp start.
    const MAX_SPREAD: Duration = Duration::from_secs(1);

    /// The time over which users start, where there are no stages: the ramp. Without one, users that keep a pacing
    /// start over one pacing, or over a second if it is longer: if they all started at the same moment, they would be
    /// due at the same moment ever after, and all but the first of them would be sent late.
    pub fn start_time(&self) -> Duration {
        match self.pacing {
            Some(pacing) if self.ramp.is_zero() => pacing.min(Closed::MAX_SPREAD),
            _ => self.ramp,
        }
    }
}

/// How the beginning of a run is told from its steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warmup {
    /// By a rule, from what was recorded.
    #[default]
    Auto,
    /// There is none.
    None,
    /// It is so long.
    Fixed(Duration),
}

/// Whether users with a number of iterations wait for each other's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// Each user ends when its own iterations are done: at last only some are left.
    #[default]
    Each,
    /// All end as soon as the first one has done its iterations: none works alone.
    Together,
}

/// A rate of arrivals, each starting an iteration of a free user.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Open {
    /// Arrivals a second at the end of `ramp`; exclusive with `stages`.
    pub rate: Option<f64>,
    /// Time over which the rate rises from 0.
    pub ramp: Duration,
    /// Rate over time; from 0 (or `rate`) to each stage's rate in turn.
    pub stages: Vec<Stage>,
    /// Even or random distances.
    pub arrivals: Arrivals,
    /// Most users at a time; an arrival that finds none free is dropped, and counted.
    pub max_users: u64,
    /// End: time since the load's start, ramp included.
    pub duration: Option<Duration>,
    /// End: number of arrivals.
    pub total_iterations: Option<u64>,
}

/// A straight line to a level. `over: 0s` is a jump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Users, or arrivals a second, at the end of the stage.
    pub level: f64,
    /// Its length.
    pub over: Duration,
}

/// The distances of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Even,
    /// A Poisson process: exponential distances.
    Poisson,
}

/// What a failed request (any error kind, a failed check included) does to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// It goes on with the next step.
    #[default]
    Continue,
    /// It goes on with its next iteration.
    NextIteration,
    /// It ends.
    StopUser,
    /// The run ends in order.
    StopRun,
}

/// One thing a user does, and where the plan says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What.
    pub kind: StepKind,
    /// Where.
    pub span: Span,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// One exchange with the target (and the redirects that follow).
    Request(Box<Request>),
    /// Wait.
    Think(Think),
    /// A named span of steps, timed as a whole.
    Group {
        /// Name under which it is counted.
        name: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps several times; `${index}`-like access is by `counter`, a variable from 0.
    Repeat {
        /// How many times: a number or an expression.
        times: Expr,
        /// Variable that holds the number of the pass, from 0.
        counter: Option<String>,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps while a condition holds.
    While {
        /// The condition, looked at before each pass.
        condition: Expr,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps on a condition.
    If {
        /// The condition.
        condition: Expr,
        /// If it holds.
        then: Vec<Step>,
        /// If not.
        otherwise: Vec<Step>,
    },
    /// Steps for each element of a list.
    ForEach {
        /// Variable that holds the element.
        item: String,
        /// The list.
        list: Expr,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// One of several lists of steps, by weight, at random.
    Choose(Vec<Choice>),
    /// One of several lists of steps, the next one each time the user comes here.
    RoundRobin(Vec<Vec<Step>>),
    /// Steps in the first iteration of a user only.
    OncePerUser(Vec<Step>),
    /// Each step at the same time as the others; the user goes on when all have ended.
    Parallel {
        /// Most that are made at the same time, from 1 to [`MAX_PARALLEL`].
        limit: u32,
        /// The steps, each with all that is in it.
        steps: Vec<Step>,
    },
    /// Give variables values.
    Set(Vec<(Spanned<String>, Json)>),
    /// Forget all of the user's cookies.
    ClearCookies,
    /// Give the user a cookie, as a response might.
    SetCookie(Box<Cookie>),
    /// Write a line to the run's log.
    Log(Template),
    /// End something, in order.
    Stop(StopScope),
    /// Record a value of a metric of the plan's own.
    Metric(Box<Metric>),
    /// Run a program; needs `--allow-exec`.
    Exec(Box<Exec>),
}

/// Most steps of [`StepKind::Parallel`] at the same time, where the plan does not say: so many
/// connections a browser opens to one host over HTTP/1.1.
pub const DEFAULT_PARALLEL: u32 = 6;
/// Most that a plan may ask for.
pub const MAX_PARALLEL: u32 = 1_000;
/// A cookie that a step sets. It obeys what those of servers obey, see RFC 6265bis.
#[derive(Debug, Clone, PartialEq)]
pub struct Cookie {
    /// Its name, not empty.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// The page whose response would have set it; exclusive with `domain` and `path`.
    pub url: Option<Template>,
    /// The host that it goes to, with those below it; `None`: the target's host alone.
    pub domain: Option<Template>,
    /// The path that it goes to, with those below it; `None`: `/`.
    pub path: Option<Template>,
}

/// A value recorded by a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The metric, as thresholds call it.
    pub name: Spanned<String>,
    /// What becomes of its values.
    pub kind: MetricKind,
    /// The value: a number, or for a rate also true or false.
    pub value: Expr,
    /// Values under different tags are recorded separately.
    pub tags: Vec<(Spanned<String>, Template)>,
}

/// What becomes of the values of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// They are added up.
    Counter,
    /// The last, the smallest and the largest are kept.
    Gauge,
    /// The share of those that are true, or not 0, is kept.
    Rate,
    /// Their distribution is kept.
    Trend,
}

impl MetricKind {
    /// All, with their names in plans.
    pub const NAMES: [(&str, MetricKind); 4] = [
        ("counter", MetricKind::Counter),
        ("gauge", MetricKind::Gauge),
        ("rate", MetricKind::Rate),
        ("trend", MetricKind::Trend),
    ];
}

/// One of the branches of `choose`.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Its weight, above 0.
    pub weight: f64,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// What `stop` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopScope {
    /// This iteration.
    Iteration,
    /// This user.
    User,
    /// The run.
    Run,
}

/// A wait between steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Think {
    /// Always the same; an expression in seconds or a duration text when not literal.
    Fixed(Duration),
    /// Evenly between two times.
    Uniform(Duration, Duration),
    /// Normal distribution, cut at 0.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

/// A request as the plan gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method, upper case.
    pub method: String,
    /// Absolute URL, or a path joined to the target.
    pub url: Template,
    /// Name under which it is counted; default: method and collapsed path.
    pub name: Option<Template>,
    /// Query parameters added to the URL, percent-encoded.
    pub query: Vec<(Template, Template)>,
    /// Headers.
    pub headers: Vec<(Template, Template)>,
    /// Body.
    pub body: Body,
    /// Credentials; `None`: the defaults'.
    pub auth: Option<Auth>,
    /// Limits of time.
    pub timeout: Timeouts,
    /// Most redirects followed.
    pub redirects: Option<u32>,
    /// Ask for compressed responses.
    pub compression: Option<bool>,
    /// Most bytes of the body.
    pub max_body: Option<u64>,
    /// Most decompressed bytes for each byte of a compressed body.
    pub max_decompression_ratio: Option<u64>,
    /// What becomes of the response's body; `None`: what its checks and extracts need.
    pub response_body: Option<ResponseBody>,
    /// Whether a status of 400 and above is an error where no check looks at `status`.
    pub status_errors: Option<bool>,
    /// Whether it is repeated on a new connection where the target had closed the old one.
    pub retry_stale: Option<bool>,
    /// What the page loads besides; `None`: the defaults'.
    pub resources: Option<Resources>,
    /// Values taken from the response, in order.
    pub extract: Vec<Extract>,
    /// Assertions about the response, in order, after the extracts.
    pub check: Vec<Check>,
}

/// What becomes of the body of a response while it is received, in constant memory and whatever its
/// size. Where a request gives none, so much is kept as its checks and extracts need.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseBody {
    /// It is counted and discarded.
    Discard,
    /// It is hashed; checks and extracts know the hash, in hexadecimal, as `body_hash`.
    Hash(HashAlgorithm),
    /// Only so many bytes of its beginning are kept, as `body`.
    Keep(u64),
    /// It is written to a file, which replaces one of that name; checks and extracts know its path as
    /// `body_file`.
    File(Template),
}

/// How a body is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashAlgorithm {
    /// RFC 1321.
    Md5,
    /// FIPS 180-4.
    Sha256,
    /// XXH3 with 64 bits, the fastest: against accidents, not against people.
    Xxh3,
}

impl HashAlgorithm {
    /// All, with their names in plans.
    pub const NAMES: [(&str, HashAlgorithm); 3] = [
        ("md5", HashAlgorithm::Md5),
        ("sha256", HashAlgorithm::Sha256),
        ("xxh3", HashAlgorithm::Xxh3),
    ];
}

/// What a request carries.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// A text.
    Text(Template),
    /// A file, sent as a stream, with values in the place of markers.
    File {
        /// The file.
        path: Spanned<PathBuf>,
        /// Whether it is compressed with gzip and sent decompressed.
        decompress: bool,
        /// Texts in it, and what is sent in their place.
        replace: Vec<(Spanned<String>, Template)>,
    },
    /// JSON; sets `Content-Type: application/json`.
    Json(Json),
    /// A form; sets `Content-Type: application/x-www-form-urlencoded`.
    Form(Vec<(Template, Template)>),
    /// RFC 7578 form data.
    Multipart(Vec<FormPart>),
}

/// A part of a multipart body.
#[derive(Debug, Clone, PartialEq)]
pub struct FormPart {
    /// Field name.
    pub name: Template,
    /// What it holds.
    pub content: FormPartContent,
    /// Content type, where given.
    pub content_type: Option<String>,
}

/// What a part of a multipart body holds.
#[derive(Debug, Clone, PartialEq)]
pub enum FormPartContent {
    /// A text.
    Text(Template),
    /// A file, sent as a stream.
    File {
        /// The file.
        path: Spanned<PathBuf>,
        /// The name sent; the file's own unless given.
        filename: Option<String>,
    },
}

/// A value taken from a response into a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    /// The variable.
    pub variable: Spanned<String>,
    /// Where the value comes from.
    pub from: Extractor,
    /// Which match.
    pub which: Match,
    /// The value if nothing matches; without it the request fails as `extract`.
    pub default: Option<Json>,
}

/// Where an extracted value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Extractor {
    /// Rust regex syntax over the body's bytes.
    Regex {
        /// The pattern.
        pattern: Spanned<String>,
        /// Group taken, 0 the whole match; default 1 where the pattern has a group, otherwise 0.
        group: Option<u32>,
    },
    /// The text between two literal texts.
    Between {
        /// Text before.
        left: Spanned<String>,
        /// Text after.
        right: Spanned<String>,
    },
    /// JSONPath, RFC 9535.
    Json(Spanned<String>),
    /// CSS selector: an attribute, or the text of the element.
    Css {
        /// The selector.
        selector: Spanned<String>,
        /// The attribute; `None`: the text.
        attr: Option<String>,
    },
    /// XPath 1.0 over HTML or XML.
    XPath(Spanned<String>),
    /// A header of the response, by name.
    Header(String),
    /// A cookie set by the response, or in the user's jar, by name.
    Cookie(String),
    /// The status code.
    Status,
    /// The hash of the body, with [`ResponseBody::Hash`].
    BodyHash,
    /// The path of the file that the body was written to, with [`ResponseBody::File`].
    BodyFile,
}

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Match {
    /// The first.
    #[default]
    First,
    /// The n-th, from 1.
    Nth(u32),
    /// The last.
    Last,
    /// All, as a list.
    All,
    /// Any, from the run's seed.
    Random,
}

/// An assertion about a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Must be true.
    pub expr: Expr,
    /// What it is called in reports; its text unless given.
    pub name: Option<String>,
    /// Only counted, not an error of the request.
    pub warn: bool,
}

/// A program run as a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Exec {
    /// Program and arguments, no shell.
    pub command: Vec<Template>,
    /// Name under which it is counted; default: the program's file name.
    pub name: Option<String>,
    /// Limit of time; default 60 s.
    pub timeout: Option<Duration>,
    /// Values taken from its standard output (`status` is the exit code).
    pub extract: Vec<Extract>,
    /// Assertions; without one, an exit code other than 0 is an error.
    pub check: Vec<Check>,
}

impl Request {
    /// A GET without anything else.
    pub fn get(url: Template) -> Request {
        Request {
            method: "GET".to_owned(),
            url,
            name: None,
            query: Vec::new(),
            headers: Vec::new(),
            body: Body::None,
            auth: None,
            timeout: Timeouts::default(),
            redirects: None,
            compression: None,
            max_body: None,
            max_decompression_ratio: None,
            response_body: None,
            status_errors: None,
            retry_stale: None,
            resources: None,
            extract: Vec::new(),
            check: Vec::new(),
        }
    }
}

impl Plan {
    /// The metrics that the steps of its scenarios record, in the order of the plan.
    pub fn metrics(&self) -> Vec<&Metric> {
        fn find<'p>(step: &'p Step, found: &mut Vec<&'p Metric>) {
            if let StepKind::Metric(metric) = &step.kind {
                found.push(metric);
            }
            step.inner().for_each(|step| find(step, found));
        }
        let mut found = Vec::new();
        let steps = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        steps.for_each(|step| find(step, &mut found));
        found
    }
}

impl Step {
    /// The steps directly within this one.
    pub fn inner(&self) -> impl Iterator<Item = &Step> {
        let lists: Vec<&[Step]> = match &self.kind {
            StepKind::Group { steps, .. }
            | StepKind::Repeat { steps, .. }
            | StepKind::While { steps, .. }
            | StepKind::ForEach { steps, .. }
            | StepKind::Parallel { steps, .. }
            | StepKind::OncePerUser(steps) => vec![steps],
            StepKind::If { then, otherwise, .. } => vec![then, otherwise],
            StepKind::Choose(choices) => {
                choices.iter().map(|choice| choice.steps.as_slice()).collect()
            }
            StepKind::RoundRobin(branches) => branches.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        };
        lists.into_iter().flatten()
    }
}
