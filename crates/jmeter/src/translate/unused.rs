//! Where variables are set that nothing in a plan asks for, not even what is disabled: of these alone it is worth saying
//! that nothing uses them.

use std::collections::{BTreeMap, BTreeSet};

use squall_plan::span::Span;

use super::data::Columns;
use super::names::set_by;
use super::scripted;
use crate::functions;
use crate::text::Text;
use crate::tree::Tree;

/// The place of the first element that sets each of them, by JMeter's name.
pub(super) fn unused(tree: &Tree, columns: &Columns) -> BTreeMap<String, Span> {
    let mut asked = BTreeSet::new();
    for (_, element) in tree.iter() {
        asked_by_text(&element.name, &mut asked);
        element.properties.each_text(&mut |text| asked_by_text(text, &mut asked));
        let script = scripted::script_of(element).unwrap_or_default();
        asked.extend(script.split(['"', '\'']).map(str::to_owned));
        let input = element.properties.text("Scope.variable");
        asked.extend(input.map(str::to_owned));
    }
    // What several are made of has a number behind it, or before a ForEach Controller goes through it.
    let inputs =
        tree.iter().filter_map(|(_, own)| own.properties.text("ForeachController.inputVal"));
    let inputs: Vec<&str> = inputs.collect();
    let is_asked = |name: &str| {
        let beside = format!("{name}_");
        asked.contains(name)
            || asked.range(beside.clone()..).next().is_some_and(|own| own.starts_with(&beside))
            || inputs.iter().any(|input| name.starts_with(input))
    };
    let mut found = BTreeMap::new();
    for (id, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
        let columns = columns.get(&id).and_then(|own| own.as_ref().ok());
        let names = set_by(element).into_iter().chain(columns.into_iter().flatten().cloned());
        for name in names.filter(|name| !is_asked(name)) {
            found.entry(name).or_insert(element.span);
        }
    }
    found
}

/// The variables of a text, and the words that its functions are called with, which may be names.
fn asked_by_text(text: &str, found: &mut BTreeSet<String>) {
    let text = Text::parse(text, &functions::is_function).unwrap_or_default();
    found.extend(text.variables().into_iter().map(str::to_owned));
    let words = text.calls().into_iter().flat_map(|call| &call.parameters);
    let words = words.filter_map(Text::as_literal).flat_map(|own| own.split(['"', '\'']));
    found.extend(words.map(|word| word.trim().to_owned()));
}
