//! The terminal, while the view has it. It is the process's own, so there is one: whoever ends the view, a signal or a
//! panic, finds it here and gives it back. Nothing here waits for a terminal that does not read.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, Once, TryLockError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr,
    tcgetpgrp, tcgetwinsize, tcsetattr, ttyname,
};

use crate::frame;

/// How long the end of the view may take to reach the terminal.
const MAX_LEAVING: Duration = Duration::from_millis(500);

/// The screen that is shown, if one is.
static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);
/// Restores the terminal before a panic is reported.
static HOOK: Once = Once::new();

struct Screen {
    /// A description of its own, which does not wait: the standard streams stay as they are.
    tty: File,
    before: Termios,
    /// What it has not taken yet.
    pending: Vec<u8>,
}

/// Whether the standard error is a terminal that can show the view: one that moves its cursor, and of which this
/// process is in the foreground.
pub fn is_able() -> bool {
    let dumb = std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb");
    let error = rustix::stdio::stderr();
    if dumb || !isatty(error) {
        return false;
    }
    // A process in the background would be stopped. Without job control there is no such thing.
    let is_behind = tcgetpgrp(error).is_ok_and(|group| group != rustix::process::getpgrp());
    !is_behind && tcgetwinsize(error).is_ok_and(|size| size.ws_col > 0 && size.ws_row > 0)
}

/// Takes the terminal. What is typed can be read from what this returns.
///
/// # Errors
/// It cannot be opened, or is none.
pub fn enter() -> io::Result<Typed> {
    let path = ttyname(rustix::stdio::stderr(), Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let tty: OwnedFd = rustix::fs::open(path.as_c_str(), flags, Mode::empty())?;
    let before = tcgetattr(&tty)?;
    let mut raw = before.clone();
    raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
    raw.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IXON;
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    // Ctrl-C stays a signal, which is obeyed even if the terminal takes nothing. To leave by the others would leave
    // the picture behind.
    raw.special_codes[SpecialCodeIndex::VSUSP] = 0;
    raw.special_codes[SpecialCodeIndex::VQUIT] = 0;
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            report(panic);
        }));
    });
    tcsetattr(&tty, OptionalActions::Now, &raw)?;
    let tty = File::from(tty);
    let typed = Typed(tty.try_clone()?);
    if let Some(mut screen) = screen() {
        *screen = Some(Screen { tty, before, pending: Vec::new() });
    }
    write(frame::ENTER);
    Ok(typed)
}

/// Gives the terminal back, if the view has it: at the end, and from wherever the process ends.
pub fn restore() {
    let Some(mut own) = screen().and_then(|mut screen| screen.take()) else { return };
    // What is half sent would swallow what follows.
    own.pending.extend_from_slice(frame::LEAVE);
    let until = Instant::now() + MAX_LEAVING;
    while own.flush() && !own.pending.is_empty() && Instant::now() < until {
        wait(&own.tty, PollFlags::OUT, Duration::from_millis(20));
    }
    // It cannot be helped if the terminal is gone.
    let _ = tcsetattr(&own.tty, OptionalActions::Now, &own.before);
}

/// Whether the view has the terminal.
pub fn is_shown() -> bool {
    screen().is_some_and(|screen| screen.is_some())
}

/// Sends the terminal what it takes now; the rest waits. `false`: the view has it no more.
pub fn write(bytes: &[u8]) -> bool {
    let Some(mut screen) = screen() else { return false };
    let Some(own) = screen.as_mut() else { return false };
    own.pending.extend_from_slice(bytes);
    own.flush()
}

/// Whether it has taken everything that it was sent.
pub fn is_drained() -> bool {
    screen().is_some_and(|screen| screen.as_ref().is_some_and(|own| own.pending.is_empty()))
}

impl Screen {
    /// `false`: the terminal is gone.
    fn flush(&mut self) -> bool {
        while !self.pending.is_empty() {
            match self.tty.write(&self.pending) {
                Ok(0) => return false,
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// The screen; `None`: another thread keeps it, which can only be one that has ended within it.
fn screen() -> Option<MutexGuard<'static, Option<Screen>>> {
    let until = Instant::now() + 2 * MAX_LEAVING;
    loop {
        match SCREEN.try_lock() {
            Ok(screen) => return Some(screen),
            Err(TryLockError::Poisoned(screen)) => return Some(screen.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() > until => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[derive(Debug)]
pub struct Typed(File);

impl Typed {
    /// What was typed within a time, or nothing; also nothing as soon as the terminal has room again, if something
    /// waits for that. `None`: the terminal is gone.
    pub fn read(&mut self, within: Duration) -> Option<Vec<u8>> {
        let output = if is_drained() { PollFlags::empty() } else { PollFlags::OUT };
        let came = wait(&self.0, PollFlags::IN | output, within);
        if came.contains(PollFlags::OUT) && !write(&[]) {
            return None;
        }
        if came.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return None;
        }
        if !came.contains(PollFlags::IN) {
            return Some(Vec::new());
        }
        let mut bytes = [0; 256];
        match self.0.read(&mut bytes) {
            Ok(0) => None,
            Ok(read) => Some(bytes[..read].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// Columns and rows of the terminal.
    pub fn size(&self) -> (u16, u16) {
        // Where a size is not known, that of the first terminals.
        let known = tcgetwinsize(&self.0).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        known.map_or((80, 24), |size| (size.ws_col, size.ws_row))
    }
}

/// Waits until one of these is true; what is.
fn wait(tty: &File, flags: PollFlags, within: Duration) -> PollFlags {
    let mut fds = [PollFd::from_borrowed_fd(tty.as_fd(), flags)];
    let within = Timespec {
        tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(within.subsec_nanos()),
    };
    // A signal that interrupts it means no more than that nothing has come.
    match poll(&mut fds, Some(&within)) {
        Ok(_) => fds[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}

#[cfg(test)]
mod tests;
