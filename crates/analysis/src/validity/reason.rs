//! Something that numbers may suffer from.

use super::facts::{Facts, Validity};
use super::weight::{Effect, Shift};

/// What was observed that numbers may suffer from.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// Name of the rule.
    pub rule: &'static str,
    /// By how much it may have changed the numbers; `None`: nobody can tell.
    pub effect: Option<Effect>,
    /// How far numbers can be trusted with this: valid, if it is no more than a note.
    pub weight: Validity,
    /// What was observed: the value, the limit, and when.
    pub observed: String,
    /// What to do about it.
    pub advice: String,
    /// The nodes of a fleet that it is about; none: it is about the run.
    pub nodes: Vec<String>,
}

/// The names of all rules.
pub const VALIDITY_RULES: [&str; 32] = [
    "arrivals_dropped",
    "clock_step",
    "connect_delay",
    "coverage",
    "cpu_bound",
    "cut_off",
    "files",
    "generator_time",
    "hidden_stall",
    "host_busy",
    "link",
    "machine_full",
    "name_lookups",
    "node_clock",
    "node_cpu",
    "node_ports",
    "node_send_delay",
    "odd_node",
    "packets_lost",
    "pool_waits",
    "ports",
    "receive_delay",
    "retransmits",
    "retries",
    "send_delay",
    "stalled",
    "starved",
    "steal",
    "swapping",
    "timeouts",
    "too_short",
    "unsteady",
];

/// The rules that say that squall or the machine that it runs on was too slow, or had too little of something.
const OF_THE_GENERATOR: [&str; 17] = [
    "cpu_bound",
    "host_busy",
    "starved",
    "stalled",
    "generator_time",
    "send_delay",
    "receive_delay",
    "connect_delay",
    "ports",
    "files",
    "steal",
    "swapping",
    "clock_step",
    "link",
    "node_send_delay",
    "node_cpu",
    "node_ports",
];

impl Reason {
    /// One that weighs as much as it may have moved what is asked and shown.
    pub(super) fn weighed(
        facts: &Facts<'_>,
        rule: &'static str,
        shift: &Shift<'_>,
        observed: String,
        advice: String,
    ) -> Reason {
        let (effect, weight) = (Some(shift.effect(facts)), shift.weight(facts));
        Reason { rule, effect, weight, observed, advice, nodes: Vec::new() }
    }

    /// One of which nobody knows the effect.
    pub(super) fn of_unknown_effect(
        rule: &'static str,
        observed: String,
        advice: String,
    ) -> Reason {
        let weight = Validity::Questionable;
        Reason { rule, effect: None, weight, observed, advice, nodes: Vec::new() }
    }

    /// Something worth knowing, which changed nothing.
    pub(super) fn note(rule: &'static str, observed: String, advice: String) -> Reason {
        Reason::of_unknown_effect(rule, observed, advice).into_note()
    }

    /// The same as no more than a note.
    pub(super) fn into_note(self) -> Reason {
        Reason { effect: Some(Effect::NONE), weight: Validity::Valid, ..self }
    }

    /// Whether it is about squall and its machine, and not about the target, the network or the plan.
    pub fn is_of_generator(&self) -> bool {
        OF_THE_GENERATOR.contains(&self.rule)
    }

    /// How far numbers can be trusted with this: valid, if it is no more than a note.
    pub fn validity(&self) -> Validity {
        self.weight
    }

    /// Its effect in words.
    pub fn effect_text(&self) -> String {
        self.effect.map_or_else(|| "unknown".to_owned(), |effect| effect.text())
    }
}
