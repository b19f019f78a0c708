//! The number of a loop's pass, which JMeter has in a variable of the loop's name (`__jm__NAME__idx`), and that of a
//! thread group's iteration.

use squall_plan::model::{Step, StepKind};

use super::script::renamed;
use super::{Translator, step};
use crate::properties::PropertyValue;
use crate::tree::{Element, ElementId};

/// The variable that has the number of an element's pass, if it is a loop, or a thread group that has one.
pub(super) fn index_of(element: &Element) -> Option<String> {
    let named = |name: &str| format!("__jm__{name}__idx");
    let class = element.class.as_str();
    if matches!(class, "LoopController" | "WhileController" | "ForeachController") {
        return Some(named(&element.name));
    }
    let own = element.properties.iter().find(|own| own.name == "ThreadGroup.main_controller")?;
    match &own.value {
        // The loop of a group that is saved without a name has none; with any, it is that of the group.
        PropertyValue::Element { class, is_named, .. } if class == "LoopController" => {
            Some(named(if *is_named { &element.name } else { "" }))
        }
        _ => None,
    }
}

impl Translator<'_> {
    /// The variable here of a loop's pass, if something asks for it.
    pub(super) fn index(&self, id: ElementId) -> Option<&str> {
        self.names.variable(&index_of(self.tree.element(id))?)
    }

    /// The hidden variable of the number that a loop's next pass has.
    fn next_pass(&self, id: ElementId) -> String {
        self.names.hidden_of("turn", id, 0)
    }

    /// The steps of a thread group, with the number of the iteration before them.
    pub(super) fn counted_iteration(&self, id: ElementId, mut steps: Vec<Step>) -> Vec<Step> {
        if let Some(index) = self.index(id).filter(|_| !steps.is_empty()) {
            steps.insert(0, step(self.set(id, index, "string(iteration)")));
        }
        steps
    }

    /// The steps of a loop, with what counts its passes before them.
    pub(super) fn counted_pass(&self, id: ElementId, mut steps: Vec<Step>) -> Vec<Step> {
        let Some(index) = self.index(id).filter(|_| !steps.is_empty()) else { return steps };
        let next = self.next_pass(id);
        let counts = [(index, format!("string({next})")), (next.as_str(), format!("{next} + 1"))];
        let counts = counts.map(|(name, value)| step(self.set(id, name, &value)));
        steps.splice(0..0, counts);
        steps
    }

    /// A loop, with its number being 0 before its first pass, where it may be asked for already, and behind it.
    pub(super) fn counted_loop(&self, id: ElementId, steps: Vec<StepKind>) -> Vec<StepKind> {
        let Some(index) = self.index(id).filter(|_| !steps.is_empty()) else { return steps };
        let next = self.next_pass(id);
        self.hold(&next);
        let none = || self.set(id, index, "\"0\"");
        let before = [none(), self.set(id, &next, "0")];
        before.into_iter().chain(steps).chain([none()]).collect()
    }

    /// A condition on which a loop goes on: it is about the pass that would come.
    pub(super) fn for_next_pass(&self, id: ElementId, condition: String) -> String {
        let Some(index) = self.index(id) else { return condition };
        let next = format!("string({})", self.next_pass(id));
        renamed(&condition, &|name| (name == index).then(|| next.clone()))
    }
}
