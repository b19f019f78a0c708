//! Texts that only the run knows, in which variables are looked up once more (`__eval`, `__evalVar`).

use super::Translator;
use super::texts::{TextPiece, quoted};
use crate::constants::OF_START;

/// Most variables that may be looked up.
const MOST_VARIABLES: usize = 200;

impl Translator<'_> {
    /// A text with the values of variables in it, as an expression. Functions in it, escapes, and variables that extractors
    /// make beside their own are not looked up: with one of them it fails, and says so. `None` if it cannot be said.
    pub(super) fn filled(&self, text: &str) -> Option<TextPiece> {
        const TEXT: &str = "each_6";
        if self.in_main_thread.get() {
            return None;
        }
        let mut names: Vec<&str> = self.names.iter().map(|(name, _)| name).collect();
        names.extend(self.constants.variables());
        names.push("JMeterThread.last_sample_ok");
        names.sort_unstable();
        names.dedup();
        if names.len() > MOST_VARIABLES {
            return None;
        }
        let (mut entries, mut unknown) = (Vec::new(), vec!["__".to_owned()]);
        for name in names {
            match self.variable(name) {
                Ok(TextPiece::Text(text)) => {
                    entries.push(format!("{}: {}", quoted(name), quoted(&text)))
                }
                Ok(TextPiece::Expr(value)) => {
                    entries.push(format!("{}: string({value})", quoted(name)));
                }
                Err(_) => unknown.push(format!("{}\\}}", regex_syntax::escape(name))),
            }
        }
        let entries = entries.join(", ");
        let beside = self.names.all_sets().map(|set| format!("{}_", regex_syntax::escape(set)));
        let unset = OF_START.iter().filter(|(name, _)| self.names.variable(name).is_none());
        let others = unset.map(|(name, _)| regex_syntax::escape(name));
        unknown.extend(others.chain(beside));
        let refused = quoted(&format!(r"\$\{{({})|\\[$,\\]", unknown.join("|")));
        let why =
            quoted("a text with functions or escapes, which are not looked up while the plan runs");
        Some(TextPiece::Expr(format!(
            "[string({text})].map({TEXT}, !{TEXT}.contains(\"$\" + \"{{\") ? {TEXT} \
             : {TEXT}.matches({refused}) ? fail({why}) : fill({TEXT}, {{{entries}}}))[0]"
        )))
    }
}
