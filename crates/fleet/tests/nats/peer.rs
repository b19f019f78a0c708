//! A server that a test configures, kills, and starts anew.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use squall_fleet::protocol::io::Input;
use squall_fleet::transport::nats::Nats;
use squall_fleet::transport::{Connect, Event};
use tokio::sync::mpsc;

pub struct Server {
    process: Option<Child>,
    folder: tempfile::TempDir,
    pub port: u16,
}

impl Server {
    /// With JetStream and without users.
    pub fn open() -> Server {
        Server::with(|_, _| String::new())
    }

    /// With a configuration made of its port and folder, or the plain one where that is empty.
    pub fn with(configuration: impl Fn(u16, &str) -> String) -> Server {
        let folder = tempfile::tempdir().unwrap();
        // A port that was free a moment ago, and stays this server's when it is started anew.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = folder.path().display().to_string();
        let mut text = configuration(port, &path);
        if text.is_empty() {
            text = format!(
                "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{path}/store\" }}\n"
            );
        }
        fs::write(folder.path().join("server.conf"), text).unwrap();
        let mut server = Server { process: None, folder, port };
        server.start();
        server
    }

    pub fn start(&mut self) {
        let program =
            std::env::var("SQUALL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let process = Command::new(&program)
            .arg("--config")
            .arg(self.folder.path().join("server.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("this test needs nats-server ({program}): {error}"));
        self.process = Some(process);
        let until = Instant::now() + Duration::from_secs(20);
        while !fs::read_to_string(self.folder.path().join("log"))
            .unwrap()
            .contains("Server is ready")
        {
            assert!(
                Instant::now() < until,
                "{}",
                fs::read_to_string(self.folder.path().join("log")).unwrap()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn connect(&self, name: &str) -> Connect {
        Connect::to(&format!("nats://127.0.0.1:{}", self.port), name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A connected transport and what comes from it.
pub struct Joined {
    pub nats: Nats,
    events: mpsc::Receiver<Event>,
}

impl Joined {
    pub async fn to(connect: Connect) -> Joined {
        let (sender, events) = mpsc::channel(1024);
        let nats = Nats::open(connect, sender).await.unwrap_or_else(|error| panic!("{error}"));
        Joined { nats, events }
    }

    /// The next event that is one, for at most 20 seconds.
    pub async fn next<T>(&mut self, mut is_one: impl FnMut(&Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if let Some(found) = is_one(&event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait)
            .await
            .expect("what was waited for has not come")
    }

    pub async fn key(&mut self) -> (String, u64, Option<Vec<u8>>) {
        self.next(|event| match event {
            Event::Input(Input::Key { key, revision, value }) => {
                Some((key.clone(), *revision, value.as_ref().map(|value| value.to_vec())))
            }
            _ => None,
        })
        .await
    }

    pub async fn message(&mut self) -> (u64, Vec<u8>) {
        self.next(|event| match event {
            Event::Input(Input::Message { sequence, payload, .. }) => {
                Some((*sequence, payload.to_vec()))
            }
            _ => None,
        })
        .await
    }
}

pub fn bytes(text: &str) -> squall_fleet::protocol::io::Bytes {
    text.as_bytes().into()
}

/// Runs a test, for at most a minute.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    let limited = async {
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("the test does not end")
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(limited)
}
