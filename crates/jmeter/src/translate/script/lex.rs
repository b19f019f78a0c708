//! The text of a short script as words. Variables of JMeter are put into it before it is read: one in quotes is part of
//! a text, one outside of them is a value of its own.

use super::super::texts::TextPiece;

/// A word of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A text in quotes, in pieces; whether they are double quotes.
    Text(Vec<TextPiece>, bool),
    /// What a variable's text stands for, or a function's: the text as an expression.
    Value(String),
    /// A number as it is written.
    Number(String),
    Name(String),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 42] = [
    "===", "!==", ">>>", "==~", "==", "!=", "<=", ">=", "&&", "||", "=~", "!~", "=^", "=$", "?.",
    "?:", ">>", "<<", "++", "--", "+=", "-=", "=", "<", ">", "+", "-", "*", "/", "%", "!", "?",
    ":", ".", ",", "(", ")", ";", "[", "]", "{", "}",
];

/// A character, or a value in its place.
enum Unit<'p> {
    Char(char),
    Value(&'p str),
}

/// The words of a script, each with the line that it stands in, from 1.
///
/// # Errors
/// Something is no word that is known here, in that line.
pub(super) fn tokens(pieces: &[TextPiece]) -> Result<Vec<(Token, usize)>, (String, usize)> {
    let units = pieces.iter().flat_map(|piece| match piece {
        TextPiece::Text(text) => text.chars().map(Unit::Char).collect(),
        TextPiece::Expr(expression) => vec![Unit::Value(expression)],
    });
    let mut lexer = Lexer { units: units.collect(), at: 0 };
    let mut tokens = Vec::new();
    let (mut line, mut seen) = (1, 0);
    loop {
        let passed = lexer.pass_by();
        line += lexer.units[seen..lexer.at].iter().filter(|unit| unit.ends_a_line()).count();
        seen = lexer.at;
        let token = passed.and_then(|()| lexer.next()).map_err(|what| (what, line))?;
        let is_end = token == Token::End;
        tokens.push((token, line));
        if is_end {
            return Ok(tokens);
        }
    }
}

impl Unit<'_> {
    fn ends_a_line(&self) -> bool {
        matches!(self, Unit::Char('\n'))
    }
}

struct Lexer<'p> {
    units: Vec<Unit<'p>>,
    at: usize,
}

impl Lexer<'_> {
    fn char_at(&self, at: usize) -> Option<char> {
        match self.units.get(at) {
            Some(Unit::Char(c)) => Some(*c),
            _ => None,
        }
    }

    /// Passes by white space and comments.
    fn pass_by(&mut self) -> Result<(), String> {
        loop {
            match (self.char_at(self.at), self.char_at(self.at + 1)) {
                (Some(c), _) if c.is_whitespace() => self.at += 1,
                (Some('/'), Some('/')) => {
                    let rest = &self.units[self.at..];
                    let line = rest.iter().position(Unit::ends_a_line);
                    self.at += line.unwrap_or(rest.len());
                }
                (Some('/'), Some('*')) => {
                    let ends = |at: &usize| {
                        self.char_at(*at) == Some('*') && self.char_at(at + 1) == Some('/')
                    };
                    let end = (self.at + 2..self.units.len()).find(ends);
                    self.at = end.ok_or("a comment without an end")? + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn next(&mut self) -> Result<Token, String> {
        match self.units.get(self.at) {
            None => Ok(Token::End),
            Some(Unit::Value(expression)) => {
                let value = (*expression).to_owned();
                self.at += 1;
                self.ends_a_word("a variable")?;
                Ok(Token::Value(value))
            }
            Some(Unit::Char(quote @ ('"' | '\''))) => self.text(*quote),
            Some(Unit::Char(c)) if c.is_ascii_digit() => self.number(),
            Some(Unit::Char(c)) if c.is_alphabetic() || *c == '_' => {
                let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
                self.ends_a_word("a name")?;
                Ok(Token::Name(name))
            }
            Some(Unit::Char(c)) => self.sign(*c),
        }
    }

    fn take_while(&mut self, good: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.char_at(self.at).filter(|c| good(*c)) {
            taken.push(c);
            self.at += 1;
        }
        taken
    }

    /// A variable's text is a word by itself, and not a part of one.
    fn ends_a_word(&self, what: &str) -> Result<(), String> {
        match self.units.get(self.at) {
            Some(Unit::Value(_)) => Err(format!("{what} with a variable right behind it")),
            Some(Unit::Char(c)) if c.is_alphanumeric() && what == "a variable" => {
                Err("a variable that is part of a word".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn number(&mut self) -> Result<Token, String> {
        let mut number = self.take_while(|c| c.is_ascii_digit());
        if self.char_at(self.at) == Some('.')
            && self.char_at(self.at + 1).is_some_and(|c| c.is_ascii_digit())
        {
            self.at += 1;
            number = format!("{number}.{}", self.take_while(|c| c.is_ascii_digit()));
        }
        // Java's and Groovy's letters of types.
        if matches!(self.char_at(self.at), Some('L' | 'l' | 'd' | 'D' | 'f' | 'F' | 'G' | 'g')) {
            self.at += 1;
        }
        let has_more = self.char_at(self.at).is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_octal = number.len() > 1 && number.starts_with('0') && !number.contains('.');
        if has_more || is_octal {
            return Err(format!("the number that begins with `{number}`"));
        }
        self.ends_a_word("a number")?;
        Ok(Token::Number(number))
    }

    fn text(&mut self, quote: char) -> Result<Token, String> {
        self.at += 1;
        let mut pieces: Vec<TextPiece> = Vec::new();
        loop {
            let unit = self.units.get(self.at);
            self.at += 1;
            let next = match unit {
                None => return Err("a text whose end is missing".to_owned()),
                Some(Unit::Value(expression)) => {
                    pieces.push(TextPiece::Expr((*expression).to_owned()));
                    continue;
                }
                Some(Unit::Char(c)) if *c == quote => break,
                Some(Unit::Char('\\')) => self.escaped()?,
                Some(Unit::Char(c)) => *c,
            };
            match pieces.last_mut() {
                Some(TextPiece::Text(text)) => text.push(next),
                _ => pieces.push(TextPiece::Text(next.to_string())),
            }
        }
        // `"""a"""` would be three texts.
        match self.char_at(self.at) {
            Some('"' | '\'') => Err("two texts in a row".to_owned()),
            _ => Ok(Token::Text(pieces, quote == '"')),
        }
    }

    /// What stands behind a backslash.
    fn escaped(&mut self) -> Result<char, String> {
        let escaped = self.char_at(self.at);
        self.at += 1;
        match escaped {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some(c @ ('"' | '\'' | '\\' | '/' | '$')) => Ok(c),
            _ => Err("an escape that is not known".to_owned()),
        }
    }

    fn sign(&mut self, c: char) -> Result<Token, String> {
        let is_here = |sign: &&&str| {
            sign.chars().enumerate().all(|(index, c)| self.char_at(self.at + index) == Some(c))
        };
        match SIGNS.iter().find(is_here) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
            None => Err(format!("`{c}`")),
        }
    }
}
