//! What the names of a script stand for: its own variables, those of the plan, functions, classes.

use super::super::texts::{self, TextPiece, quoted};
use super::lex::Token;
use super::{Kind, Language, Parser, Place, Script, value};

impl Parser<'_> {
    /// A text; Groovy puts its variables into one in double quotes.
    pub(super) fn text(&self, pieces: &[TextPiece], double: bool) -> Result<Script, String> {
        if self.language != Language::Groovy || !double {
            return Ok(Script::new(Kind::Text, texts::expression(pieces)));
        }
        let mut all = Vec::new();
        for piece in pieces {
            match piece {
                TextPiece::Text(text) => self.with_locals(text, &mut all)?,
                expression => all.push(expression.clone()),
            }
        }
        Ok(Script::new(Kind::Text, texts::expression(&texts::merged(all))))
    }

    /// A part of a text in which `${name}` is a variable of the script.
    fn with_locals(&self, text: &str, into: &mut Vec<TextPiece>) -> Result<(), String> {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, behind) = after.split_once('}').ok_or("a `${` without its end")?;
            let known = self.state.locals.get(name.trim());
            let value = known.ok_or_else(|| format!("`${{{name}}}`"))?;
            into.push(TextPiece::Text(before.to_owned()));
            into.push(TextPiece::Expr(value.source.clone()));
            rest = behind;
        }
        into.push(TextPiece::Text(rest.to_owned()));
        Ok(())
    }

    pub(super) fn name(&mut self, name: &str) -> Result<Script, String> {
        match name {
            "true" | "false" => return Ok(Script::new(Kind::Bool, name)),
            "null" => return Ok(Script::new(Kind::Null, "null")),
            "new" => return self.made_new(),
            // A package.
            "java" | "org" if self.peek() == &Token::Sign(".") => {
                let name = self.class(name);
                return self.name(&name);
            }
            _ => {}
        }
        if let Some(local) = self.state.locals.get(name) {
            return Ok(local.clone());
        }
        if self.skip("(") {
            let arguments = self.arguments()?;
            return value::function("", name, &arguments);
        }
        if let Some(fact) = self.fact(name) {
            return Ok(fact);
        }
        if !self.skip(".") {
            return Err(format!("the name `{name}`"));
        }
        let Token::Name(of) = self.take() else { return Err(format!("`{name}.`")) };
        if !self.skip("(") {
            return Err(format!("`{name}.{of}`"));
        }
        if matches!(name, "prev" | "SampleResult") && self.place != Place::Nowhere {
            let arguments = self.arguments()?;
            return self.fact_of_sample(&of, arguments.len());
        }
        if !matches!(name, "vars" | "props" | "JMeterUtils") {
            let arguments = self.arguments()?;
            return value::function(name, &of, &arguments);
        }
        let texts = self.plain_arguments();
        match (name, of.as_str(), texts.as_deref()) {
            ("vars", "get", Some([variable])) => match self.state.variables.get(variable) {
                Some(changed) => Ok(changed.clone()),
                None => self.environment.variable(variable),
            },
            ("props", "get" | "getProperty", Some([property]))
            | ("JMeterUtils", "getProperty", Some([property])) => Ok(self.property(property)),
            ("props", "getProperty" | "getOrDefault", Some([property, without]))
            | ("JMeterUtils", "getPropDefault", Some([property, without])) => {
                let Script { kind, source } = self.property(property);
                Ok(Script::new(
                    Kind::Text,
                    match kind {
                        Kind::Null => quoted(without),
                        Kind::Text => source,
                        _ => format!("({source} == null ? {} : {source})", quoted(without)),
                    },
                ))
            }
            _ => Err(format!("`{name}.{of}`, as it is used there")),
        }
    }

    fn property(&self, name: &str) -> Script {
        let changed = self.state.properties.get(name).cloned();
        changed.unwrap_or_else(|| self.environment.property(name))
    }

    /// The class at the end of a name with packages, whose first part was read.
    pub(super) fn class(&mut self, first: &str) -> String {
        let mut last = first.to_owned();
        while last.starts_with(char::is_lowercase)
            && let (Token::Sign("."), Token::Name(next)) = (self.peek(), self.peek_at(1).clone())
        {
            (last, self.at) = (next, self.at + 2);
        }
        last
    }

    /// What stands behind `new`.
    fn made_new(&mut self) -> Result<Script, String> {
        let Token::Name(first) = self.take() else { return Err("a `new`".to_owned()) };
        let class = self.class(&first);
        if !self.skip("(") {
            return Err(format!("`new {class}`"));
        }
        let arguments = self.arguments()?;
        match (class.as_str(), arguments.as_slice()) {
            ("String", _) => value::function("", "String", &arguments),
            ("Date", []) => Ok(Script::new(Kind::Date, "now_ms()")),
            ("Random", []) => Ok(Script::new(Kind::Random, "null")),
            ("JsonSlurper", []) => Ok(Script::new(Kind::Slurper, "null")),
            _ => Err(format!("`new {class}`")),
        }
    }

    /// Arguments that are nothing but texts, behind their `(`; otherwise nothing was read.
    fn plain_arguments(&mut self) -> Option<Vec<String>> {
        let start = self.at;
        let mut found = Vec::new();
        while let Token::Text(pieces, _) = self.take() {
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
