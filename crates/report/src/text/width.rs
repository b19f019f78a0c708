//! How many columns of a terminal a text takes, and how it is cut and filled up by them. A character that is seen as
//! one (a grapheme cluster, such as an emoji of several code points) is never cut apart, and neither is an escape.

use squall_base::escape_control;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns that a text takes.
pub(crate) fn text_width(text: &str) -> usize {
    text.width()
}

/// A text filled up with spaces to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text_width(text))))
}

/// A text in at most `columns`, shortened in its middle, with control characters escaped.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    let whole = escape_control(text).replace('\t', " ");
    if text_width(&whole) <= columns {
        return whole;
    }
    let parts = escaped_parts(text);
    let room = columns.saturating_sub(1);
    let left = fitting(parts.iter(), room / 2);
    let start: String = parts[..left].concat();
    let right = fitting(parts.iter().rev(), room - text_width(&start));
    let end: String = parts[parts.len() - right..].concat();
    format!("{start}…{end}")
}

/// As much of a text from its beginning as has room, with control characters escaped.
pub(crate) fn begin(text: &str, columns: usize) -> String {
    let whole = escape_control(text).replace('\t', " ");
    if text_width(&whole) <= columns {
        return whole;
    }
    let parts = escaped_parts(text);
    let number = fitting(parts.iter(), columns.saturating_sub(1));
    format!("{}…", parts[..number].concat())
}

/// A text in pieces of at most so many columns, with control characters escaped.
pub(crate) fn pieces(text: &str, columns: usize) -> Vec<String> {
    let whole = escape_control(text);
    if text_width(&whole) <= columns {
        return vec![whole.into_owned()];
    }
    let mut pieces = vec![String::new()];
    for part in escaped_parts(text) {
        match pieces.last_mut() {
            Some(last) if last.is_empty() || text_width(last) + text_width(&part) <= columns => {
                last.push_str(&part);
            }
            _ => pieces.push(part),
        }
    }
    pieces
}

/// What is seen as one character each, escaped one by one, so that no escape is cut.
fn escaped_parts(text: &str) -> Vec<String> {
    text.graphemes(true).map(|part| escape_control(part).replace('\t', " ")).collect()
}

/// How many parts fit into so many columns.
fn fitting<'a>(parts: impl Iterator<Item = &'a String>, columns: usize) -> usize {
    let mut used = 0;
    parts
        .take_while(|part| {
            used += text_width(part);
            used <= columns
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_in_their_middle() {
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcdefgh", 4), "a…gh");
        assert_eq!(shorten("abcde", 5), "abcde");
        assert_eq!(
            (begin("abcdefgh", 5).as_str(), begin("価格一覧", 4).as_str()),
            ("abcd…", "価…")
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(text_width("価格"), 4);
        assert_eq!(pad("価格", 6), "価格  ");
        assert_eq!(shorten("価格一覧", 8), "価格一覧");
        // Three columns are left for each side: one of them stays free.
        assert_eq!(shorten("価格一覧", 7), "価…一覧");
        assert!((1..9).all(|columns| text_width(&shorten("価格一覧表", columns)) <= columns));
    }

    #[test]
    fn what_is_seen_as_one_is_not_cut_apart() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(text_width(family), 2);
        assert_eq!(shorten(&family.repeat(4), 5), format!("{family}…{family}"));
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…e\u{301}");
        // An escape is shown as a whole, or not at all.
        assert_eq!(shorten("ab\u{202e}cdefghi", 9), "ab…defghi");
        assert_eq!(shorten("\u{202e}cdefghijklmnopqrst", 18), "\\u{202e}…lmnopqrst");
    }
}
