//! Functions that also set a variable to what they give, or count: a step before the one whose text calls them does it.

use squall_plan::model::{Advance, Csv, DataFormat, DataSource, Numbers, Share, StepKind};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::calls::MISSING;
use super::data::NO_DELIMITER;
use super::texts::{TextPiece, expression, quoted};
use crate::text::Call;

/// A part of a text that is split, in an expression.
const PART: &str = "each_0";

/// Which parameter of a call is the name of a variable that it sets, if it has one.
pub(super) fn variable_of(call: &Call) -> Option<usize> {
    let count = call.parameters.len();
    let index = match call.name.as_str() {
        "__samplerName" | "__machineName" | "__machineIP" => 0,
        "__time" | "__property" | "__RandomFromMultipleVars" | "__counter" => 1,
        "__escapeOroRegexpChars" => 1,
        "__StringFromFile" => 1,
        "__Random" | "__RandomString" | "__changeCase" | "__FileToString" => 2,
        "__dateTimeConvert" => 3,
        "__digest" | "__RandomDate" => 4,
        "__regexFunction" => 5,
        "__timeShift" if count == 4 => 3,
        "__timeShift" => 4,
        // A last one that is no number.
        "__intSum" | "__longSum" if count > 2 => {
            let last = call.parameters.last()?.as_literal()?;
            let is_name = last.trim().parse::<i64>().is_err();
            count - usize::from(is_name)
        }
        _ => return None,
    };
    let name = call.parameters.get(index)?.as_literal()?;
    (!name.trim().is_empty()).then_some(index)
}

/// The beginning of the names that a call of `__split` sets.
pub(super) fn split_into(call: &Call) -> Option<&str> {
    let prefix = call.parameters.get(1).filter(|_| call.name == "__split")?.as_literal()?.trim();
    (!prefix.is_empty()).then_some(prefix)
}

/// The name of the variable that a call sets.
pub(super) fn set_by(call: &Call) -> Option<&str> {
    let parameter = &call.parameters[variable_of(call)?];
    Some(parameter.as_literal()?.trim())
}

impl Translator<'_> {
    /// What is made of texts, and the steps that have to come before it because of what these texts set.
    pub(super) fn with_settings<T>(&self, make: impl FnOnce() -> T) -> (T, Vec<StepKind>) {
        let around = self.settings.replace(Some(Vec::new()));
        let made = make();
        (made, self.settings.replace(around).unwrap_or_default())
    }

    /// What is made of texts that are read too late to set anything.
    pub(super) fn without_settings<T>(&self, make: impl FnOnce() -> T) -> T {
        let around = self.settings.take();
        let made = make();
        self.settings.replace(around);
        made
    }

    /// The parts of a text (`__split`), each a variable, which the text itself is as well. Any of some characters is
    /// between two parts, and an empty one is a question mark.
    pub(super) fn split_up(
        &self,
        call: &Call,
        text: &[TextPiece],
        separators: &str,
    ) -> Result<TextPiece, String> {
        let prefix = split_into(call).ok_or("`__split` into variables of no name")?;
        let found = self.names.matches(prefix).ok_or("variables of `__split`")?;
        let whole = self.assigned(prefix, TextPiece::Expr(expression(text)))?;
        let variable = self.names.variable(prefix).unwrap_or_default().to_owned();
        let mut separators = separators.chars();
        let first = quoted(&separators.next().unwrap_or(',').to_string());
        let text = separators.fold(variable.clone(), |text, other| {
            format!("replace({text}, {}, {first})", quoted(&other.to_string()))
        });
        let parts = format!("split({text}, {first}).map({PART}, {PART} == \"\" ? \"?\" : {PART})");
        self.add_setting(|root| {
            self.set(root, found, &format!("{variable} == \"\" ? [] : {parts}"))
        })?;
        Ok(whole)
    }

    /// The next number of a function that counts its own calls (`__counter`): those of all threads, or of each.
    pub(super) fn counted(&self, is_per_thread: bool) -> Result<TextPiece, String> {
        if self.in_main_thread.get() {
            return Ok(TextPiece::Text("1".to_owned()));
        }
        let source = DataSource {
            format: DataFormat::Numbers(Numbers::default()),
            share: if is_per_thread { Share::User } else { Share::All },
            ..DataSource::default()
        };
        self.next_of(source, "number")
    }

    /// The next line of a file (`__StringFromFile`), which begins anew at its end.
    pub(super) fn next_line(&self, name: &str) -> Result<TextPiece, String> {
        // Relative to where the program was started, unlike the plan's data files.
        let file = std::path::PathBuf::from(name);
        if !file.exists() {
            return Ok(TextPiece::Text(MISSING.to_owned()));
        }
        let bad = |why: String| format!("`__StringFromFile` of {name}: {why}");
        let text = squall_plan::files::text(&file).map_err(bad)?;
        if text.is_empty() || text.lines().any(str::is_empty) || text.contains('\u{1f}') {
            return Err(bad("a file without lines, or with empty ones".to_owned()));
        }
        let columns = Some(vec!["line".to_owned()]);
        let csv = Csv { delimiter: NO_DELIMITER, columns, quotes: false, ..Csv::default() };
        let source = DataSource {
            file: Spanned::new(file, Span::default()),
            format: DataFormat::Csv(csv),
            share: Share::All,
            ..DataSource::default()
        };
        self.next_of(source, "line")
    }

    /// A column of a data source that goes on each time the step at hand is come to.
    fn next_of(&self, source: DataSource, column: &str) -> Result<TextPiece, String> {
        let name = Spanned::new(self.names.hidden("turn"), Span::default());
        self.add_setting(|_| StepKind::NextRow(name.clone()))?;
        let cell = format!("{}.{column}", name.value);
        self.made_sources.borrow_mut().push(DataSource { name, advance: Advance::Step, ..source });
        Ok(TextPiece::Expr(cell))
    }

    /// Adds what comes before the step at hand.
    ///
    /// # Errors
    /// There is no step before which it could come.
    pub(super) fn add_setting(
        &self,
        make: impl FnOnce(crate::tree::ElementId) -> StepKind,
    ) -> Result<(), String> {
        let root = self.tree.roots.first().ok_or("a plan without elements")?;
        let step = make(*root);
        let mut settings = self.settings.borrow_mut();
        let Some(settings) = settings.as_mut() else {
            return Err("a function that sets or counts something there".to_owned());
        };
        settings.push(step);
        Ok(())
    }

    /// A variable that has what a function gives.
    ///
    /// # Errors
    /// There is no step before which it could be set.
    pub(super) fn assigned(&self, name: &str, value: TextPiece) -> Result<TextPiece, String> {
        let variable = self.names.variable(name).ok_or(format!("the variable `{name}`"))?;
        self.add_setting(|root| self.set(root, variable, &expression(&[value])))
            .map_err(|_| format!("the variable `{name}`, which a function sets there"))?;
        Ok(TextPiece::Expr(variable.to_owned()))
    }
}
