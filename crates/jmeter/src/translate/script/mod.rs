//! Short scripts: conditions of controllers, and the bodies of `__jexl3`, `__groovy`, `__javaScript` and `__BeanShell`,
//! as far as they are one expression of comparisons, arithmetic, and methods of texts. They become expressions of
//! squall; whatever is not read here is refused.

mod lex;
mod value;

use super::Translator;
use super::texts::{self, Piece, quoted};
use lex::Token;
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
    /// The value of a property, if it has one.
    fn property(&self, name: &str) -> Option<String>;
}

impl Environment for Translator<'_> {
    fn variable(&self, name: &str) -> Result<Script, String> {
        if let Some(variable) = self.names.variable(name) {
            if self.constants.variable(name).is_some() {
                return Ok(Script::new(Kind::Text, variable));
            }
            // Without a value it holds its own name, see `texts`.
            let unset = quoted(&format!("${{{name}}}"));
            let source = format!("({variable} == {unset} ? null : {variable})");
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

    fn property(&self, name: &str) -> Option<String> {
        // Without a default it is its name: told from a value by another default.
        let with = |without| self.constants.property("__property", &[name, "", without]);
        with("0").filter(|value| with("1").as_ref() == Some(value))
    }
}

/// A script as an expression.
///
/// # Errors
/// What of it is not known here.
pub(super) fn read(
    pieces: &[Piece],
    language: Language,
    environment: &dyn Environment,
) -> Result<Script, String> {
    let tokens = lex::tokens(pieces)?;
    let mut parser = Parser { tokens, at: 0, language, environment, depth: 0 };
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
        Token::Text(_) => "a text where an operator is expected".to_owned(),
        Token::Value(_) => "a variable where an operator is expected".to_owned(),
        Token::Number(word) | Token::Name(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::End => "an end where more is expected".to_owned(),
    }
}

struct Parser<'e> {
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    environment: &'e dyn Environment,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
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
                } else if name == "length" && self.language == Language::JavaScript {
                    Vec::new()
                } else {
                    return Err(format!("`.{name}`"));
                };
                value = value::method(self.language, &value, &name, &arguments)?;
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
            Token::Text(pieces) => Ok(Script::new(Kind::Text, texts::expression(&pieces))),
            // What a variable's text is, a program would read: a number, true, false.
            Token::Value(expression) => {
                let source = format!("json_decode(trim(string({expression})))");
                Ok(Script::new(Kind::Any, source))
            }
            Token::Number(number) => Ok(Script::new(Kind::Number, number)),
            Token::Sign("(") => {
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            Token::Name(name) => self.name(&name),
            other => Err(said(&other)),
        }
    }

    fn name(&mut self, name: &str) -> Result<Script, String> {
        match name {
            "true" | "false" => return Ok(Script::new(Kind::Bool, name)),
            "null" => return Ok(Script::new(Kind::Null, "null")),
            "new" if self.peek() == &Token::Name("String".to_owned()) => {
                self.at += 1;
                self.expect("(")?;
                let arguments = self.arguments()?;
                return value::function("", "String", &arguments);
            }
            _ => {}
        }
        if self.skip("(") {
            let arguments = self.arguments()?;
            return value::function("", name, &arguments);
        }
        if !self.skip(".") {
            return Err(format!("the name `{name}`"));
        }
        let Token::Name(of) = self.take() else { return Err(format!("`{name}.`")) };
        if !self.skip("(") {
            return Err(format!("`{name}.{of}`"));
        }
        if !matches!(name, "vars" | "props") {
            let arguments = self.arguments()?;
            return value::function(name, &of, &arguments);
        }
        let texts = self.plain_arguments();
        match (name, of.as_str(), texts.as_deref()) {
            ("vars", "get", Some([variable])) => self.environment.variable(variable),
            ("props", "get" | "getProperty", Some([property])) => {
                Ok(match self.environment.property(property) {
                    Some(value) => Script::new(Kind::Text, quoted(&value)),
                    None => Script::new(Kind::Null, "null"),
                })
            }
            ("props", "getProperty", Some([property, without])) => {
                let value = self.environment.property(property);
                Ok(Script::new(Kind::Text, quoted(value.as_ref().unwrap_or(without))))
            }
            _ => Err(format!("`{name}.{of}`, as it is used there")),
        }
    }

    /// Arguments that are nothing but texts, behind their `(`; otherwise nothing was read.
    fn plain_arguments(&mut self) -> Option<Vec<String>> {
        let start = self.at;
        let mut found = Vec::new();
        while let Token::Text(pieces) = self.take() {
            let Some(text) = texts::literal(&pieces) else { break };
            found.push(text.to_owned());
            if self.skip(")") {
                return Some(found);
            }
            if !self.skip(",") {
                break;
            }
        }
        self.at = start;
        None
    }
}

#[cfg(test)]
mod tests;
