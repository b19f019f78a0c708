//! Which elements hold for which sampler, by JMeter's rules of scope.
//!
//! From a sampler one goes up to the root. At each level the elements that are there hold: first those below the
//! sampler itself, then its siblings, then the siblings of the controller around it, and so on. A controller or
//! another sampler is passed by, with all that is below it.
//!
//! Configuration and timers count from the inside out (what is near goes first), pre-processors, post-processors and
//! assertions from the outside in; within a level it is the order of the file.

use std::collections::HashMap;

use crate::elements::Role;
use crate::tree::{ElementId, Tree};

/// What holds for a sampler, each list in the order in which it counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// Defaults and managers; the first that gives a value decides.
    pub configs: Vec<ElementId>,
    /// All of them are waited for, in one wait, before each sampler.
    pub timers: Vec<ElementId>,
    /// Run before the wait.
    pub pre_processors: Vec<ElementId>,
    /// Run after the sample, before the assertions.
    pub post_processors: Vec<ElementId>,
    pub assertions: Vec<ElementId>,
}

/// Where the elements of a plan stand that hold for others: each level is looked through once, and not again for each of
/// its samplers.
#[derive(Debug)]
pub struct Scopes<'t> {
    tree: &'t Tree,
    /// By the number of the element around them; those that are enabled, in the order of the file.
    below: Vec<Vec<(Role, ElementId)>>,
    /// All elements that take part, by their classes.
    of_class: HashMap<&'t str, Vec<ElementId>>,
}

impl<'t> Scopes<'t> {
    /// Those of a plan.
    pub fn of(tree: &'t Tree) -> Scopes<'t> {
        let holds = |id: ElementId| {
            let role = tree.element(id).known()?.role;
            let holds = matches!(
                role,
                Role::Config
                    | Role::Timer
                    | Role::PreProcessor
                    | Role::PostProcessor
                    | Role::Assertion
            );
            holds.then_some((role, id))
        };
        let below =
            tree.iter().map(|(id, _)| tree.enabled_children(id).filter_map(holds).collect());
        let mut of_class: HashMap<&str, Vec<ElementId>> = HashMap::new();
        for (id, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            of_class.entry(&element.class).or_default().push(id);
        }
        Scopes { tree, below: below.collect(), of_class }
    }

    /// The elements of a class that take part, in the order of the file.
    pub fn of_class(&self, class: &str) -> &[ElementId] {
        self.of_class.get(class).map_or(&[], Vec::as_slice)
    }

    /// What holds for a sampler. What is disabled holds for nothing.
    pub fn of_sampler(&self, sampler: ElementId) -> Scope {
        let mut scope = Scope::default();
        // The levels, the innermost first.
        for level in std::iter::once(sampler).chain(self.tree.around(sampler)) {
            let below = &self.below[level.number()];
            let with = |role: Role| below.iter().filter(move |own| own.0 == role).map(|own| own.1);
            scope.configs.extend(with(Role::Config));
            scope.timers.extend(with(Role::Timer));
            scope.pre_processors.splice(0..0, with(Role::PreProcessor));
            scope.post_processors.splice(0..0, with(Role::PostProcessor));
            scope.assertions.splice(0..0, with(Role::Assertion));
        }
        scope
    }

    /// The assertions that hold for a transaction's own sample: those below the controller and those around it. Those
    /// below it hold for each of its samplers as well.
    pub fn assertions_of_transaction(&self, controller: ElementId) -> Vec<ElementId> {
        self.of_sampler(controller).assertions
    }
}

/// The controller, or thread group, whose iterations a config element follows that gives new values with each (CSV
/// data, a counter, a random variable): the nearest one around it. `None` under the test plan itself: it then stands
/// in each thread group.
pub fn iterates_with(tree: &Tree, config: ElementId) -> Option<ElementId> {
    tree.around(config).find(|id| {
        let role = tree.element(*id).known().map(|known| known.role);
        matches!(role, Some(Role::Controller | Role::ThreadGroup))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<jmeterTestPlan><hashTree>
      <TestPlan testname="plan"/>
      <hashTree>
        <HeaderManager testname="h-plan"/><hashTree/>
        <CSVDataSet testname="csv-plan"/><hashTree/>
        <ThreadGroup testname="group"/>
        <hashTree>
          <ConstantTimer testname="t-group"/><hashTree/>
          <ResponseAssertion testname="a1-group"/><hashTree/>
          <ResponseAssertion testname="a2-group"/><hashTree/>
          <LoopController testname="loop"/>
          <hashTree>
            <CSVDataSet testname="csv-loop"/><hashTree/>
            <UserParameters testname="u-loop"/><hashTree/>
            <HTTPSamplerProxy testname="first"/>
            <hashTree>
              <HeaderManager testname="h-first"/><hashTree/>
              <ConstantTimer testname="t-first"/><hashTree/>
              <ResponseAssertion testname="a-first"/><hashTree/>
              <RegexExtractor testname="off" enabled="false"/><hashTree/>
            </hashTree>
            <HeaderManager testname="h-loop"/><hashTree/>
          </hashTree>
          <GenericController testname="other"/>
          <hashTree><HeaderManager testname="h-other"/><hashTree/></hashTree>
          <RegexExtractor testname="x-group"/><hashTree/>
          <HTTPSamplerProxy testname="second"/><hashTree/>
        </hashTree>
      </hashTree>
    </hashTree></jmeterTestPlan>"#;

    fn tree() -> Tree {
        Tree::read(PLAN.as_bytes()).expect("a plan")
    }

    fn named(tree: &Tree, name: &str) -> ElementId {
        tree.iter().find(|(_, element)| element.name == name).expect("an element of that name").0
    }

    fn names<'t>(tree: &'t Tree, ids: &[ElementId]) -> Vec<&'t str> {
        ids.iter().map(|id| tree.element(*id).name.as_str()).collect()
    }

    #[test]
    fn configuration_counts_from_the_inside_out_and_assertions_from_the_outside_in() {
        let tree = tree();
        let scope = Scopes::of(&tree).of_sampler(named(&tree, "first"));
        assert_eq!(
            names(&tree, &scope.configs),
            ["h-first", "csv-loop", "h-loop", "h-plan", "csv-plan"]
        );
        assert_eq!(names(&tree, &scope.timers), ["t-first", "t-group"]);
        assert_eq!(names(&tree, &scope.assertions), ["a1-group", "a2-group", "a-first"]);
        assert_eq!(names(&tree, &scope.post_processors), ["x-group"]);
        assert_eq!(names(&tree, &scope.pre_processors), ["u-loop"]);
    }

    #[test]
    fn what_is_in_another_controller_or_disabled_does_not_hold() {
        let tree = tree();
        let scope = Scopes::of(&tree).of_sampler(named(&tree, "second"));
        assert_eq!(names(&tree, &scope.configs), ["h-plan", "csv-plan"]);
        assert_eq!(names(&tree, &scope.timers), ["t-group"]);
        assert_eq!(names(&tree, &scope.assertions), ["a1-group", "a2-group"]);
        let of_loop = Scopes::of(&tree).assertions_of_transaction(named(&tree, "loop"));
        assert_eq!(names(&tree, &of_loop), ["a1-group", "a2-group"]);
    }

    #[test]
    fn elements_are_found_by_their_class() {
        let tree = tree();
        let scopes = Scopes::of(&tree);
        let of_class = |class| names(&tree, scopes.of_class(class));
        assert_eq!(of_class("HTTPSamplerProxy"), ["first", "second"]);
        // The only other one is disabled.
        assert_eq!(of_class("RegexExtractor"), ["x-group"]);
        assert_eq!(of_class("Novel"), [""; 0]);
    }

    #[test]
    fn what_gives_new_values_follows_the_nearest_controller() {
        let tree = tree();
        let follows = |name| iterates_with(&tree, named(&tree, name));
        assert_eq!(follows("csv-loop"), Some(named(&tree, "loop")));
        assert_eq!(follows("h-first"), Some(named(&tree, "loop")));
        assert_eq!(follows("csv-plan"), None);
    }
}
