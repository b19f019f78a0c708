//! Servers that will not do: each is told with what to do.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use squall_fleet::protocol::io::Answer;
use squall_fleet::transport::{Auth, Client, Connect, Transport};

use crate::peer::{Joined, Server, run};

fn refusal(connect: Connect) -> String {
    Client::open(Connect { patience: Duration::ZERO, ..connect }).unwrap_err().to_string()
}

#[test]
#[ignore = "needs nats-server"]
fn a_server_without_jetstream_is_told_with_how_to_have_it() {
    let server = Server::with(|port, _| format!("listen: \"127.0.0.1:{port}\"\n"));
    let said = refusal(server.connect("a"));
    assert!(said.contains("no JetStream") && said.contains("nats-server -js"), "{said}");
}

#[test]
#[ignore = "needs nats-server"]
fn wrong_credentials_are_told() {
    let server = Server::with(|port, path| {
        format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{path}/store\" }}\n\
             authorization {{ user: u, password: right }}\n"
        )
    });
    let with = |auth| Connect { auth, ..server.connect("a") };
    let none = refusal(with(Auth::None));
    assert!(none.contains("refuses these credentials (none were given)"), "{none}");
    let wrong = refusal(with(Auth::User { user: "u".to_owned(), password: "wrong".to_owned() }));
    assert!(wrong.contains("refuses these credentials"), "{wrong}");
    assert!(!wrong.contains("wrong"), "{wrong}");
    Client::open(with(Auth::User { user: "u".to_owned(), password: "right".to_owned() })).unwrap();
    let in_url = Connect::to(&format!("nats://u:right@127.0.0.1:{}", server.port), "a");
    Client::open(in_url).unwrap();
}

#[test]
#[ignore = "needs nats-server"]
fn an_nkey_opens_the_server() {
    let pair = nkeys::KeyPair::new_user();
    let public = pair.public_key();
    let server = Server::with(|port, path| {
        format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{path}/store\" }}\n\
             authorization {{ users: [ {{ nkey: {public} }} ] }}\n"
        )
    });
    let with = |seed: String| Connect { auth: Auth::Nkey(seed), ..server.connect("a") };
    Client::open(with(pair.seed().unwrap())).unwrap();
    let other = refusal(with(nkeys::KeyPair::new_user().seed().unwrap()));
    assert!(other.contains("refuses these credentials"), "{other}");
    let none = refusal(with("nothing".to_owned()));
    assert!(none.contains("not a seed"), "{none}");
}

#[test]
fn an_old_server_is_told_with_its_version() {
    // What a server of Debian 12 says first.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let old = std::thread::spawn(move || {
        use std::io::{BufRead, BufReader};
        let (stream, _) = listener.accept().unwrap();
        let info = r#"{"server_id":"x","version":"2.9.10","max_payload":1048576,"headers":true,"jetstream":true}"#;
        writeln!(&stream, "INFO {info}\r").unwrap();
        for line in BufReader::new(&stream).lines() {
            match line {
                Ok(line) if line.starts_with("PING") => write!(&stream, "PONG\r\n").unwrap(),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    let said = refusal(Connect::to(&format!("127.0.0.1:{port}"), "a"));
    assert!(said.starts_with("this nats-server is 2.9.10; squall needs 2.11 or later (Debian's package is too old): go install"), "{said}");
    old.join().unwrap();
}

#[test]
#[ignore = "needs nats-server"]
fn a_full_server_is_told_with_what_to_do() {
    let server = Server::with(|port, path| {
        format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{path}/store\", max_file_store: 3MB }}\n"
        )
    });
    run(async {
        let nats = Joined::to(server.connect("a")).await.nats;
        let mut answer = Answer::Unknown;
        for number in 0..100 {
            answer = nats.put(format!("run.r.{number}"), vec![7; 200_000].into(), None).await;
            if !matches!(answer, Answer::Stored(_)) {
                break;
            }
        }
        let said = format!("{answer:?}");
        assert!(said.contains("no room left") && said.contains("free its disk"), "{said}");
    });
}

#[test]
#[ignore = "needs nats-server"]
fn a_message_that_is_too_large_is_refused_with_what_to_do() {
    let server = Server::open();
    run(async {
        let nats = Joined::to(server.connect("a")).await.nats;
        let answer = nats
            .publish("squall.r.second.a".to_owned(), "1".to_owned(), vec![0; 2 << 20].into())
            .await;
        assert!(
            matches!(&answer, Answer::Refused(why) if why.contains("raise max_payload")),
            "{answer:?}"
        );
    });
}

#[test]
#[ignore = "needs nats-server"]
fn tls_needs_the_right_authority_and_a_certificate_where_the_server_wants_one() {
    let ca = Authority::new();
    let other = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("ca.pem"), ca.certificate.pem()).unwrap();
    fs::write(path("other.pem"), other.certificate.pem()).unwrap();
    let (certificate, key) = ca.issue("127.0.0.1");
    fs::write(path("server.pem"), certificate).unwrap();
    fs::write(path("server.key"), key).unwrap();
    let (certificate, key) = ca.issue("client");
    fs::write(path("client.pem"), certificate).unwrap();
    fs::write(path("client.key"), key).unwrap();
    let server = Server::with(|port, store| {
        let file = |name: &str| path(name).display().to_string();
        format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}/store\" }}\n\
             tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}\n",
            file("server.pem"),
            file("server.key"),
            file("ca.pem"),
        )
    });
    let with = |authority: &str, certificate: bool| Connect {
        ca: Some(path(authority)),
        certificate: certificate.then(|| (path("client.pem"), path("client.key"))),
        ..Connect::to(&format!("tls://127.0.0.1:{}", server.port), "a")
    };
    Client::open(with("ca.pem", true)).unwrap();
    let unknown = refusal(with("other.pem", true));
    assert!(unknown.contains("--nats-ca"), "{unknown}");
    let bare = refusal(with("ca.pem", false));
    assert!(bare.contains("--nats-cert"), "{bare}");
    let missing = refusal(with("nothing.pem", true));
    assert!(missing.contains("nothing.pem"), "{missing}");
}

struct Authority {
    certificate: rcgen::Certificate,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut of = rcgen::CertificateParams::new(Vec::new()).unwrap();
        of.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = of.self_signed(&key).unwrap();
        Authority { certificate, issuer: rcgen::Issuer::new(of, key) }
    }

    fn issue(&self, name: &str) -> (String, String) {
        let key = rcgen::KeyPair::generate().unwrap();
        let of = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        (of.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}
