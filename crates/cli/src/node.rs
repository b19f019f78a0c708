//! `squall node`: lends this machine to a fleet, until it is told to end.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use squall_fleet::node::{Asked, NodeOptions, serve};
use squall_fleet::protocol::messages::Allows;

use crate::args::{self, Node};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::generator::connection;
use crate::{out, signals};

/// Where launchers say which of their processes this is.
const NUMBERS: [&str; 2] = ["JOB_COMPLETION_INDEX", "SLURM_PROCID"];
/// A node whose launcher numbers its processes, in no zone, is called so, with its number.
const NUMBERED: &str = "node";
/// How long what has started it may be silent, if it says that it is there; `squall fleet up` does each 5 s.
const SILENCE: Duration = Duration::from_secs(30);

/// Runs a node.
pub fn command(args: &Node) -> CommandResult {
    let options = options(args)?;
    // How often it was asked to end.
    let asked = Arc::new(AtomicU8::new(0));
    watch_signals(&asked)?;
    if args.ends_with_input {
        watch_input(&asked, if args.ends_at_once { 2 } else { 1 });
    }
    let asked = move || match asked.load(Ordering::Relaxed) {
        0 => Asked::GoOn,
        1 => Asked::Leave,
        _ => Asked::End,
    };
    let say = |text: &str| out::message(&format!("squall node: {text}\n"));
    serve(options, asked, say).map_err(CommandError::incomplete)?;
    Ok(Exit::Ok)
}

fn options(args: &Node) -> Result<NodeOptions, CommandError> {
    let connect = connection::connect(&args.server, "")?;
    if args.allow_hosts.is_empty() {
        let text = "a node takes no run unless it is told which hosts it may send requests to: give --allow-hosts HOST, \
                    such as --allow-hosts shop.example.com, *.example.com or 10.0.0.0/8";
        return Err(CommandError::bad_input(text));
    }
    let files = args.allow_files.as_deref().map(folder).transpose()?;
    let zone = args.zone.clone().unwrap_or_default();
    let user = connection::user(&args.server).filter(|user| args::name(user).is_ok());
    // A server that knows its nodes lets each do only what is its own, by its user's name.
    let name =
        args.name.clone().or(user).or_else(|| numbered(&zone, |name| std::env::var(name).ok()));
    let spool = args.spool.clone().unwrap_or_else(|| std::env::temp_dir().join("squall-spool"));
    let allows = Allows {
        hosts: args.allow_hosts.clone(),
        exec: args.allow_exec,
        files: files.map(|folder| folder.display().to_string()),
        max_users: args.max_users,
    };
    Ok(NodeOptions {
        connect,
        name,
        zone,
        weight: args.weight,
        once: args.once,
        wait_for_run: args.wait_for_run,
        allows,
        spool,
        spool_size: args.spool_size,
    })
}

/// A folder of this machine, whatever links lead to it.
fn folder(path: &Path) -> Result<PathBuf, CommandError> {
    let bad = |why: &str| {
        CommandError::bad_input(format!(
            "--allow-files {}: {why}: expected a folder",
            path.display()
        ))
    };
    let found = path.canonicalize().map_err(|error| bad(&error.to_string()))?;
    if found.is_dir() { Ok(found) } else { Err(bad("it is a file")) }
}

/// The name of a process that its launcher has numbered. One that it starts again has the same, and so the same share.
fn numbered(zone: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let number = NUMBERS.iter().find_map(|name| variable(name)?.trim().parse::<u32>().ok())?;
    let before = if zone.is_empty() { NUMBERED } else { zone };
    // Jobs of Slurm are never started again under their number.
    let job = variable("SLURM_JOB_ID").and_then(|job| job.trim().parse::<u64>().ok());
    Some(match job {
        Some(job) => format!("{before}-{job}-{number}"),
        None => format!("{before}-{number}"),
    })
}

/// The first SIGINT or SIGTERM has the node leave in order, the second ends it.
fn watch_signals(asked: &Arc<AtomicU8>) -> Result<(), CommandError> {
    let mut signals = signals::ends().map_err(CommandError::incomplete)?;
    let asked = asked.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            raise(&asked);
        }
    });
    Ok(())
}

/// The end of the standard input counts as so many signals, as what has started the node is gone: it leaves in order or, if its
/// server is gone too, ends. What says something there once has to go on doing so: a connection may be cut without an end.
fn watch_input(asked: &Arc<AtomicU8>, signals: u8) {
    let asked = asked.clone();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let (mut input, mut bytes) = (std::io::stdin().lock(), [0; 1_024]);
        // Where nobody is told any more, it leaves already.
        while input.read(&mut bytes).is_ok_and(|read| read > 0) && tell.send(()).is_ok() {}
    });
    std::thread::spawn(move || {
        if told.recv().is_ok() {
            while told.recv_timeout(SILENCE).is_ok() {}
        }
        (0..signals).for_each(|_| raise(&asked));
    });
}

fn raise(asked: &AtomicU8) {
    let next = asked.load(Ordering::Relaxed).saturating_add(1);
    asked.store(next, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_number_has_a_name() {
        let with = |zone: &str, variables: &[(&str, &str)]| {
            let of = |name: &str| {
                let found = variables.iter().find(|(own, _)| *own == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            numbered(zone, of)
        };
        assert_eq!(with("", &[]), None);
        assert_eq!(with("", &[("JOB_COMPLETION_INDEX", "3")]).as_deref(), Some("node-3"));
        assert_eq!(with("eu", &[("JOB_COMPLETION_INDEX", "3")]).as_deref(), Some("eu-3"));
        let slurm = [("SLURM_JOB_ID", "71"), ("SLURM_PROCID", "0")];
        assert_eq!(with("", &slurm).as_deref(), Some("node-71-0"));
        assert_eq!(with("", &[("SLURM_PROCID", "x")]), None);
    }
}
