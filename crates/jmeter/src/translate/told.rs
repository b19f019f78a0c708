//! What JMeter says of an assertion that fails (5.6.3), in the words of its own messages.

use squall_plan::model::Check;
use squall_plan::template::Template;

use super::Translator;
use super::texts::{TextPiece, expression, literal, parsed, quoted};

/// What is asserted, as an expression, and what is said where it does not hold, if not its name.
pub(super) type Told = (String, Option<Template>);

/// What is said of a response in which there is nothing, of which nothing is asserted.
const NOTHING: &str = "Response was null";

/// The longest text of which it is marked what is not the same in another, in characters.
const MARKED: usize = 40;

/// The most characters that JMeter shows of what is not the same.
const SHOWN: usize = 100;

/// What makes an XPath one that is true or false.
const TESTS: [&str; 7] =
    ["not(", "contains(", "starts-with(", "boolean(", "true(", "false(", "lang("];

/// How a size has to be, by the place of the comparison.
const SIZES: [&str; 6] = [
    "been equal to",
    "not been equal to",
    "been greater than",
    "been less than",
    "been greater or equal to",
    "been less than or equal to",
];

impl Translator<'_> {
    /// Words, as what is said. Nothing is, but the name of what is asserted, where they are too long for an expression: what
    /// is said of a failure is no reason not to run.
    pub(super) fn words(&self, words: &[TextPiece]) -> Option<Template> {
        parsed(words).ok()
    }

    /// Words about what an expression gives, if that is anything.
    pub(super) fn words_of(&self, subject: &str, words: &[TextPiece]) -> Option<Template> {
        let said = format!("{subject} == \"\" ? {} : {}", quoted(NOTHING), expression(words));
        self.words(&[TextPiece::Expr(said)])
    }
}

/// A check of which nothing is said where it fails: the code says it, or nothing does in JMeter.
pub(super) fn untold() -> Check {
    Check { message: Some(Template::default()), ..Check::default() }
}

/// A text as the only words.
pub(super) fn known(text: impl Into<String>) -> Vec<TextPiece> {
    vec![TextPiece::Text(text.into())]
}

/// Of an XPath that leads to nothing, or to something that must not be there.
pub(super) fn of_xpath(path: &str, is_negated: bool, is_second: bool) -> Vec<TextPiece> {
    known(match (is_second || is_test(path), is_negated) {
        (true, false) => format!("No Nodes Matched for {path}"),
        (true, true) => format!("Nodes Matched for {path}"),
        (false, false) => format!("No Nodes Matched {path}"),
        (false, true) => {
            "Specified XPath was found... Turn off negate if this is not desired".to_owned()
        }
    })
}

/// Whether an XPath is true or false by itself, and leads nowhere.
fn is_test(path: &str) -> bool {
    let path = path.trim();
    let (mut quote, mut depth, mut outside) = (None, 0_u32, String::new());
    for c in path.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, c) if depth == 0 => outside.push(c),
            (None, _) => {}
        }
    }
    TESTS.iter().any(|name| path.starts_with(name))
        || outside.contains(['=', '<', '>'])
        || [" and ", " or "].iter().any(|word| outside.contains(word))
}

/// Of a size that an expression gives, by the place of the comparison.
pub(super) fn of_size(size: &str, operator: usize, limit: i64) -> Vec<TextPiece> {
    let how = SIZES.get(operator).copied().unwrap_or_default();
    vec![
        TextPiece::Text("The result was the wrong size: It was ".to_owned()),
        TextPiece::Expr(in_groups(size)),
        TextPiece::Text(format!(" bytes, but should have {how} {} bytes.", grouped(limit))),
    ]
}

/// Of a sample that took too many milliseconds.
pub(super) fn of_duration(limit: i64) -> Vec<TextPiece> {
    vec![
        TextPiece::Text("The operation lasted too long: It took ".to_owned()),
        TextPiece::Expr(in_groups("int(duration)")),
        TextPiece::Text(format!(
            " milliseconds, but should not have lasted longer than {} milliseconds.",
            grouped(limit)
        )),
    ]
}

/// Of a text that an expression gives and that should be another: both, with marks around what is not the same in them, as far
/// as that other is known and short.
pub(super) fn of_unequal(subject: &str, expected: &[TextPiece]) -> Vec<TextPiece> {
    match literal(expected) {
        Some(known) if known.chars().count() <= MARKED => {
            vec![TextPiece::Expr(marked(subject, known))]
        }
        _ => unmarked(subject, expected),
    }
}

/// The same without marks within them: as much of both as is shown.
pub(super) fn unmarked(subject: &str, expected: &[TextPiece]) -> Vec<TextPiece> {
    let framed = |text: String| format!("\"[[[\" + {text} + \"]]]\"");
    let wanted = match literal(expected) {
        Some(known) => quoted(&format!("[[[{}]]]", cut(known))),
        None => {
            let (all, one) = (expression(expected), "each_6");
            framed(format!("[{all}].map({one}, {})[0]", shortened(one)))
        }
    };
    vec![TextPiece::Expr(side_by_side(&framed(shortened(subject)), &wanted))]
}

/// The two lines of what is there and what was expected.
fn side_by_side(received: &str, wanted: &str) -> String {
    let (begin, next) = ("\n\n****** received  : ", "\n\n****** comparison: ");
    format!("{} + {received} + {} + {wanted} + {}", quoted(begin), quoted(next), quoted("\n\n"))
}

/// No more of a text than JMeter shows of a part of it.
fn shortened(text: &str) -> String {
    format!("(size({text}) > {SHOWN} ? substring({text}, 0, {SHOWN}) + \"...\" : string({text}))")
}

/// The same of a text that is known.
fn cut(known: &str) -> String {
    match known.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &known[..end]),
        None => known.to_owned(),
    }
}

/// As [`of_unequal`]: what both begin with is as long as there are beginnings of the one that the other has, too; what both end
/// with likewise, short of one character behind that.
fn marked(subject: &str, known: &str) -> String {
    let length = known.chars().count();
    let parts = |parts: Vec<&str>| {
        let parts: Vec<String> = parts.into_iter().map(quoted).collect();
        format!("[{}]", parts.join(", "))
    };
    let ends = known.char_indices().map(|(at, c)| &known[..at + c.len_utf8()]).collect();
    let begins = known.char_indices().map(|(at, _)| &known[at..]).collect();
    let (text, same, room) = ("each_6", "each_7", "each_8");
    let (end, found, wanted) = ("each_9", "each_10", "each_11");
    let same_at_begin =
        format!("size({}.filter(each_12, {text}.startsWith(each_12)))", parts(ends));
    let shorter = format!("(size({text}) < {length} ? size({text}) : {length})");
    let same_at_end = format!("size({}.filter(each_12, {text}.endsWith(each_12)))", parts(begins));
    let at_end = format!("({same_at_end} < {room} ? {same_at_end} : {room} > 0 ? {room} : 0)");
    let behind = format!("substring({text}, {same}, size({text}) - {end})");
    let own = format!("substring({}, {same}, {length} - {end})", quoted(known));
    let filled = |one: &str, other: &str| {
        let blanks = format!("pad(\"\", size({other}) - size({one}), \" \")");
        format!(
            "substring({text}, 0, {same}) + \"[[[\" + {one} + (size({other}) > size({one}) ? {blanks} : \"\") \
             + \"]]]\" + substring({text}, size({text}) - {end})"
        )
    };
    let both = side_by_side(&filled(found, wanted), &filled(wanted, found));
    let named = [
        (wanted, own),
        (found, shortened(&behind)),
        (end, at_end),
        (room, format!("{shorter} - 1 - {same}")),
        (same, same_at_begin),
        (text, subject.to_owned()),
    ];
    named
        .into_iter()
        .fold(both, |inner, (name, value)| format!("[{value}].map({name}, {inner})[0]"))
}

/// A whole number, with a comma before each three figures of it.
fn grouped(number: i64) -> String {
    let figures = number.unsigned_abs().to_string();
    let parts: Vec<&str> = figures
        .as_bytes()
        .rchunks(3)
        .rev()
        // Figures are ASCII.
        .map(|part| std::str::from_utf8(part).unwrap_or_default())
        .collect();
    format!("{}{}", if number < 0 { "-" } else { "" }, parts.join(","))
}

/// The same of what an expression gives: up to a billion.
fn in_groups(number: &str) -> String {
    let (one, last) = ("each_6", "pad(each_6 % 1000, 3, \"0\")");
    let middle = "pad(each_6 / 1000 % 1000, 3, \"0\")";
    format!(
        "[{number}].map({one}, {one} < 1000 ? string({one}) : {one} < 1000000 ? string({one} / 1000) + \",\" + {last} \
         : string({one} / 1000000) + \",\" + {middle} + \",\" + {last})[0]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_xpath_is_a_test_or_leads_somewhere() {
        for path in
            ["count(//a) = 2", "not(//a)", "//a > 1 and //b", "contains(//a, '[')", "1 or 0"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["//a", "//a[. = 2]", "//b[@k='x=y']/c", "/r/text()", "id('a < b')"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
