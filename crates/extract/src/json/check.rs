//! Checks that a text is JSON (RFC 8259) and notes where its arrays and objects end. One pass,
//! without recursion.

use crate::error::ExtractError;

pub(crate) const DEPTH_LIMIT: usize = 127;

/// Where an array or object ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Container {
    /// The offset behind its closing bracket.
    pub(super) end: u32,
    /// The number of the first container that begins behind it.
    pub(super) next: u32,
}

/// What is wrong with a text, and the offset at which it was seen.
type Fault = (usize, &'static str);

/// Checks a text and gives its arrays and objects, in the order in which they begin.
pub(super) fn check(json: &str) -> Result<Vec<Container>, ExtractError> {
    if json.trim_ascii().is_empty() {
        return Err(ExtractError::NotJson { reason: "it is empty".into() });
    }
    let mut containers = Vec::with_capacity(most_containers(json.as_bytes()));
    match document(json.as_bytes(), &mut containers) {
        Ok(()) => Ok(containers),
        Err((_, TOO_DEEP)) => Err(ExtractError::TooDeep { limit: DEPTH_LIMIT }),
        Err((at, what)) => Err(not_json(json.as_bytes(), at, what)),
    }
}

/// How many arrays and objects there may be, so that their table never has to grow: as many as
/// there are opening brackets, and two bytes for each of them.
fn most_containers(json: &[u8]) -> usize {
    // The two brackets differ in one bit; sums of a byte are fast.
    let sum = |piece: &[u8]| piece.iter().map(|byte| u8::from(byte & 0xDF == b'[')).sum::<u8>();
    let begins: usize = json.chunks(128).map(|piece| usize::from(sum(piece))).sum();
    begins.min(json.len() / 2 + 1)
}

/// An error at an offset of a text, told as a line and a column.
pub(super) fn not_json(json: &[u8], at: usize, what: &str) -> ExtractError {
    let before = json.get(..at).unwrap_or(json);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let column = 1 + at - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    ExtractError::NotJson { reason: format!("{what} at line {line} column {column}") }
}

const TOO_DEEP: &str = "too deep";

/// An array or object that is open.
#[derive(Clone, Copy)]
struct Open {
    container: u32,
    /// Whether it is in an object.
    object: bool,
}

/// How many bytes of a string come before a quote, a backslash or a control character.
#[inline]
fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Whether a byte is zero or, by a borrow, only behind one that is.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let special = zero(word ^ (ONES * u64::from(b'"')))
            | zero(word ^ (ONES * u64::from(b'\\')))
            | control;
        if special != 0 {
            // The first one found is real: a borrow goes to later bytes only.
            return 8 * index + special.trailing_zeros() as usize / 8;
        }
    }
    let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F));
    8 * words.len() + plain.count()
}

/// Reads a whole text. The offset is handed from function to function, which keeps it out of
/// memory: this is the hot loop of all JSON paths.
fn document(json: &[u8], containers: &mut Vec<Container>) -> Result<(), Fault> {
    let mut open = [Open { container: 0, object: false }; DEPTH_LIMIT];
    let mut depth = 0;
    let mut in_object = false;
    let mut at = skip_space(json, 0);
    loop {
        // A value begins here. An array or object with something in it leads to its first value;
        // all others are complete.
        let begin = byte(json, at);
        match begin {
            b'"' => at = string(json, at)?,
            b'-' | b'0'..=b'9' => at = number(json, at)?,
            b'{' | b'[' => {
                let Some(top) = open.get_mut(depth) else { return Err((at, TOO_DEEP)) };
                *top = Open { container: containers.len() as u32, object: in_object };
                depth += 1;
                in_object = begin == b'{';
                containers.push(Container { end: 0, next: 0 });
                at = skip_space(json, at + 1);
                match byte(json, at) {
                    // Its end is read below.
                    b'}' if in_object => {}
                    b']' if !in_object => {}
                    _ if in_object => {
                        at = name(json, at)?;
                        continue;
                    }
                    _ => continue,
                }
            }
            b't' => at = word(json, at, b"true")?,
            b'f' => at = word(json, at, b"false")?,
            b'n' => at = word(json, at, b"null")?,
            _ if at >= json.len() => return Err((at, "expected a value, found the end")),
            _ => return Err((at, "expected a value")),
        }
        // What follows a complete value, up to the next one.
        loop {
            at = skip_space(json, at);
            let next = byte(json, at);
            let Some(top) = depth.checked_sub(1) else {
                return match at == json.len() {
                    true => Ok(()),
                    false => Err((at, "expected the end, found more")),
                };
            };
            if next == b',' {
                at = skip_space(json, at + 1);
                if in_object {
                    at = name(json, at)?;
                }
                break;
            }
            if next != if in_object { b'}' } else { b']' } {
                return Err((at, unexpected(at == json.len(), in_object)));
            }
            at += 1;
            let Open { container, object } = open[top];
            let next = containers.len() as u32;
            // It was pushed when it began.
            containers[container as usize] = Container { end: at as u32, next };
            (depth, in_object) = (top, object);
        }
    }
}

fn unexpected(at_end: bool, in_object: bool) -> &'static str {
    match (at_end, in_object) {
        (true, true) => "expected `,` or `}`, found the end",
        (true, false) => "expected `,` or `]`, found the end",
        (false, true) => "expected `,` or `}`",
        (false, false) => "expected `,` or `]`",
    }
}

/// The byte at an offset; behind the end one that JSON never has.
#[inline(always)]
fn byte(json: &[u8], at: usize) -> u8 {
    json.get(at).copied().unwrap_or(0)
}

#[inline(always)]
fn skip_space(json: &[u8], mut at: usize) -> usize {
    while let b' ' | b'\n' | b'\r' | b'\t' = byte(json, at) {
        at += 1;
    }
    at
}

/// Reads the name of a member and the colon behind it.
#[inline(always)]
fn name(json: &[u8], at: usize) -> Result<usize, Fault> {
    if byte(json, at) != b'"' {
        return Err((at, "expected the name of a member in double quotes"));
    }
    let at = skip_space(json, string(json, at)?);
    if byte(json, at) != b':' {
        return Err((at, "expected `:`"));
    }
    Ok(skip_space(json, at + 1))
}

#[inline(always)]
fn string(json: &[u8], at: usize) -> Result<usize, Fault> {
    let mut at = at + 1;
    loop {
        at += plain_length(json.get(at..).unwrap_or_default());
        match byte(json, at) {
            b'"' => return Ok(at + 1),
            b'\\' => at = escape(json, at)?,
            _ if at >= json.len() => return Err((at, "the string is not closed")),
            _ => return Err((at, "control character in a string")),
        }
    }
}

fn escape(json: &[u8], at: usize) -> Result<usize, Fault> {
    match byte(json, at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
        b'u' => {
            let end = at + 6;
            match code_unit(json, at)? {
                0xD800..=0xDBFF => {
                    let half = (end, "half of a surrogate pair");
                    if json.get(end..end + 2) != Some(b"\\u") {
                        return Err(half);
                    }
                    match code_unit(json, end)? {
                        0xDC00..=0xDFFF => Ok(end + 6),
                        _ => Err(half),
                    }
                }
                0xDC00..=0xDFFF => Err((end, "half of a surrogate pair")),
                _ => Ok(end),
            }
        }
        _ => Err((at + 1, "invalid escape")),
    }
}

/// What the four hexadecimal digits behind `\u` stand for.
fn code_unit(json: &[u8], at: usize) -> Result<u32, Fault> {
    let digits = json.get(at + 2..at + 6).unwrap_or_default();
    let value = |code: Option<u32>, digit: &u8| Some(code? * 16 + char::from(*digit).to_digit(16)?);
    match digits.iter().fold(Some(0), value) {
        Some(code) if digits.len() == 4 => Ok(code),
        _ => Err((at + 1, "expected four hexadecimal digits after `\\u`")),
    }
}

#[inline(always)]
fn number(json: &[u8], at: usize) -> Result<usize, Fault> {
    let start = at + usize::from(byte(json, at) == b'-');
    let mut at = digits(json, start)?;
    if byte(json, start) == b'0' && at > start + 1 {
        return Err((start + 1, "invalid number: a zero in front"));
    }
    if byte(json, at) == b'.' {
        at = digits(json, at + 1)?;
    }
    if let b'e' | b'E' = byte(json, at) {
        at += 1;
        at = digits(json, at + usize::from(matches!(byte(json, at), b'+' | b'-')))?;
    }
    Ok(at)
}

#[inline(always)]
fn digits(json: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start;
    while byte(json, at).is_ascii_digit() {
        at += 1;
    }
    if at == start { Err((at, "invalid number: expected a digit")) } else { Ok(at) }
}

fn word(json: &[u8], at: usize, word: &[u8]) -> Result<usize, Fault> {
    match json[at..].starts_with(word) {
        true => Ok(at + word.len()),
        false => Err((at, "expected a value")),
    }
}
