//! Whether a node may run a plan: what it was started with decides, not who calls it. Pure.
//!
//! Hosts are held against the node's list twice: those that are known when the run is prepared, and every connection that
//! is made ([`squall_base::AllowList`]).

use squall_base::AllowList;
use squall_load::Share;
use squall_plan::model::{Load, Plan, Step, StepKind};

use crate::protocol::messages::Allows;

/// The hosts that a node allows.
///
/// # Errors
/// It allows none, or its list is wrong; in a sentence.
pub fn hosts(allows: &Allows) -> Result<AllowList, String> {
    if allows.hosts.is_empty() {
        return Err(
            "this node takes no run, as it was started without `--allow-hosts`: start it with the hosts that it may send requests to, such as `--allow-hosts shop.example.com`".to_owned(),
        );
    }
    let patterns: Vec<String> = allows.hosts.iter().map(|pattern| in_ascii(pattern)).collect();
    AllowList::read(&patterns)
}

/// A pattern with its name as it stands in URLs.
fn in_ascii(pattern: &str) -> String {
    if pattern.is_ascii() {
        return pattern.to_owned();
    }
    let (below, name) = match pattern.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", pattern),
    };
    // What is no name is refused as it is.
    squall_engine::host_name(name)
        .map_or_else(|| pattern.to_owned(), |name| below.to_owned() + &name)
}

/// Whether a plan runs programs that a node does not allow.
///
/// # Errors
/// It does, in a sentence.
pub fn programs(plan: &Plan, allows: &Allows) -> Result<(), String> {
    let mut steps = plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    match !allows.exec && steps.any(runs_a_program) {
        true => Err("the plan runs programs, which this node does not allow: start it with `--allow-exec`, or leave `exec` out of the plan".to_owned()),
        false => Ok(()),
    }
}

fn runs_a_program(step: &Step) -> bool {
    matches!(step.kind, StepKind::Exec(_)) || step.inner().any(runs_a_program)
}

/// The most virtual users of each load of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MostUsers(Vec<u64>);

impl MostUsers {
    pub(crate) fn of(plan: &Plan) -> MostUsers {
        let own = plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref());
        MostUsers(own.chain(&plan.load).map(|load| most(&load.value)).collect())
    }

    /// A load, by its number, has another shape.
    pub(crate) fn change(&mut self, number: u16, load: &Load) {
        if let Some(own) = self.0.get_mut(usize::from(number)) {
            *own = (*own).max(most(load));
        }
    }

    /// Those of a share.
    pub(crate) fn in_share(&self, share: &Share) -> u64 {
        self.0.iter().map(|most| share.count_below(*most)).fold(0, u64::saturating_add)
    }

    /// As many of these shards as a node may have that carries at most so many users.
    pub(crate) fn within<'s>(&self, shards: &'s [u32], of: u32, most: Option<u64>) -> &'s [u32] {
        let Some(most) = most else { return shards };
        let users = |count: usize| {
            let numbers: Vec<u64> = shards[..count].iter().map(|shard| u64::from(*shard)).collect();
            Share::new(&numbers, u64::from(of)).map_or(u64::MAX, |share| self.in_share(&share))
        };
        // More shards never have fewer users.
        let (mut fits, mut beyond) = (0, shards.len() + 1);
        while fits + 1 < beyond {
            let middle = fits + (beyond - fits) / 2;
            match users(middle) <= most {
                true => fits = middle,
                false => beyond = middle,
            }
        }
        &shards[..fits]
    }
}

fn most(load: &Load) -> u64 {
    match load {
        Load::Closed(closed) => {
            let levels = closed.stages.iter().map(|stage| stage.level.ceil() as u64);
            levels.chain(closed.users).max().unwrap_or(1)
        }
        Load::Open(open) => open.max_users,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn plan(scenario: &str) -> Plan {
        let text = format!("target: http://127.0.0.1:1\nscenarios: {{a: {{{scenario}}}}}\n");
        let loaded = squall_plan::yaml::load_str("p", &text, Path::new(""), &Default::default());
        loaded.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan
    }

    #[test]
    fn without_hosts_nothing_is_run() {
        let error = hosts(&Allows::default()).expect_err("none");
        assert!(error.contains("--allow-hosts"), "{error}");
        let named = |host: &str| Allows { hosts: vec![host.to_owned()], ..Allows::default() };
        let list = hosts(&named("*.b\u{fc}cher.example")).expect("a pattern");
        assert!(list.allows_host("a.xn--bcher-kva.example"));
        assert!(hosts(&named("b\u{fc}cher.example:80")).is_err());
        assert!(hosts(&named("http://a.example")).is_err());
    }

    #[test]
    fn programs_are_found_wherever_they_stand() {
        let load = "load: {users: 1, iterations: 1}";
        let nested = plan(&format!(
            "{load}, steps: [{{repeat: 2, steps: [{{if: 1 == 1, then: [{{exec: [ls]}}]}}]}}]"
        ));
        let none = Allows::default();
        assert!(programs(&nested, &none).expect_err("one").contains("--allow-exec"));
        assert_eq!(programs(&nested, &Allows { exec: true, ..none.clone() }), Ok(()));
        assert_eq!(programs(&plan(&format!("{load}, steps: [{{get: /}}]")), &none), Ok(()));
    }

    #[test]
    fn users_are_those_of_the_highest_stage() {
        let stages =
            "load: {stages: [{users: 90, over: 1s}, {users: 7, over: 1s}]}, steps: [{get: /}]";
        let mut users = MostUsers::of(&plan(stages));
        assert_eq!(users, MostUsers(vec![90]));
        let half = Share::new(&[0, 1], 4).expect("shards");
        assert_eq!(users.in_share(&half), 46);
        assert_eq!(users.within(&[0, 1, 2, 3], 4, Some(46)), [0, 1]);
        assert_eq!(users.within(&[0, 1, 2, 3], 4, Some(45)), [0]);
        assert_eq!(users.within(&[0, 1, 2, 3], 4, Some(90)), [0, 1, 2, 3]);
        assert_eq!(users.within(&[0, 1], 4, Some(0)), [] as [u32; 0]);
        assert_eq!(users.within(&[0, 1], 4, None), [0, 1]);
        let open = "load: {rate: 5/s, for: 1s, max_users: 12}, steps: [{get: /}]";
        assert_eq!(MostUsers::of(&plan(open)), MostUsers(vec![12]));
        if let Some(load) = plan(open).scenarios[0].load.as_ref() {
            users.change(0, &load.value);
            users.change(9, &load.value);
        }
        assert_eq!(users, MostUsers(vec![90]), "users that are there already stay");
    }

    proptest! {
        /// As many shards as fit, and not one more.
        #[test]
        fn no_node_has_more_users_than_it_may(
            loads in prop::collection::vec(0u64..5000, 1..4),
            shards in prop::collection::btree_set(0u32..64, 0..20),
            most in 0u64..2000,
        ) {
            let (users, shards) = (MostUsers(loads), Vec::from_iter(shards));
            let count = |shards: &[u32]| {
                let numbers: Vec<u64> = shards.iter().map(|own| u64::from(*own)).collect();
                users.in_share(&Share::new(&numbers, 64).expect("shards"))
            };
            let fits = users.within(&shards, 64, Some(most));
            prop_assert!(count(fits) <= most);
            if fits.len() < shards.len() {
                prop_assert!(count(&shards[..=fits.len()]) > most);
            }
        }
    }
}
