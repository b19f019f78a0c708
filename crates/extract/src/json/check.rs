//! Checks that a text is JSON (RFC 8259) and notes where its arrays and objects end. One pass,
//! without recursion.

use super::document::Container;
use crate::ExtractError;

/// The deepest nesting that is read.
pub(crate) const DEPTH_LIMIT: usize = 127;

/// What is wrong with a text, and the offset at which it was seen.
type Fault = (usize, &'static str);

/// Checks a text and gives its arrays and objects, in the order in which they begin.
pub(super) fn check(json: &str) -> Result<Vec<Container>, ExtractError> {
    if json.trim_ascii().is_empty() {
        return Err(ExtractError::NotJson { reason: "it is empty".into() });
    }
    let mut checker = Checker::new(json.as_bytes());
    match checker.document() {
        Ok(()) => Ok(checker.containers),
        Err((_, TOO_DEEP)) => Err(ExtractError::TooDeep { limit: DEPTH_LIMIT }),
        Err((at, what)) => Err(not_json(json.as_bytes(), at, what)),
    }
}

/// An error at an offset of a text, told as a line and a column.
pub(super) fn not_json(json: &[u8], at: usize, what: &str) -> ExtractError {
    let before = json.get(..at).unwrap_or(json);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let column = 1 + at - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    ExtractError::NotJson { reason: format!("{what} at line {line} column {column}") }
}

const TOO_DEEP: &str = "too deep";

/// The array or object that is open.
#[derive(Clone, Copy)]
struct Open {
    container: u32,
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

struct Checker<'j> {
    json: &'j [u8],
    at: usize,
    containers: Vec<Container>,
    open: [Open; DEPTH_LIMIT],
    depth: usize,
}

impl<'j> Checker<'j> {
    fn new(json: &'j [u8]) -> Self {
        // An array or object has two bytes at least, so that the table never has to grow.
        let begins = json.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
        let containers = Vec::with_capacity(begins.min(json.len() / 2 + 1));
        let open = [Open { container: 0, object: false }; DEPTH_LIMIT];
        Checker { json, at: 0, containers, open, depth: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err((self.at, what))
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Result<(), Fault> {
        self.skip_space();
        loop {
            // A value begins here. An array or object with something in it leads to its first
            // value; all others are complete.
            if !self.begin_value()? {
                continue;
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Reads a value, or up to the first value in it; says whether it is complete.
    #[inline]
    fn begin_value(&mut self) -> Result<bool, Fault> {
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => {
                self.push(true)?;
                if self.peek() != Some(b'}') {
                    self.name()?;
                    return Ok(false);
                }
                self.pop();
            }
            Some(b'[') => {
                self.push(false)?;
                if self.peek() != Some(b']') {
                    return Ok(false);
                }
                self.pop();
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            Some(_) => return self.fault("expected a value"),
            None => return self.fault("expected a value, found the end"),
        }
        Ok(true)
    }

    /// Reads what follows a complete value, up to the next one; says whether the text ends.
    #[inline]
    fn after_value(&mut self) -> Result<bool, Fault> {
        loop {
            self.skip_space();
            let Some(Open { object, .. }) = self.depth.checked_sub(1).map(|top| self.open[top])
            else {
                return match self.peek() {
                    None => Ok(true),
                    Some(_) => self.fault("expected the end, found more"),
                };
            };
            match (self.peek(), object) {
                (Some(b','), _) => {
                    self.at += 1;
                    self.skip_space();
                    if object {
                        self.name()?;
                    }
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.pop(),
                (None, true) => return self.fault("expected `,` or `}`, found the end"),
                (None, false) => return self.fault("expected `,` or `]`, found the end"),
                (Some(_), true) => return self.fault("expected `,` or `}`"),
                (Some(_), false) => return self.fault("expected `,` or `]`"),
            }
        }
    }

    fn push(&mut self, object: bool) -> Result<(), Fault> {
        if self.depth == DEPTH_LIMIT {
            return self.fault(TOO_DEEP);
        }
        self.open[self.depth] = Open { container: self.containers.len() as u32, object };
        self.depth += 1;
        self.containers.push(Container { end: 0, next: 0 });
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn pop(&mut self) {
        self.at += 1;
        self.depth -= 1;
        let next = self.containers.len() as u32;
        // `push` made the container and noted its number.
        self.containers[self.open[self.depth].container as usize] =
            Container { end: self.at as u32, next };
    }

    /// Reads the name of a member and the colon behind it.
    #[inline]
    fn name(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return self.fault("expected the name of a member in double quotes");
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fault("expected `:`");
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            let rest = self.json.get(self.at..).unwrap_or_default();
            self.at += plain_length(rest);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.fault("control character in a string"),
                None => return self.fault("the string is not closed"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let code = self.code_unit()?;
                match code {
                    0xD800..=0xDBFF => {
                        let low = match self.json.get(self.at..self.at + 2) {
                            Some(b"\\u") => {
                                self.at += 1;
                                self.code_unit()?
                            }
                            _ => 0,
                        };
                        if !(0xDC00..=0xDFFF).contains(&low) {
                            return self.fault("half of a surrogate pair");
                        }
                    }
                    0xDC00..=0xDFFF => return self.fault("half of a surrogate pair"),
                    _ => {}
                }
            }
            _ => return self.fault("invalid escape"),
        }
        Ok(())
    }

    /// Reads `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u32, Fault> {
        let digits = self.json.get(self.at + 1..self.at + 5).unwrap_or_default();
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u32::from_str_radix(digits, 16) {
            Ok(code) if plain => {
                self.at += 5;
                Ok(code)
            }
            _ => self.fault("expected four hexadecimal digits after `\\u`"),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if let Some(b'0'..=b'9') = self.peek() {
                    return self.fault("invalid number: a zero in front");
                }
            }
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Fault> {
        let rest = self.json.get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 { self.fault("invalid number: expected a digit") } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.json[self.at..].starts_with(word) {
            return self.fault("expected a value");
        }
        self.at += word.len();
        Ok(())
    }
}
