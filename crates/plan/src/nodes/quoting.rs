//! Texts that need quotes in YAML, and have none.

/// What to do about a line that YAML does not read; empty if nothing is known.
pub(super) fn help(line: &str) -> &'static str {
    let Unquoted { text: line, goes_on, open } = unquoted(line);
    match open {
        Some('"' | '\'') => return "a text that begins with a quote ends with the same quote",
        Some(_) => {
            return "close the bracket, or put quotes around a text that begins with `[` or `{`";
        }
        None => {}
    }
    if line.contains(": - ") {
        return "put quotes around a text that begins with `- `; a list begins on a line of its own";
    }
    if goes_on {
        return "a text that begins with a quote ends at the next one: put quotes around all of it, as in '\"a\" == b'";
    }
    let begins_value = |sign: char| {
        let before =
            [format!(": {sign}"), format!("- {sign}"), format!("[{sign}"), format!(", {sign}")];
        before.iter().any(|before| line.contains(before.as_str()))
    };
    if line.contains("${") {
        return "put quotes around a text with `${...}` in it";
    }
    if begins_value('*') {
        return "put quotes around a text that begins with `*`, as in \"*/*\"";
    }
    for sign in ['!', '&', '%', '@', '`', '>', '|'] {
        if begins_value(sign) {
            return "put quotes around a text that begins with one of ! & % @ ` > |";
        }
    }
    if line.trim_start_matches(' ').starts_with('\t') {
        return "indent with spaces: YAML allows no tabs there";
    }
    if line.matches(": ").count() > 1 {
        return "put quotes around a text that holds `: `";
    }
    ""
}

/// Whether a line begins with a quote or a bracket what it does not end.
pub(super) fn is_open(line: &str) -> bool {
    unquoted(line).open.is_some()
}

/// A line without texts in quotes and without its comment.
struct Unquoted {
    text: String,
    /// Whether a text goes on behind its quotes.
    goes_on: bool,
    /// The quote or the bracket that is not closed. A list or a mapping over several lines has a comma at the end, or
    /// nothing yet.
    open: Option<char>,
}

/// What is without quotes. A quote within a text that does not begin with one is a part of it.
fn unquoted(line: &str) -> Unquoted {
    let (mut out, mut depth) = (String::new(), 0_u32);
    let (mut quote, mut has_ended, mut goes_on, mut before) = (None, false, false, ' ');
    for c in line.chars() {
        match quote {
            Some(open) if c == open && !(open == '"' && before == '\\') => {
                (quote, has_ended) = (None, true);
            }
            Some(_) => {}
            // Within quotes, two of them stand for one.
            None if has_ended && c == '\'' && before == c => quote = Some(c),
            None if matches!(c, '"' | '\'') && !has_ended && begins_text(&out, depth) => {
                quote = Some(c);
            }
            None if c == '#' && out.ends_with(' ') => break,
            None => {
                goes_on |= has_ended && !c.is_whitespace() && !",:]}".contains(c);
                has_ended &= c.is_whitespace();
                match c {
                    '[' | '{' if begins_text(&out, depth) => depth += 1,
                    ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                out.push(c);
            }
        }
        before = c;
    }
    let goes_further = out.trim_end().ends_with([',', '[', '{']);
    let open = quote.or((depth > 0 && !goes_further).then_some('['));
    Unquoted { text: out, goes_on, open }
}

/// Whether what comes behind a part of a line, within so many brackets of YAML's, begins a text.
fn begins_text(part: &str, depth: u32) -> bool {
    let before = part.trim_end();
    before.chars().all(|c| matches!(c, ' ' | '-'))
        || before.ends_with(": -")
        || (before.ends_with(':') && before != part)
        || (depth > 0 && before.ends_with([',', ':', '[', '{']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_lacks() {
        for (line, word) in [
            ("- {get: ${a}}", "`${...}`"),
            ("  Accept: */*", "`*`"),
            ("- {get: \"${a}\"}", ""),
            ("name: a: b", "`: `"),
            ("\tget: /", "tabs"),
            ("name: @x", "one of"),
            ("name: x # ${a}", ""),
            ("check: body.contains(\"a: b\")", "`: `"),
            ("  check: header('a: b') == f(a, \"c\")", "`: `"),
            ("check: \"status\" == 200", "begins with a quote"),
            ("  - 'a' + b", "begins with a quote"),
            ("- {check: 'a: b'}", ""),
            ("- get: \"a", "the same quote"),
            ("- get: 'a", "the same quote"),
            ("- get: [a", "close the bracket"),
            ("- {get: /, json: {a: 1}", "close the bracket"),
            ("steps: [/, [", ""),
            ("- get: - x", "`- `"),
            ("name: 'it''s: this' # and that: too", ""),
            ("name: \"a \\\" b: c\"", ""),
            ("\"a\": [\"b: c\", 'd: e']", ""),
        ] {
            let help = help(line);
            assert!(help.contains(word) && (help.is_empty() == word.is_empty()), "{line}: {help}");
        }
    }
}
