//! JMeter's functions as texts that are known before the run, or as expressions.

use std::path::Path;

use squall_plan::model::StepKind;

use super::texts::{THREAD, TextPiece, expression, literal, merged, quoted, whole};
use super::{Translator, assign, dates, escapes};
use crate::text::{Call, Part, Text};

/// What JMeter's functions say of a file that is not there.
pub(super) const MISSING: &str = "**ERR**";

impl Translator<'_> {
    /// What a call gives.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn call(&self, call: &Call) -> Result<TextPiece, String> {
        if let Some(text) = self.constants.asked(call) {
            return Ok(TextPiece::Text(text));
        }
        if let Some(language) = super::condition::language_of(&call.name) {
            return self.script_text(language, call);
        }
        let parameters = call.parameters.iter().map(|parameter| self.parameter(parameter));
        let mut parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let variable = assign::variable_of(call);
        variable.into_iter().for_each(|index| parameters[index].clear());
        let value = self.value_of_call(call, &parameters)?;
        match assign::set_by(call) {
            // Of a user-defined variable that other one is the main thread's, which nobody sees.
            Some(name) if !self.in_main_thread.get() => self.assigned(name, value),
            _ => Ok(value),
        }
    }

    /// What a call gives, given its parameters without the name of a variable.
    fn value_of_call(
        &self,
        call: &Call,
        parameters: &[Vec<TextPiece>],
    ) -> Result<TextPiece, String> {
        let given =
            parameters.len() - parameters.iter().rev().take_while(|own| own.is_empty()).count();
        let known: Option<Vec<&str>> = parameters.iter().map(|pieces| literal(pieces)).collect();
        let of_run = self.property_of_start(&call.name, parameters);
        if let Some(piece) = of_run.or_else(|| self.property_set_in_run(&call.name, parameters)) {
            return Ok(piece);
        }
        match (call.name.as_str(), known.as_deref()) {
            ("__counter", Some([flag, ..])) => {
                return self.counted(flag.trim().eq_ignore_ascii_case("true"));
            }
            ("__regexFunction", _) if parameters.len() > 1 => {
                return self.found_by(call, parameters);
            }
            ("__setProperty" | "__StringToFile", _) => return self.done_before(call, parameters),
            ("__StringFromFile", Some([file])) | ("__StringFromFile", Some([file, ""])) => {
                return self.next_line(file.trim());
            }
            ("__XPath", Some([file, path])) => return self.next_node(file.trim(), path.trim()),
            _ => {}
        }
        if let ("__split", [text, _, more @ ..]) = (call.name.as_str(), parameters) {
            let separators = more.first().map_or(Some(""), |separators| literal(separators));
            let separators = separators.ok_or("separators that only the run knows")?;
            return self.split_up(call, text, if separators.is_empty() { "," } else { separators });
        }
        let found = match (call.name.as_str(), known) {
            // An empty default is one.
            ("__P" | "__property", Some(known)) if !known.is_empty() => {
                self.constants.property(&call.name, &known).map(TextPiece::Text)
            }
            (name, Some(known)) => self.of_known(name, &known[..given]),
            (_, None) => None,
        };
        let found = found.or_else(|| dates::of_call(call, parameters));
        let found = found.or_else(|| self.of_pieces(&call.name, &parameters[..given]));
        found.ok_or_else(|| format!("the function `{}`, as it is used there", call.name))
    }

    /// What a function gives that is called for what it does, which a step before the one at hand does.
    fn done_before(&self, call: &Call, parameters: &[Vec<TextPiece>]) -> Result<TextPiece, String> {
        let unknown = || format!("the function `{}`, as it is used there", call.name);
        let root = *self.tree.roots.first().ok_or_else(unknown)?;
        if self.in_main_thread.get() {
            return Err(unknown());
        }
        let gives_old = call.name == "__setProperty"
            && literal(parameters.get(2).map_or(&[] as &[TextPiece], Vec::as_slice))
                .is_some_and(|flag| flag.eq_ignore_ascii_case("true"));
        if !gives_old {
            let deed = self.done_by(root, &call.name, parameters).ok_or_else(unknown)?;
            self.add_setting(|_| deed)?;
            let given = if call.name == "__StringToFile" { "true" } else { "" };
            return Ok(TextPiece::Text(given.to_owned()));
        }
        let name = literal(&parameters[0]).ok_or_else(unknown)?;
        let property = self.names.property(name).ok_or_else(unknown)?;
        let old = self.held_by_call("value");
        // Java writes what is not there as this word.
        let value = format!("({property} == null ? \"null\" : {property})");
        self.add_setting(|_| self.set(root, &old, &value))?;
        self.add_setting(|_| self.set(root, property, &expression(&parameters[1])))?;
        Ok(TextPiece::Expr(old))
    }

    /// What a function gives that reads a property which JMeter sets when it starts: the variable of that name.
    fn property_of_start(
        &self,
        function: &str,
        parameters: &[Vec<TextPiece>],
    ) -> Option<TextPiece> {
        let name = literal(parameters.first()?)?.trim();
        let name = Some(name).filter(|name| self.constants.is_start_alone(name))?;
        match function {
            "__P" | "__property" => {
                self.names.variable(name).map(|own| TextPiece::Expr(own.to_owned()))
            }
            "__isPropDefined" => Some(TextPiece::Text("true".to_owned())),
            _ => None,
        }
    }

    /// What a function gives that reads a property which gets its value while the plan runs.
    fn property_set_in_run(
        &self,
        function: &str,
        parameters: &[Vec<TextPiece>],
    ) -> Option<TextPiece> {
        let name = literal(parameters.first()?)?;
        let variable = self.names.property(name).filter(|_| !self.is_defining.get())?;
        let given = |place: usize| parameters.get(place).map(|own| expression(own));
        let without = match function {
            "__isPropDefined" => return Some(TextPiece::Expr(format!("{variable} != null"))),
            "__P" => given(1).unwrap_or_else(|| quoted("1")),
            "__property" if parameters.get(1).is_none_or(Vec::is_empty) => {
                given(2).unwrap_or_else(|| quoted(name))
            }
            _ => return None,
        };
        Some(TextPiece::Expr(format!("({variable} == null ? {without} : {variable})")))
    }

    /// A call all of whose parameters are known before the run, without those that are empty at the end.
    fn of_known(&self, function: &str, parameters: &[&str]) -> Option<TextPiece> {
        let text = |text: String| Some(TextPiece::Text(text));
        let expr = |text: &str| Some(TextPiece::Expr(text.to_owned()));
        match (function, parameters) {
            ("__UUID", []) => expr("uuid()"),
            ("__threadNum", []) => expr(THREAD),
            ("__threadGroupName", []) => expr("scenario"),
            ("__time", []) => expr("now_ms()"),
            ("__time", ["/1000"]) => expr("now()"),
            ("__time", [format]) => dates::time(format).map(TextPiece::Expr),
            ("__RandomString", [length, characters]) => {
                let length: u32 = length.trim().parse().ok()?;
                Some(TextPiece::Expr(format!(
                    "random_string({length}, {})",
                    quoted(characters.trim())
                )))
            }
            // Without characters to choose from Java takes any; these are as long as most of those.
            ("__RandomString", [length]) => {
                let length: u32 = length.trim().parse().ok()?;
                let any: String = ('\u{4e00}'..='\u{4eff}').collect();
                Some(TextPiece::Expr(format!("random_string({length}, {})", quoted(&any))))
            }
            ("__machineName", []) => text(self.constants.machine().name.clone()?),
            ("__machineIP", []) => text(self.constants.machine().address.clone()?),
            ("__TestPlanName", []) => {
                text(self.file_name.clone()).filter(|_| !self.file_name.is_empty())
            }
            ("__escapeOroRegexpChars", [pattern]) if pattern.is_ascii() => {
                text(escapes::quoted_for_oro(pattern))
            }
            ("__unescapeHtml", [html]) => text(squall_base::html::unescape(html).into_owned()),
            ("__unescape", [escaped]) => escapes::unescaped(escaped).and_then(text),
            ("__char", [_, ..]) => {
                parameters.iter().map(|code| character(code)).collect::<Option<_>>().and_then(text)
            }
            ("__CSVRead", [file, column]) => {
                self.field_of_row(file, column).or_else(|| self.field_of_own_row(file, column))
            }
            ("__isPropDefined", [name]) => text(self.constants.has_property(name).to_string()),
            ("__FileToString", [name] | [name, "UTF-8" | "utf-8"]) => {
                // Relative to where the program was started, unlike the plan's data files.
                let file = Path::new(name.trim());
                let missing = (!file.exists()).then(|| MISSING.to_owned());
                missing.or_else(|| squall_plan::files::text(file).ok()).and_then(text)
            }
            _ => None,
        }
    }

    /// A call whose parameters the run may decide.
    fn of_pieces(&self, function: &str, parameters: &[Vec<TextPiece>]) -> Option<TextPiece> {
        let expr = |text: String| Some(TextPiece::Expr(text));
        match (function, parameters) {
            ("__Random", [low, high]) => expr(format!("random({}, {})", whole(low)?, whole(high)?)),
            // Where in a log it stands, and what is said of an error, nobody looks for.
            ("__log" | "__logn", [text, ..]) => {
                let logged = self.add_setting(|root| StepKind::Log(self.template_of(root, text)));
                logged.ok().filter(|()| !self.in_main_thread.get())?;
                match function {
                    "__log" => expr(expression(text)),
                    _ => Some(TextPiece::Text(String::new())),
                }
            }
            ("__samplerName", []) => self.name_of_sampler(),
            ("__intSum" | "__longSum", [_, _, ..]) => {
                // A last one that is no number is the name of a variable.
                let terms: Option<Vec<String>> =
                    parameters.iter().map(|term| whole(term)).collect();
                expr(terms?.join(" + "))
            }
            ("__eval", [text]) => match literal(text) {
                Some(text) => self.evaluated(text),
                None => self.filled(&expression(text)),
            },
            ("__V", [name]) => self.value_named(name, None),
            ("__V", [name, without]) => self.value_named(name, Some(without)),
            ("__isVarDefined", [name]) => self.is_set(literal(name)?),
            ("__RandomFromMultipleVars", [names]) => self.any_of(literal(names)?),
            // Where the property is given it is known.
            ("__P", [name, without]) if !self.constants.has_property(literal(name)?.trim()) => {
                expr(expression(without))
            }
            ("__evalVar", [name]) => match self.names.variable(literal(name)?) {
                Some(variable) => self.filled(variable),
                None => self.evaluated(self.constants.known(literal(name)?)??),
            },
            _ => escapes::of_text(function, parameters),
        }
    }

    /// The name of the sampler whose texts are read.
    fn name_of_sampler(&self) -> Option<TextPiece> {
        // A name that asks for itself has none yet.
        let sampler = self.sampler.take()?;
        let name = self.evaluated(&self.tree.element(sampler).name);
        self.sampler.set(Some(sampler));
        name
    }

    /// A text that is evaluated once more, if it is one piece.
    fn evaluated(&self, source: &str) -> Option<TextPiece> {
        let pieces = self.split(source).ok()?;
        Some(match pieces.as_slice() {
            [] => TextPiece::Text(String::new()),
            [only] => only.clone(),
            _ => TextPiece::Expr(expression(&pieces)),
        })
    }

    pub(super) fn parameter(&self, parameter: &Text) -> Result<Vec<TextPiece>, String> {
        let pieces = parameter.parts.iter().map(|part| match part {
            Part::Literal(text) => Ok(TextPiece::Text(text.clone())),
            Part::Variable(name) => self.variable(name),
            Part::Call(call) => self.call(call),
        });
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        // What is known is one text, and what is empty nothing.
        Ok(merged(pieces))
    }
}

/// A character by its number, decimal or hexadecimal (`0x41`).
fn character(code: &str) -> Option<char> {
    let code = code.trim();
    let number = match code.strip_prefix("0x").or_else(|| code.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    char::from_u32(number.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_numbers() {
        assert_eq!(
            [character("65"), character("0x42"), character("x")],
            [Some('A'), Some('B'), None]
        );
    }
}
