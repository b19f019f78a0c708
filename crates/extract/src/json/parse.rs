//! Reads a JSON path by the grammar of RFC 9535, and checks the types of functions.

use serde_json::Value;

use super::query::{
    Comparison, Operand, Query, Segment, Selector, Test, Tested, TextPattern, text_pattern,
};
use crate::cursor::Cursor;
use crate::error::CompileError;

/// The most segments of a query. JSON is read to 127 levels: more segments can never match.
const SEGMENTS_LIMIT: usize = 128;

/// The largest integer that all JSON software reads alike (RFC 7493).
const LARGEST_INTEGER: i64 = (1 << 53) - 1;

/// Reads a whole path, and says what the regular expressions in it take, in bytes.
pub(super) fn path(path: &str) -> Result<(Query, usize), CompileError> {
    let mut cursor = Cursor::new(path);
    if !cursor.eat("$") {
        return Err(cursor
            .expected("`$`")
            .help("a JSON path begins with $, as in $.items[0].id or $..price"));
    }
    let segments = segments(&mut cursor)?;
    if !cursor.at_end() {
        return Err(cursor.expected("`.`, `[` or the end").help(
            "names with other characters than letters, digits and _ are written ['a name']",
        ));
    }
    Ok((Query { from_root: true, segments }, cursor.compiled()))
}

fn segments(cursor: &mut Cursor<'_>) -> Result<Vec<Segment>, CompileError> {
    let mut segments = Vec::new();
    loop {
        // White space may stand before a segment, but not at the end.
        let before = cursor.offset();
        cursor.skip_space();
        let Some(segment) = segment(cursor)? else {
            cursor.rewind(before);
            return Ok(segments);
        };
        if segments.len() == SEGMENTS_LIMIT {
            return Err(cursor.error(format!("the path has more than {SEGMENTS_LIMIT} steps")));
        }
        segments.push(segment);
    }
}

fn segment(cursor: &mut Cursor<'_>) -> Result<Option<Segment>, CompileError> {
    let descendants = cursor.eat("..");
    if cursor.starts_with("[") {
        let selectors = cursor.nested(|cursor| bracketed(cursor, descendants))?;
        return Ok(Some(Segment { descendants, selectors }));
    }
    if !descendants && !cursor.eat(".") {
        return Ok(None);
    }
    let selector = if cursor.eat("*") {
        Selector::Wildcard
    } else if cursor.peek().is_some_and(is_name_start) {
        Selector::Name(cursor.take_while(|c| is_name_start(c) || c.is_ascii_digit()).to_owned())
    } else {
        return Err(cursor.expected("a name or `*`").help(
            "names with other characters than letters, digits and _ are written ['a name']",
        ));
    };
    Ok(Some(Segment { descendants, selectors: vec![selector] }))
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn bracketed(cursor: &mut Cursor<'_>, descendants: bool) -> Result<Vec<Selector>, CompileError> {
    cursor.expect("[")?;
    let mut selectors = Vec::new();
    loop {
        cursor.skip_space();
        selectors.push(selector(cursor, descendants)?);
        cursor.skip_space();
        if cursor.eat("]") {
            return Ok(selectors);
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or `]`"));
        }
    }
}

fn selector(cursor: &mut Cursor<'_>, descendants: bool) -> Result<Selector, CompileError> {
    match cursor.peek() {
        Some('"' | '\'') => Ok(Selector::Name(string(cursor)?)),
        Some('*') => {
            cursor.next();
            Ok(Selector::Wildcard)
        }
        Some('?') => {
            cursor.next();
            let tested = match cursor.eat("?") {
                false => Tested::Children,
                true if descendants => Tested::Objects,
                true => Tested::Items,
            };
            cursor.skip_space();
            Ok(Selector::Filter(any(cursor)?, tested))
        }
        Some('-' | '0'..='9' | ':') => index_or_slice(cursor),
        _ => Err(cursor
            .expected("a quoted name, a number, a slice, `*` or `?`")
            .help("names in brackets are quoted: ['name']")),
    }
}

fn index_or_slice(cursor: &mut Cursor<'_>) -> Result<Selector, CompileError> {
    let start = optional_integer(cursor)?;
    let after_start = cursor.offset();
    cursor.skip_space();
    if !cursor.eat(":") {
        cursor.rewind(after_start);
        return start.map(Selector::Index).ok_or_else(|| cursor.expected("a number"));
    }
    cursor.skip_space();
    let end = optional_integer(cursor)?;
    cursor.skip_space();
    let mut step = None;
    if cursor.eat(":") {
        cursor.skip_space();
        step = optional_integer(cursor)?;
    }
    Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
}

fn optional_integer(cursor: &mut Cursor<'_>) -> Result<Option<i64>, CompileError> {
    if !matches!(cursor.peek(), Some('-' | '0'..='9')) {
        return Ok(None);
    }
    let start = cursor.clone();
    let text = integer_text(cursor)?;
    let number = text.parse::<i64>().ok().filter(|n| n.abs() <= LARGEST_INTEGER);
    match number {
        Some(_) if text == "-0" => Err(start.error("-0 is not an index")),
        Some(number) => Ok(Some(number)),
        None => Err(start.error("the number is too large for an index")),
    }
}

/// Reads an integer without leading zeros.
fn integer_text<'p>(cursor: &mut Cursor<'p>) -> Result<&'p str, CompileError> {
    let start = cursor.clone();
    cursor.eat("-");
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    match digits.as_bytes() {
        [] => Err(cursor.expected("a digit")),
        [b'0', _, ..] => Err(start.error("a number does not begin with 0")),
        _ => Ok(&start.rest()[..cursor.offset() - start.offset()]),
    }
}

fn string(cursor: &mut Cursor<'_>) -> Result<String, CompileError> {
    let start = cursor.clone();
    let quote = cursor.next();
    let mut text = String::new();
    loop {
        let before = cursor.clone();
        match cursor.next() {
            None => return Err(start.error("the quote is not closed")),
            c if c == quote => return Ok(text),
            Some('\\') => text.push(escaped(cursor, quote)?),
            Some(c) if c < ' ' => {
                return Err(before.error("control characters are written \\n, \\t or \\u0000"));
            }
            Some(c) => text.push(c),
        }
    }
}

fn escaped(cursor: &mut Cursor<'_>, quote: Option<char>) -> Result<char, CompileError> {
    let start = cursor.clone();
    let unknown = || start.expected("one of b, f, n, r, t, u, /, \\ or the quote after `\\`");
    Ok(match cursor.next() {
        Some('b') => '\x08',
        Some('f') => '\x0C',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(c @ ('/' | '\\')) => c,
        Some('u') => {
            let mut code = hex4(cursor)?;
            if (0xD800..0xDC00).contains(&code) && cursor.eat("\\u") {
                let low = hex4(cursor)?.wrapping_sub(0xDC00);
                code = if low < 0x400 { 0x10000 + ((code - 0xD800) << 10) + low } else { 0xD800 };
            }
            char::from_u32(code).ok_or_else(|| start.error("half of a surrogate pair"))?
        }
        c if c.is_some() && c == quote => c.ok_or_else(unknown)?,
        _ => return Err(unknown()),
    })
}

fn hex4(cursor: &mut Cursor<'_>) -> Result<u32, CompileError> {
    let mut code = 0;
    for _ in 0..4 {
        let digit = cursor.peek().and_then(|c| c.to_digit(16));
        code = code * 16 + digit.ok_or_else(|| cursor.expected("four hexadecimal digits"))?;
        cursor.next();
    }
    Ok(code)
}

/// A filter's expression: tests joined by `||`.
fn any(cursor: &mut Cursor<'_>) -> Result<Test, CompileError> {
    joined(cursor, "||", Test::Any, |cursor| joined(cursor, "&&", Test::All, test))
}

fn joined(
    cursor: &mut Cursor<'_>,
    operator: &str,
    join: fn(Vec<Test>) -> Test,
    read: fn(&mut Cursor<'_>) -> Result<Test, CompileError>,
) -> Result<Test, CompileError> {
    let first = read(cursor)?;
    let mut tests = vec![first];
    loop {
        let before = cursor.offset();
        cursor.skip_space();
        if !cursor.eat(operator) {
            cursor.rewind(before);
            break;
        }
        cursor.skip_space();
        tests.push(read(cursor)?);
    }
    match tests.len() {
        1 => Ok(tests.remove(0)),
        _ => Ok(join(tests)),
    }
}

fn test(cursor: &mut Cursor<'_>) -> Result<Test, CompileError> {
    let negated = cursor.eat("!");
    if negated {
        cursor.skip_space();
    }
    let test = if cursor.eat("(") {
        cursor.skip_space();
        let inner = cursor.nested(any)?;
        cursor.skip_space();
        cursor.expect(")")?;
        inner
    } else {
        test_or_comparison(cursor, negated)?
    };
    Ok(if negated { Test::Not(Box::new(test)) } else { test })
}

fn test_or_comparison(cursor: &mut Cursor<'_>, negated: bool) -> Result<Test, CompileError> {
    let start = cursor.clone();
    let left = expression(cursor)?;
    let before = cursor.offset();
    cursor.skip_space();
    let Some(comparison) = comparison(cursor) else {
        cursor.rewind(before);
        return match left {
            Expression::Query(query) => Ok(Test::Exists(query)),
            Expression::Test(test) => Ok(test),
            Expression::Operand(_) => Err(start
                .error("a value alone is not a condition")
                .help("compare it: ==, !=, <, <=, > or >=")),
        };
    };
    if negated {
        return Err(start.error("`!` stands before a path or a bracket, not before a comparison"));
    }
    cursor.skip_space();
    let right_start = cursor.clone();
    let right = expression(cursor)?;
    Ok(Test::Compare(left.operand(&start)?, comparison, right.operand(&right_start)?))
}

fn comparison(cursor: &mut Cursor<'_>) -> Option<Comparison> {
    [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ]
    .into_iter()
    .find_map(|(sign, comparison)| cursor.eat(sign).then_some(comparison))
}

/// What may stand on one side of a comparison, or alone.
enum Expression {
    Query(Query),
    Test(Test),
    Operand(Operand),
}

impl Expression {
    /// As one value, for a comparison or an argument.
    fn operand(self, place: &Cursor<'_>) -> Result<Operand, CompileError> {
        match self {
            Expression::Operand(operand) => Ok(operand),
            Expression::Query(query) if query.is_singular() => Ok(Operand::Query(query)),
            Expression::Query(_) => Err(place
                .error("this path may select several values, one is needed here")
                .help("use value(...), count(...), or a path of names and numbers only")),
            Expression::Test(_) => {
                Err(place.error("this is true or false and not a value that can be compared"))
            }
        }
    }

    /// As a path, for `count` and `value`.
    fn query(self, place: &Cursor<'_>) -> Result<Query, CompileError> {
        match self {
            Expression::Query(query) => Ok(query),
            _ => Err(place.expected("a path, such as @.items")),
        }
    }
}

fn expression(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    match cursor.peek() {
        Some(c @ ('$' | '@')) => {
            cursor.next();
            let segments = segments(cursor)?;
            Ok(Expression::Query(Query { from_root: c == '$', segments }))
        }
        Some('"' | '\'') => Ok(literal(Value::String(string(cursor)?))),
        Some('-' | '0'..='9') => Ok(literal(number(cursor)?)),
        Some('a'..='z') => {
            let start = cursor.clone();
            let word = cursor.take_while(|c| matches!(c, 'a'..='z' | '_') || c.is_ascii_digit());
            match word {
                _ if cursor.starts_with("(") => cursor.nested(|cursor| call(cursor, word, &start)),
                "true" => Ok(literal(Value::Bool(true))),
                "false" => Ok(literal(Value::Bool(false))),
                "null" => Ok(literal(Value::Null)),
                _ => Err(start
                    .error(format!("`{word}` is neither a path nor a value"))
                    .help("paths in a filter begin with @ or $, texts are quoted")),
            }
        }
        _ => Err(cursor.expected("a path, a value or a function")),
    }
}

fn literal(value: Value) -> Expression {
    Expression::Operand(Operand::Literal(value))
}

fn number(cursor: &mut Cursor<'_>) -> Result<Value, CompileError> {
    let start = cursor.clone();
    integer_text(cursor)?;
    if cursor.eat(".") && cursor.take_while(|c| c.is_ascii_digit()).is_empty() {
        return Err(cursor.expected("a digit"));
    }
    if cursor.eat("e") || cursor.eat("E") {
        let _sign = cursor.eat("+") || cursor.eat("-");
        if cursor.take_while(|c| c.is_ascii_digit()).is_empty() {
            return Err(cursor.expected("a digit"));
        }
    }
    let text = &start.rest()[..cursor.offset() - start.offset()];
    serde_json::from_str(text).map_err(|_| start.error("the number is too large"))
}

/// Reads the arguments of a function, whose name has been read, and checks their types.
fn call(
    cursor: &mut Cursor<'_>,
    name: &str,
    start: &Cursor<'_>,
) -> Result<Expression, CompileError> {
    cursor.expect("(")?;
    cursor.skip_space();
    let place = cursor.clone();
    let operand = match name {
        "length" => Operand::Length(Box::new(expression(cursor)?.operand(&place)?)),
        "string" => Operand::Text(Box::new(expression(cursor)?.operand(&place)?)),
        "count" => Operand::Count(expression(cursor)?.query(&place)?),
        "value" => Operand::Value(expression(cursor)?.query(&place)?),
        "match" | "search" => {
            let test = matches(cursor, name == "match")?;
            end_of_call(cursor)?;
            return Ok(Expression::Test(test));
        }
        _ => {
            return Err(start
                .error(format!("there is no function `{name}`"))
                .help("the functions are length, count, value, match, search and string"));
        }
    };
    end_of_call(cursor)?;
    Ok(Expression::Operand(operand))
}

fn end_of_call(cursor: &mut Cursor<'_>) -> Result<(), CompileError> {
    cursor.skip_space();
    cursor.expect(")")
}

/// Reads the two arguments of `match` and `search`.
fn matches(cursor: &mut Cursor<'_>, whole: bool) -> Result<Test, CompileError> {
    let place = cursor.clone();
    let text = expression(cursor)?.operand(&place)?;
    cursor.skip_space();
    cursor.expect(",")?;
    cursor.skip_space();
    let place = cursor.clone();
    let pattern = match expression(cursor)?.operand(&place)? {
        Operand::Literal(Value::String(pattern)) => {
            let regex = text_pattern(&pattern, whole).ok_or_else(|| {
                place
                    .error("this is not a regular expression, or too large a one")
                    .help("a backslash of the pattern is written twice: '\\\\d+'")
            })?;
            cursor.add_compiled(regex.memory_usage())?;
            TextPattern::Fixed(regex)
        }
        operand => TextPattern::Computed(operand),
    };
    Ok(Test::Matches { text, pattern, whole })
}
