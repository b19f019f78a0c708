//! A request of a script, made into what a call carries and what becomes of it. Pure.

use std::time::Duration;

use squall_metrics::PlaceId;
use squall_plan::template::BoundTemplate;
use squall_script::{BodyKind, HttpHead, HttpOptions};

use crate::parts::confined;
use crate::program::call::{Across, AuthOp, ContentOp, HeaderOp};
use crate::program::{Limits, NameOp, Policy, RowOp};

/// How long a request may take that does not say it.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes of a body that a script is given.
const MOST_OF_BODY: u64 = 256 << 20;
/// Most decompressed bytes for each byte of a compressed body.
const DECOMPRESSION_RATIO: u64 = 200;

/// What a request carries, and what becomes of it.
#[derive(Debug)]
pub(crate) struct Made {
    pub content: ContentOp,
    pub policy: Policy,
}

impl Made {
    /// Of what a request says but for its body. `credentials`: those in its URL; `cookies`: the whole line, if the request
    /// has cookies of its own; `jar`: the number of its jar among the user's.
    ///
    /// # Errors
    /// What cannot be sent, in a sentence.
    pub(crate) fn of(
        request: &HttpHead,
        options: &HttpOptions,
        (place, jar): (PlaceId, u16),
        credentials: Option<(String, String)>,
        cookies: Option<String>,
    ) -> Result<Made, String> {
        if !is_token(&request.method) {
            return Err(format!("`{}`: a method is one word of letters", request.method));
        }
        let mut headers = headers(request, &options.user_agent)?;
        if let Some(line) = &cookies {
            headers.retain(|own| !own.name.eq_ignore_ascii_case(b"cookie: "));
            headers.push(header("Cookie", line));
        }
        let own_cookie = headers.iter().any(|own| own.name.eq_ignore_ascii_case(b"cookie: "));
        let auth = auth(request, credentials)?;
        let content = ContentOp { headers, own_cookie, auth, ..ContentOp::default() };
        let keeps = request.params.body != BodyKind::None;
        let timeout = request.params.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let limits = Limits {
            all: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            max_body: if keeps { MOST_OF_BODY } else { u64::MAX },
            max_decompression_ratio: DECOMPRESSION_RATIO,
            keep: if keeps { u64::MAX } else { 0 },
            compression: keeps,
            ..Limits::NONE
        };
        Ok(Made { content, policy: policy(place, jar, limits) })
    }
}

/// What becomes of it: it is a sample by itself, whatever its status, and its redirects are samples of their own.
fn policy(place: PlaceId, jar: u16, limits: Limits) -> Policy {
    Policy {
        row: RowOp { name: NameOp::FromUrl, place, step: "".into(), counted: true },
        limits,
        timeouts: None,
        retry_stale: true,
        redirect_to_get: false,
        redirect_cookies: true,
        cookies: true,
        jar,
        cache: Default::default(),
        cache_number: 0,
        capture: None,
        sees_digest: false,
        reads_sent: false,
        status_errors: false,
        post: Vec::new(),
        resources: None,
    }
}

/// Its headers, in their order. What follows from the body is not among them.
fn headers(request: &HttpHead, user_agent: &str) -> Result<Vec<HeaderOp>, String> {
    let mut headers = Vec::with_capacity(request.headers.len() + 1);
    let has = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    if !user_agent.is_empty() && !has("user-agent") {
        headers.push(header("User-Agent", user_agent));
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            return Err(format!(
                "invalid header name `{}`: use letters, digits and `-`",
                name.escape_debug()
            ));
        }
        let follows = ["content-length", "transfer-encoding", "connection"];
        if !follows.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            headers.push(header(name, value));
        }
    }
    Ok(headers)
}

fn header(name: &str, value: &str) -> HeaderOp {
    let across = if confined::by_name(name) { Across::Never } else { Across::UnlessSecret };
    let name = format!("{name}: ").into_bytes().into();
    HeaderOp { name, value: BoundTemplate::literal(value), across }
}

/// Its credentials, which stand in its URL.
fn auth(request: &HttpHead, credentials: Option<(String, String)>) -> Result<AuthOp, String> {
    let Some((user, password)) = credentials else { return Ok(AuthOp::None) };
    let (user, password) = (BoundTemplate::literal(&user), BoundTemplate::literal(&password));
    match request.params.auth.as_deref() {
        None | Some("basic") => Ok(AuthOp::Basic { user, password }),
        Some("digest") => Ok(AuthOp::Digest { user, password }),
        Some(other) => Err(format!("`auth: {other}`: squall knows basic and digest")),
    }
}

/// Whether a text is a token of HTTP (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_token)
}
