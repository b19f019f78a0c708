//! What the statements of a script come to: expressions over what holds before it, for all that it changes.

use std::collections::BTreeMap;

use squall_plan::model::StopScope;

use super::value::{Kind, Script};

/// Whether a sample counts as good where no script says so.
const GOOD: &str = "(status >= 200 && status < 400)";

/// What a script has changed so far, and what it does.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ScriptState {
    pub locals: BTreeMap<String, Script>,
    /// Those of the thread, as it has left them.
    pub variables: BTreeMap<String, Script>,
    pub properties: BTreeMap<String, Script>,
    /// Values that are kept under hidden names, since they are not the same each time; in their order.
    pub kept: Vec<String>,
    /// Whether it has said that the sample fails: empty if not.
    pub failed: String,
    /// What it has said of whether the sample is good: empty if nothing.
    pub ok: String,
    /// What it has made of a sample of its own.
    pub code: Option<Script>,
    pub data: Option<Script>,
    pub label: Option<Script>,
    pub message: Option<Script>,
    /// Whether the sample is to be passed over.
    pub is_ignored: bool,
    /// What it does besides.
    pub effects: Vec<Effect>,
}

/// Something that a script does, on a condition.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::translate) struct Effect {
    pub condition: String,
    pub does: Does,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::translate) enum Does {
    /// Writes a text to the log.
    Log(String),
    /// Waits for so many milliseconds.
    Wait(String),
    Stop(StopScope),
}

/// What a script comes to; all expressions are about what holds before it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::translate) struct ScriptOutcome {
    /// Values that are kept first, which others name by their place: `kept_0` and so on.
    pub kept: Vec<String>,
    pub effects: Vec<Effect>,
    /// The variables that it sets, with their values.
    pub variables: Vec<(String, Script)>,
    pub properties: Vec<(String, Script)>,
    /// When the sample fails, if it says so.
    pub failed: Option<String>,
    /// When the sample is good, if it says so.
    pub ok: Option<String>,
    /// Of a sample of its own: code, data, name, and what it says beside the code.
    pub code: Option<Script>,
    pub data: Option<Script>,
    pub label: Option<Script>,
    pub message: Option<Script>,
    pub is_ignored: bool,
}

impl ScriptOutcome {
    /// Whether something that is kept or seen elsewhere has a value in it; the log is not.
    pub(in crate::translate) fn uses(&self, value: &str) -> bool {
        let set = self.variables.iter().chain(&self.properties).map(|(_, value)| &value.source);
        let said = self.failed.iter().chain(&self.ok).chain(&self.kept);
        let made = self.code.iter().chain(&self.data).chain(&self.label).chain(&self.message);
        let made = made.map(|made| &made.source);
        let on = self.effects.iter().filter_map(|effect| match &effect.does {
            Does::Log(_) => None,
            Does::Wait(time) => Some(time),
            Does::Stop(_) => Some(&effect.condition),
        });
        set.chain(said).chain(made).chain(on).any(|source| source.contains(value))
    }

    /// Whether what it does, beside judging, depends on a fact about the response.
    pub(in crate::translate) fn acts_on(&self, fact: &str) -> bool {
        let set = self.variables.iter().chain(&self.properties).map(|(_, value)| &value.source);
        let on = self.effects.iter().flat_map(|effect| match &effect.does {
            Does::Log(text) | Does::Wait(text) => [text, &effect.condition],
            Does::Stop(_) => [&effect.condition, &effect.condition],
        });
        set.chain(&self.kept).chain(on).any(|source| has(source, fact))
    }

    /// Whether what it says of the sample depends on a variable.
    pub(in crate::translate) fn judges_by(&self, variable: &str) -> bool {
        self.failed.iter().chain(&self.ok).any(|source| has(source, variable))
    }
}

/// Whether an expression has a name in it.
fn has(source: &str, name: &str) -> bool {
    renamed(source, &|own| (own == name).then(String::new)) != source
}

impl ScriptState {
    /// Whether the sample is good, as far as this script knows.
    pub(super) fn is_ok(&self) -> &str {
        if self.ok.is_empty() { GOOD } else { &self.ok }
    }

    /// What it comes to.
    pub(super) fn outcome(self) -> ScriptOutcome {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        ScriptOutcome {
            kept: self.kept,
            effects: self.effects,
            variables: self.variables.into_iter().collect(),
            properties: self.properties.into_iter().collect(),
            failed: some(self.failed),
            ok: some(self.ok),
            code: self.code,
            data: self.data,
            label: self.label,
            message: self.message,
            is_ignored: self.is_ignored,
        }
    }

    /// What two ways come to, of which the first is taken where a condition holds. `before` is what a variable or a
    /// property is that one of them leaves as it is.
    ///
    /// # Errors
    /// What cannot be told from the condition.
    pub(super) fn either(
        condition: &str,
        (then, otherwise): (ScriptState, ScriptState),
        before: &dyn Fn(bool, &str) -> Result<Script, String>,
    ) -> Result<ScriptState, String> {
        let of = |is_variable: bool, a: &BTreeMap<String, Script>, b: &BTreeMap<String, Script>| {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            let values = names.map(|name| {
                let own = |map: &BTreeMap<String, Script>| match map.get(name) {
                    Some(value) => Ok(value.clone()),
                    None => before(is_variable, name),
                };
                Ok((name.clone(), one_of(condition, own(a)?, own(b)?)))
            });
            values.collect::<Result<BTreeMap<_, _>, String>>()
        };
        let said = |a: &str, b: &str, without: &str| match (a, b) {
            ("", "") => String::new(),
            _ => {
                let or = |text: &str| if text.is_empty() { without } else { text }.to_owned();
                one_of(condition, Script::new(Kind::Bool, or(a)), Script::new(Kind::Bool, or(b)))
                    .source
            }
        };
        if then.is_ignored != otherwise.is_ignored
            || then.code != otherwise.code
            || then.data != otherwise.data
            || then.label != otherwise.label
        {
            return Err("what a sample is, on a condition".to_owned());
        }
        let message = match (then.message, otherwise.message) {
            (None, None) => None,
            (a, b) => {
                let or_ok =
                    |own: Option<Script>| own.unwrap_or_else(|| Script::new(Kind::Text, "\"OK\""));
                Some(one_of(condition, or_ok(a), or_ok(b)))
            }
        };
        // What was made in one of them is known in it alone.
        let locals = then.locals.iter().filter_map(|(name, a)| {
            let b = otherwise.locals.get(name)?.clone();
            Some((name.clone(), one_of(condition, a.clone(), b)))
        });
        Ok(ScriptState {
            locals: locals.collect(),
            variables: of(true, &then.variables, &otherwise.variables)?,
            properties: of(false, &then.properties, &otherwise.properties)?,
            failed: said(&then.failed, &otherwise.failed, "false"),
            ok: said(&then.ok, &otherwise.ok, GOOD),
            message,
            ..otherwise
        })
    }
}

/// One of two values.
pub(super) fn one_of(condition: &str, a: Script, b: Script) -> Script {
    if a == b {
        return a;
    }
    let kind = match (a.kind, b.kind) {
        (a, b) if a == b => a,
        (Kind::Text | Kind::MaybeText | Kind::Null, Kind::Text | Kind::MaybeText | Kind::Null) => {
            Kind::MaybeText
        }
        _ => Kind::Any,
    };
    let source = match (a.source.as_str(), b.source.as_str()) {
        ("true", "false") => condition.to_owned(),
        ("false", "true") => format!("!({condition})"),
        (a, b) => format!("({condition} ? {a} : {b})"),
    };
    Script::new(kind, source)
}

/// An expression with other names in it: those for which there is one, outside of texts.
pub(in crate::translate) fn renamed(
    source: &str,
    other: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut out = String::new();
    let mut rest = source;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => text_length(rest),
            c if is_letter(c) => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        // What follows a point is a part of something, and what a parenthesis follows a function.
        let is_name = is_letter(c) && !out.ends_with('.') && !behind.starts_with('(');
        match other(word).filter(|_| is_name) {
            Some(name) => out.push_str(&name),
            None => out.push_str(word),
        }
        rest = behind;
    }
    out
}

/// How long the text in quotes is that something begins with.
fn text_length(source: &str) -> usize {
    let mut escaped = true;
    for (at, c) in source.char_indices() {
        match c {
            '"' if !escaped => return at + 1,
            c => escaped = c == '\\' && !escaped,
        }
        if at == 0 {
            escaped = false;
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_are_replaced_outside_of_texts() {
        let other = |name: &str| (name == "body").then(|| "found_1".to_owned());
        for (source, expected) in [
            ("string(body) + \"body\"", "string(found_1) + \"body\""),
            ("\"a\\\"body\" + body", "\"a\\\"body\" + found_1"),
            ("body_1 + a.body + body(1)", "body_1 + a.body + body(1)"),
        ] {
            assert_eq!(renamed(source, &other), expected);
        }
    }
}
