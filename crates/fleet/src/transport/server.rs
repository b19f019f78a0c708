//! A `nats-server` that squall starts, for a fleet on one machine: on loopback alone, on a free port, with a token, its data in a
//! folder of its own; it ends with squall, also when that is killed.

use std::fs;
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};

use crate::transport::connect::{Auth, Connect, ConnectError, HOW_TO_GET, check_version};

/// The program's name.
const PROGRAM: &str = "nats-server";
/// Names another program.
const VARIABLE: &str = "SQUALL_NATS_SERVER";
/// How long it may take to begin; it takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(15);
/// Starts the server. When what is read ends, squall has ended: then the server ends, and its folder goes.
const GUARD: &str = r#"exec 3<&0
"$0" --config "$1/server.conf" >"$1/log" 2>&1 </dev/null 3<&- &
server=$!
(
    while read -r _; do :; done <&3
    : >"$1/over"
    kill -9 "$server"
) 2>/dev/null &
guard=$!
exec </dev/null 3<&-
wait "$server" 2>/dev/null
kill "$guard" 2>/dev/null
[ ! -e "$1/over" ] || rm -rf "$1""#;

/// A server of our own. It ends when this is dropped.
#[derive(Debug)]
pub struct LocalServer {
    guard: Child,
    /// Open as long as the server is to live.
    lifeline: Option<ChildStdin>,
    folder: PathBuf,
    url: String,
    token: String,
}

impl LocalServer {
    /// Starts it, and waits until it listens.
    ///
    /// # Errors
    /// There is no such program, it is too old, or it does not start, with what to do.
    pub fn start() -> Result<LocalServer, ConnectError> {
        let program = find()?;
        check_version(&version_of(&program)?)?;
        let token = draw_token()?;
        let folder = folder().map_err(|error| no_folder(&error))?;
        let configured = configure(&folder, &token);
        if let Err(error) = configured {
            let _left = fs::remove_dir_all(&folder);
            return Err(no_folder(&error));
        }
        let spawned = Command::new("sh")
            .arg("-c")
            .arg(GUARD)
            .arg(&program)
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is for squall, which has last things to say to the server.
            .process_group(0)
            .spawn();
        let mut guard = match spawned {
            Ok(guard) => guard,
            Err(error) => {
                let _left = fs::remove_dir_all(&folder);
                return Err(ConnectError::new(format!(
                    "cannot start sh, which starts {PROGRAM}: {error}"
                )));
            }
        };
        let lifeline = guard.stdin.take();
        let mut server = LocalServer { guard, lifeline, folder, url: String::new(), token };
        server.url = server.wait()?;
        Ok(server)
    }

    /// How it is reached under a name.
    pub fn connect(&self, name: &str) -> Connect {
        Connect { auth: Auth::Token(self.token.clone()), ..Connect::to(&self.url, name) }
    }

    /// Its URL, without the token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A folder for what nodes keep that end with it; it goes with the server, and no other fleet of this machine has it.
    pub fn spool(&self) -> PathBuf {
        self.folder.join("spool")
    }

    /// The token that it wants.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Waits until it says where it listens.
    fn wait(&mut self) -> Result<String, ConnectError> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(url) = listens_at(&self.folder) {
                return Ok(url);
            }
            let has_ended = !matches!(self.guard.try_wait(), Ok(None));
            if has_ended || Instant::now() >= until {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let said = log.lines().last().unwrap_or("nothing was said").trim();
                return Err(ConnectError::new(format!("{PROGRAM} does not start: {said}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let until = Instant::now() + Duration::from_secs(3);
        while matches!(self.guard.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ended = self.guard.kill();
        let _reaped = self.guard.wait();
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

fn no_folder(error: &io::Error) -> ConnectError {
    ConnectError::new(format!(
        "no folder for {PROGRAM} in {}: {error}",
        std::env::temp_dir().display()
    ))
}

fn folder() -> io::Result<PathBuf> {
    let private = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new()
        .prefix("squall-nats-")
        .permissions(private)
        .tempdir()
        .map(tempfile::TempDir::keep)
}

fn configure(folder: &Path, token: &str) -> io::Result<()> {
    let path = folder.display().to_string().replace(['\\', '"'], "_");
    let text = format!(
        "server_name: squall\nlisten: \"127.0.0.1:-1\"\nports_file_dir: \"{path}\"\nauthorization {{ token: \"{token}\" }}\n\
         max_payload: 8MB\nping_interval: 5s\njetstream {{ store_dir: \"{path}/jetstream\" }}\n"
    );
    let mut options = fs::OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(0o600).open(folder.join("server.conf"))?;
    io::Write::write_all(&mut file, text.as_bytes())
}

/// Where the server says that it listens: it writes a file with its ports.
fn listens_at(folder: &Path) -> Option<String> {
    let file = fs::read_dir(folder)
        .ok()?
        .flatten()
        .find(|file| file.path().extension().is_some_and(|end| end == "ports"))?;
    let ports: serde_json::Value = serde_json::from_slice(&fs::read(file.path()).ok()?).ok()?;
    ports["nats"][0].as_str().map(str::to_owned)
}

/// The program: that of the variable, on the PATH, or beside squall.
fn find() -> Result<PathBuf, ConnectError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if is_program(&named) {
            Ok(named)
        } else {
            Err(ConnectError::new(format!(
                "{VARIABLE} names {}, which is not a program",
                named.display()
            )))
        };
    }
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let beside =
        std::env::current_exe().ok().and_then(|squall| squall.parent().map(Path::to_owned));
    std::env::split_paths(&on_path)
        .chain(beside)
        .map(|folder| folder.join(PROGRAM))
        .find(|path| is_program(path))
        .ok_or_else(|| {
            ConnectError::new(format!(
                "there is no {PROGRAM}, which a fleet needs, on the PATH or beside squall: {HOW_TO_GET}; {VARIABLE} names one that lies elsewhere"
            ))
        })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn version_of(program: &Path) -> Result<String, ConnectError> {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let said = said
        .map_err(|error| ConnectError::new(format!("cannot run {}: {error}", program.display())))?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.trim().rsplit(['v', ' ']).next().filter(|version| version.contains('.')) {
        Some(version) => Ok(version.to_owned()),
        None => Err(ConnectError::new(format!("{} does not say its version", program.display()))),
    }
}

fn draw_token() -> Result<String, ConnectError> {
    let mut bytes = [0_u8; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| ConnectError::new("the system gives no random numbers".to_owned()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
