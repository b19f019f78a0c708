//! Short scripts: conditions of controllers, the bodies of `__jexl3`, `__groovy`, `__javaScript` and `__BeanShell`, and
//! those of elements, as far as they are made of comparisons, arithmetic, methods of texts, and simple statements. They
//! become expressions of squall; whatever is not read here is refused.

mod deeds;
mod facts;
mod lex;
mod names;
mod outcome;
mod statements;
mod value;

use super::Translator;
use super::texts::{TextPiece, quoted};
use lex::Token;
use outcome::ScriptState;
pub(super) use outcome::{Does, Effect, ScriptOutcome, renamed};
pub(super) use statements::run;
pub(super) use value::{Kind, Script};

/// What a script is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    JavaScript,
    Jexl,
    Groovy,
    BeanShell,
}

/// Parentheses and calls inside each other: more than anybody writes, and few enough for any stack.
const DEPTH_LIMIT: usize = 40;

/// What scripts ask of a plan.
pub(super) trait Environment {
    /// The value of a variable: `vars.get(name)`.
    ///
    /// # Errors
    /// It is known only while the plan runs, and not here.
    fn variable(&self, name: &str) -> Result<Script, String>;
    /// The value of a property: a text, or null.
    fn property(&self, name: &str) -> Script;
}

/// What a script of an element may look at, and change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// None: it is an expression.
    Nowhere,
    Before,
    /// It is the sample.
    Sampler,
    /// After a sample, at whose response it looks.
    After,
    /// Likewise, and it judges it.
    Assertion,
}

impl Environment for Translator<'_> {
    fn variable(&self, name: &str) -> Result<Script, String> {
        if let Some(variable) = self.names.variable(name) {
            // What was found in JSON may be a number here; to JMeter all are texts.
            let text = format!("string({variable})");
            if self.constants.variable(name).is_some() {
                return Ok(Script::new(Kind::Text, text));
            }
            // Without a value it holds its own name, see `texts`.
            let unset = quoted(&format!("${{{name}}}"));
            let source = format!("({variable} == {unset} ? null : {text})");
            return Ok(Script::new(Kind::MaybeText, source));
        }
        if let Some(one) = self.names.one_of_matches(name, "null") {
            return Ok(Script::new(Kind::MaybeText, one));
        }
        match self.constants.known(name) {
            Some(Some(value)) => Ok(Script::new(Kind::Text, quoted(value))),
            Some(None) => Err(format!("the variable `{name}`")),
            None => Ok(Script::new(Kind::Null, "null")),
        }
    }

    fn property(&self, name: &str) -> Script {
        if let Some(variable) = self.names.property(name) {
            return Script::new(Kind::MaybeText, variable);
        }
        match self.constants.property_value(name) {
            Some(value) => Script::new(Kind::Text, quoted(value)),
            None => Script::new(Kind::Null, "null"),
        }
    }
}

/// A script as an expression.
///
/// # Errors
/// What of it is not known here.
pub(super) fn read(
    pieces: &[TextPiece],
    language: Language,
    environment: &dyn Environment,
) -> Result<Script, String> {
    let mut parser = Parser::new(pieces, language, Place::Nowhere, environment)?;
    let is_return = parser.peek() == &Token::Name("return".to_owned());
    if is_return {
        parser.at += 1;
    }
    let value = parser.expression()?;
    while parser.skip(";") {}
    match parser.peek() {
        Token::End => Ok(value),
        other => Err(said(other)),
    }
}

/// A word as a person reads it.
fn said(token: &Token) -> String {
    match token {
        Token::Text(..) => "a text where an operator is expected".to_owned(),
        Token::Value(_) => "a variable where an operator is expected".to_owned(),
        Token::Number(word) | Token::Name(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::End => "an end where more is expected".to_owned(),
    }
}

struct Parser<'e> {
    /// The words, each with its line.
    tokens: Vec<(Token, usize)>,
    at: usize,
    language: Language,
    place: Place,
    environment: &'e dyn Environment,
    depth: usize,
    /// What the statements so far have come to.
    state: ScriptState,
}

impl<'e> Parser<'e> {
    fn new(
        pieces: &[TextPiece],
        language: Language,
        place: Place,
        environment: &'e dyn Environment,
    ) -> Result<Self, String> {
        let tokens = lex::tokens(pieces).map_err(|(what, line)| match place {
            Place::Nowhere => what,
            _ => format!("line {line}: {what}"),
        })?;
        let state = ScriptState::default();
        Ok(Parser { tokens, at: 0, language, place, environment, depth: 0, state })
    }

    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The word so many words further on.
    fn peek_at(&self, further: usize) -> &Token {
        self.tokens.get(self.at + further).map_or(&Token::End, |(token, _)| token)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn skip(&mut self, sign: &str) -> bool {
        let is_here = matches!(self.peek(), Token::Sign(own) if *own == sign);
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.skip(sign) { Ok(()) } else { Err(said(self.peek())) }
    }

    /// The next of these signs, or of the words that stand for them in JEXL.
    fn one_of(&mut self, signs: &[(&'static str, &str)]) -> Option<&'static str> {
        let found = signs.iter().find(|(sign, word)| match self.peek() {
            Token::Sign(own) => own == sign,
            Token::Name(own) => self.language == Language::Jexl && own == word,
            _ => false,
        });
        self.at += usize::from(found.is_some());
        found.map(|(sign, _)| *sign)
    }

    fn expression(&mut self) -> Result<Script, String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err("so many parentheses".to_owned());
        }
        let condition = self.or()?;
        let value = if self.skip("?") {
            let condition = condition.truth(self.language)?;
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            let kind = if then.kind == otherwise.kind { then.kind } else { Kind::Any };
            let Script { source, .. } = condition;
            Script::new(kind, format!("({source} ? {} : {})", then.source, otherwise.source))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn or(&mut self) -> Result<Script, String> {
        let mut value = self.and()?;
        while self.one_of(&[("||", "or")]).is_some() {
            let (a, b) = (value.truth(self.language)?, self.and()?.truth(self.language)?);
            value = Script::new(Kind::Bool, format!("({} || {})", a.source, b.source));
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<Script, String> {
        let mut value = self.equality()?;
        while self.one_of(&[("&&", "and")]).is_some() {
            let (a, b) = (value.truth(self.language)?, self.equality()?.truth(self.language)?);
            value = Script::new(Kind::Bool, format!("({} && {})", a.source, b.source));
        }
        Ok(value)
    }

    fn equality(&mut self) -> Result<Script, String> {
        const SIGNS: [(&str, &str); 4] = [("==", "eq"), ("!=", "ne"), ("===", ""), ("!==", "")];
        let mut value = self.relation()?;
        while let Some(sign) = self.one_of(&SIGNS) {
            let strict = sign.len() == 3;
            if strict && self.language != Language::JavaScript {
                return Err(format!("`{sign}`"));
            }
            let other = self.relation()?;
            value = value::equal(self.language, strict, &value, &other)?;
            if sign.starts_with('!') {
                value.source = format!("!{}", value.source);
            }
        }
        Ok(value)
    }

    fn relation(&mut self) -> Result<Script, String> {
        const SIGNS: [(&str, &str); 4] = [("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge")];
        let mut value = self.shifted()?;
        while let Some(sign) = self.one_of(&SIGNS) {
            let other = self.shifted()?;
            value = value::order(self.language, sign, &value, &other)?;
        }
        Ok(value)
    }

    /// `a >> 0` is JavaScript's way to drop a fraction.
    fn shifted(&mut self) -> Result<Script, String> {
        let value = self.sum()?;
        if self.language == Language::JavaScript && self.skip(">>") {
            return match self.take() {
                Token::Number(zero) if zero == "0" => {
                    Ok(Script::new(Kind::Number, format!("int({})", value.number())))
                }
                other => Err(said(&other)),
            };
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Script, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.one_of(&[("+", ""), ("-", "")]) {
            let other = self.product()?;
            value = value::calculate(self.language, sign, &value, &other)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Script, String> {
        let mut value = self.unary()?;
        while let Some(sign) = self.one_of(&[("*", ""), ("/", "div"), ("%", "mod")]) {
            let other = self.unary()?;
            value = value::calculate(self.language, sign, &value, &other)?;
        }
        Ok(value)
    }

    fn unary(&mut self) -> Result<Script, String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err("so many signs".to_owned());
        }
        let value = match self.one_of(&[("!", "not"), ("-", "")]) {
            Some("!") => {
                let truth = self.unary()?.truth(self.language)?;
                Script::new(Kind::Bool, format!("!({})", truth.source))
            }
            Some(_) => Script::new(Kind::Number, format!("(-{})", self.unary()?.number())),
            None => self.postfix()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn postfix(&mut self) -> Result<Script, String> {
        let mut value = self.primary()?;
        loop {
            if self.skip(".") {
                let Token::Name(name) = self.take() else { return Err("a `.`".to_owned()) };
                let arguments = if self.skip("(") {
                    self.arguments()?
                } else if value.kind == Kind::Json {
                    value = value.at(&quoted(&name));
                    continue;
                } else if name == "length" && self.language == Language::JavaScript {
                    Vec::new()
                } else {
                    return Err(format!("`.{name}`"));
                };
                value = value::method(self.language, &value, &name, &arguments)?;
            } else if value.kind == Kind::Json && self.skip("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = value.at(&index.source);
            } else if self.language == Language::Groovy
                && self.peek() == &Token::Name("as".to_owned())
            {
                self.at += 1;
                let Token::Name(to) = self.take() else { return Err("an `as`".to_owned()) };
                value = value::cast(&value, &to)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// The arguments of a call, behind its `(` and up to its `)`.
    fn arguments(&mut self) -> Result<Vec<Script>, String> {
        let mut arguments = Vec::new();
        if self.skip(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if self.skip(")") {
                return Ok(arguments);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Result<Script, String> {
        match self.take() {
            Token::Text(pieces, double) => self.text(&pieces, double),
            // What a variable's text is, a program would read: a number, true, false.
            Token::Value(expression) => {
                let source = format!("json_decode(trim(string({expression})))");
                Ok(Script::new(Kind::Any, source))
            }
            Token::Number(number) => Ok(Script::new(Kind::Number, number)),
            Token::Sign("(") => {
                if let (Token::Name(to), Token::Sign(")")) = (self.peek().clone(), self.peek_at(1))
                    && value::is_number_type(&to)
                {
                    self.at += 2;
                    return value::cast(&self.unary()?, &to);
                }
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            Token::Name(name) => self.name(&name),
            other => Err(said(&other)),
        }
    }
}

#[cfg(test)]
mod tests;
