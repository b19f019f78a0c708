//! Reads the words of selectors: names, texts and numbers (CSS Syntax Level 3).

use crate::cursor::Cursor;
use crate::error::CompileError;

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
pub(super) fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
    let length = cursor.rest().strip_prefix("/*").and_then(|rest| rest.find("*/"));
    if let Some(length) = length {
        cursor.rewind(cursor.offset() + length + 4);
    }
    length.is_some()
}

pub(super) fn is_name(c: char) -> bool {
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

pub(super) fn words(cursor: &mut Cursor<'_>) -> Result<Vec<String>, CompileError> {
    let mut words = Vec::new();
    loop {
        skip_space(cursor);
        words.push(word(cursor)?);
        skip_space(cursor);
        if !cursor.eat(",") {
            return Ok(words);
        }
    }
}

/// Reads `word`, in any capitals, if it is next.
pub(super) fn eat_word(cursor: &mut Cursor<'_>, word: &str) -> bool {
    let next = cursor.rest().get(..word.len());
    let found = next.is_some_and(|next| next.eq_ignore_ascii_case(word));
    if found {
        cursor.rewind(cursor.offset() + word.len());
    }
    found
}

/// Reads `odd`, `even`, `3`, `2n+1`, `-n + 3` and their like.
pub(super) fn step_and_offset(cursor: &mut Cursor<'_>) -> Result<(i64, i64), CompileError> {
    for (word, step_and_offset) in [("odd", (2, 1)), ("even", (2, 0))] {
        if eat_word(cursor, word) {
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
