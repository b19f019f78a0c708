//! Texts that only the run knows, in which variables are looked up once more (`__eval`, `__evalVar`).

use super::Translator;
use super::texts::{OF_JMETER, Piece, quoted};

/// Most variables that may be looked up.
const MOST_VARIABLES: usize = 200;

impl Translator<'_> {
    /// A text with the values of variables in it, as an expression. Functions in it, escapes, and variables that extractors
    /// make beside their own are not looked up: with one of them it fails, and says so. `None` if it cannot be said.
    pub(super) fn filled(&self, text: &str) -> Option<Piece> {
        const TEXT: &str = "value_6";
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
        let entries = names.iter().map(|name| {
            let value = match self.variable(name).ok()? {
                Piece::Text(text) => quoted(&text),
                Piece::Expr(value) => format!("string({value})"),
            };
            Some(format!("{}: {value}", quoted(name)))
        });
        let entries = entries.collect::<Option<Vec<_>>>()?.join(", ");
        let beside = self.names.all_sets().map(|set| format!("{}_", regex::escape(set)));
        let others = OF_JMETER.iter().map(|name| regex::escape(name));
        let unknown: Vec<String> = others.chain(beside).chain(["__".to_owned()]).collect();
        let refused = quoted(&format!(r"\$\{{({})|\\[$,\\]", unknown.join("|")));
        let why =
            quoted("a text with functions or escapes, which are not looked up while the plan runs");
        Some(Piece::Expr(format!(
            "[string({text})].map({TEXT}, !{TEXT}.contains(\"$\" + \"{{\") ? {TEXT} \
             : {TEXT}.matches({refused}) ? fail({why}) : fill({TEXT}, {{{entries}}}))[0]"
        )))
    }
}
