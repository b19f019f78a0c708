//! Signals that end a command. The first (Ctrl-C, SIGTERM, a terminal that closes) ends what runs in order:
//! requests in flight may finish. The second ends it at once; the results are kept in both cases. The third
//! exits.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use squall_runner::Handle;

use crate::exit::Exit;
use crate::out;

/// A file that may not grow any more (`ulimit -f`) is an error of whoever writes it, and not the end of the process: there is a
/// result to keep and a teardown to run. Programs that are started have the signal as it was.
///
/// # Errors
/// The system takes no handler.
pub fn outlive_full_files() -> io::Result<()> {
    // Caught, the signal lets the write fail with EFBIG. The flag is nobody's.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Watches for SIGINT, SIGTERM and SIGHUP from now on, on a thread of its own.
///
/// # Errors
/// The system is out of threads or descriptors.
pub fn watch(handle: &Handle) -> io::Result<()> {
    // `nohup` has SIGHUP ignored: it is to stay so.
    let hangup = if is_ignored(SIGHUP) { None } else { Some(SIGHUP) };
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let handle = handle.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for number in 1_u32.. {
            if signals.forever().next().is_none() {
                return;
            }
            receive(number, &handle);
        }
    })?;
    Ok(())
}

/// Whether one of these signals has come, from now on, for a command that looks. The second ends the process at once.
///
/// # Errors
/// The system is out of threads or descriptors.
pub fn interrupts() -> io::Result<Arc<AtomicBool>> {
    let came = Arc::new(AtomicBool::new(false));
    let hangup = if is_ignored(SIGHUP) { None } else { Some(SIGHUP) };
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let shared = came.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while signals.forever().next().is_some() {
            if shared.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted as i32);
            }
            out::message(
                "\nstopping: the run in progress ends (press Ctrl-C again to stop at once)\n",
            );
        }
    })?;
    Ok(came)
}

/// SIGINT and SIGTERM from now on, for a command that goes on until one comes: `forever().next()`.
///
/// # Errors
/// The system is out of descriptors.
pub fn ends() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}

/// Does what signal number `number` asks for.
fn receive(number: u32, handle: &Handle) {
    match number {
        1 => {
            handle.stop();
            if handle.is_preparing() {
                // A file that is read, or a name that is looked up, may take long, and nobody waits for what follows.
                out::message("\nsquall: interrupted before anything was sent\n");
                std::process::exit(Exit::Interrupted as i32);
            }
            // The live view says so itself.
            if !squall_live::is_shown() {
                out::message(
                    "\nstopping: requests in flight may finish (press Ctrl-C again to stop at once)\n",
                );
            }
        }
        2 => handle.abort(),
        // A third signal exits even without results.
        _ => {
            squall_live::restore();
            std::process::exit(Exit::Interrupted as i32)
        }
    }
}

/// Whether this process was started with a signal ignored, where the system says so (Linux).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
