//! What a pattern finds in the response before, or in a variable (`__regexFunction`).

use squall_plan::model::StepKind;

use super::Translator;
use super::extractor::{TemplatePart, parts};
use super::pattern::{self, Subject};
use super::texts::{TextPiece, expression, literal, quoted};
use crate::text::Call;

/// The hidden variable that has the body of the last response of all.
pub(super) const PREVIOUS: &str = "reply_9";
/// A match, in an expression over all of them.
pub(super) const ONE: &str = "each_4";

/// Whether a call looks at the response before.
pub(super) fn looks_back(call: &Call) -> bool {
    let input = call.parameters.get(6).map(|input| input.as_literal());
    call.name == "__regexFunction" && matches!(input, None | Some(Some("")))
}

impl Translator<'_> {
    /// What a pattern finds. `parameters`: without the name of the variable that it sets.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn found_by(
        &self,
        call: &Call,
        parameters: &[Vec<TextPiece>],
    ) -> Result<TextPiece, String> {
        let at = |index: usize| parameters.get(index).map_or(&[] as &[TextPiece], Vec::as_slice);
        let known = |index: usize, what: &str| {
            literal(at(index))
                .ok_or_else(|| format!("{what} of `__regexFunction` that only the run knows"))
        };
        let pattern = pattern::regex(known(0, "a pattern")?, Subject::Lines)?;
        let groups = pattern::groups(&pattern);
        let template = parts(known(1, "a template")?);
        let which = known(2, "the number of a match")?;
        let (between, without) = (expression(at(3)), expression(at(4)));
        let text = self.looked_at(
            literal(at(6)).ok_or("`__regexFunction` of a variable that only the run knows")?,
        )?;
        let is_empty = format!("{text} == \"\"");
        let found = format!("({is_empty} ? [] : find_all({text}, {}))", quoted(&pattern));
        let name = super::assign::set_by(call);
        let found = match name {
            Some(name) => self.kept_matches(name, &found, &is_empty)?,
            None => found,
        };
        let (chosen, place) = match which {
            "" => (found, 1),
            "ALL" => (found, 0),
            // Its groups are those of the one that was chosen.
            "RAND" => {
                let one = |all: &str| format!("(size({all}) == 0 ? [] : [choice({all})])");
                let of_all = format!("[{found}].map({ONE}, {})[0]", one(ONE));
                match name {
                    Some(_) => {
                        self.add_setting(|root| self.set(root, &found, &one(&found)))?;
                        (found, 1)
                    }
                    None => (of_all, 1),
                }
            }
            number => match number.parse::<u32>() {
                Ok(number) if number > 0 => (found, number),
                _ => return Err(format!("the match `{number}` of `__regexFunction`")),
            },
        };
        if let Some(name) = name {
            self.set_groups(name, &chosen, place, groups)?;
        }
        let one = |found: &str| {
            let terms = template.iter().map(|part| match part {
                TemplatePart::Text(text) => quoted(text),
                // Of a group that there is not Java's text is this word.
                TemplatePart::Group(group) if *group > groups => quoted("null"),
                TemplatePart::Group(group) => {
                    format!("({found}[{group}] == null ? \"null\" : {found}[{group}])")
                }
            });
            let terms: Vec<String> = terms.collect();
            if terms.is_empty() { quoted("") } else { terms.join(" + ") }
        };
        let inner = "each_5";
        Ok(TextPiece::Expr(match place {
            0 => format!(
                "[{chosen}].map({ONE}, size({ONE}) == 0 ? {without} : join({ONE}.map({inner}, {}), {between}))[0]",
                one(inner)
            ),
            place => format!(
                "[{chosen}].map({ONE}, size({ONE}) < {place} ? {without} : {})[0]",
                one(&format!("{ONE}[{}]", place - 1))
            ),
        }))
    }

    /// The text in which a pattern is looked for, as an expression.
    fn looked_at(&self, variable: &str) -> Result<String, String> {
        if variable.is_empty() {
            if self.is_judging.get() || self.in_main_thread.get() {
                return Err("`__regexFunction` where there is no response before".to_owned());
            }
            self.hold(PREVIOUS);
            return Ok(format!("({PREVIOUS} == null ? \"\" : string({PREVIOUS}))"));
        }
        let name = [TextPiece::Text(variable.to_owned())];
        let value = self.value_named(&name, Some(&[]));
        let value = value.ok_or_else(|| format!("the variable `{variable}`"))?;
        Ok(format!("({})", expression(&[value])))
    }

    /// A hidden variable that has all matches; how many they are becomes a variable, too, if there was a text at all.
    fn kept_matches(&self, name: &str, found: &str, is_empty: &str) -> Result<String, String> {
        let all = self.held_by_call("found");
        let mut steps: Vec<(String, String)> = vec![(all.clone(), found.to_owned())];
        if let Some(count) = self.names.variable(&format!("{name}_matchNr")) {
            let value = format!("({is_empty} ? {count} : string(size({all})))");
            steps.push((count.to_owned(), value));
        }
        for (variable, value) in steps {
            self.add_setting(|root| self.set(root, &variable, &value))
                .map_err(|_| format!("the variable `{name}`, which a function sets there"))?;
        }
        Ok(all)
    }

    /// The groups of a match become variables, as far as something asks for them: those of the last one if all are taken.
    fn set_groups(&self, name: &str, found: &str, place: u32, groups: u32) -> Result<(), String> {
        let place = match place {
            0 => format!("size({found}) - 1"),
            place => (place - 1).to_string(),
        };
        for group in 0..=groups {
            let Some(variable) = self.names.variable(&format!("{name}_g{group}")) else { continue };
            let value = format!(
                "(size({found}) > {place} && size({found}) > 0 \
                 ? [{found}[{place}][{group}]].map({ONE}, {ONE} == null ? {} : {ONE})[0] : {variable})",
                quoted(&format!("${{{name}_g{group}}}"))
            );
            self.add_setting(|root| -> StepKind { self.set(root, variable, &value) })?;
        }
        Ok(())
    }
}
