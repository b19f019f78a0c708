//! What a terminal is sent to show a screen after another one: only what differs. Pure.

use std::fmt::Write as _;

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier};

/// Another screen that is restored later, without a cursor and without wrapping at the last column.
pub const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// Everything as it was before; an update that was broken off is shown.
pub const LEAVE: &[u8] = b"\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// What makes a terminal that shows `shown` show `wanted`; `None`: what it shows is not known. The update is shown at
/// once by terminals that know synchronised output (private mode 2026).
pub fn encode(shown: Option<&Buffer>, wanted: &Buffer) -> Vec<u8> {
    let empty = Buffer::empty(*wanted.area());
    let known = shown.filter(|shown| shown.area() == wanted.area());
    let changes = known.unwrap_or(&empty).diff(wanted);
    if changes.is_empty() && known.is_some() {
        return Vec::new();
    }
    let mut out = String::from("\x1b[?2026h\x1b[0m");
    if known.is_none() {
        out.push_str("\x1b[2J");
    }
    let (mut cursor, mut look) = (None, (Color::Reset, Modifier::empty()));
    for (x, y, cell) in changes {
        if cursor != Some((x, y)) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
        }
        let own = (cell.fg, cell.modifier);
        if own != look {
            style(&mut out, own.0, own.1);
            look = own;
        }
        out.push_str(cell.symbol());
        // Of what is no ASCII terminals do not agree how wide it is.
        cursor = cell.symbol().is_ascii().then_some((x + 1, y));
    }
    out.push_str("\x1b[0m\x1b[?2026l");
    out.into_bytes()
}

/// Selects a colour and how letters look; the background is always the terminal's own.
fn style(out: &mut String, color: Color, modifier: Modifier) {
    out.push_str("\x1b[0");
    for (flag, number) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
        if modifier.contains(flag) {
            let _ = write!(out, ";{number}");
        }
    }
    if let Color::Indexed(number) = color {
        let _ = write!(out, ";38;5;{number}");
    }
    out.push('m');
}

#[cfg(test)]
mod tests {
    use ratatui_core::style::Style;

    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace('\x1b', "^")
    }

    #[test]
    fn only_what_differs_is_sent() {
        let mut first = Buffer::with_lines(["abc ", "    "]);
        let mut second = first.clone();
        assert!(encode(Some(&first), &second).is_empty());
        second.set_string(1, 0, "xy", Style::new());
        assert_eq!(text(&encode(Some(&first), &second)), "^[?2026h^[0m^[1;2Hxy^[0m^[?2026l");
        // Of another size nothing is known.
        first = Buffer::with_lines(["abc"]);
        assert!(text(&encode(Some(&first), &second)).contains("^[2J^[1;1Haxy"));
        assert!(text(&encode(None, &first)).contains("^[2J^[1;1Habc"));
    }

    #[test]
    fn styles_change_where_they_differ() {
        let mut screen = Buffer::with_lines(["     "]);
        screen.set_string(0, 0, "ab", Style::new().fg(Color::Indexed(28)));
        screen.set_string(
            2,
            0,
            "c",
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED),
        );
        let sent = text(&encode(None, &screen));
        assert!(sent.contains("^[0;38;5;28mab^[0;1;7mc^[0m"), "{sent}");
    }
}
