//! Whether the numbers of a run can be trusted, and if not, why. Each rule is a function from what is
//! known about a run to a reason or none; a reason weighs what it saw by its effect on what the plan asks and
//! the report shows. The limits are constants, each with its justification; `docs/measurement.md` lists them.

mod facts;
mod fleet;
mod generator;
mod host;
mod lateness;
mod neighbours;
mod reason;
mod seconds;
mod target;
#[cfg(test)]
mod tests;
mod weight;

pub use facts::{Facts, FleetFacts, Validity};
pub use reason::{Reason, VALIDITY_RULES};
pub use target::samples_needed;
pub use weight::Effect;

/// What the numbers of a run may suffer from, the most severe first; none above a note: they are valid.
pub fn assess(facts: &Facts<'_>) -> Vec<Reason> {
    const RULES: [fn(&Facts<'_>) -> Option<Reason>; 31] = [
        fleet::coverage,
        fleet::node_send_delay,
        fleet::node_cpu,
        fleet::node_ports,
        fleet::node_clock,
        neighbours::host_busy,
        generator::cpu_bound,
        generator::starved,
        generator::stalled,
        generator::generator_time,
        generator::send_delay,
        generator::receive_delay,
        generator::connect_delay,
        generator::arrivals_dropped,
        host::ports,
        host::files,
        host::steal,
        host::swapping,
        host::clock_step,
        host::link,
        neighbours::machine_full,
        fleet::odd_node,
        target::retransmits,
        target::packets_lost,
        target::retries,
        target::name_lookups,
        target::pool_waits,
        target::timeouts,
        target::cut_off,
        target::hidden_stall,
        target::unsteady,
    ];
    let mut reasons: Vec<Reason> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    reasons.extend(target::too_short(facts));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.validity()));
    reasons
}

/// The validity of a run with these reasons.
pub fn worst(reasons: &[Reason]) -> Validity {
    reasons.iter().map(Reason::validity).max().unwrap_or(Validity::Valid)
}
