//! Files of properties, as `java.util.Properties` reads them.

/// The names and values in a file of properties, in its order; of a name that stands twice the last value counts.
///
/// A line that begins with `#` or `!` is a comment. A name ends at the first `=`, `:` or blank; a backslash at the end
/// of a line joins it with the next one, and `\t`, `\n`, `\r`, `\f` and `\u0041` are what they are in Java.
pub fn parse_properties(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(first) = lines.next() {
        let mut line = first.trim_start_matches(BLANKS).to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while goes_on(&line) {
            line.pop();
            match lines.next() {
                Some(next) => line.push_str(next.trim_start_matches(BLANKS)),
                None => break,
            }
        }
        found.push(pair(&line));
    }
    found
}

const BLANKS: [char; 3] = [' ', '\t', '\u{c}'];

/// Whether a line ends with a backslash that escapes its end.
fn goes_on(line: &str) -> bool {
    line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// The name and the value of a line.
fn pair(line: &str) -> (String, String) {
    let mut is_escaped = false;
    let end = line.find(|c: char| {
        let ends = !is_escaped && (matches!(c, '=' | ':') || BLANKS.contains(&c));
        is_escaped = !is_escaped && c == '\\';
        ends
    });
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start_matches(BLANKS);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(BLANKS);
    (unescaped(name), unescaped(value))
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::parse_properties;

    #[test]
    fn lines_are_read_as_java_reads_them() {
        let text = "# c\n! c\n\n host = a.test\nport:80\nempty\nwide  value with blanks \n\
                    long = one \\\n    two\nkey\\ with\\:blank=x\\\\\nuni=\\u0041\\tb\nlast=\\";
        let expected = [
            ("host", "a.test"),
            ("port", "80"),
            ("empty", ""),
            ("wide", "value with blanks "),
            ("long", "one two"),
            ("key with:blank", "x\\"),
            ("uni", "A\tb"),
            ("last", ""),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse_properties(text), expected);
    }
}
