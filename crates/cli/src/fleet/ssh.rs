//! `squall fleet up --ssh FILE`: a node on each host of a list, by the system's own ssh. The connection is the node's life: it
//! ends with it, in order, so that nothing is left running on a host that nobody can see.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::hosts::{self, Host};
use crate::args::FleetUp;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::generator::connection;
use crate::{out, signals};

/// How often nodes hear that squall is there: well below the silence after which they leave.
const BEAT: Duration = Duration::from_secs(5);
/// Most bytes of a file of hosts.
const MAX_FILE: u64 = 1 << 20;
/// Most bytes of a line of a node that are shown.
const MAX_LINE: u64 = 4_096;

/// Starts the nodes, shows what they say, and ends them when it is interrupted.
pub fn command(args: &FleetUp) -> CommandResult {
    let hosts = hosts_of(&args.ssh)?;
    let secrets = connection::environment(&args.server)?;
    let mut signals = signals::ends().map_err(CommandError::incomplete)?;
    let (tell, told) = channel();
    let ended = tell.clone();
    // Before the first node: a signal that comes meanwhile is not to be lost.
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if ended.send(Told::Interrupted).is_err() {
                return;
            }
        }
    });
    let mut nodes = Vec::new();
    for (number, host) in hosts.iter().enumerate() {
        match Remote::start(args, (number, host), &secrets, &tell) {
            Ok(node) => nodes.push(node),
            Err(why) => {
                end(&mut nodes);
                return Err(CommandError::incomplete(why));
            }
        }
    }
    let text = squall_base::units::counted(nodes.len() as u64, "node");
    out::message(&format!("squall: starting {text} by ssh; Ctrl-C ends them\n"));
    follow(nodes, &told)
}

/// The hosts of a file.
fn hosts_of(path: &Path) -> Result<Vec<Host>, CommandError> {
    let bad = |why: String| CommandError::bad_input(why);
    let shown = path.display().to_string();
    let file = std::fs::File::open(path)
        .map_err(|error| bad(format!("{shown}: {error}: expected a file with a host a line")))?;
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    read.map_err(|error| bad(format!("{shown}: {error}")))?;
    if text.len() as u64 > MAX_FILE {
        return Err(bad(format!("{shown}: it has more than {MAX_FILE} bytes, which is the most")));
    }
    hosts::read(&shown, &text).map_err(bad)
}

/// What there is to know of nodes.
enum Told {
    /// A stream of a node's ssh has ended: its number.
    Ended(usize),
    /// The nodes are to end; the second time at once.
    Interrupted,
}

/// A node behind an ssh.
struct Remote {
    number: usize,
    host: String,
    ssh: Child,
    /// As long as it is open the node goes on.
    life: Option<ChildStdin>,
    /// Streams of it that go on.
    streams: usize,
}

impl Remote {
    fn start(
        args: &FleetUp,
        (number, host): (usize, &Host),
        secrets: &[(&str, String)],
        tell: &Sender<Told>,
    ) -> Result<Remote, String> {
        let mut command = Command::new("ssh");
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"]);
        // A connection that is shared would outlive the node.
        command.args([
            "-o",
            "ControlPath=none",
            "-o",
            "ServerAliveInterval=5",
            "-o",
            "ServerAliveCountMax=3",
            "--",
        ]);
        command.arg(&host.host).arg(script(args, host, secrets));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for squall alone, which ends the nodes in order.
        let mut ssh = command.process_group(0).spawn().map_err(|error| {
            format!("ssh cannot be started: {error}: install OpenSSH's client, or start `squall node` on the hosts yourself")
        })?;
        let mut life = ssh.stdin.take();
        let values: String = secrets.iter().map(|(_, value)| format!("{value}\n")).collect();
        // And the first line by which the node hears that squall is there.
        let values = values + "\n";
        if let Some(life) = &mut life {
            // An ssh that has ended already says why itself.
            let _ = life.write_all(values.as_bytes());
        }
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            ssh.stdout.take().map(|own| Box::new(own) as Box<dyn Read + Send>),
            ssh.stderr.take().map(|own| Box::new(own) as Box<dyn Read + Send>),
        ];
        let streams = streams.into_iter().flatten().map(|stream| {
            let (host, tell) = (host.host.clone(), tell.clone());
            std::thread::spawn(move || {
                show(&host, stream);
                // Nobody listens any more at the end.
                let _ = tell.send(Told::Ended(number));
            })
        });
        let streams = streams.count();
        Ok(Remote { number, host: host.host.clone(), ssh, life, streams })
    }

    /// Lets the node hear that squall is there.
    fn beat(&mut self) {
        if let Some(life) = &mut self.life {
            // An ssh that has ended is seen by its streams.
            let _ = life.write_all(b"\n");
        }
    }

    /// How it ended, after the end of its stream `number`; `None`: it goes on.
    fn ended(&mut self, number: usize) -> Option<Result<ExitStatus, String>> {
        if number != self.number {
            return None;
        }
        self.streams = self.streams.saturating_sub(1);
        if self.streams > 0 {
            return None;
        }
        self.life = None;
        Some(self.ssh.wait().map_err(|error| error.to_string()))
    }
}

/// What a host's shell is to run. Secrets come as lines of its standard input, not in its arguments, which everybody on the host
/// can read.
fn script(args: &FleetUp, host: &Host, secrets: &[(&str, String)]) -> String {
    let mut node = vec![args.squall.clone(), "node".to_owned(), "--ends-with-input".to_owned()];
    node.extend(["--name".to_owned(), host.name.clone()]);
    if let Some(zone) = &host.zone {
        node.extend(["--zone".to_owned(), zone.clone()]);
    }
    node.extend(["--weight".to_owned(), host.weight.to_string()]);
    for allowed in &args.allow_hosts {
        node.extend(["--allow-hosts".to_owned(), allowed.clone()]);
    }
    node.extend(args.allow_exec.then(|| "--allow-exec".to_owned()));
    node.extend(args.once.then(|| "--once".to_owned()));
    node.extend(connection::files(&args.server));
    let read: String = secrets
        .iter()
        .map(|(name, _)| format!("IFS= read -r {name} && export {name} && "))
        .collect();
    let node: Vec<String> = node.iter().map(|word| quoted(word)).collect();
    // The login shell of a user may be any; the rest is for sh.
    format!("exec sh -c {}", quoted(&format!("{read}exec {}", node.join(" "))))
}

/// A word as a shell takes it, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Shows lines with their host before each, until there are no more.
fn show(host: &str, stream: Box<dyn Read + Send>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        match stream.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line);
        out::message(&format!("{host}: {}\n", line.trim_end_matches(['\n', '\r'])));
    }
}

/// Waits until all have ended, by themselves or because they were told to.
fn follow(mut nodes: Vec<Remote>, told: &Receiver<Told>) -> CommandResult {
    let (all, mut interrupts, mut failed) = (nodes.len(), 0, 0);
    let mut next_beat = Instant::now() + BEAT;
    while !nodes.is_empty() {
        if Instant::now() >= next_beat {
            nodes.iter_mut().for_each(Remote::beat);
            next_beat = Instant::now() + BEAT;
        }
        match told.recv_timeout(next_beat.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Told::Interrupted) => {
                interrupts += 1;
                if interrupts == 1 {
                    out::message(
                        "\nsquall: ending the nodes (press Ctrl-C again to end at once)\n",
                    );
                    // The end of its input ends a node in order: its load is handed over.
                    nodes.iter_mut().for_each(|node| node.life = None);
                } else {
                    end(&mut nodes);
                    return Ok(Exit::Interrupted);
                }
            }
            Ok(Told::Ended(number)) => nodes.retain_mut(|node| match node.ended(number) {
                None => true,
                Some(status) => {
                    // Said now: the others may go on for hours.
                    if let Some(why) = failure(&node.host, &status) {
                        failed += 1;
                        out::message(&format!("squall: {why}\n"));
                    }
                    false
                }
            }),
            // Whoever sends is here.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match (interrupts, failed) {
        (0, 0) => Ok(Exit::Ok),
        (0, _) => Err(CommandError::incomplete(format!("{failed} of {all} nodes failed"))),
        _ => Ok(Exit::Interrupted),
    }
}

/// Why a node failed, if it did.
fn failure(host: &str, status: &Result<ExitStatus, String>) -> Option<String> {
    let why = match status {
        Ok(status) if status.success() => return None,
        Ok(status) => match status.code() {
            Some(255) => "ssh could not connect, or its connection broke: try `ssh -o BatchMode=yes` to this host by hand".to_owned(),
            Some(127) => "squall was not found there: install it, or say where it is with --squall PATH".to_owned(),
            Some(code) => format!("the node ended with exit code {code}"),
            None => format!("ssh ended: {status}"),
        },
        Err(error) => error.clone(),
    };
    Some(format!("{host}: {why}"))
}

/// Ends them at once.
fn end(nodes: &mut Vec<Remote>) {
    for mut node in nodes.drain(..) {
        node.life = None;
        // One that has ended is none to end.
        let _ = node.ssh.kill();
        let _ = node.ssh.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        for word in ["a b", "it's", "$(rm)", "`x`", "", "-x", "\"", "\\"] {
            let command = format!("printf %s {}", quoted(word));
            let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
