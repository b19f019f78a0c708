//! Text that somebody else wrote, as a terminal may be given it. Pure; whatever is printed of a response
//! goes through it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text with its control characters as escapes: `\n`, `\x1b`, `\u{202e}`. A terminal obeys some of them
/// (they move the cursor, retitle the window, answer in the user's name), and others make a text read
/// otherwise than it is. A tab stays, as does everything that can be seen. Line ends are escaped too: what
/// has several lines is escaped line by line.
///
/// Not undone: a text that held `\n` itself looks the same.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(commands) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        // Writing to a String cannot fail.
        let _ = match c {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            c if !commands(c) => out.write_char(c),
            c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            c => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(out)
}

/// A text of several lines, each escaped by [`escape_control`].
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| commands(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(escape_control).collect();
    Cow::Owned(lines.join("\n"))
}

/// JSON in which those characters are escaped that a terminal would obey, and that JSON leaves as they are
/// (`\u009b`): to whoever parses it, the same texts.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let obeyed = |c: char| commands(c) && !matches!(c, '\n' | '\r');
    let Some(first) = json.find(obeyed) else { return Cow::Borrowed(json) };
    let mut out = String::with_capacity(json.len() + 16);
    out.push_str(&json[..first]);
    for c in json[first..].chars() {
        // Writing to a String cannot fail. All of these have four digits.
        let _ = match obeyed(c) {
            true => write!(out, "\\u{:04x}", u32::from(c)),
            false => out.write_char(c),
        };
    }
    Cow::Owned(out)
}

/// Whether a text is made of printable ASCII alone, which most are: told by a few instructions for many bytes at once.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'))
}

/// Whether a terminal takes a character for something else than a letter: the control characters of ASCII
/// and of Latin-1 (ECMA-48), and of Unicode those that change the direction of writing or end a line.
fn commands(c: char) -> bool {
    match c {
        '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        for (text, escaped) in [
            ("", ""),
            (
                "plain, \t\u{e9}\u{2713}\u{1f600} and \\n",
                "plain, \t\u{e9}\u{2713}\u{1f600} and \\n",
            ),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("a\nlog  b\r", "a\\nlog  b\\r"),
            ("\u{9b}31m red \0\x7f", "\\u{9b}31m red \\x00\\x7f"),
            ("user\u{202e}nimda\u{2066}\u{2028}", "user\\u{202e}nimda\\u{2066}\\u{2028}"),
        ] {
            assert_eq!(escape_control(text), escaped);
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(escape_lines("a\nb\r\u{1b}[2J\n"), "a\nb\\r\\x1b[2J\n");
        assert!(matches!(escape_lines("a\n\tb\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_the_same_to_who_parses_it() {
        assert_eq!(
            escape_json("{\n  \"a\": \"ü\u{9b}2J\u{202e}\u{7f}\"\n}"),
            "{\n  \"a\": \"ü\\u009b2J\\u202e\\u007f\"\n}"
        );
        assert!(matches!(escape_json("[\"plain\"]"), Cow::Borrowed(_)));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_left_to_obey(text in ".{0,40}|\\PC{0,40}|[\\x00-\\x9f]{0,40}") {
            let escaped = escape_control(&text);
            proptest::prop_assert!(!escaped.chars().any(|c| c.is_control() && c != '\t'));
            proptest::prop_assert_eq!(escape_control(&escaped), &*escaped);
            proptest::prop_assert_eq!(escaped == text, !text.contains(commands));
        }
    }
}
