//! Texts after a label, wrapped: no line is wider than the terminal.

use squall_base::escape_control;

use super::show::Show;
use super::width::pieces;
use super::width::{begin, shorten, text_width};

/// Most columns of a line of the log, which is wrapped.
const MAX_LINE: usize = 258;
/// What lines begin with that go on, and those of the log.
pub(super) const INDENT: &str = "             ";

/// A text after a label, wrapped, with later lines indented. What came from elsewhere stays data: control characters
/// are escaped.
pub fn paragraph(out: &mut String, word: &str, text: &str, columns: usize) {
    let word = escape_control(word);
    let indent = text_width(&word);
    let room = columns.saturating_sub(indent).max(1);
    out.push_str(&word);
    let mut column = indent;
    for (at, part) in text.split_whitespace().enumerate() {
        for (number, piece) in pieces(part, room).into_iter().enumerate() {
            let length = text_width(&piece);
            if number > 0 || (at > 0 && column + 1 + length > columns) {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else if at > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(&piece);
            column += length;
        }
    }
    out.push('\n');
}

/// A line of the log, with an indent as wide as a label. Of one that is too long, an expression and a URL give way: the name
/// of a request stands at its beginning, and what came of it in parentheses at its end, `(status 404, 28 bytes, GET URL)`.
pub(super) fn log_line(out: &mut String, line: &str, columns: usize) {
    let room = columns - text_width(INDENT);
    let limited = |text: &str| {
        let words = text.split_whitespace().map(|word| shorten(word, room));
        words.collect::<Vec<_>>().join(" ")
    };
    let shown = match line.rfind(" (").filter(|_| line.ends_with(')')) {
        Some(at) if text_width(line) > MAX_LINE || text_width(&line[at..]) > room => {
            let end = limited(&line[at..]);
            let left = MAX_LINE.saturating_sub(text_width(&end) + 1).max(room);
            format!("{} {end}", begin(&line[..at], left))
        }
        _ => shorten(line, MAX_LINE),
    };
    paragraph(out, INDENT, &limited(&shown), columns);
}

/// A word in its colour (empty: none), and what it means.
pub(super) fn verdict(
    out: &mut String,
    label: &str,
    (word, color): (&str, &str),
    text: &str,
    show: &Show,
) {
    let mut plain = String::new();
    paragraph(&mut plain, label, &format!("{word}: {text}"), show.width());
    let shown = if color.is_empty() { word.to_owned() } else { show.word(word, color) };
    out.push_str(&plain.replacen(word, &shown, 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_keeps_the_name_and_what_came_of_it() {
        let url = format!("http://h/{}", "path/".repeat(40));
        let expr = format!("body.contains(\"{}\")", "z ".repeat(300));
        for line in [
            format!("GET /a: check: {expr} (status 404, 28 bytes, GET {url})"),
            format!("GET /a: check: {expr} (status 404, 28 bytes, GET http://h/)"),
            format!("GET /a: connect_refused: refused (status 404, 28 bytes, GET {url})"),
            format!("GET /a: check: {} (status 404, 28 bytes, GET {url})", "z".repeat(300)),
        ] {
            for columns in [79, 99, 199] {
                let mut out = String::new();
                log_line(&mut out, &line, columns);
                assert!(out.lines().all(|line| text_width(line) <= columns), "{out}");
                let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(text.starts_with("GET /a: c"), "{text}");
                assert!(text.contains(" (status 404, 28 bytes, GET http://h/"), "{text}");
            }
        }
    }

    #[test]
    fn no_line_of_a_paragraph_is_too_long() {
        let mut out = String::new();
        paragraph(&mut out, " target  ", &format!("to {}", "x".repeat(25)), 20);
        assert_eq!(out, " target  to\n         xxxxxxxxxxx\n         xxxxxxxxxxx\n         xxx\n");
    }
}
