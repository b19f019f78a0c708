//! The server as a whole: where it listens, how it counts, stalls, scales and ends; TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Client, connect, get, server, wait_until_all_closed};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use squall_target::{Address, Options, Server, StartError, TlsCertificate, TlsOptions};

/// A path for this test alone.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("squall-target-{}-{name}", std::process::id()))
}

#[test]
fn listens_on_ipv4_ipv6_and_a_unix_socket() {
    let path = scratch("socket");
    let unix = format!("unix:{}", path.display());
    let mut listen = vec!["127.0.0.1:0".to_owned(), unix.clone()];
    // Containers often have no IPv6.
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        listen.push("[::1]:0".to_owned());
    }
    let count = listen.len();
    let server = Server::start(Options { listen, threads: 1, tls: None, seed: None }).unwrap();
    assert_eq!(server.addresses().len(), count);
    for address in server.addresses() {
        match address {
            Address::Tcp { socket, tls: false } => {
                assert_ne!(socket.port(), 0);
                assert_eq!(address.url(), format!("http://{socket}"));
                let mut client = Client::over(TcpStream::connect(socket).unwrap());
                assert_eq!(client.get("/").status, 200);
            }
            Address::Unix { path, tls: false } => {
                assert_eq!(address.url(), unix);
                let mut client = Client::over(UnixStream::connect(path).unwrap());
                assert_eq!(client.get("/").status, 200);
                assert_eq!(client.get("/bytes/1m").body.len(), 1 << 20);
            }
            other => panic!("{other:?}"),
        }
    }
    let again =
        Server::start(Options { listen: vec![unix.clone()], threads: 1, tls: None, seed: None });
    assert!(matches!(again, Err(StartError::Listen { .. })), "somebody listens there");
    server.stop();
    assert!(!path.exists());
    // A socket that was left behind is in nobody's way.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    Server::start(Options { listen: vec![unix], threads: 1, tls: None, seed: None })
        .unwrap()
        .stop();
}

#[test]
fn a_server_may_be_shared_between_threads() {
    fn is_shared(_: impl Send + Sync) {}
    is_shared(server());
}

#[test]
fn what_cannot_start_says_why() {
    let start = |listen: &[&str], tls| {
        let listen = listen.iter().map(|&address| address.to_owned()).collect();
        Server::start(Options { listen, threads: 1, tls, seed: None }).err().unwrap().to_string()
    };
    let pem = |cert: &str| {
        let certificate = TlsCertificate::Pem { cert: cert.into(), key: "/no/key.pem".into() };
        Some(TlsOptions { certificate, client_ca: None, http2: true })
    };
    assert!(start(&[], None).contains("no address to listen on"));
    assert!(start(&["nowhere"], None).contains("'nowhere'"));
    assert!(start(&["127.0.0.1:0"], pem("/no/cert.pem")).contains("/no/key.pem"));
    let taken = server();
    let address = taken.url().replace("http://", "");
    assert!(start(&[&address], None).contains(&address));
}

#[test]
fn counts_what_it_does() {
    let server = server();
    let mut clients: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    for client in &mut clients {
        client.get("/status/200");
        client.get("/bytes/1000");
        client.request("POST", "/upload", "", "0123456789");
    }
    let stats = server.stats();
    assert_eq!((stats.requests, stats.accepted, stats.open), (9, 3, 3));
    assert!(stats.bytes_in > 3 * 100 && stats.bytes_out > 3 * 1000, "{stats:?}");
    let shown = clients[0].get("/control/stats").json();
    assert_eq!((&shown["accepted"], &shown["open"]), (&3.into(), &3.into()));
    drop(clients);
    wait_until_all_closed(&server);
}

#[test]
fn a_stall_holds_every_answer_up() {
    let server = server();
    let mut clients: Vec<_> = (0..4).map(|_| connect(&server)).collect();
    // One answer is under way when the stall begins, be this machine held up meanwhile.
    clients[0].send("GET /delay/1500 HTTP/1.1\r\nHost: h\r\n\r\n");
    let start = Instant::now();
    assert_eq!(clients[1].get("/control/stall?ms=2000").json()["stall_ms"], 2_000);
    clients[2].send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    clients[3].send("GET /bytes/10 HTTP/1.1\r\nHost: h\r\n\r\n");
    for at in [0, 2, 3] {
        assert_eq!(clients[at].read_response(false).status, 200);
        assert!(start.elapsed() >= Duration::from_secs(2), "client {at}");
    }
    assert_eq!(clients[1].get("/").status, 200);
}

#[test]
fn many_connections_wait_at_once() {
    let server = server();
    let mut clients: Vec<_> = (0..500).map(|_| connect(&server)).collect();
    for client in &mut clients {
        client.send("GET /delay/20?dist=uniform&spread=50 HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    for client in &mut clients {
        let delay = client.read_response(false).json()["delay_ms"].as_f64().unwrap();
        assert!((20.0..70.0).contains(&delay), "{delay}");
    }
    assert_eq!(server.stats().requests, 500);
}

#[test]
fn stops_with_clients_connected_and_waiting() {
    let server = server();
    let mut client = connect(&server);
    client.send("GET /delay/3600000 HTTP/1.1\r\nHost: h\r\n\r\n");
    let mut flooded = connect(&server);
    flooded.send("GET /hostile/endless-body HTTP/1.1\r\nHost: h\r\n\r\n");
    flooded.fill().unwrap();
    let idle = connect(&server);
    server.stop();
    assert!(matches!(client.fill(), Ok(0) | Err(_)));
    drop(idle);
}

#[test]
fn connections_are_numbered_and_known() {
    let server = server();
    let mut client = connect(&server);
    client.get("/");
    let about = client.get("/connection").json();
    assert_eq!((&about["connection"], &about["requests"]), (&1.into(), &2.into()));
    assert_eq!(about["peer"], client.stream.local_addr().unwrap().to_string());
    assert!(about["tls"].is_null());
    assert_eq!(get(&server, "/connection").json()["connection"], 2);
}

/// Files that are gone when the test is over.
struct Files(Vec<PathBuf>);

impl Files {
    fn write(&mut self, name: &str, content: &str) -> PathBuf {
        let path = scratch(name);
        std::fs::write(&path, content).unwrap();
        self.0.push(path.clone());
        path
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

pub(crate) fn tls_server(certificate: TlsCertificate, client_ca: Option<PathBuf>) -> Server {
    let tls = Some(TlsOptions { certificate, client_ca, http2: true });
    Server::start(Options { tls, threads: 1, ..Options::default() }).unwrap()
}

/// A client's configuration that trusts this authority, with this certificate if there is one.
pub(crate) fn trusting(ca_pem: &str, identity: Option<(&str, &str)>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let cert = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![cert], key).unwrap()
        }
    })
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn connect_tls(server: &Server, config: &Arc<ClientConfig>, name: &str) -> Client<Tls> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(config.clone(), name).unwrap();
    Client::over(StreamOwned::new(connection, connect(server).stream))
}

#[test]
fn tls_with_a_certificate_of_its_own() {
    let server = tls_server(TlsCertificate::SelfSigned { names: vec![] }, None);
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let config = trusting(&server.ca_pem().unwrap(), None);
    for (turn, name) in ["localhost", "localhost", "127.0.0.1"].into_iter().enumerate() {
        let mut client = connect_tls(&server, &config, name);
        let tls = client.get("/connection").json()["tls"].clone();
        assert_eq!(tls["version"], "TLSv1_3");
        assert_eq!(tls["resumed"], turn == 1, "the second handshake resumes the first: {tls}");
        let body = client.get("/bytes/5m").body;
        assert_eq!(body.len(), 5 << 20);
        let upload = "x".repeat(1 << 20);
        assert_eq!(client.request("POST", "/upload", "", &upload).json()["bytes"], 1 << 20);
    }
    // Many responses at once, more than the socket accepts.
    let mut client = connect_tls(&server, &config, "localhost");
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2000));
    for _ in 0..2000 {
        assert_eq!(client.read_response(false).status, 200);
    }
}

#[test]
fn tls_for_certain_names_only() {
    let names = vec!["shop.example".to_owned()];
    let server = tls_server(TlsCertificate::SelfSigned { names }, None);
    let config = trusting(&server.ca_pem().unwrap(), None);
    assert_eq!(connect_tls(&server, &config, "shop.example").get("/").status, 200);
    let mut other = connect_tls(&server, &config, "localhost");
    assert!(other.stream.write_all(b"GET").is_err());
}

#[test]
fn tls_with_certificates_from_files() {
    let mut files = Files(Vec::new());
    let made = |name: &str| rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let (own, user) = (made("localhost"), made("user"));
    let certificate = TlsCertificate::Pem {
        cert: files.write("cert.pem", &own.cert.pem()),
        key: files.write("key.pem", &own.signing_key.serialize_pem()),
    };
    let client_ca = files.write("ca.pem", &user.cert.pem());
    let server = tls_server(certificate, Some(client_ca));
    assert_eq!(server.ca_pem(), None);

    let (cert, key) = (user.cert.pem(), user.signing_key.serialize_pem());
    let known = trusting(&own.cert.pem(), Some((&cert, &key)));
    let about = connect_tls(&server, &known, "localhost").get("/connection").json();
    assert_eq!(about["tls"]["client_certificates"], 1);

    let unknown = trusting(&own.cert.pem(), None);
    let mut client = connect_tls(&server, &unknown, "localhost");
    // In TLS 1.3 the client learns of it only when it reads.
    let _ = client.stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(client.stream.read(&mut [0; 100]).is_err());
}

#[test]
fn plain_text_to_a_tls_port_is_let_go() {
    let server = tls_server(TlsCertificate::SelfSigned { names: vec![] }, None);
    let mut client = connect(&server);
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    let _ = client.read_to_end();
    wait_until_all_closed(&server);
}
