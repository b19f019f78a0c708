//! Texts of others within Markdown: names come from plans, errors from servers, and both from anybody.

/// Text as a code span within a table.
pub(crate) fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space =
        if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|"))
}

/// Text in which nothing is Markdown or HTML, and which names nobody: GitHub looks for people in what it has
/// rendered, so that an `@` written as an entity still calls them, and one with a zero-width space behind it does not.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("@\u{200b}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => out.extend(['\\', c]),
            c if is_break(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Whether it could end a line, or control whatever shows it.
fn is_break(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Text as the content or an attribute of HTML or XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(code("GET /a|b"), "`GET /a\\|b`");
        assert_eq!(code("a ``b`` <script>\n"), "```a ``b`` <script> ```");
        assert_eq!(
            plain("a|b <b> *x* [y](z) @all\u{2028}\n"),
            "a\\|b &lt;b&gt; \\*x\\* \\[y\\](z) @\u{200b}all  "
        );
    }
}
