//! Lines of the run's log: without secrets, without what a terminal would obey, and bounded. What servers sent stays data.

use std::fmt::Write as _;

use squall_base::escape_control;
use squall_base::units;
use squall_plan::secrets::{Excerpt, Secrets};

/// Most bytes of a line: a plan may log a whole response.
const MAX_LINE: usize = 16 << 10;

/// A text as it may be shown; how much of it is left out is said at its end.
pub(super) fn shown(text: &str, secrets: &Secrets) -> String {
    let kept = text.floor_char_boundary(MAX_LINE);
    let excerpt = Excerpt { bytes: &text.as_bytes()[..kept], is_cut: kept < text.len() };
    let mut line = escape_control(&secrets.mask_request(excerpt)).into_owned();
    let end = line.floor_char_boundary(MAX_LINE);
    let left_out = line.len() - end + text.len() - kept;
    if left_out > 0 {
        line.truncate(end);
        // Writing to a String cannot fail.
        let _ = write!(line, " ... ({} more)", units::counted(left_out as u64, "byte"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_bound() {
        let mut secrets = Secrets::default();
        secrets.add("hunter2-hunter2");
        assert_eq!(shown("a\u{1b}b hunter2-hunter2", &secrets), "a\\x1bb ***");
        let line = shown(&"x".repeat(16_000_000), &secrets);
        assert!(line.ends_with("x ... (15,983,616 bytes more)"), "{}", &line[line.len() - 40..]);
        for text in
            ["\u{1b}".repeat(MAX_LINE), "ä".repeat(MAX_LINE), format!(" {}", "ä".repeat(MAX_LINE))]
        {
            assert!(shown(&text, &secrets).len() < MAX_LINE + 40);
        }
        // What the cut leaves of a secret is masked too.
        let cut = format!("{}hunter2-hunter2", "x ".repeat(MAX_LINE / 2 - 5));
        assert!(!shown(&cut, &secrets).contains("hunter"));
    }
}
