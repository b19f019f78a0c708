//! Reads a selector by the grammar of Selectors Level 4.

use super::selector::{
    Among, Case, Combinator, Complex, Compound, Direction, Name, Operator, Test,
};
use super::shorthands::{NEVER, STATES, ignores_case};
use super::words::{
    eat_word, identifier, is_name, skip_comment, skip_space, step_and_offset, word, words,
};
use crate::cursor::Cursor;
use crate::error::CompileError;

/// The most compounds that are joined in one selector.
const COMPOUNDS_LIMIT: usize = 128;

pub(super) fn selectors(text: &str) -> Result<Vec<Complex>, CompileError> {
    let mut cursor = Cursor::new(text);
    let list = list(&mut cursor, List::Whole)?;
    if cursor.at_end() { Ok(list) } else { Err(cursor.expected("`,` or the end")) }
}

/// What a list of selectors may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Whole,
    /// Selectors that may begin with a combinator.
    Relative,
    /// Selectors or nothing, which selects nothing.
    Forgiving,
}

fn list(cursor: &mut Cursor<'_>, kind: List) -> Result<Vec<Complex>, CompileError> {
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
            Some(':') => pseudo_class(cursor, &mut tests)?,
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
fn alone(test: Test) -> Complex {
    Complex(vec![Compound { combinator: Combinator::Descendant, tests: vec![test] }])
}

fn pseudo_class(cursor: &mut Cursor<'_>, tests: &mut Vec<Test>) -> Result<(), CompileError> {
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
    let nth = |among, from_end| Test::Nth { step: 0, offset: 1, from_end, among };
    match name.as_str() {
        "root" | "scope" => tests.push(Test::Root),
        "empty" => tests.push(Test::Empty),
        "first-child" => tests.push(nth(Among::All, false)),
        "last-child" => tests.push(nth(Among::All, true)),
        "only-child" => tests.extend([nth(Among::All, false), nth(Among::All, true)]),
        "first-of-type" => tests.push(nth(Among::SameName, false)),
        "last-of-type" => tests.push(nth(Among::SameName, true)),
        "only-of-type" => tests.extend([nth(Among::SameName, false), nth(Among::SameName, true)]),
        "defined" => tests.extend([Test::Defined, Test::Html]),
        "in-range" => tests.extend([Test::InRange(true), Test::Html]),
        "out-of-range" => tests.extend([Test::InRange(false), Test::Html]),
        name if NEVER.contains(&name) => tests.push(Test::Is(Vec::new())),
        _ => {
            let state = STATES.iter().find(|(known, _)| *known == name);
            let (_, selector) = state.ok_or_else(|| unknown(&start, &name))?;
            let mut list = selectors(selector)?;
            match name.as_str() {
                "default" => list.push(alone(Test::DefaultButton)),
                "indeterminate" => list.push(alone(Test::UncheckedGroup)),
                _ => {}
            }
            tests.extend([Test::Is(list), Test::Html]);
        }
    }
    Ok(())
}

fn unknown(start: &Cursor<'_>, name: &str) -> CompileError {
    start.error(format!("`:{name}` is not known")).help(
        "known are :root, :scope, :empty, :is(), :where(), :not(), :has(), :contains(), :lang(), :dir(), \
         :link, :any-link, :checked, :default, :defined, :disabled, :enabled, :indeterminate, :in-range, :muted, \
         :open, :optional, :out-of-range, :placeholder-shown, :read-only, :read-write, :required, \
         :first-child, :last-child, :only-child, :nth-child(), :nth-last-child(), \
         and the same with -of-type",
    )
}

/// Reads a pseudo-class with arguments, behind its bracket.
fn function(cursor: &mut Cursor<'_>, name: &str, start: &Cursor<'_>) -> Result<Test, CompileError> {
    let (of_type, from_end) = match name {
        // `:matches()` is what `:is()` was called before.
        "is" | "where" | "matches" => return Ok(Test::Is(list(cursor, List::Forgiving)?)),
        "not" => return Ok(Test::Not(list(cursor, List::Whole)?)),
        "has" => return Ok(Test::Has(list(cursor, List::Relative)?)),
        "contains" | "-soup-contains" => {
            return Ok(Test::Contains { texts: words(cursor)?, own: false });
        }
        "-soup-contains-own" => return Ok(Test::Contains { texts: words(cursor)?, own: true }),
        "lang" => return Ok(Test::Language(words(cursor)?)),
        "dir" => return direction(cursor),
        "current" | "host" | "host-context" => {
            list(cursor, List::Whole)?;
            return Ok(Test::Is(Vec::new()));
        }
        "nth-child" => (false, false),
        "nth-last-child" => (false, true),
        "nth-of-type" => (true, false),
        "nth-last-of-type" => (true, true),
        _ => return Err(unknown(start, name)),
    };
    let (step, offset) = step_and_offset(cursor)?;
    let space = skip_space(cursor);
    let among = match of_type {
        true => Among::SameName,
        false if space && eat_word(cursor, "of") => Among::Matching(list(cursor, List::Whole)?),
        false => Among::All,
    };
    Ok(Test::Nth { step, offset, from_end, among })
}

fn direction(cursor: &mut Cursor<'_>) -> Result<Test, CompileError> {
    let start = cursor.clone();
    match identifier(cursor, false)?.to_ascii_lowercase().as_str() {
        "ltr" => Ok(Test::Direction(Direction::LeftToRight)),
        "rtl" => Ok(Test::Direction(Direction::RightToLeft)),
        _ => Err(start.expected("ltr or rtl")),
    }
}
