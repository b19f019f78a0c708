//! HTTP/2 (RFC 9113), for clients that offer it under TLS: a gateway before the site. Each stream is a connection of its own to
//! HTTP/1.1 (`http`), through a pipe in memory, so that every route answers over both. The framing is the `h2` crate's.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio_rustls::server::TlsStream;

use crate::conn::Conn;
use crate::http::body::BodyDecoder;
use crate::http::head::BodyLength;
use crate::http::response::is_bodiless;
use crate::serve;
use crate::transport::{Client, Plain, Transport};
use crate::worker::Open;

/// Streams that a client may have open at once.
const STREAMS: u32 = 256;

/// What a client may send of a body, and of all bodies, before the site has read it.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// What a pipe holds in each direction.
const PIPE: usize = 64 * 1024;

const HEAD_LIMIT: usize = 256 * 1024;

/// Serves a client's connection until it ends, `id` its number.
pub(crate) async fn serve(socket: Box<TlsStream<Plain>>, open: Rc<Open>, id: u64) {
    let socket = Transport::Tls(socket);
    let client = Rc::new(Client { peer: socket.peer(), tls: socket.tls() });
    // What was put into the transport a moment ago.
    let Transport::Tls(socket) = socket else { return };
    let handshake = h2::server::Builder::new()
        .max_concurrent_streams(STREAMS)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(socket)
        .await;
    // Errors of the connection end it; the client has been told.
    let Ok(mut connection) = handshake else { return };
    let mut requests = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (ours, site) = tokio::io::duplex(PIPE);
        let mut conn = Conn::new(Transport::Piped(site, client.clone()), open.clone(), id);
        conn.requests = requests;
        requests += 1;
        tokio::task::spawn_local(serve::serve(conn));
        tokio::task::spawn_local(exchange(request, respond, ours));
    }
}

/// Passes one request to the site, and its response back. A response that breaks off resets the stream.
async fn exchange(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    pipe: DuplexStream,
) {
    let is_head = request.method() == http::Method::HEAD;
    let (from_site, mut to_site) = tokio::io::split(pipe);
    let (head, body) = request.into_parts();
    let rendered = render_head(&head, body.is_end_stream());
    let chunked = !head.headers.contains_key(header::CONTENT_LENGTH);
    let upload = tokio::task::spawn_local(async move {
        // If the site hangs up, its response says why.
        let _ = async {
            to_site.write_all(&rendered).await?;
            upload(body, &mut to_site, chunked).await
        }
        .await;
        to_site
    });
    let mut response = SiteResponse { site: from_site, read: Vec::new() };
    if response.pass(&mut respond, is_head).await.is_err() {
        respond.send_reset(Reason::INTERNAL_ERROR);
    }
    upload.abort();
}

/// The request's head as HTTP/1.1 says it.
fn render_head(head: &http::request::Parts, is_empty: bool) -> Vec<u8> {
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let mut out = format!("{} {target} HTTP/1.1\r\n", head.method).into_bytes();
    let mut field = |name: &str, value: &[u8]| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    };
    if let Some(authority) = head.uri.authority() {
        field("host", authority.as_str().as_bytes());
    }
    let mut cookies = Vec::new();
    for (name, value) in &head.headers {
        match name {
            // They come in pieces, which HTTP/1.1 does not know (RFC 9113, 8.2.3).
            &header::COOKIE => cookies.push(value.as_bytes()),
            // HTTP/2 has no such thing, or the authority has said it.
            &header::EXPECT | &header::HOST | &header::TE => {}
            _ => field(name.as_str(), value.as_bytes()),
        }
    }
    if !cookies.is_empty() {
        field("cookie", &cookies.join(&b"; "[..]));
    }
    if !is_empty && !head.headers.contains_key(header::CONTENT_LENGTH) {
        field("transfer-encoding", b"chunked");
    }
    out.extend_from_slice(b"\r\n");
    out
}

/// Passes the request's body on, as fast as the site reads it.
async fn upload(
    mut body: RecvStream,
    site: &mut WriteHalf<DuplexStream>,
    chunked: bool,
) -> io::Result<()> {
    if body.is_end_stream() {
        return Ok(());
    }
    while let Some(data) = body.data().await {
        let data = data.map_err(io::Error::other)?;
        if data.is_empty() {
            continue;
        }
        if chunked {
            site.write_all(format!("{:x}\r\n", data.len()).as_bytes()).await?;
        }
        site.write_all(&data).await?;
        if chunked {
            site.write_all(b"\r\n").await?;
        }
        body.flow_control().release_capacity(data.len()).map_err(io::Error::other)?;
    }
    if chunked {
        site.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

/// The site's response as it comes out of the pipe.
struct SiteResponse {
    site: ReadHalf<DuplexStream>,
    /// Read and not yet dealt with.
    read: Vec<u8>,
}

/// What the head of the site's response says.
struct SiteHead {
    response: Response<()>,
    /// `None`: until the site closes.
    body: Option<BodyLength>,
}

/// How the end of the response's body is known.
enum End {
    Decoder(BodyDecoder),
    Close,
}

impl SiteResponse {
    /// Passes the whole response to the client.
    async fn pass(&mut self, respond: &mut SendResponse<Bytes>, is_head: bool) -> io::Result<()> {
        let gone = |cx: &mut Context<'_>| respond.poll_reset(cx).map(drop);
        let SiteHead { response, body: length } = unless(gone, self.head()).await?;
        let has_body = !is_head && !is_bodiless(response.status().as_u16());
        let mut send = respond.send_response(response, !has_body).map_err(io::Error::other)?;
        if !has_body {
            return Ok(());
        }
        let end = length.map_or(End::Close, |length| End::Decoder(BodyDecoder::new(length)));
        let trailers = self.body(&mut send, end).await?;
        if trailers.is_empty() {
            send.send_data(Bytes::new(), true)
        } else {
            send.send_trailers(trailers)
        }
        .map_err(io::Error::other)
    }

    /// The head of the final response.
    async fn head(&mut self) -> io::Result<SiteHead> {
        loop {
            if let Some((length, head)) = parse_head(&self.read)? {
                self.read.drain(..length);
                // HTTP/1.1's own interim responses are no concern of the client's.
                if head.response.status() != StatusCode::CONTINUE {
                    return Ok(head);
                }
            } else if self.read.len() > HEAD_LIMIT || self.fill().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Passes the body on, as fast as the client takes it; what comes behind it.
    async fn body(&mut self, send: &mut SendStream<Bytes>, mut end: End) -> io::Result<HeaderMap> {
        let mut trailers = Vec::new();
        loop {
            let End::Decoder(decoder) = &mut end else {
                let data = std::mem::take(&mut self.read);
                send_all(send, data.into()).await?;
                if self.fill_for(send).await? == 0 {
                    return Ok(HeaderMap::new());
                }
                continue;
            };
            let mut used = 0;
            let mut content = Vec::new();
            while used < self.read.len() && !decoder.is_done() {
                // Framing is taken byte by byte, so that the trailers are seen among it.
                let step = if decoder.least_size() > 0 { self.read.len() - used } else { 1 };
                let input = &self.read[used..used + step];
                let in_trailers = decoder.is_in_trailers();
                let piece =
                    decoder.decode(input).map_err(|refusal| io::Error::other(refusal.reason))?;
                if in_trailers {
                    trailers.extend_from_slice(&input[..piece.consumed]);
                }
                content.extend_from_slice(piece.content);
                used += piece.consumed;
            }
            let done = decoder.is_done();
            self.read.drain(..used);
            send_all(send, content.into()).await?;
            if done {
                return parse_trailers(&trailers);
            }
            if self.fill_for(send).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads more for a client that is still there.
    async fn fill_for(&mut self, send: &mut SendStream<Bytes>) -> io::Result<usize> {
        unless(|cx| send.poll_reset(cx).map(drop), self.fill()).await
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.site.read_buf(&mut self.read).await
    }
}

/// What `work` comes to, unless the client is gone first.
async fn unless<T>(
    mut gone: impl FnMut(&mut Context<'_>) -> Poll<()>,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match gone(cx) {
        Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        Poll::Pending => work.as_mut().poll(cx),
    })
    .await
}

/// Sends bytes of a body within the client's windows.
async fn send_all(send: &mut SendStream<Bytes>, mut data: Bytes) -> io::Result<()> {
    while !data.is_empty() {
        send.reserve_capacity(data.len());
        let granted = poll_fn(|cx| send.poll_capacity(cx)).await;
        let granted = granted.ok_or(io::ErrorKind::BrokenPipe)?.map_err(io::Error::other)?;
        let part = data.split_to(granted.min(data.len()));
        send.send_data(part, false).map_err(io::Error::other)?;
    }
    Ok(())
}

/// A head, if it is there whole, with its length.
fn parse_head(read: &[u8]) -> io::Result<Option<(usize, SiteHead)>> {
    let mut fields = [httparse::EMPTY_HEADER; 256];
    let mut parsed = httparse::Response::new(&mut fields);
    let length = match parsed.parse(read).map_err(io::Error::other)? {
        httparse::Status::Partial => return Ok(None),
        httparse::Status::Complete(length) => length,
    };
    let mut response = Response::new(());
    *response.status_mut() =
        StatusCode::from_u16(parsed.code.unwrap_or_default()).map_err(io::Error::other)?;
    let mut body = None;
    for field in parsed.headers.iter() {
        let (name, value) = header_of(field)?;
        match name {
            // About the connection, of which HTTP/2 says such things in its own way (RFC 9113, 8.2.2).
            header::TRANSFER_ENCODING => body = Some(BodyLength::Chunked),
            header::CONNECTION | header::UPGRADE => {}
            _ => {
                if name == header::CONTENT_LENGTH {
                    let text = value.to_str().unwrap_or_default();
                    body = Some(BodyLength::Known(text.parse().map_err(io::Error::other)?));
                }
                response.headers_mut().append(name, value);
            }
        }
    }
    Ok(Some((length, SiteHead { response, body })))
}

fn parse_trailers(lines: &[u8]) -> io::Result<HeaderMap> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut map = HeaderMap::new();
    if let httparse::Status::Complete((_, fields)) =
        httparse::parse_headers(lines, &mut fields).map_err(io::Error::other)?
    {
        for field in fields {
            let (name, value) = header_of(field)?;
            map.append(name, value);
        }
    }
    Ok(map)
}

fn header_of(field: &httparse::Header<'_>) -> io::Result<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(io::Error::other)?;
    Ok((name, HeaderValue::from_bytes(field.value).map_err(io::Error::other)?))
}
