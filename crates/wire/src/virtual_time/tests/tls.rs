//! HTTP/1.1 over TLS, whose records are cut anywhere too, on connections that end, break or stall.

use std::cell::{Cell, RefCell};
use std::io::{Read as _, Write as _};
use std::rc::Rc;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ServerConfig, ServerConnection};

use super::*;
use crate::link::TokioIo;
use crate::tls::{Connectors, connectors};
use crate::{
    Connection, Delivery, Error, ErrorKind, Expect, Http, Phase, Progress, RequestBytes, Response,
    Times, TlsSettings,
};

/// Seeds that have failed.
const FAILED: [u64; 2] = [22, 29];

/// What the server does behind what it sends of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    Nothing,
    /// In order: TLS says so before TCP does.
    Notify,
    Close,
    Reset,
}

struct Server {
    session: ServerConnection,
    random: Random,
    /// What is answered to the next request.
    answer: Rc<RefCell<(Vec<u8>, After)>>,
    /// Bytes that were sent so far.
    sent: Rc<Cell<usize>>,
}

impl Server {
    /// Sends what TLS has to say.
    fn flush(&mut self, out: &mut Outbound) {
        let mut records = Vec::new();
        while self.session.wants_write() {
            self.session.write_tls(&mut records).expect("memory");
        }
        self.sent.set(self.sent.get() + records.len());
        let mut at = 0;
        for segment in cut(&mut self.random, &records) {
            at += pause(&mut self.random);
            out.send(at, &segment);
        }
    }
}

impl Peer for Server {
    fn on_bytes(&mut self, mut bytes: &[u8], out: &mut Outbound) {
        let mut request = Vec::new();
        while !bytes.is_empty() {
            self.session.read_tls(&mut bytes).expect("memory");
            self.session.process_new_packets().expect("a client that speaks TLS");
            // Nothing more to read now is an error here.
            let _ = self.session.reader().read_to_end(&mut request);
        }
        self.flush(out);
        if request.is_empty() {
            return;
        }
        let (answer, after) = self.answer.borrow().clone();
        self.session.writer().write_all(&answer).expect("memory");
        if after == After::Notify {
            self.session.send_close_notify();
        }
        self.flush(out);
        match after {
            After::Nothing => {}
            After::Notify | After::Close => out.close(0),
            After::Reset => out.reset(0),
        }
    }
}

async fn exchange(
    client: &Client,
    connection: &mut Connection,
    progress: &Progress,
) -> Result<(Vec<u8>, Times), Error> {
    let slices = [b"GET / HTTP/1.1\r\n\r\n".as_slice(), b"", b""];
    let request = RequestBytes { is_head: false, slices, stream: None };
    let expect = Expect {
        keep: u64::MAX,
        sink: None,
        max_body: 1 << 20,
        max_decompression_ratio: 1,
        decompress: false,
        throttle: None,
    };
    let done = |got: &Response<'_>, times| (got.body.to_vec(), times);
    connection.exchange(client, request, expect, progress, done).await
}

fn story(client: &Client, tls: (&Arc<ServerConfig>, &Connectors), mut random: Random) {
    let setting = Setting { window: usize::MAX, ..Setting::any(&mut random) };
    let (answer, sent) = (Rc::new(RefCell::new((Vec::new(), After::Nothing))), Rc::default());
    let session = ServerConnection::new(tls.0.clone()).expect("a session");
    let own = Random::new(random.next_u64());
    let server = Server { session, random: own, answer: answer.clone(), sent: Rc::clone(&sent) };
    let socket = VirtualSocket::new(setting.path(&mut random), server);
    let name = ServerName::try_from("shop.test").expect("a name");
    let link = TokioIo::from(Link::Virtual(socket.clone()));
    let stream = setting.run(client, &mut random, tls.1.of(None, "shop.test").connect(name, link));
    let stream = stream.expect("a handshake");
    let mut connection = Connection::new(Link::Tls(Box::new(stream)));
    while connection.reusable() && now() < 200_000 * MS {
        let body = vec![b'x'; [0, 10, 5_000, 60_000][random.below(4)]];
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let whole = [head.as_bytes(), &body].concat();
        let at = if random.below(4) == 0 { random.below(whole.len()) } else { whole.len() };
        let after = [After::Nothing, After::Nothing, After::Notify, After::Close, After::Reset]
            [random.below(5)];
        answer.replace((whole[..at].to_vec(), after));
        let (progress, begin) = (Progress::default(), now());
        let got = {
            let going = exchange(client, &mut connection, &progress);
            setting.run(client, &mut random, until(begin + PATIENCE, going))
        };
        let (is_whole, told) = (at == whole.len(), format!("{at} of {}, {after:?}", whole.len()));
        match got {
            None => {
                assert!(!is_whole && after == After::Nothing, "{told}: it never ends");
                let phase = if at == 0 { Phase::FirstByte } else { Phase::Body };
                assert_eq!(progress.phase(), phase, "{told}");
            }
            Some(Ok((seen, times))) => {
                assert!(is_whole && seen == body && connection.reusable(), "{told}");
                assert!(begin <= times.sent_ns && times.sent_ns <= times.first_byte_ns, "{told}");
                let tick = socket.tcp_info().inflow().tick_ns;
                let most = if setting.loss == 0 { 0 } else { 2 * tick + MS };
                let truth = socket.readable_ns(sent.get()).expect("it came");
                let is_right = times.end_ns.abs_diff(truth) <= most;
                // The end that TLS says comes with the response's last bytes, or behind them.
                assert!(is_right || after == After::Notify, "{told}: {truth} {times:?}");
            }
            Some(Err(error)) => {
                let kind =
                    if after == After::Reset { ErrorKind::Reset } else { ErrorKind::ClosedEarly };
                let is_lost = after == After::Reset && setting.loss > 0;
                assert!(after != After::Nothing && (!is_whole || is_lost), "{told}: {error}");
                assert_eq!(
                    (error.kind(), error.delivery()),
                    (kind, Delivery::Acknowledged),
                    "{told}"
                );
                assert!(!error.is_stale(), "{told}");
            }
        }
        if !connection.reusable() || after == After::Nothing {
            continue;
        }
        // It rests until its end has been seen.
        setting.run(client, &mut random, sleep_until(now() + 10_000 * MS));
        let progress = Progress::default();
        let going = exchange(client, &mut connection, &progress);
        let got = setting.run(client, &mut random, until(now() + PATIENCE, going));
        let error = got.expect("it ends").expect_err("the connection has ended");
        assert!(error.is_stale() && error.delivery() == Delivery::NotSent, "{told}: {error:?}");
    }
}

#[test]
fn responses_over_tls_are_whole_or_the_right_error() {
    let made = rcgen::generate_simple_self_signed(["shop.test".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a certificate and its key");
    let config = Arc::new(config);
    let settings = TlsSettings { insecure: true, ..TlsSettings::default() };
    let connectors = connectors(&settings, Http::V1).map_err(|why| why.0).expect("settings");
    tell(&FAILED, 300, |client, random| story(client, (&config, &connectors), random));
}
