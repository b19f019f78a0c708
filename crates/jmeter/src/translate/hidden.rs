//! Names of hidden variables, which steps of squall's own need: each is given once, and no variable of a plan is ever
//! called so. Pure.

use std::collections::BTreeMap;

use crate::tree::ElementId;

/// What hidden variables are for. Three are never given, but written where they are needed: `reply_N` is a fact about the
/// last response, `each_N` one element of a list within an expression, and `kept_N` a value within the expressions of one
/// script, before they are steps.
const PURPOSES: [&str; 16] = [
    "pass", "switch", "branch", "until", "turn", "value", "found", "constant", "kept", "reply",
    "began", "session", "link", "each", "script", "row",
];

/// Whether a name may be one of a hidden variable.
pub(super) fn is_hidden(name: &str) -> bool {
    let purpose = name.split_once('_');
    purpose.is_some_and(|(purpose, rest)| {
        PURPOSES.contains(&purpose) && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The names that are given, with numbers from 1 on for each purpose.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// How many there are of each purpose.
    counts: BTreeMap<&'static str, usize>,
    /// Those of elements: by purpose, element, and which of the element's it is.
    of_elements: BTreeMap<(&'static str, ElementId, usize), String>,
}

impl Hidden {
    /// A name that nothing else has.
    pub(super) fn another(&mut self, purpose: &'static str) -> String {
        debug_assert!(PURPOSES.contains(&purpose), "{purpose} is not kept free");
        let count = self.counts.entry(purpose).or_default();
        *count += 1;
        format!("{purpose}_{count}")
    }

    /// A name that an element alone has, the same each time; `part`: which of those that it has for one purpose.
    pub(super) fn of(&mut self, purpose: &'static str, element: ElementId, part: usize) -> String {
        let key = (purpose, element, part);
        if let Some(known) = self.of_elements.get(&key) {
            return known.clone();
        }
        let name = self.another(purpose);
        self.of_elements.insert(key, name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn each_name_is_given_once_and_an_element_keeps_its_own() {
        let plan = "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup/><hashTree/></hashTree></hashTree></jmeterTestPlan>";
        let tree = Tree::read(plan.as_bytes()).expect("a plan");
        let ids: Vec<ElementId> = tree.iter().map(|(id, _)| id).collect();
        let mut hidden = Hidden::default();
        let mut names = vec![hidden.another("turn"), hidden.another("turn")];
        for (id, part) in [(ids[0], 0), (ids[0], 1), (ids[1], 0), (ids[1], 1)] {
            names.push(hidden.of("turn", id, part));
        }
        names.push(hidden.another("turn"));
        let expected: Vec<String> = (1..=names.len()).map(|n| format!("turn_{n}")).collect();
        assert_eq!(names, expected);
        assert_eq!(hidden.of("turn", ids[0], 1), "turn_4");
        assert_eq!(hidden.of("value", ids[0], 1), "value_1");
        assert!(names.iter().all(|name| is_hidden(name)));
        assert!(!is_hidden("turn") && !is_hidden("turn_x") && !is_hidden("token_1"));
    }
}
