//! Printing to the standard output and the standard error. Neither can stop a run: a reader that has gone
//! away (`squall ... | head`) is not an error, and any other failure of the standard output, such as a full
//! disk, is remembered until the command ends.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use squall_report::Show;

/// Columns of a text that goes to a file.
const COLUMNS: usize = 100;

/// Why the standard output does not have all that was printed.
static FAILED: OnceLock<String> = OnceLock::new();

/// Prints a text as it is.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// Prints bytes as they are.
pub fn print_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            // Only the first reason counts.
            let _ = FAILED.set(error.to_string());
        }
        _ => {}
    }
}

/// The standard output as something to write to, see [`print_bytes`].
#[derive(Debug, Clone, Copy)]
pub struct Printed;

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        print_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether what is printed may have colours: for a terminal, unless the user wants none.
pub fn has_colors() -> bool {
    std::io::stdout().is_terminal() && !refuses_colors()
}

/// Whether the user wants no colours (no-color.org).
pub fn refuses_colors() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Prints a text to the standard error, its control characters escaped: it may quote a plan, or what a server sent.
/// That it cannot be read is no reason to do anything else.
pub fn message(text: &str) {
    let mut out = std::io::stderr().lock();
    let text = squall_base::escape_lines(text);
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// How a text is shown: as wide as the terminal, or as `COLUMNS` says.
pub fn show() -> Show {
    let out = std::io::stdout();
    let columns = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = columns.filter(|columns| *columns > 0).or_else(asked).unwrap_or(COLUMNS);
    Show { columns, color: has_colors(), ..Show::default() }
}

/// The standard error as something to write to, which never fails: nobody may read it.
#[derive(Debug, Clone, Copy)]
pub struct Messages;

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = std::io::stderr().lock().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let _ = std::io::stderr().lock().flush();
        Ok(())
    }
}

/// Why something that was printed did not get to the standard output, if so.
pub fn failure() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}
