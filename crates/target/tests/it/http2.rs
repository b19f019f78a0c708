//! HTTP/2 under TLS, with the client of the `h2` crate.

use std::sync::Arc;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Request, Response};
use rustls::pki_types::ServerName;
use squall_target::{Server, TlsCertificate};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::server::{tls_server, trusting};

/// Speaks HTTP/2 to a server of its own, whose authority is `https://shop.example`.
fn with_client<F: Future<Output = ()>>(talk: impl FnOnce(Client) -> F) {
    let server =
        tls_server(TlsCertificate::SelfSigned { names: vec!["shop.example".to_owned()] }, None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let client = connect(&server).await;
        talk(client).await;
    });
}

async fn connect(server: &Server) -> Client {
    let mut config = Arc::unwrap_or_clone(trusting(&server.ca_pem().unwrap(), None));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let address = server.url().strip_prefix("https://").unwrap().to_owned();
    let socket = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("shop.example").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
    let (send, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::task::spawn_local(async move {
        // The end of a test ends the connection.
        let _ = connection.await;
    });
    Client(send)
}

#[derive(Clone)]
struct Client(SendRequest<Bytes>);

/// A response read to its end.
struct Whole {
    response: Response<()>,
    body: Vec<u8>,
    trailers: HeaderMap,
}

impl Client {
    async fn send(
        &self,
        request: Request<()>,
        body: Option<&'static [u8]>,
    ) -> Result<Whole, h2::Error> {
        let mut send = self.0.clone().ready().await?;
        let (response, mut upload) = send.send_request(request, body.is_none())?;
        if let Some(body) = body {
            upload.send_data(Bytes::from_static(body), true)?;
        }
        let (head, mut stream) = response.await?.into_parts();
        let mut body = Vec::new();
        while let Some(data) = stream.data().await {
            let data = data?;
            stream.flow_control().release_capacity(data.len())?;
            body.extend_from_slice(&data);
        }
        let trailers = stream.trailers().await?.unwrap_or_default();
        Ok(Whole { response: Response::from_parts(head, ()), body, trailers })
    }

    async fn get(&self, path: &str) -> Result<Whole, h2::Error> {
        self.send(request("GET", path).body(()).unwrap(), None).await
    }
}

fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(format!("https://shop.example{path}"))
}

fn json(whole: &Whole) -> serde_json::Value {
    serde_json::from_slice(&whole.body).unwrap()
}

#[test]
fn the_site_answers() {
    with_client(|client| async move {
        let home = client.get("/").await.unwrap();
        assert_eq!(home.response.status(), 200);
        assert!(String::from_utf8(home.body).unwrap().contains("</html>"));
        for name in ["connection", "transfer-encoding"] {
            assert!(!home.response.headers().contains_key(name), "{name}");
        }
        let head = client.send(request("HEAD", "/").body(()).unwrap(), None).await.unwrap();
        assert_eq!(
            head.response.headers()["content-length"],
            home.response.headers()["content-length"]
        );
        assert!(head.body.is_empty());
        assert_eq!(client.get("/nowhere").await.unwrap().response.status(), 404);
        let about = json(&client.get("/connection").await.unwrap());
        assert_eq!(about["tls"]["server_name"], "shop.example");
        assert_eq!(about["requests"], 4);
    });
}

#[test]
fn what_the_client_sends_comes_to_the_site() {
    with_client(|client| async move {
        let post = request("POST", "/echo?a=b").header("cookie", "x=1").header("cookie", "y=2");
        let echo = client.send(post.body(()).unwrap(), Some(b"hello")).await.unwrap();
        let echo = json(&echo);
        assert_eq!(echo["method"], "POST");
        assert_eq!(echo["target"], "/echo?a=b");
        assert_eq!(echo["body"], "hello");
        assert!(echo["headers"].to_string().contains("x=1; y=2"), "{}", echo["headers"]);
        assert!(echo["headers"].to_string().contains("shop.example"), "{}", echo["headers"]);
        let long = request("POST", "/upload").header("content-length", "5").body(()).unwrap();
        assert_eq!(json(&client.send(long, Some(b"12345")).await.unwrap())["bytes"], 5);
    });
}

#[test]
fn bodies_in_chunks_and_at_length_come_whole() {
    with_client(|client| async move {
        let chunked = client.get("/chunked?n=7&size=1000&delay=0").await.unwrap();
        assert_eq!(chunked.body.len(), 7000);
        assert_eq!(chunked.trailers["x-chunks"], "7");
        assert_eq!(chunked.trailers["x-bytes"], "7000");
        assert_eq!(client.get("/bytes/3m").await.unwrap().body.len(), 3 << 20);
        assert_eq!(client.get("/bytes/0").await.unwrap().body.len(), 0);
    });
}

#[test]
fn streams_run_side_by_side() {
    with_client(|client| async move {
        // The first is not over before the second, which starts later.
        let slow = tokio::task::spawn_local({
            let client = client.clone();
            async move { client.get("/hostile/never-answers").await.map(drop) }
        });
        for n in 1..=50 {
            assert_eq!(client.get(&format!("/item/{n}")).await.unwrap().response.status(), 200);
        }
        assert!(!slow.is_finished());
    });
}

#[test]
fn a_response_that_breaks_off_resets_its_stream_alone() {
    with_client(|client| async move {
        for path in [
            "/hostile/reset-before",
            "/hostile/close-in-headers",
            "/hostile/close-in-body",
            "/hostile/bad-status-line",
        ] {
            let error = client.get(path).await.map(drop).unwrap_err();
            assert!(error.is_reset(), "{path}: {error}");
            assert_eq!(client.get("/").await.unwrap().response.status(), 200, "{path}");
        }
    });
}
