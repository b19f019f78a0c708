//! Which rows of a run are pages that load what they name: to JMeter such a page is one sample, with the time of all of it, and
//! here a group of the page's name beside the page's own request.

use std::collections::BTreeSet;

use squall_metrics::RowKey;
use squall_plan::model::{Plan, Request, Resources, Step, StepKind};

/// Where a request stands: its scenario, the groups around it, and its name.
pub type Place = (String, Vec<String>, String);

/// Where a row stands.
pub fn place_of(key: &RowKey) -> Place {
    (key.place.scenario.clone(), key.place.group.clone(), key.name.clone())
}

/// The pages of a plan that is about to run.
#[derive(Debug, Default)]
pub struct Pages {
    /// Those whose place is known before the run.
    known: BTreeSet<Place>,
    /// Whether there are any.
    are_there: bool,
}

impl Pages {
    /// Those of a plan.
    pub fn of(plan: &Plan) -> Pages {
        let mut found = Found::default();
        for scenario in &plan.scenarios {
            let defaults = [&scenario.defaults, &plan.defaults];
            let resources = defaults.iter().find_map(|own| own.http.resources.as_ref());
            for step in &scenario.steps {
                found.look(&scenario.name.value, Some(Vec::new()), resources, step);
            }
        }
        let are_there = found.are_there;
        // Where a page and another request are one row, their groups are not all of it.
        let known = &found.pages - &found.others;
        Pages { known, are_there }
    }

    /// Whether there is a page at a place, which is known before the run.
    pub fn has(&self, place: &Place) -> bool {
        self.known.contains(place)
    }

    /// Whether there are any, maybe at places that only the run knows.
    pub fn are_there(&self) -> bool {
        self.are_there
    }
}

/// Requests whose places are known.
#[derive(Debug, Default)]
struct Found {
    pages: BTreeSet<Place>,
    others: BTreeSet<Place>,
    are_there: bool,
}

impl Found {
    /// Looks at a step; `groups` are those around it, if all of their names are known.
    fn look(
        &mut self,
        scenario: &str,
        mut groups: Option<Vec<String>>,
        resources: Option<&Resources>,
        step: &Step,
    ) {
        match &step.kind {
            StepKind::Request(request) => self.add(scenario, groups.clone(), resources, request),
            StepKind::Group(group) => {
                groups = groups.zip(group.name.literal()).map(|(mut groups, name)| {
                    groups.push(name.to_owned());
                    groups
                });
            }
            _ => {}
        }
        for step in step.inner() {
            self.look(scenario, groups.clone(), resources, step);
        }
    }

    fn add(
        &mut self,
        scenario: &str,
        groups: Option<Vec<String>>,
        resources: Option<&Resources>,
        request: &Request,
    ) {
        let resources = request.http.resources.as_ref().or(resources);
        let is_page = resources.is_some_and(|resources| resources.load);
        self.are_there |= is_page;
        let name = request.name.as_ref().and_then(|name| name.literal());
        let Some((groups, name)) = groups.zip(name) else { return };
        let of = if is_page { &mut self.pages } else { &mut self.others };
        of.insert((scenario.to_owned(), groups, name.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_by_their_place() {
        let text = "scenarios:\n  a:\n    load: {users: 1, for: 1s}\n    defaults: {resources: true}\n    steps:\n      \
            - {get: /, name: home}\n      - {get: /, name: plain, resources: false}\n      \
            - {group: g, steps: [{repeat: 2, steps: [{get: /, name: in it}]}]}\n      \
            - {get: /, name: both}\n      - {get: /, name: both, resources: false}\n";
        let loaded = squall_runner::load_str("plan.yaml", text).expect("a plan");
        let pages = Pages::of(&loaded.plan);
        let has = |groups: &[&str], name: &str| {
            let groups = groups.iter().map(|name| (*name).to_owned()).collect();
            pages.has(&("a".to_owned(), groups, name.to_owned()))
        };
        assert!(pages.are_there() && has(&[], "home") && has(&["g"], "in it"));
        assert!(!has(&[], "plain") && !has(&[], "in it") && !has(&[], "both"));
    }
}
