//! Text to words.

use squall_base::units;

use crate::value::Value;

/// A word of an expression, and where it begins, in characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Literal(Value),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// Text that is no expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SyntaxError {
    pub message: String,
    pub at: usize,
    pub help: Option<String>,
}

impl SyntaxError {
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { message: message.into(), at, help: None }
    }
}

const SIGNS: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=", "&",
];

pub(super) fn tokens(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let chars: Vec<char> = source.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Result<Token, SyntaxError> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        let at = self.at;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some('0'..='9') => self.number()?,
            Some('"' | '\'') => self.text(false)?,
            Some('r') if matches!(self.chars.get(at + 1), Some('"' | '\'')) => {
                self.at += 1;
                self.text(true)?
            }
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            Some(c) => self.sign(c)?,
        };
        Ok(Token { kind, at })
    }

    fn take_while(&mut self, good: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while self.peek().is_some_and(&good) {
            self.at += 1;
        }
        self.chars[from..self.at].iter().collect()
    }

    fn word(&mut self) -> TokenKind {
        let word = self.take_while(|c| c.is_alphanumeric() || c == '_');
        match word.as_str() {
            "true" => TokenKind::Literal(Value::Bool(true)),
            "false" => TokenKind::Literal(Value::Bool(false)),
            "null" => TokenKind::Literal(Value::Null),
            "in" => TokenKind::Sign("in"),
            _ => TokenKind::Name(word),
        }
    }

    fn sign(&mut self, c: char) -> Result<TokenKind, SyntaxError> {
        let next = self.chars.get(self.at + 1).copied();
        let sign = SIGNS.iter().find(|sign| {
            let mut own = sign.chars();
            own.next() == Some(c) && own.next().is_none_or(|second| Some(second) == next)
        });
        match sign {
            Some(sign) if !matches!(*sign, "=" | "&") => {
                self.at += sign.len();
                Ok(TokenKind::Sign(sign))
            }
            Some(sign) => Err(SyntaxError {
                message: format!("unexpected `{sign}`"),
                at: self.at,
                help: Some(format!("write `{sign}{sign}`")),
            }),
            None => {
                let help = (c == '$').then(|| self.json_path());
                Err(SyntaxError { help, ..SyntaxError::new(self.at, format!("unexpected `{c}`")) })
            }
        }
    }

    /// What was meant by a `$`: a JSONPath, or a variable.
    fn json_path(&self) -> String {
        let rest = &self.chars[self.at..];
        let is_part =
            |c: &char| c.is_alphanumeric() || matches!(c, '$' | '_' | '.' | '[' | ']' | '*' | '-');
        let path: String = rest.iter().copied().take_while(|c| is_part(c)).collect();
        match path.strip_prefix('$') {
            Some(name) if name.starts_with(|c: char| c.is_alphabetic()) => {
                format!("in an expression a variable is its name alone: `{name}`")
            }
            _ => format!("a JSONPath is the argument of a function: `json(\"{path}\")`"),
        }
    }

    fn number(&mut self) -> Result<TokenKind, SyntaxError> {
        let at = self.at;
        if self.peek() == Some('0') && matches!(self.chars.get(at + 1), Some('x' | 'X')) {
            self.at += 2;
            let digits = self.take_while(|c| c.is_ascii_hexdigit());
            let number = i64::from_str_radix(&digits, 16);
            return number.map(|n| TokenKind::Literal(Value::Int(n))).map_err(|_| bad_number(at));
        }
        let mut text = self.take_while(|c| c.is_ascii_digit());
        let digit_after = |lexer: &Self, n: usize| {
            lexer.chars.get(lexer.at + n).is_some_and(char::is_ascii_digit)
        };
        let mut float = false;
        if self.peek() == Some('.') && digit_after(self, 1) {
            self.at += 1;
            text = format!("{text}.{}", self.take_while(|c| c.is_ascii_digit()));
            float = true;
        }
        let signed = matches!(self.chars.get(self.at + 1), Some('+' | '-')) && digit_after(self, 2);
        if matches!(self.peek(), Some('e' | 'E')) && (digit_after(self, 1) || signed) {
            self.at += 1;
            let sign =
                if signed { self.take_while(|c| matches!(c, '+' | '-')) } else { String::new() };
            text = format!("{text}e{sign}{}", self.take_while(|c| c.is_ascii_digit()));
            float = true;
        }
        let unit = self.take_while(|c| c.is_alphanumeric() || c == '_');
        let number: f64 = text.parse().map_err(|_| bad_number(at))?;
        match (unit.as_str(), float) {
            // CEL's unsigned ints are ints here.
            ("" | "u", false) => {
                text.parse().map(|n| TokenKind::Literal(Value::Int(n))).map_err(|_| bad_number(at))
            }
            ("", true) => Ok(TokenKind::Literal(Value::Float(number))),
            _ => measure(&format!("{text}{unit}")).map(TokenKind::Literal).ok_or_else(|| {
                let message = format!("invalid number `{text}{unit}`");
                SyntaxError {
                    help: Some("units are those of durations and sizes: 300ms, 64KiB".to_owned()),
                    ..SyntaxError::new(at, message)
                }
            }),
        }
    }

    fn text(&mut self, raw: bool) -> Result<TokenKind, SyntaxError> {
        let at = self.at;
        let quote = self.peek();
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or_else(|| SyntaxError::new(at, "unterminated string"))?;
            self.at += 1;
            match c {
                _ if Some(c) == quote => return Ok(TokenKind::Literal(Value::text(text))),
                '\\' if !raw => text.push(self.escape()?),
                _ => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let at = self.at - 1;
        let bad = || SyntaxError {
            help: Some("write a backslash as `\\\\`, or use a raw string: r\"...\"".to_owned()),
            ..SyntaxError::new(at, "unknown escape sequence")
        };
        let c = self.peek().ok_or_else(bad)?;
        self.at += 1;
        let digits = match c {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            '0' => return Ok('\0'),
            '\\' | '"' | '\'' | '`' | '?' => return Ok(c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Err(bad()),
        };
        let hex: String = self.chars.iter().skip(self.at).take(digits).collect();
        self.at += hex.chars().count();
        let number = u32::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == digits);
        number.and_then(char::from_u32).ok_or_else(bad)
    }
}

/// The value of a number with a unit: milliseconds of a duration, bytes of a size.
fn measure(text: &str) -> Option<Value> {
    if let Ok(duration) = units::parse_duration(text) {
        return Some(Value::Float(duration.as_nanos() as f64 / 1e6));
    }
    units::parse_size(text).ok().and_then(|bytes| i64::try_from(bytes).ok()).map(Value::Int)
}

fn bad_number(at: usize) -> SyntaxError {
    SyntaxError::new(at, "the number does not fit in 64 bits")
}
