//! Texts that need quotes in YAML, and have none.

/// What to do about a line that YAML does not read; empty if nothing is known.
pub(super) fn help(line: &str) -> &'static str {
    let line = unquoted(line);
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

/// A line without what stands in quotes, and without its comment.
fn unquoted(line: &str) -> String {
    let mut quote = None;
    let mut out = String::new();
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == '#' && out.ends_with(' ') => break,
            None => out.push(c),
        }
    }
    out
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
        ] {
            let help = help(line);
            assert!(help.contains(word) && (help.is_empty() == word.is_empty()), "{line}: {help}");
        }
    }
}
