//! The events that a page gets while it is open: what it must know at once, and then each second what has changed.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use squall_live::Shared;
use squall_serve::Connection;

use crate::answer::head;
use crate::ending::Ending;
use crate::picture::{Known, picture};

/// The longest time between two events: the clock goes on, and a client that has gone away is found out.
const TICK: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(250);

/// Sends events until the client goes away or the run is over, and then waits for the client to fetch what it wants yet.
///
/// # Errors
/// The client has gone away, or does not read.
pub fn send(stream: &mut Connection, shared: &Shared, ending: &Ending) -> io::Result<()> {
    let policy = "default-src 'none'; frame-ancestors 'none'";
    stream.write_all(head(200, "text/event-stream", policy, None).as_bytes())?;
    // A browser that lost the connection tries again after a second.
    stream.write_all(b"retry: 1000\n\n")?;
    let mut known = Known::default();
    loop {
        let began = Instant::now();
        // Looked at first, so that the last picture is sent when everything is known.
        let over = ending.place();
        // What is known is not held while it is sent: the client may take its time.
        let pictured = shared.state().map(|state| (picture(&state, &mut known), state.changes));
        let changes = pictured.as_ref().map_or(0, |(_, changes)| *changes);
        match pictured {
            Some((text, _)) => event(stream, "picture", &text)?,
            // The run has not begun.
            None => event(stream, "waiting", "{}")?,
        }
        if let Some(report) = over {
            event(stream, "over", &serde_json::json!({ "report": report }).to_string())?;
            return wait_for_the_end(stream, &ending.is_closed);
        }
        if ending.is_closed.load(Ordering::Acquire) {
            return Ok(());
        }
        shared.wait(changes, TICK);
        std::thread::sleep(SHORTEST.saturating_sub(began.elapsed()));
    }
}

/// JSON has no line ends, so that each event is one line of data.
fn event(stream: &mut Connection, name: &str, data: &str) -> io::Result<()> {
    stream.write_all(format!("event: {name}\ndata: {data}\n\n").as_bytes())
}

/// Waits until the client ends the connection, or the server is closed.
fn wait_for_the_end(stream: &mut Connection, is_closed: &AtomicBool) -> io::Result<()> {
    while !is_closed.load(Ordering::Acquire) && !stream.ends_within(SHORTEST)? {}
    Ok(())
}
