//! Calls of one method over gRPC, one at a time, on the outbox's thread, by
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>: a request of HTTP/2 whose body is a message, and a response
//! whose trailers say what became of it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use rustls::pki_types::ServerName;
use squall_base::form::percent_decoded;
use squall_plan::feed_target::{FeedTarget, parts};
use squall_runner::Trouble;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::http::authorization;
use crate::outbox::{ATTEMPT, DeliveryError};

/// Most bytes of a response that are kept.
const RESPONSE: usize = 64 << 10;
/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;
/// The names of statuses, by their numbers.
const STATUSES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];
/// Statuses after which the same call may succeed, by
/// <https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-response>.
const PASSING: [&str; 6] =
    ["CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"];

/// Calls one method of one server.
pub struct Caller {
    runtime: Runtime,
    server: Server,
    /// Where the method is.
    method: Uri,
    /// Those of the target, and what authorizes.
    headers: Vec<(HeaderName, HeaderValue)>,
    connection: Option<SendRequest<Bytes>>,
}

/// How the server is reached.
struct Server {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Caller {
    /// Of a method (`/SERVICE/METHOD`) of the server that a target names, authorized as that says, or by the token of
    /// the environment, if there is one.
    ///
    /// # Errors
    /// The URL is none, or there is no TLS for it.
    pub fn new(target: &FeedTarget, method: &str) -> io::Result<Caller> {
        let (scheme, _, rest) =
            parts(&target.to).ok_or_else(|| io::Error::other("expected a URL"))?;
        let authority = rest.trim_end_matches('/');
        let method: Uri =
            format!("{scheme}://{authority}{method}").parse().map_err(io::Error::other)?;
        let host = method.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let is_secure = scheme == "https";
        let port = method.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let tls = is_secure.then(|| tls(&host)).transpose()?;
        let authorization = authorization(target, "Bearer");
        let own = authorization.iter().map(|own| ("authorization", own.as_str()));
        let given = target.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let header = |(name, value): (&str, &str)| {
            let name: HeaderName = name.parse().map_err(io::Error::other)?;
            io::Result::Ok((name, value.parse().map_err(io::Error::other)?))
        };
        let headers = given.chain(own).map(header).collect::<io::Result<_>>()?;
        Ok(Caller {
            runtime: Builder::new_current_thread().enable_all().build()?,
            server: Server { host, port, tls },
            method,
            headers,
            connection: None,
        })
    }

    /// Calls it with a message, and returns that of the response. What the server cannot take now, and what did not reach it, is
    /// worth another attempt.
    ///
    /// # Errors
    /// It was not taken.
    pub fn call(&mut self, message: &[u8]) -> Result<Vec<u8>, DeliveryError> {
        let known = self.connection.take();
        let (server, request, body) = (&self.server, self.request()?, framed(message));
        let exchanged = async {
            let sender = match known {
                Some(sender) => sender,
                None => server.connect().await?,
            };
            exchange(sender, request, body).await
        };
        // A timer is made within the runtime.
        let exchanged = self.runtime.block_on(async { timeout(ATTEMPT, exchanged).await });
        match exchanged {
            Ok(Ok((sender, response))) => {
                self.connection = Some(sender);
                response.result()
            }
            Ok(Err(error)) => Err(DeliveryError::again(error)),
            Err(_) => Err(DeliveryError::again("timeout")),
        }
    }

    fn request(&self) -> Result<Request<()>, DeliveryError> {
        let request = Request::post(self.method.clone())
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("user-agent", concat!("squall/", env!("CARGO_PKG_VERSION")));
        let request =
            self.headers.iter().fold(request, |own, (name, value)| own.header(name, value));
        request.body(()).map_err(DeliveryError::lost)
    }
}

impl Server {
    async fn connect(&self) -> io::Result<SendRequest<Bytes>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            None => begin(stream).await,
            Some((tls, name)) => begin(tls.connect(name.clone(), stream).await?).await,
        }
    }
}

/// Begins to speak HTTP/2. The connection goes on whenever the runtime runs, which is during calls.
async fn begin(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> io::Result<SendRequest<Bytes>> {
    let (sender, connection) = h2::client::handshake(stream).await.map_err(io::Error::other)?;
    // Its end shows in the calls.
    tokio::spawn(async { drop(connection.await) });
    Ok(sender)
}

/// TLS that speaks HTTP/2 to a host.
fn tls(host: &str) -> io::Result<(TlsConnector, ServerName<'static>)> {
    let mut config = squall_outbound::tls().map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok((Arc::new(config).into(), name))
}

/// A message with its prefix.
fn framed(message: &[u8]) -> Bytes {
    // A feed's messages are far below 4 GiB: what waits for a receiver is.
    let length = (message.len() as u32).to_be_bytes();
    [&[0][..], &length, message].concat().into()
}

/// What the server has answered.
#[derive(Debug, Default)]
struct Response {
    http_status: u16,
    head: HeaderMap,
    body: Vec<u8>,
    trailers: HeaderMap,
}

async fn exchange(
    sender: SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
) -> io::Result<(SendRequest<Bytes>, Response)> {
    let mut sender = sender.ready().await.map_err(io::Error::other)?;
    let (response, mut stream) = sender.send_request(request, false).map_err(io::Error::other)?;
    stream.send_data(body, true).map_err(io::Error::other)?;
    let (head, mut body) = response.await.map_err(io::Error::other)?.into_parts();
    let mut own =
        Response { http_status: head.status.as_u16(), head: head.headers, ..Response::default() };
    while let Some(data) = body.data().await {
        let data = data.map_err(io::Error::other)?;
        body.flow_control().release_capacity(data.len()).map_err(io::Error::other)?;
        let room = RESPONSE - own.body.len();
        own.body.extend_from_slice(&data[..data.len().min(room)]);
    }
    own.trailers = body.trailers().await.map_err(io::Error::other)?.unwrap_or_default();
    Ok((sender, own))
}

impl Response {
    /// The message, or what became of the call instead.
    fn result(self) -> Result<Vec<u8>, DeliveryError> {
        // One that has nothing but a head has the status there.
        let of = |name: &str| {
            let value = self.trailers.get(name).or_else(|| self.head.get(name));
            value.map(HeaderValue::as_bytes)
        };
        let Some(status) = of("grpc-status") else {
            let text = format!("status {} without one of gRPC", self.http_status);
            return Err(match self.http_status {
                429 | 502..=504 => DeliveryError::again(text),
                _ => DeliveryError::lost(text),
            });
        };
        let status = String::from_utf8_lossy(status);
        // Digits alone: Rust reads a sign too.
        let digits = status.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<usize> = status.parse().ok().filter(|_| digits);
        let name = number.and_then(|number| STATUSES.get(number)).copied().unwrap_or("unknown");
        if name == "OK" {
            return Ok(self.body.get(PREFIX..).unwrap_or_default().to_vec());
        }
        let why = percent_decoded(of("grpc-message").unwrap_or_default());
        let trouble = Trouble::new(format!("gRPC status {status} ({name})")).said(&why);
        match PASSING.contains(&name) {
            true => Err(DeliveryError::Again(trouble)),
            false => Err(DeliveryError::Lost(trouble)),
        }
    }
}

/// Any bytes as a server's response: a line of trailers each, and the message behind an empty line. For the fuzzer.
pub(crate) fn fuzz(bytes: &[u8]) {
    let mut response = Response { http_status: 200, ..Response::default() };
    let mut lines = bytes.split(|byte| *byte == b'\n');
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            response.trailers.append(name, value);
        }
    }
    response.body = lines.flatten().copied().collect();
    let status = response.trailers.get("grpc-status").cloned();
    // No call is taken that the server does not say it took.
    assert!(
        response.result().is_err()
            || status.is_some_and(|status| status.as_bytes().iter().all(|digit| *digit == b'0'))
    );
}

#[cfg(test)]
mod tests {
    use squall_plan::secrets::Secrets;

    use super::*;

    fn response(http_status: u16, trailers: &[(&'static str, &'static str)]) -> Response {
        let value = HeaderValue::from_static;
        let trailers =
            trailers.iter().map(|(name, own)| (name.parse().expect("a name"), value(own)));
        Response {
            http_status,
            body: framed(b"abc").to_vec(),
            trailers: trailers.collect(),
            ..Response::default()
        }
    }

    #[test]
    fn the_trailers_say_what_became_of_a_call() {
        assert_eq!(response(200, &[("grpc-status", "0")]).result().expect("taken"), b"abc");
        let mut head_alone = response(200, &[("grpc-status", "0")]);
        (head_alone.head, head_alone.body) = (std::mem::take(&mut head_alone.trailers), Vec::new());
        assert_eq!(head_alone.result().expect("taken"), b"");
        let shown = |http_status, trailers: &[(&'static str, &'static str)]| match response(
            http_status,
            trailers,
        )
        .result()
        .expect_err("a failure")
        {
            DeliveryError::Again(own) => format!("again: {}", own.shown(&Secrets::default())),
            DeliveryError::Lost(own) => format!("lost: {}", own.shown(&Secrets::default())),
            DeliveryError::Part(..) => panic!("a part"),
        };
        let full = shown(200, &[("grpc-status", "14"), ("grpc-message", "too%20busy%0a")]);
        assert_eq!(full, "again: gRPC status 14 (UNAVAILABLE): too busy");
        let refused = shown(200, &[("grpc-status", "16"), ("grpc-message", "no token")]);
        assert_eq!(refused, "lost: gRPC status 16 (UNAUTHENTICATED): no token");
        assert_eq!(shown(200, &[("grpc-status", "99")]), "lost: gRPC status 99 (unknown)");
        assert_eq!(shown(503, &[]), "again: status 503 without one of gRPC");
        assert_eq!(shown(200, &[]), "lost: status 200 without one of gRPC");
    }

    #[test]
    fn a_url_names_the_server() {
        let caller = |url: &str| {
            let target = FeedTarget { to: url.to_owned(), ..FeedTarget::default() };
            let own = Caller::new(&target, "/a.B/C").expect("a URL");
            let authorization = own.headers.first();
            let authorization =
                authorization.map(|(_, own)| own.to_str().expect("text").to_owned());
            (own.server.host, own.server.port, own.method.to_string(), authorization)
        };
        let (host, port, method, authorization) = caller("http://me:p%40ss@[::1]:4317/");
        assert_eq!(
            (host.as_str(), port, method.as_str()),
            ("::1", 4317, "http://[::1]:4317/a.B/C")
        );
        assert_eq!(authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        let (host, port, method, authorization) = caller("https://h");
        assert_eq!((host.as_str(), port, method.as_str()), ("h", 443, "https://h/a.B/C"));
        assert_eq!(authorization, None);
    }
}
