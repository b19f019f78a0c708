//! What is known of a run while it goes on, for all who show it ([`Follow`], a sink of the runner), what a person may want
//! of it ([`Command`]), and the view of it in a terminal ([`LiveView`]), with a keyboard that controls the run through its
//! [`Handle`].
//!
//! What is known ([`state`], fed by seconds and events), how it looks ([`view`]), and what keys do ([`keys`]) are pure;
//! [`screen`] is the thread that shows it, and [`terminal`] owns the terminal and gives it back. A terminal that does not
//! read holds up nothing but its own picture.

mod browse;
mod control;
mod follow;
mod frame;
mod input;
mod keys;
mod screen;
pub mod state;
mod terminal;
mod view;

use std::io::{self, Write};

use squall_base::escape_control;
use squall_report::Run;
use squall_runner::{Event, EventKind, Handle, Second, Sink, Start, Wanted, give_way};

pub use control::Command;
pub use follow::{Follow, Shared};
pub use terminal::{is_able, is_shown, restore};
pub use view::Theme;

/// Shows a run in the terminal of the standard error while it goes on.
#[derive(Debug)]
pub struct LiveView<W> {
    /// Where warnings go when the view is over.
    out: W,
    theme: Theme,
    handle: Handle,
    shared: Shared,
    /// Whether the terminal was taken, or could not be.
    was_shown: bool,
    warnings: Vec<String>,
}

impl<W: Write + Send> LiveView<W> {
    /// Of the run that `handle` controls and of which `shared` knows. The warnings of the plan are written to `out`,
    /// which a person reads, when the view is over.
    pub fn new(out: W, handle: &Handle, shared: Shared, theme: Theme) -> LiveView<W> {
        let handle = handle.clone();
        LiveView { out, theme, handle, shared, was_shown: false, warnings: Vec::new() }
    }

    /// Takes the terminal: when something begins, as a run that cannot begin has something to say there.
    fn show(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.was_shown, true) {
            return Ok(());
        }
        let typed = terminal::enter()?;
        let (shared, handle, theme) = (self.shared.clone(), self.handle.clone(), self.theme);
        let thread = std::thread::Builder::new().name("live view".to_owned());
        let spawned = thread.spawn(move || {
            give_way();
            screen::show(&shared, &handle, theme, typed);
            restore();
        });
        spawned.map(drop).inspect_err(|_| restore())
    }

    fn over(&mut self) -> io::Result<()> {
        restore();
        for text in self.warnings.drain(..) {
            self.out.write_all(text.as_bytes())?;
        }
        self.out.flush()
    }
}

impl<W: Write + Send> Sink for LiveView<W> {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let EventKind::Warning(text) = &event.kind {
            let lines = text.lines().map(|line| format!("{}\n", escape_control(line)));
            self.warnings.push(lines.collect());
        }
        match event.kind {
            EventKind::PhaseBegan(_) => self.show(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.over()
    }
}

impl<W> Drop for LiveView<W> {
    fn drop(&mut self) {
        restore();
    }
}
