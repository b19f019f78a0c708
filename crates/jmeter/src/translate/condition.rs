//! Conditions of the If and the While Controller as expressions, each by its own rule of what is true.

use squall_plan::expr::{BindError, Binder, Bound, Expr, FunctionId};
use squall_plan::span::Span;
use squall_plan::value::Value;

use super::Translator;
use super::script::{self, Kind, Language, Script};
use super::texts::{TextPiece, expression, literal, quoted};
use crate::functions;
use crate::text::{Call, Part, Text};

/// The language of a function that runs a script.
pub(super) fn language_of(function: &str) -> Option<Language> {
    match function {
        "__jexl2" | "__jexl3" => Some(Language::Jexl),
        "__groovy" => Some(Language::Groovy),
        "__javaScript" => Some(Language::JavaScript),
        "__BeanShell" => Some(Language::BeanShell),
        _ => None,
    }
}

/// Whether a condition cannot be evaluated, whatever its variables are: for a name that stands for nothing.
fn is_unknown_name(what: &str, condition: &str) -> bool {
    let is_plain = !["&&", "||", "?", "(", "="].iter().any(|sign| {
        // Comparisons look at both sides.
        condition.replace("==", "").replace("!=", "").contains(sign)
    });
    is_plain && what.starts_with("the name `")
}

/// The text of null as what a function gives.
fn of_null(language: Language) -> &'static str {
    if language == Language::JavaScript { "null" } else { "" }
}

/// The call of a function that runs a script, if a text is that and nothing else.
fn script_call(text: &str) -> Option<(Language, Call)> {
    let mut parts = Text::parse(text.trim(), &functions::is_function).ok()?.parts.into_iter();
    match (parts.next(), parts.next()) {
        (Some(Part::Call(call)), None) => Some((language_of(&call.name)?, call)),
        _ => None,
    }
}

/// The text of a script that is open where its words are passed by.
#[derive(Debug, Default)]
struct Quote {
    open: Option<char>,
    is_escaped: bool,
    /// Whether the language looks into texts in double quotes, or into all of them.
    reads_double: bool,
    reads_all: bool,
}

impl Quote {
    fn pass(&mut self, c: char) {
        match (self.open, c) {
            _ if self.is_escaped => self.is_escaped = false,
            (Some(_), '\\') => self.is_escaped = true,
            (Some(open), c) if c == open => self.open = None,
            (None, '"' | '\'') => self.open = Some(c),
            _ => {}
        }
    }

    /// Whether what stands here is looked into: outside of texts each language does so.
    fn is_read(&self) -> bool {
        let is_double = self.open == Some('"');
        self.open.is_none() || self.reads_all || self.reads_double && is_double
    }
}

struct Nothing;

impl Binder for Nothing {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        Err(BindError::new(path.join(".")))
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }
}

/// The text of an expression's value, if it is the same in every run.
pub(super) fn known(source: &str) -> Option<String> {
    let bound = Expr::parse(source, Span::default()).ok()?.bind(&mut Nothing).ok()?;
    match bound.constant()? {
        Value::Null => Some("null".to_owned()),
        // A whole number has no fraction to write.
        Value::Float(number) if number.fract() == 0.0 => Some(format!("{number:.0}")),
        value => Some(value.to_string()),
    }
}

impl Translator<'_> {
    /// When an If Controller's condition holds: as an expression, its text is "true"; otherwise JavaScript says so.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn holds(&self, condition: &str, is_expression: bool) -> Result<String, String> {
        let condition = condition.trim();
        if !is_expression {
            let pieces = self.split(condition)?;
            let read = script::read(&pieces, Language::JavaScript, self);
            if read.as_ref().is_err_and(|what| is_unknown_name(what, condition)) {
                // JavaScript breaks off, and JMeter takes that for false.
                return Ok("false".to_owned());
            }
            let Script { kind, source } =
                read.map_err(|what| format!("{what} in its condition"))?;
            return Ok(match kind {
                Kind::Bool => source,
                Kind::Any | Kind::Json => format!("({source} in [true, \"true\"])"),
                Kind::Text => format!("({source} == \"true\")"),
                Kind::MaybeText
                | Kind::Number
                | Kind::Null
                | Kind::Date
                | Kind::Random
                | Kind::Slurper => "false".to_owned(),
            });
        }
        if let Some(Script { kind: Kind::Bool, source }) = self.script_of(condition)? {
            return Ok(source);
        }
        let pieces = self.split(condition)?;
        Ok(match literal(&pieces) {
            Some(text) => text.eq_ignore_ascii_case("true").to_string(),
            None => format!("lower({}) == \"true\"", expression(&pieces)),
        })
    }

    /// When the script of a condition cannot be read, and its text is empty: as long as variables in it have no value, and
    /// their names stand there. `None`: that is never so.
    pub(super) fn unread(&self, condition: &str) -> Option<String> {
        let (language, call) = script_call(condition)?;
        let parts = &call.parameters.first()?.parts;
        let orders = |part: &Part| matches!(part, Part::Literal(text) if text.contains(['<', '>']));
        let mut quote = Quote { reads_double: language == Language::Groovy, ..Quote::default() };
        // A text in order with a number has to be one, too.
        quote.reads_all = language == Language::Jexl && parts.iter().any(orders);
        let mut unset = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => text.chars().for_each(|c| quote.pass(c)),
                Part::Variable(name) if quote.is_read() => {
                    let is_set = self.constants.variable(name).is_some();
                    let variable = self.names.variable(name).filter(|_| !is_set);
                    unset.extend(variable.map(|variable| {
                        format!("{variable} == {}", quoted(&format!("${{{name}}}")))
                    }));
                }
                Part::Variable(_) | Part::Call(_) => {}
            }
        }
        (!unset.is_empty()).then(|| unset.join(" || "))
    }

    /// When a While Controller goes on: as long as its text is not "false".
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn goes_on(&self, condition: &str) -> Result<String, String> {
        if let Some(Script { kind: Kind::Bool, source }) = self.script_of(condition)? {
            return Ok(source);
        }
        let pieces = self.split(condition)?;
        Ok(match literal(&pieces).map(str::trim) {
            Some(text) => (!text.eq_ignore_ascii_case("false")).to_string(),
            None => format!("lower(trim({})) != \"false\"", expression(&pieces)),
        })
    }

    /// The script that a text is, if it is a call of a function that runs one, and nothing else.
    fn script_of(&self, text: &str) -> Result<Option<Script>, String> {
        script_call(text).map(|(language, call)| self.script(language, &call)).transpose()
    }

    /// What a function gives that runs a script.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn script(
        &self,
        language: Language,
        call: &crate::text::Call,
    ) -> Result<Script, String> {
        let Some((body, rest)) = call.parameters.split_first() else {
            return Err(format!("the function `{}` without a script", call.name));
        };
        if rest.iter().any(|rest| !matches!(rest.as_literal().map(str::trim), Some(""))) {
            return Err(format!("the function `{}`, which sets a variable", call.name));
        }
        let pieces = self.parameter(body)?;
        script::read(&pieces, language, self).map_err(|what| format!("{what} in `{}`", call.name))
    }

    /// What a function gives that runs a script, as a piece of a text.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn script_text(
        &self,
        language: Language,
        call: &crate::text::Call,
    ) -> Result<TextPiece, String> {
        let Script { kind, source } = self.script(language, call)?;
        if let Some(text) = known(&source).filter(|_| kind != Kind::Null) {
            return Ok(TextPiece::Text(text));
        }
        let is_whole =
            ["int(", "round(", "floor(", "ceil("].iter().any(|of| source.starts_with(of));
        Ok(match kind {
            Kind::Null => TextPiece::Text(of_null(language).to_owned()),
            Kind::MaybeText => TextPiece::Expr(format!(
                "({source} == null ? {} : {source})",
                quoted(of_null(language))
            )),
            // Languages do not write a number with a fraction alike.
            Kind::Number | Kind::Any
                if !is_whole && (source.contains('/') || source.contains("double(")) =>
            {
                return Err(format!("the text of a fraction from `{}`", call.name));
            }
            _ => TextPiece::Expr(source),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::known;

    #[test]
    fn what_is_the_same_in_every_run_is_known() {
        for (source, expected) in [
            ("(2.5 * 2)", Some("5")),
            ("round(number(\"2.5\"))", Some("3")),
            ("(\"a\" == \"b\")", Some("false")),
            ("(\"a\" + \"b\")", Some("ab")),
            ("null", Some("null")),
            ("random(1, 2)", None),
            ("name", None),
        ] {
            assert_eq!(known(source).as_deref(), expected, "{source}");
        }
    }
}
