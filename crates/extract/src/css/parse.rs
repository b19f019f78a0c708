//! Reads a selector by the grammar of Selectors Level 4.

use super::{Case, Combinator, Complex, Compound, Name, Operator, Test};
use crate::CompileError;
use crate::cursor::Cursor;

/// The most compounds that are joined in one selector.
const COMPOUNDS_LIMIT: usize = 128;

/// Pseudo-classes that say in one word what attributes say. What a user did in a browser is not
/// part of a response.
const SHORTHANDS: [(&str, &str); 6] = [
    ("any-link", "a[href], area[href]"),
    ("link", "a[href], area[href]"),
    ("checked", "input[type=checkbox][checked], input[type=radio][checked], option[selected]"),
    ("required", "input[required], select[required], textarea[required]"),
    ("optional", "input:not([required]), select:not([required]), textarea:not([required])"),
    ("scope", ":root"),
];

/// Reads a whole list of selectors.
pub(super) fn selectors(text: &str) -> Result<Vec<Complex>, CompileError> {
    let mut cursor = Cursor::new(text);
    let list = list(&mut cursor, false)?;
    if cursor.at_end() { Ok(list) } else { Err(cursor.expected("`,` or the end")) }
}

/// Skips white space and comments, and says whether there was any white space.
fn skip_space(cursor: &mut Cursor<'_>) -> bool {
    let mut space = false;
    loop {
        space |= cursor.skip_space();
        match cursor.rest().strip_prefix("/*").and_then(|rest| rest.find("*/")) {
            Some(length) => cursor.rewind(cursor.offset() + length + 4),
            None => return space,
        }
    }
}

/// Reads selectors separated by commas. Relative ones may begin with a combinator.
fn list(cursor: &mut Cursor<'_>, relative: bool) -> Result<Vec<Complex>, CompileError> {
    let mut list = Vec::new();
    loop {
        skip_space(cursor);
        list.push(complex(cursor, relative)?);
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
            Some(':') => pseudo(cursor, &mut tests)?,
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
        (_, None) => {
            Err(cursor.error("a prefix needs the name of an element").help("use * for any element"))
        }
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
fn identifier(cursor: &mut Cursor<'_>, after_hash: bool) -> Result<String, CompileError> {
    let start = cursor.clone();
    let mut name = String::new();
    loop {
        name.push_str(cursor.take_while(is_name));
        if !cursor.eat("\\") {
            break;
        }
        name.push(escaped(cursor)?);
    }
    if name.is_empty() {
        return Err(cursor.expected("a name"));
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
            if cursor.peek().is_some_and(|c| c.is_ascii_whitespace()) {
                cursor.next();
            }
            Ok(char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        None => cursor.next().ok_or_else(|| cursor.expected("a character after `\\`")),
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
            Some('\\') if cursor.eat("\n") => {}
            Some('\\') => text.push(escaped(cursor)?),
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
    let operator = operator.ok_or_else(|| cursor.expected("`]` or one of = ~= |= ^= $= *="))?;
    skip_space(cursor);
    let value = match cursor.peek() {
        Some('"' | '\'') => string(cursor)?,
        _ => identifier(cursor, false).map_err(|error| match error.help {
            Some(_) => error.help("put the value in quotes"),
            None => error,
        })?,
    };
    skip_space(cursor);
    let case = if cursor.eat("i") || cursor.eat("I") {
        Case::Ignored
    } else if cursor.eat("s") || cursor.eat("S") {
        Case::Matters
    } else {
        Case::OfAttribute
    };
    skip_space(cursor);
    cursor.expect("]")?;
    Ok(Test::Attribute { name, value: Some((operator, value)), case })
}

/// Reads a pseudo-class.
fn pseudo(cursor: &mut Cursor<'_>, tests: &mut Vec<Test>) -> Result<(), CompileError> {
    let start = cursor.clone();
    cursor.next();
    if cursor.starts_with(":") {
        return Err(start
            .error("pseudo-elements are not part of a response")
            .help("take an attribute with `attr`; the text of the element is taken by default"));
    }
    let name = identifier(cursor, false)?.to_ascii_lowercase();
    if cursor.eat("(") {
        skip_space(cursor);
        let test = cursor.nested(|cursor| function(cursor, &name, &start))?;
        tests.push(test);
        skip_space(cursor);
        return cursor.expect(")");
    }
    let nth = |of_type, from_end| Test::Nth { step: 0, offset: 1, of_type, from_end };
    if let Some((_, selector)) = SHORTHANDS.iter().find(|(known, _)| *known == name) {
        tests.push(Test::Is(selectors(selector)?));
        return Ok(());
    }
    match name.as_str() {
        "root" => tests.push(Test::Root),
        "empty" => tests.push(Test::Empty),
        "first-child" => tests.push(nth(false, false)),
        "last-child" => tests.push(nth(false, true)),
        "only-child" => tests.extend([nth(false, false), nth(false, true)]),
        "first-of-type" => tests.push(nth(true, false)),
        "last-of-type" => tests.push(nth(true, true)),
        "only-of-type" => tests.extend([nth(true, false), nth(true, true)]),
        _ => return Err(unknown(&start, &name)),
    }
    Ok(())
}

fn unknown(start: &Cursor<'_>, name: &str) -> CompileError {
    start.error(format!("`:{name}` is not known")).help(
        "known are :root, :scope, :empty, :link, :any-link, :checked, \
         :required, :optional, :first-child, :last-child, :only-child, :nth-child(), \
         :nth-last-child(), the same with -of-type, :is(), :where(), :not() and :has()",
    )
}

fn function(cursor: &mut Cursor<'_>, name: &str, start: &Cursor<'_>) -> Result<Test, CompileError> {
    let (of_type, from_end) = match name {
        "is" | "where" => return Ok(Test::Is(list(cursor, false)?)),
        "not" => return Ok(Test::Not(list(cursor, false)?)),
        "has" => return Ok(Test::Has(list(cursor, true)?)),
        "nth-child" => (false, false),
        "nth-last-child" => (false, true),
        "nth-of-type" => (true, false),
        "nth-last-of-type" => (true, true),
        _ => return Err(unknown(start, name)),
    };
    let (step, offset) = step_and_offset(cursor)?;
    let space = skip_space(cursor);
    if space && !of_type && cursor.eat("of") {
        let of = list(cursor, false)?;
        return Ok(Test::NthOf { step, offset, from_end, of });
    }
    Ok(Test::Nth { step, offset, of_type, from_end })
}

/// Reads `odd`, `even`, `3`, `2n+1`, `-n + 3` and their like.
fn step_and_offset(cursor: &mut Cursor<'_>) -> Result<(i64, i64), CompileError> {
    for (word, step_and_offset) in [("odd", (2, 1)), ("even", (2, 0))] {
        if cursor.rest().get(..word.len()).is_some_and(|next| next.eq_ignore_ascii_case(word)) {
            cursor.rewind(cursor.offset() + word.len());
            return Ok(step_and_offset);
        }
    }
    let negative = cursor.eat("-");
    if !negative {
        cursor.eat("+");
    }
    let number = digits(cursor)?;
    let sign = if negative { -1 } else { 1 };
    if !cursor.eat("n") && !cursor.eat("N") {
        let number = number.ok_or_else(|| cursor.expected("a number, 2n+1, odd or even"))?;
        return Ok((0, sign * number));
    }
    let step = sign * number.unwrap_or(1);
    skip_space(cursor);
    let negative = cursor.eat("-");
    if !negative && !cursor.eat("+") {
        return Ok((step, 0));
    }
    skip_space(cursor);
    let offset = digits(cursor)?.ok_or_else(|| cursor.expected("a number"))?;
    Ok((step, if negative { -offset } else { offset }))
}

fn digits(cursor: &mut Cursor<'_>) -> Result<Option<i64>, CompileError> {
    let start = cursor.clone();
    match cursor.take_while(|c| c.is_ascii_digit()) {
        "" => Ok(None),
        digits => match digits.parse::<i32>() {
            Ok(number) => Ok(Some(number.into())),
            Err(_) => Err(start.error("the number is too large")),
        },
    }
}
