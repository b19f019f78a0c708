//! How a NATS server is reached, and what is said where it cannot be.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_nats::{ConnectErrorKind, ConnectOptions, ServerAddr, ServerError};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::protocol::io::Input;
use crate::transport::nats::api::{Api, Refusals};
use crate::transport::{Event, Events};

/// The oldest server that will do: it lets keys and messages have a time to live of their own.
pub const OLDEST: (u64, u64) = (2, 11);
/// How to get one that will do.
pub const HOW_TO_GET: &str = "go install github.com/nats-io/nats-server/v2@v2.15.2, or a release from https://github.com/nats-io/nats-server/releases";

/// For how long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Between attempts to connect for the first time.
const PAUSE: Duration = Duration::from_millis(250);
/// How often the connection is tried: it is given up after three without an answer.
const PING: Duration = Duration::from_secs(2);
/// Messages of one subscription that may wait to be taken.
const WAITING: usize = 16_384;

/// Who a process is to the server.
#[derive(Clone, Default)]
pub enum Auth {
    /// As the URL says, or nobody.
    #[default]
    None,
    /// A user with a password.
    User { user: String, password: String },
    /// A token.
    Token(String),
    /// The seed of an nkey.
    Nkey(String),
    /// A credentials file: a JWT and its nkey.
    Credentials(PathBuf),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Auth::None => "None",
            Auth::User { .. } => "User",
            Auth::Token(_) => "Token",
            Auth::Nkey(_) => "Nkey",
            Auth::Credentials(_) => "Credentials",
        })
    }
}

/// How a server is reached.
#[derive(Clone)]
pub struct Connect {
    /// Its URLs, or those of a cluster: `nats://host:4222`, `tls://host`, `host`.
    pub servers: Vec<String>,
    /// Who asks.
    pub auth: Auth,
    /// Certificates of authorities in PEM, in place of the system's.
    pub ca: Option<PathBuf>,
    /// Certificate and key in PEM, for a server that wants one of its clients.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The name of this process: letters, digits, `-` and `_`. A node's is that of its card; its replies come under it.
    pub name: String,
    /// How long to try while nobody is there.
    pub patience: Duration,
    /// How long the server keeps files and seconds of a run, if nobody deletes them: a node that joins later finds no files, and
    /// a controller that resumes later no seconds.
    pub keep: Duration,
}

impl Connect {
    /// To servers (URLs with commas between them), under this name; tries for five seconds, keeps for a day.
    pub fn to(servers: &str, name: &str) -> Connect {
        Connect {
            servers: servers
                .split(',')
                .map(|server| server.trim().to_owned())
                .filter(|server| !server.is_empty())
                .collect(),
            auth: Auth::None,
            ca: None,
            certificate: None,
            name: name.to_owned(),
            patience: Duration::from_secs(5),
            keep: Duration::from_secs(24 * 3600),
        }
    }

    /// Connects.
    pub(crate) async fn open(&self, events: Events) -> Result<Api, ConnectError> {
        let addresses = self.addresses()?;
        let until = Instant::now() + self.patience;
        let refusals = Refusals::new();
        let (count, connections) = watch::channel(0);
        let count = Arc::new(count);
        let client = loop {
            let options = self.options(&addresses).await?;
            let options = listening(options, events.clone(), refusals.clone(), count.clone());
            let error = match tokio::time::timeout(2 * ATTEMPT, options.connect(addresses.clone()))
                .await
            {
                Ok(Ok(client)) => break client,
                Ok(Err(error)) => {
                    let may_come = matches!(
                        error.kind(),
                        ConnectErrorKind::Io | ConnectErrorKind::Dns | ConnectErrorKind::TimedOut
                    );
                    let told = self.told(&addresses, error.kind(), &error);
                    // Where a server speaks of certificates, waiting does not help.
                    if !may_come || told.is_final {
                        return Err(told.error);
                    }
                    told.error
                }
                Err(_) => self.told(&addresses, ConnectErrorKind::TimedOut, &"timed out").error,
            };
            if Instant::now() + PAUSE >= until {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        };
        let info = client.server_info();
        check_version(&info.version)?;
        if !info.jetstream {
            return Err(ConnectError::new(format!(
                "{} has no JetStream, which squall keeps a fleet's results in: start it with `nats-server -js`",
                shown(&addresses)
            )));
        }
        Ok(Api { client, refusals, connections })
    }

    fn addresses(&self) -> Result<Vec<ServerAddr>, ConnectError> {
        if self.servers.is_empty() {
            return Err(ConnectError::new(
                "no NATS server is named: --nats nats://HOST:4222".to_owned(),
            ));
        }
        let parsed = self.servers.iter().map(|server| {
            let scheme = server.split_once("://").map_or("nats", |(scheme, _)| scheme);
            if !matches!(scheme, "nats" | "tls") {
                return Err(ConnectError::new(format!(
                    "a NATS server is reached by nats:// or tls://, not by {scheme}://"
                )));
            }
            // The URL may hold a password: it is not shown.
            server.parse::<ServerAddr>().map_err(|error| {
                ConnectError::new(format!(
                    "invalid URL of a NATS server ({error}): expected nats://HOST:PORT"
                ))
            })
        });
        parsed.collect()
    }

    async fn options(&self, addresses: &[ServerAddr]) -> Result<ConnectOptions, ConnectError> {
        let mut options = ConnectOptions::new()
            .name(format!("squall {}", self.name))
            .custom_inbox_prefix(inbox_of(&self.name))
            .ping_interval(PING)
            .connection_timeout(ATTEMPT)
            .subscription_capacity(WAITING)
            .max_reconnects(None)
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis(50 * attempts.min(10) as u64)
            });
        options = match &self.auth {
            // The library leaves what a URL says of the user to us.
            Auth::None => match addresses
                .iter()
                .find_map(|address| Some((address.username()?, address.password())))
            {
                Some((user, Some(password))) => {
                    options.user_and_password(decoded(user), decoded(password))
                }
                Some((token, None)) => options.token(decoded(token)),
                None => options,
            },
            Auth::User { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            Auth::Token(token) => options.token(token.clone()),
            Auth::Nkey(seed) => {
                if nkeys::KeyPair::from_seed(seed).is_err() {
                    return Err(ConnectError::new(
                        "the nkey is not a seed: expected a line that begins with SU".to_owned(),
                    ));
                }
                options.nkey(seed.clone())
            }
            Auth::Credentials(path) => options.credentials_file(path).await.map_err(|error| {
                ConnectError::new(format!(
                    "cannot use the credentials file {}: {error}",
                    path.display()
                ))
            })?,
        };
        if let Some(ca) = &self.ca {
            readable(ca, "certificates of authorities")?;
            options = options.add_root_certificates(ca.clone());
        }
        if let Some((certificate, key)) = &self.certificate {
            readable(certificate, "certificate")?;
            readable(key, "certificate's key")?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }

    /// What a person is told.
    fn told(
        &self,
        addresses: &[ServerAddr],
        kind: ConnectErrorKind,
        error: &dyn fmt::Display,
    ) -> Failed {
        let servers = shown(addresses);
        let said = error.to_string();
        let is_about_certificates =
            said.to_ascii_lowercase().contains("certificate") || said.contains("TLS");
        let text = match kind {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => format!(
                "the NATS server {servers} refuses these credentials{}: see --nats-user, --nats-token-file, --nats-nkey, --nats-creds",
                if matches!(self.auth, Auth::None) { " (none were given)" } else { "" }
            ),
            ConnectErrorKind::Dns => format!("the NATS server {servers} has no address: {said}"),
            ConnectErrorKind::TimedOut => {
                format!(
                    "no NATS server answers at {servers}: is the address right, and is a firewall between?"
                )
            }
            _ if is_about_certificates => format!(
                "no TLS with the NATS server {servers}: {said}; its authority is given by --nats-ca, a certificate of this side by --nats-cert and --nats-key"
            ),
            _ => format!(
                "no NATS server at {servers}: {said}; start one there (`nats-server -js`), or try a fleet on this machine with --nodes local:4"
            ),
        };
        Failed { error: ConnectError::new(text), is_final: is_about_certificates }
    }
}

/// An attempt that failed.
struct Failed {
    error: ConnectError,
    is_final: bool,
}

/// Has what the client says of its connection told to the machine, or to a person.
fn listening(
    options: ConnectOptions,
    events: Events,
    refusals: Refusals,
    connections: Arc<watch::Sender<u64>>,
) -> ConnectOptions {
    options.event_callback(move |event| {
        let (events, refusals, connections) = (events.clone(), refusals.clone(), connections.clone());
        async move {
            let told = match event {
                async_nats::Event::Connected => {
                    connections.send_modify(|count| *count += 1);
                    Event::Input(Input::Connected)
                }
                async_nats::Event::Disconnected => Event::Input(Input::Disconnected),
                async_nats::Event::ServerError(ServerError::Other(said)) if said.contains("Permissions Violation for Publish") => {
                    refusals.note(&said);
                    return;
                }
                async_nats::Event::ServerError(error) => Event::Log(format!("the NATS server says: {error}")),
                async_nats::Event::SlowConsumer(_) => {
                    Event::Log("messages of the NATS server were lost, as this process did not take them in time".to_owned())
                }
                async_nats::Event::LameDuckMode => Event::Log("the NATS server is about to end".to_owned()),
                _ => return,
            };
            let _nobody = events.send(told).await;
        }
    })
}

/// A part of a URL as it was meant.
fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The first words of the subjects under which replies come to a process; a server's permissions name them.
pub fn inbox_of(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    format!("_INBOX.{name}")
}

/// Reads a file with a secret on its first line.
///
/// # Errors
/// It cannot be read, or is empty.
pub fn read_secret(path: &Path, what: &str) -> Result<String, ConnectError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConnectError::new(format!("cannot read the {what} in {}: {error}", path.display()))
    })?;
    match text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("-----")) {
        Some(secret) => Ok(secret.to_owned()),
        None => Err(ConnectError::new(format!("there is no {what} in {}", path.display()))),
    }
}

fn readable(path: &Path, what: &str) -> Result<(), ConnectError> {
    std::fs::File::open(path).map(drop).map_err(|error| {
        ConnectError::new(format!("cannot read the {what} in {}: {error}", path.display()))
    })
}

/// Servers without the passwords that their URLs may hold.
fn shown(addresses: &[ServerAddr]) -> String {
    let addresses: Vec<String> =
        addresses.iter().map(|address| format!("{}:{}", address.host(), address.port())).collect();
    addresses.join(", ")
}

/// Whether a server of this version will do.
///
/// # Errors
/// It is too old, with what to do.
pub fn check_version(version: &str) -> Result<(), ConnectError> {
    let mut numbers =
        version.trim_start_matches('v').split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    let found: (u64, u64) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found >= OLDEST {
        return Ok(());
    }
    let (major, minor) = OLDEST;
    Err(ConnectError::new(format!(
        "this nats-server is {version}; squall needs {major}.{minor} or later (Debian's package is too old): {HOW_TO_GET}"
    )))
}

/// Why a server cannot be used, in a sentence with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectError(String);

impl ConnectError {
    pub(crate) fn new(text: String) -> ConnectError {
        ConnectError(text)
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConnectError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused_with_what_to_do() {
        for fine in ["2.11.0", "2.15.2", "2.12.0-preview.1", "v2.11.4", "3.0.0"] {
            assert_eq!(check_version(fine), Ok(()), "{fine}");
        }
        for old in ["2.9.10", "2.10.29", "1.4.1", "", "x"] {
            let error = check_version(old).unwrap_err().to_string();
            assert!(
                error
                    .starts_with(&format!("this nats-server is {old}; squall needs 2.11 or later")),
                "{error}"
            );
            assert!(
                error.contains("go install github.com/nats-io/nats-server/v2@v2.15.2"),
                "{error}"
            );
        }
    }

    #[test]
    fn urls_are_checked_and_passwords_not_shown() {
        assert_eq!(Connect::to("nats://u:secret@a:1, tls://b", "n").servers.len(), 2);
        let addresses = Connect::to("nats://u:secret@a:1,tls://b", "n").addresses().unwrap();
        assert_eq!(shown(&addresses), "a:1, b:4222");
        let wrong = Connect::to("http://a", "n").addresses().unwrap_err().to_string();
        assert!(wrong.contains("nats:// or tls://"), "{wrong}");
        let none = Connect::to(" , ", "n").addresses().unwrap_err().to_string();
        assert!(none.contains("--nats"), "{none}");
        let auth = Auth::User { user: "u".to_owned(), password: "secret".to_owned() };
        assert!(!format!("{auth:?}").contains("secret"));
    }

    #[test]
    fn replies_have_first_words_of_their_own() {
        assert_eq!(inbox_of("eu-1"), "_INBOX.eu-1");
        assert_eq!(inbox_of("a.b>*"), "_INBOX.a_b__");
    }

    #[test]
    fn a_secret_is_the_first_line_of_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "-----BEGIN USER NKEY SEED-----\n\n SUABC \n").unwrap();
        assert_eq!(read_secret(file.path(), "seed").unwrap(), "SUABC");
        std::fs::write(file.path(), "\n").unwrap();
        assert!(read_secret(file.path(), "seed").unwrap_err().to_string().contains("no seed in"));
        assert!(
            read_secret(Path::new("/nowhere/x"), "token")
                .unwrap_err()
                .to_string()
                .contains("/nowhere/x")
        );
    }
}
