//! `--nodes local:N`: a fleet on this machine, to try it: a server of our own, and processes that are nodes. All end with squall,
//! however that ends: the nodes when their input does, the server when its guard's does.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use squall_fleet::controller::{EndedNode, EndedNodes};
use squall_fleet::transport::{Connect, LocalServer};

use super::connection::VARIABLES;
use crate::exit::CommandError;

/// Lines of a node that are kept to explain its end.
const LINES: usize = 2;
/// Most bytes of a line.
const MAX_LINE: u64 = 1_024;
/// How long nodes may take to end in order.
const END: Duration = Duration::from_secs(5);

/// A server, and nodes that are processes of this machine. They end when this is dropped.
pub struct LocalNodes {
    nodes: Vec<LocalNode>,
    /// Those that have ended by themselves.
    ended: Arc<Mutex<Vec<EndedNode>>>,
    /// The last to go: nodes take their leave of it.
    server: LocalServer,
}

/// A node.
struct LocalNode {
    child: Arc<Mutex<Child>>,
    /// As long as it is open the node goes on.
    life: Option<ChildStdin>,
}

impl LocalNodes {
    /// Starts them.
    ///
    /// # Errors
    /// There is no `nats-server` that will do, or a process cannot be started.
    pub fn start(count: u32, allow_exec: bool) -> Result<LocalNodes, CommandError> {
        let server = LocalServer::start().map_err(CommandError::incomplete)?;
        let mut local = LocalNodes { nodes: Vec::new(), ended: Arc::default(), server };
        for number in 1..=count {
            let node = local.node(number, allow_exec);
            let text = |error| format!("node {number} cannot be started: {error}");
            local.nodes.push(node.map_err(|error| CommandError::incomplete(text(error)))?);
        }
        Ok(local)
    }

    /// How the controller reaches the server.
    pub fn connect(&self, name: &str) -> Connect {
        self.server.connect(name)
    }

    /// Says which nodes have ended by themselves.
    pub fn ended(&self) -> EndedNodes {
        let ended = self.ended.clone();
        Arc::new(move || locked(&ended).clone())
    }

    fn node(&self, number: u32, allow_exec: bool) -> std::io::Result<LocalNode> {
        let name = format!("local-{number}");
        let mut command = Command::new(std::env::current_exe()?);
        // What one process would do these do together: they may ask whom it might, and read what it might. Nobody else has the
        // server's token, which is not among the arguments, as everybody can read those.
        command.args(["node", "--ends-with-input", "--ends-at-once", "--name", &name]);
        command.args(["--allow-hosts", "*", "--allow-files", "/"]);
        // Nodes of another fleet on this machine have the same names.
        command.arg("--spool").arg(self.server.spool());
        if allow_exec {
            command.arg("--allow-exec");
        }
        VARIABLES.iter().for_each(|own| {
            command.env_remove(own);
        });
        command.env("SQUALL_NATS", self.server.url()).env("SQUALL_NATS_TOKEN", self.server.token());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Ctrl-C is for squall alone, which ends the run on its nodes in order.
        let mut child = command.process_group(0).spawn()?;
        let (life, errors) = (child.stdin.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(child));
        if let Some(errors) = errors {
            let (ended, child) = (self.ended.clone(), child.clone());
            std::thread::spawn(move || {
                let said = last_words(errors);
                let how = match (status_of(&child), said.is_empty()) {
                    (status, true) => status,
                    (status, false) => format!("{status}; it said last: {said}"),
                };
                locked(&ended).push(EndedNode { node: name, how });
            });
        }
        Ok(LocalNode { child, life })
    }
}

/// The last lines that a node says, once it has ended.
fn last_words(errors: impl Read) -> String {
    let mut lines = VecDeque::new();
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        match errors.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if lines.len() == LINES {
            lines.pop_front();
        }
        let line = String::from_utf8_lossy(&line);
        lines.push_back(line.trim_end().trim_start_matches("squall node: ").to_owned());
    }
    Vec::from(lines).join("; ")
}

/// How a process has ended whose output has.
fn status_of(child: &Mutex<Child>) -> String {
    let until = Instant::now() + END;
    loop {
        match locked(child).try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) if Instant::now() < until => {}
            _ => return "nobody knows how".to_owned(),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nobody panics with it in hand; if somebody did, a node would be missing at most.
fn locked<T>(own: &Mutex<T>) -> MutexGuard<'_, T> {
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for LocalNodes {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            node.life = None;
        }
        let until = Instant::now() + END;
        for node in &mut self.nodes {
            while matches!(locked(&node.child).try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            let mut child = locked(&node.child);
            // One that has ended is none to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
