//! Reads a selector by the grammar of Selectors Level 4, but for pseudo-classes.

use super::{Case, Combinator, Complex, Compound, Name, Operator, Test, pseudo};
use crate::CompileError;
use crate::cursor::Cursor;

/// The most compounds that are joined in one selector.
const COMPOUNDS_LIMIT: usize = 128;

/// Reads a whole list of selectors.
pub(super) fn selectors(text: &str) -> Result<Vec<Complex>, CompileError> {
    let mut cursor = Cursor::new(text);
    let list = list(&mut cursor, List::Whole)?;
    if cursor.at_end() { Ok(list) } else { Err(cursor.expected("`,` or the end")) }
}

/// Skips white space and comments, and says whether there was any white space.
pub(super) fn skip_space(cursor: &mut Cursor<'_>) -> bool {
    let mut space = false;
    loop {
        space |= cursor.skip_space();
        if !skip_comment(cursor) {
            return space;
        }
    }
}

/// Skips a comment, and says whether there was one.
fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
    let length = cursor.rest().strip_prefix("/*").and_then(|rest| rest.find("*/"));
    if let Some(length) = length {
        cursor.rewind(cursor.offset() + length + 4);
    }
    length.is_some()
}

/// What a list of selectors may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Selectors.
    Whole,
    /// Selectors that may begin with a combinator.
    Relative,
    /// Selectors or nothing, which selects nothing.
    Forgiving,
}

/// Reads selectors separated by commas.
pub(super) fn list(cursor: &mut Cursor<'_>, kind: List) -> Result<Vec<Complex>, CompileError> {
    let mut list = Vec::new();
    loop {
        skip_space(cursor);
        let absent = kind == List::Forgiving && matches!(cursor.peek(), Some(',' | ')'));
        if !absent {
            list.push(complex(cursor, kind == List::Relative)?);
        }
        skip_space(cursor);
        if !cursor.eat(",") {
            return Ok(list);
        }
    }
}

fn complex(cursor: &mut Cursor<'_>, relative: bool) -> Result<Complex, CompileError> {
    let leading = if relative { combinator(cursor) } else { None };
    let mut next = leading.unwrap_or(Combinator::Descendant);
    let mut compounds = Vec::new();
    loop {
        skip_space(cursor);
        if compounds.len() == COMPOUNDS_LIMIT {
            let message = format!("the selector has more than {COMPOUNDS_LIMIT} parts");
            return Err(cursor.error(message));
        }
        compounds.push(Compound { combinator: next, tests: compound(cursor)? });
        let space = skip_space(cursor);
        next = match combinator(cursor) {
            Some(combinator) => combinator,
            None if space && !matches!(cursor.peek(), None | Some(',' | ')')) => {
                Combinator::Descendant
            }
            None => return Ok(Complex(compounds)),
        };
    }
}

fn combinator(cursor: &mut Cursor<'_>) -> Option<Combinator> {
    let combinator = match cursor.peek()? {
        '>' => Combinator::Child,
        '+' => Combinator::NextSibling,
        '~' => Combinator::LaterSibling,
        _ => return None,
    };
    cursor.next();
    Some(combinator)
}

fn compound(cursor: &mut Cursor<'_>) -> Result<Vec<Test>, CompileError> {
    let start = cursor.clone();
    let mut tests: Vec<Test> = name(cursor)?.into_iter().collect();
    loop {
        // A comment is no white space: it separates nothing.
        while skip_comment(cursor) {}
        match cursor.peek() {
            Some('#') => {
                cursor.next();
                tests.push(Test::Id(identifier(cursor, true)?));
            }
            Some('.') => {
                cursor.next();
                tests.push(Test::Class(identifier(cursor, false)?));
            }
            Some('[') => {
                cursor.next();
                tests.push(attribute(cursor)?);
            }
            // Outside nested style rules, the same as `:scope`.
            Some('&') => {
                cursor.next();
                tests.push(Test::Root);
            }
            Some(':') => pseudo::read(cursor, &mut tests)?,
            _ if cursor.offset() == start.offset() => {
                return Err(cursor.expected("a selector, such as `div`, `.class` or `[name=x]`"));
            }
            _ => return Ok(tests),
        }
    }
}

/// Reads the name of an element, with or without a prefix. `*` stands for any.
fn name(cursor: &mut Cursor<'_>) -> Result<Option<Test>, CompileError> {
    let first = name_or_star(cursor)?;
    let prefixed = cursor.starts_with("|") && !cursor.starts_with("||");
    if !prefixed {
        return Ok(first.flatten().map(|name| Test::Name(Name::Local(name))));
    }
    cursor.next();
    let local = name_or_star(cursor)?.ok_or_else(|| cursor.expected("the name of an element"))?;
    match (first, local) {
        (Some(Some(prefix)), None) => Ok(Some(Test::Name(Name::Prefix(prefix)))),
        // `*|*` is anything, `|*` what has no prefix.
        (Some(None), None) => Ok(None),
        (None, None) => Ok(Some(Test::Name(Name::Prefix(String::new())))),
        (Some(None), Some(local)) => Ok(Some(Test::Name(Name::Local(local)))),
        (None, Some(local)) => Ok(Some(Test::Name(Name::Full(local)))),
        (Some(Some(prefix)), Some(local)) => {
            Ok(Some(Test::Name(Name::Full(format!("{prefix}:{local}")))))
        }
    }
}

/// A name (`Some(Some)`), a star (`Some(None)`) or neither.
fn name_or_star(cursor: &mut Cursor<'_>) -> Result<Option<Option<String>>, CompileError> {
    if cursor.eat("*") {
        return Ok(Some(None));
    }
    match cursor.peek() {
        Some(c) if is_name(c) || c == '\\' => Ok(Some(Some(identifier(cursor, false)?))),
        _ => Ok(None),
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii()
}

/// Reads an identifier; one behind `#` may begin with a digit.
pub(super) fn identifier(
    cursor: &mut Cursor<'_>,
    after_hash: bool,
) -> Result<String, CompileError> {
    let start = cursor.clone();
    let mut name = String::new();
    loop {
        name.push_str(&cursor.take_while(is_name).replace('\0', "\u{FFFD}"));
        if !cursor.eat("\\") {
            break;
        }
        name.push(escaped(cursor)?);
    }
    if name.is_empty() || name == "-" {
        return Err(start.expected("a name"));
    }
    let bytes = start.rest().as_bytes();
    let digit = matches!(bytes, [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..]);
    if digit && !after_hash {
        return Err(start
            .error("a name does not begin with a digit")
            .help("escape it, `\\31 a` for 1a, or use [class~=\"1a\"]"));
    }
    Ok(name)
}

/// Reads what follows a backslash: a character, or up to six hexadecimal digits and a space.
fn escaped(cursor: &mut Cursor<'_>) -> Result<char, CompileError> {
    let mut code = None;
    for _ in 0..6 {
        let Some(digit) = cursor.peek().and_then(|c| c.to_digit(16)) else { break };
        code = Some(code.unwrap_or(0) * 16 + digit);
        cursor.next();
    }
    match code {
        Some(code) => {
            if !cursor.eat("\r\n") && cursor.peek().is_some_and(|c| c.is_ascii_whitespace()) {
                cursor.next();
            }
            Ok(char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        None => cursor.next().ok_or_else(|| cursor.expected("a character after `\\`")),
    }
}

/// Reads a text, with or without quotes.
pub(super) fn word(cursor: &mut Cursor<'_>) -> Result<String, CompileError> {
    match cursor.peek() {
        Some('"' | '\'') => string(cursor),
        _ => identifier(cursor, false).map_err(|error| match error.help {
            Some(_) => error.help("put the value in quotes"),
            None => error,
        }),
    }
}

/// Reads a quoted text.
fn string(cursor: &mut Cursor<'_>) -> Result<String, CompileError> {
    let start = cursor.clone();
    let quote = cursor.next();
    let mut text = String::new();
    loop {
        match cursor.next() {
            None => return Err(start.error("the quote is not closed")),
            c if c == quote => return Ok(text),
            Some('\\') if ["\r\n", "\n", "\r", "\x0C"].iter().any(|end| cursor.eat(end)) => {}
            Some('\\') => text.push(escaped(cursor)?),
            Some('\0') => text.push(char::REPLACEMENT_CHARACTER),
            Some(c) => text.push(c),
        }
    }
}

/// Reads a condition on an attribute, behind its `[`.
fn attribute(cursor: &mut Cursor<'_>) -> Result<Test, CompileError> {
    skip_space(cursor);
    let mut name = identifier(cursor, false)?;
    if cursor.starts_with("|") && !cursor.starts_with("|=") {
        cursor.next();
        name = format!("{name}:{}", identifier(cursor, false)?);
    }
    skip_space(cursor);
    if cursor.eat("]") {
        return Ok(Test::Attribute { name, value: None, case: Case::Matters });
    }
    let unlike = cursor.starts_with("!=") && cursor.eat("!");
    let operator = [
        ("=", Operator::Equals),
        ("~=", Operator::Word),
        ("|=", Operator::Language),
        ("^=", Operator::Prefix),
        ("$=", Operator::Suffix),
        ("*=", Operator::Substring),
    ]
    .into_iter()
    .find_map(|(sign, operator)| cursor.eat(sign).then_some(operator));
    let operator = operator.ok_or_else(|| cursor.expected("`]` or one of = ~= |= ^= $= *= !="))?;
    skip_space(cursor);
    let value = word(cursor)?;
    skip_space(cursor);
    let case = if cursor.eat("i") || cursor.eat("I") {
        Case::Ignored
    } else if cursor.eat("s") || cursor.eat("S") {
        Case::Matters
    } else if ignores_case(&name) {
        Case::IgnoredInHtml
    } else {
        Case::Matters
    };
    skip_space(cursor);
    cursor.expect("]")?;
    let test = Test::Attribute { name, value: Some((operator, value)), case };
    Ok(if unlike { Test::Not(vec![alone(test)]) } else { test })
}

/// A selector of one condition.
pub(super) fn alone(test: Test) -> Complex {
    Complex(vec![Compound { combinator: Combinator::Descendant, tests: vec![test] }])
}

/// The attributes whose values have no case in HTML (WHATWG HTML, 4.16.2).
const WITHOUT_CASE: [&str; 46] = [
    "accept",
    "accept-charset",
    "align",
    "alink",
    "axis",
    "bgcolor",
    "charset",
    "checked",
    "clear",
    "codetype",
    "color",
    "compact",
    "declare",
    "defer",
    "dir",
    "direction",
    "disabled",
    "enctype",
    "face",
    "frame",
    "hreflang",
    "http-equiv",
    "lang",
    "language",
    "link",
    "media",
    "method",
    "multiple",
    "nohref",
    "noresize",
    "noshade",
    "nowrap",
    "readonly",
    "rel",
    "rev",
    "rules",
    "scope",
    "scrolling",
    "selected",
    "shape",
    "target",
    "text",
    "type",
    "valign",
    "valuetype",
    "vlink",
];

fn ignores_case(attribute: &str) -> bool {
    WITHOUT_CASE.iter().any(|known| known.eq_ignore_ascii_case(attribute))
}
