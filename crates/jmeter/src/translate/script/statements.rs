//! Scripts of several statements: assignments, conditions, and calls of what JMeter gives to scripts. They are not run
//! one after the other: each value becomes an expression over what holds before the script.

use super::deeds::is_log;
use super::outcome::{ScriptOutcome, ScriptState};
use super::value::{Kind, Script};
use super::{DEPTH_LIMIT, Environment, Language, Parser, Place, Token, said};
use crate::translate::texts::TextPiece;

type Result<T> = std::result::Result<T, String>;

/// Types with which a script declares its variables.
const TYPES: [&str; 18] = [
    "def",
    "var",
    "final",
    "String",
    "int",
    "long",
    "double",
    "float",
    "boolean",
    "Integer",
    "Long",
    "Double",
    "Float",
    "Boolean",
    "Object",
    "UUID",
    "Random",
    "JsonSlurper",
];

/// Packages whose classes every JMeter has.
const PACKAGES: [&str; 4] =
    ["java.", "groovy.json.", "org.apache.jmeter.", "org.apache.commons.lang"];

/// Longest expression that is put into others as it is.
const LONGEST: usize = 400;

/// What a script does that stands at a place.
///
/// # Errors
/// What of it is not known here, with its line.
pub(in crate::translate) fn run(
    pieces: &[TextPiece],
    language: Language,
    place: Place,
    environment: &dyn Environment,
) -> Result<ScriptOutcome> {
    let mut parser = Parser::new(pieces, language, place, environment)?;
    let mut conditions = Vec::new();
    while parser.peek() != &Token::End {
        let line = parser.line();
        parser.statement(&mut conditions).map_err(|what| {
            let line = parser.line_before().max(line);
            format!("line {line}: {what}")
        })?;
    }
    Ok(parser.state.outcome())
}

impl Parser<'_> {
    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(1, |(_, line)| *line)
    }

    /// The line of the last word that was read.
    fn line_before(&self) -> usize {
        let last = self.tokens.get(..self.at).and_then(<[_]>::last);
        last.map_or(1, |(_, line)| *line)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(own) if own == name)
    }

    fn skip_name(&mut self, name: &str) -> bool {
        let is_here = self.is_name(name);
        self.at += usize::from(is_here);
        is_here
    }

    /// The end of a statement.
    fn end(&mut self) -> Result<()> {
        if self.skip(";") {
            return Ok(());
        }
        let is_over = match self.peek() {
            Token::End | Token::Sign("}") => true,
            // Groovy and JavaScript end a statement with its line, too.
            _ => self.language != Language::BeanShell && self.line() > self.line_before(),
        };
        if is_over { Ok(()) } else { Err(said(self.peek())) }
    }

    fn statement(&mut self, conditions: &mut Vec<String>) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err("so many blocks".to_owned());
        }
        let done = self.any_statement(conditions);
        self.depth -= 1;
        done
    }

    fn any_statement(&mut self, conditions: &mut Vec<String>) -> Result<()> {
        if self.skip(";") {
            return Ok(());
        }
        if self.skip("{") {
            return self.block(conditions);
        }
        let Token::Name(first) = self.peek().clone() else {
            return self.value_alone(conditions);
        };
        match first.as_str() {
            "import" => self.import(),
            "if" => self.condition(conditions),
            "try" => self.attempt(conditions),
            "return" => self.give_back(conditions),
            name if TYPES.contains(&name) && matches!(self.peek_at(1), Token::Name(_)) => {
                self.at += 1;
                self.declaration(conditions)
            }
            _ => match self.peek_at(1) {
                Token::Sign("=" | "+=" | "-=" | "++" | "--") => self.assignment(conditions),
                _ => self.call_statement(conditions),
            },
        }
    }

    /// Statements up to a `}`.
    fn block(&mut self, conditions: &mut Vec<String>) -> Result<()> {
        while !self.skip("}") {
            if self.peek() == &Token::End {
                return Err(said(&Token::End));
            }
            self.statement(conditions)?;
        }
        Ok(())
    }

    fn import(&mut self) -> Result<()> {
        self.at += 1;
        self.skip_name("static");
        let mut name = String::new();
        loop {
            match self.take() {
                Token::Name(part) => name.push_str(&part),
                Token::Sign("*") => name.push('*'),
                other => return Err(said(&other)),
            }
            if !self.skip(".") {
                break;
            }
            name.push('.');
        }
        if !PACKAGES.iter().any(|package| name.starts_with(package)) {
            return Err(format!("the import of `{name}`"));
        }
        self.end()
    }

    fn condition(&mut self, conditions: &mut Vec<String>) -> Result<()> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.expression()?.truth(self.language)?.source;
        self.expect(")")?;
        let condition = self.kept(Script::new(Kind::Bool, condition), conditions).source;
        let before = self.state.clone();
        conditions.push(condition.clone());
        self.statement(conditions)?;
        conditions.pop();
        let then = std::mem::replace(&mut self.state, before);
        // What it kept and does is on its condition.
        (self.state.kept, self.state.effects) = (then.kept.clone(), then.effects.clone());
        if self.skip_name("else") {
            conditions.push(format!("!({condition})"));
            self.statement(conditions)?;
            conditions.pop();
        }
        let otherwise = std::mem::take(&mut self.state);
        let environment = self.environment;
        self.state = ScriptState::either(&condition, (then, otherwise), &|is_variable, name| {
            match is_variable {
                true => environment.variable(name),
                false => Ok(environment.property(name)),
            }
        })?;
        Ok(())
    }

    /// `try`: what is caught is only told.
    fn attempt(&mut self, conditions: &mut Vec<String>) -> Result<()> {
        self.at += 1;
        self.expect("{")?;
        self.block(conditions)?;
        while self.skip_name("catch") {
            self.expect("(")?;
            while !self.skip(")") {
                match self.take() {
                    Token::Name(_) | Token::Sign("|" | ".") => {}
                    other => return Err(said(&other)),
                }
            }
            self.expect("{")?;
            self.told()?;
        }
        if self.is_name("finally") {
            return Err(said(self.peek()));
        }
        Ok(())
    }

    /// Passes by a block that does nothing but to write to the log.
    fn told(&mut self) -> Result<()> {
        while !self.skip("}") {
            match self.take() {
                Token::Name(name)
                    if matches!(name.as_str(), "log" | "throw" | "print" | "println") =>
                {
                    while !matches!(self.peek(), Token::Sign(";" | "}") | Token::End) {
                        self.at += 1;
                    }
                }
                Token::Sign(";") => {}
                other => return Err(format!("{} where an error is caught", said(&other))),
            }
        }
        Ok(())
    }

    /// The value of a script, at its end.
    fn give_back(&mut self, conditions: &[String]) -> Result<()> {
        self.at += 1;
        let is_empty = matches!(self.peek(), Token::Sign(";") | Token::End);
        let value = if is_empty { None } else { Some(self.expression()?) };
        self.end()?;
        if !conditions.is_empty() || self.peek() != &Token::End {
            return Err("a `return` within the script".to_owned());
        }
        if self.place == Place::Sampler && self.state.data.is_none() {
            self.state.data = value;
        }
        Ok(())
    }

    /// A value that stands by itself: the response of a sampler, if it is the last thing in its script.
    fn value_alone(&mut self, conditions: &[String]) -> Result<()> {
        let is_value = matches!(self.peek(), Token::Number(_) | Token::Text(..));
        if !is_value || self.place != Place::Sampler || !conditions.is_empty() {
            return Err(said(self.peek()));
        }
        let value = self.expression()?;
        self.end()?;
        if self.peek() == &Token::End && self.state.data.is_none() {
            self.state.data = Some(value);
        }
        Ok(())
    }

    /// Variables behind their type.
    fn declaration(&mut self, conditions: &[String]) -> Result<()> {
        loop {
            let Token::Name(name) = self.take() else { return Err("a declaration".to_owned()) };
            let value = match self.skip("=") {
                true => self.expression()?,
                false => Script::new(Kind::Null, "null"),
            };
            let value = self.kept(value, conditions);
            self.state.locals.insert(name, value);
            if !self.skip(",") {
                return self.end();
            }
        }
    }

    fn assignment(&mut self, conditions: &[String]) -> Result<()> {
        let (Token::Name(name), Token::Sign(sign)) = (self.take(), self.take()) else {
            return Err("an assignment".to_owned());
        };
        let old = || {
            let known = self.state.locals.get(&name).cloned();
            known.ok_or_else(|| format!("the name `{name}`"))
        };
        let one = Script::new(Kind::Number, "1");
        let value = match sign {
            "=" => self.expression()?,
            "++" | "--" => super::value::calculate(self.language, &sign[..1], &old()?, &one)?,
            _ => {
                let old = old()?;
                super::value::calculate(self.language, &sign[..1], &old, &self.expression()?)?
            }
        };
        self.end()?;
        match (name.as_str(), self.place) {
            ("Failure", Place::Assertion) => self.state.failed = value.truth(self.language)?.source,
            ("FailureMessage", Place::Assertion) => {}
            ("IsSuccess", Place::Sampler) => self.state.ok = value.truth(self.language)?.source,
            ("ResponseCode", Place::Sampler) => self.state.code = Some(value),
            ("ResponseMessage", Place::Sampler) => self.state.message = Some(value),
            _ => {
                let value = self.kept(value, conditions);
                self.state.locals.insert(name, value);
            }
        }
        Ok(())
    }

    /// A value as others may have it several times: one that is not the same each time, or is long, has a hidden name.
    pub(super) fn kept(&mut self, value: Script, conditions: &[String]) -> Script {
        let impure = ["random", "uuid()", "now_ms()"].iter().any(|of| value.source.contains(of));
        let is_object = matches!(value.kind, Kind::Date | Kind::Random | Kind::Slurper);
        if is_object || !impure && value.source.len() < LONGEST {
            return value;
        }
        let source = match conditions {
            [] => value.source,
            all => format!("({} ? {} : null)", all.join(" && "), value.source),
        };
        self.state.kept.push(source);
        Script::new(value.kind, format!("kept_{}", self.state.kept.len() - 1))
    }

    /// A call as a statement.
    fn call_statement(&mut self, conditions: &[String]) -> Result<()> {
        let Token::Name(first) = self.take() else { return Err("a statement".to_owned()) };
        if first == "new" {
            return Err("`new` as a statement".to_owned());
        }
        let mut owner = if self.peek() == &Token::Sign(".") && first.starts_with(char::is_lowercase)
        {
            self.class_or(&first)
        } else {
            first
        };
        let mut method = String::new();
        while self.skip(".") {
            let Token::Name(name) = self.take() else { return Err("a `.`".to_owned()) };
            if !method.is_empty() {
                owner = format!("{owner}.{method}");
            }
            method = name;
        }
        if method.is_empty() {
            std::mem::swap(&mut owner, &mut method);
        }
        // Groovy leaves the parentheses out.
        let is_open = self.skip("(");
        let is_whole = is_open || self.language == Language::Groovy && is_log(&owner, &method);
        if !is_whole {
            return Err(format!("the name `{}`", if owner.is_empty() { &method } else { &owner }));
        }
        self.called(&owner, &method, is_open, conditions)?;
        self.end()
    }

    /// The class at the end of a name with packages; otherwise the name is that of a thing.
    fn class_or(&mut self, first: &str) -> String {
        match first {
            "org" | "java" => self.class(first),
            _ => first.to_owned(),
        }
    }
}
