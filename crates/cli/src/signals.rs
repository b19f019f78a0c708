//! Ctrl-C: the first ends a run gracefully, the second at once, the third exits.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use squall_engine::Control;

/// Watches for SIGINT and SIGTERM on a thread of its own. The flag says whether one was received.
pub fn watch(control: Control, graceful_stop: Duration) -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = interrupted.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for (number, _) in signals.forever().enumerate() {
            seen.store(true, Ordering::Relaxed);
            match number {
                0 => {
                    eprintln!("\nstopping: requests in flight may finish (press Ctrl-C again to stop at once)");
                    control.stop(graceful_stop);
                }
                1 => control.abort(),
                // A third signal exits even without results.
                _ => std::process::exit(super::exit::Exit::Interrupted as i32),
            }
        }
    })?;
    Ok(interrupted)
}
