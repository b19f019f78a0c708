//! What applies to every request that does not say otherwise.

use std::collections::HashSet;

use super::HttpOptions;
use super::tags::{Tagged, Tags};
use crate::keys::{Headers, record};
use crate::template::Template;

record! {
    /// What applies to every request that does not say otherwise. A scenario may have its own.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Defaults as "defaults" {
        /// Headers added unless the request has one of that name, or its body needs another.
        #[key([Headers])]
        pub headers: Vec<(Template, Template)>,
        /// How requests are made and judged.
        #[key(flat)]
        pub http: HttpOptions,
        /// Tags of every row, known before the run; those of a scenario, a group or a request take precedence.
        #[key([Tagged])]
        pub tags: Tags,
    }
}

impl Defaults {
    /// A scenario's defaults over the plan's.
    pub fn over(&self, plan: &Defaults) -> Defaults {
        let named = |(name, _): &(Template, Template)| name.source().to_ascii_lowercase();
        let has: HashSet<String> = self.headers.iter().map(named).collect();
        let others = plan.headers.iter().filter(|header| !has.contains(&named(header)));
        Defaults {
            headers: self.headers.iter().chain(others).cloned().collect(),
            http: self.http.or(&plan.http),
            tags: plan.tags.iter().chain(&self.tags).cloned().collect(),
        }
    }
}
