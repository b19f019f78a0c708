//! A plan without what has no equal: elements that are not supported are taken out of it, as if they were disabled.

use std::collections::BTreeSet;

use crate::inventory::{Inventory, Reason, inventory};
use crate::translate::{Translation, TranslationContext, translate};
use crate::tree::{ElementId, Tree};

/// A plan, as far as it is supported.
#[derive(Debug, Clone, PartialEq)]
pub struct Supported {
    /// What is left of it, translated.
    pub translation: Translation,
    /// What was left out, and why. What is below such an element is left out with it.
    pub left_out: Vec<Reason>,
    /// What cannot be left out; none if the rest can be run.
    pub remaining: Vec<Reason>,
}

/// Translates a plan without its elements that are not supported, or of which something is not. Taking one out may show
/// that another has no equal, or has one now: it is translated again until nothing more is to be taken out.
pub fn translate_supported(tree: &Tree, given: &TranslationContext) -> Supported {
    let mut tree = tree.clone();
    let mut left_out = Vec::new();
    loop {
        let translation = translate(&tree, given.clone());
        let found = inventory(&tree, &translation.obstacles, &translation.idle);
        let takes_part = |id: &ElementId| tree.takes_part(*id) && !tree.roots.contains(id);
        let unsupported: BTreeSet<ElementId> =
            found.obstacles().map(|entry| entry.id).filter(takes_part).collect();
        // What goes with something around it is not said.
        let outermost = unsupported.iter().copied();
        let outermost = outermost
            .filter(|id| !tree.around(*id).any(|around| unsupported.contains(&around)))
            .collect::<Vec<_>>();
        if outermost.is_empty() {
            // What the plan itself says beside its elements.
            left_out.extend(of(&found, &|id| tree.roots.contains(&id)));
            let mut remaining = of(&found, &|id| !tree.roots.contains(&id));
            if let Some(root) = tree.roots.first().filter(|_| translation.is_idle)
                && !left_out.is_empty()
            {
                let what = "nothing is left that sends anything".to_owned();
                remaining.push(Reason { element: None, place: tree.path(*root), what });
            }
            return Supported { translation, left_out, remaining };
        }
        left_out.extend(of(&found, &|id| outermost.contains(&id)));
        outermost.into_iter().for_each(|id| tree.disable(id));
    }
}

/// The reasons of some elements.
fn of(found: &Inventory, wanted: &dyn Fn(ElementId) -> bool) -> Vec<Reason> {
    let entries = found.entries.iter().filter(|entry| wanted(entry.id)).cloned().collect();
    Inventory { entries }.reasons()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supported(elements: &str) -> Supported {
        let text = format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="plan"/><hashTree>
            <ThreadGroup testname="users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
              <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
                <stringProp name="LoopController.loops">1</stringProp>
                <boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
            </ThreadGroup><hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        let tree = Tree::read(text.as_bytes()).expect("a plan");
        translate_supported(&tree, &TranslationContext::default())
    }

    const REQUEST: &str = r#"<HTTPSamplerProxy testname="home">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp></HTTPSamplerProxy>"#;

    #[test]
    fn what_is_not_supported_is_left_out_with_what_is_below_it() {
        let made = supported(&format!(
            r#"<IfController testname="if"><stringProp name="IfController.condition">new File()</stringProp>
               </IfController><hashTree><com.example.Teapot testname="inner"/><hashTree/></hashTree>
               {REQUEST}<hashTree><com.example.Teapot testname="brew"/><hashTree/></hashTree>"#
        ));
        assert_eq!(made.remaining, []);
        let left_out: Vec<String> = made.left_out.iter().map(Reason::to_string).collect();
        let [of_if, brew] = left_out.as_slice() else { panic!("{left_out:?}") };
        assert!(of_if.starts_with("plan > users > if (If Controller): "), "{of_if}");
        let reason =
            "plan > users > home > brew (com.example.Teapot): nothing is known of this element";
        assert_eq!(brew, reason);
        assert_eq!(made.translation.plan.scenarios[0].steps.len(), 1);
        assert_eq!(made.translation.obstacles, []);
    }

    #[test]
    fn a_plan_of_which_nothing_is_left_says_why() {
        let made = supported(r#"<com.example.Teapot testname="brew"/><hashTree/>"#);
        assert_eq!(made.left_out.len(), 1);
        let remaining: Vec<String> = made.remaining.iter().map(Reason::to_string).collect();
        assert_eq!(remaining, ["plan: nothing is left that sends anything"]);
    }

    #[test]
    fn a_plan_that_is_whole_stays_whole() {
        let made = supported(&format!("{REQUEST}<hashTree/>"));
        assert_eq!((made.left_out.len(), made.remaining.len()), (0, 0));
    }
}
