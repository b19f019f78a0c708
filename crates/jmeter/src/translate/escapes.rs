//! Functions that make one text of another: escapes, digests, upper and lower case. Pure.

use super::texts::{TextPiece, expression, literal, merged, quoted};

/// What a call of such a function gives, whose parameters the run may decide.
pub(super) fn of_text(function: &str, parameters: &[Vec<TextPiece>]) -> Option<TextPiece> {
    let expr = |text: String| Some(TextPiece::Expr(text));
    match (function, parameters) {
        ("__urlencode", [text]) => expr(format!("form_encode({})", expression(text))),
        ("__urldecode", [text]) => expr(format!("form_decode({})", expression(text))),
        ("__escapeXml", [text]) => expr(replaced(
            expression(text),
            &[("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")],
        )),
        // Letters that have a name in HTML are known before the run, or stay.
        ("__escapeHtml", [text]) if literal(text).is_none_or(str::is_ascii) => expr(replaced(
            expression(text),
            &[("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")],
        )),
        ("__unescapeHtml", [text]) => expr(format!("html_decode({})", expression(text))),
        ("__changeCase", [text]) => expr(format!("upper({})", expression(text))),
        ("__changeCase", [text, mode]) => match literal(mode)?.to_ascii_uppercase().as_str() {
            "UPPER" => expr(format!("upper({})", expression(text))),
            "LOWER" => expr(format!("lower({})", expression(text))),
            "CAPITALIZE" => {
                let text = expression(text);
                expr(format!("upper(substring({text}, 0, 1)) + substring({text}, 1)"))
            }
            // Any other changes nothing.
            _ => expr(expression(text)),
        },
        ("__digest", [algorithm, text, more @ ..]) if more.len() < 3 => {
            let salt = more.first().map_or(&[] as &[TextPiece], Vec::as_slice);
            let text = [text.as_slice(), salt].concat();
            let upper = literal(more.get(1).map_or(&[] as &[TextPiece], Vec::as_slice))?;
            let function = match literal(algorithm)?.to_ascii_uppercase().as_str() {
                "MD5" => "md5",
                "SHA-1" | "SHA" | "SHA1" => "sha1",
                "SHA-224" => "sha224",
                "SHA-256" => "sha256",
                "SHA-384" => "sha384",
                "SHA-512" => "sha512",
                _ => return None,
            };
            let digest = format!("{function}({})", expression(&merged(text)));
            match upper.trim().eq_ignore_ascii_case("true") {
                true => expr(format!("upper({digest})")),
                false => expr(digest),
            }
        }
        _ => None,
    }
}

/// A pattern that matches this text, as ORO writes it.
pub(super) fn quoted_for_oro(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut escaped = String::new();
    for c in text.chars() {
        escaped.extend((!is_word(c)).then_some('\\'));
        escaped.push(c);
    }
    escaped
}

/// An expression with texts replaced in it, one after the other.
fn replaced(expression: String, pairs: &[(&str, &str)]) -> String {
    let one = |text: String, (from, to): &(&str, &str)| {
        format!("replace({text}, {}, {})", quoted(from), quoted(to))
    };
    pairs.iter().fold(expression, one)
}

/// A text without the escapes of Java's source; `None` where one is not whole.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                let number = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                out.push(char::from_u32(number?)?);
            }
            first @ '0'..='7' => {
                // An octal number up to 377.
                let most = if first <= '3' { 3 } else { 2 };
                let mut digits = String::from(first);
                while digits.len() < most
                    && let Some(digit) = rest.next_if(|c| matches!(c, '0'..='7'))
                {
                    digits.push(digit);
                }
                out.push(char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?);
            }
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_their_escapes() {
        assert_eq!(unescaped(r"a\u0041\tb\\\101x").as_deref(), Some("aA\tb\\Ax"));
        assert_eq!((unescaped(r"\u00"), unescaped("\\")), (None, None));
        assert_eq!(unescaped(r"\1014\477\8\0").as_deref(), Some("A4'78\0"));
        let many = unescaped(&r"\101".repeat(1_000_000)).expect("all are whole");
        assert_eq!((many.len(), many.trim_matches('A')), (1_000_000, ""));
        assert_eq!(quoted_for_oro("a.b$"), r"a\.b\$");
    }
}
