//! What a node says of itself when it joins.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use squall_runner::{available, calibrate, processor, system};

use crate::protocol::keys::{NAME, is_name};
use crate::protocol::messages::{Allows, Card};

/// squall's version, which all machines of a fleet must have.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What of a card a person decides.
#[derive(Debug, Clone)]
pub(crate) struct Chosen<'c> {
    pub name: &'c str,
    pub zone: &'c str,
    pub weight: f64,
    pub allows: &'c Allows,
}

/// The card of this machine for a node with this public key; takes a second, in which it measures itself.
pub(crate) fn card(chosen: &Chosen<'_>, key: String) -> Card {
    let has = available();
    // A machine that cannot measure itself may be a good one all the same.
    let us = calibrate(None).map_or(0.0, |measured| measured.us_per_request);
    Card {
        node: chosen.name.to_owned(),
        boot: drawn(),
        version: VERSION.to_owned(),
        host: host_name(),
        os: system(),
        cpu: processor(),
        cores: u32::try_from(has.cpus).unwrap_or(u32::MAX),
        memory_bytes: has.memory,
        open_files: if has.tables { has.files_hard } else { has.files },
        ports: (has.ports.1 + 1).saturating_sub(has.ports.0),
        zone: chosen.zone.to_owned(),
        weight: chosen.weight,
        calibration: if us > 0.0 { 1e6 / us } else { 0.0 },
        key,
        allows: chosen.allows.clone(),
    }
}

/// What a node is called that nobody has given a name: its machine, and which of its processes.
pub(crate) fn default_name() -> String {
    let host: String = host_name().chars().map(|c| if is_of_name(c) { c } else { '-' }).collect();
    let process = std::process::id().to_string();
    // There is room for both: a process's number has ten digits at most.
    let host: String = host.chars().take(NAME - 1 - process.len()).collect();
    format!("{host}-{process}")
}

/// Whether a zone may be called so: as a node, or not at all.
pub(crate) fn is_zone(zone: &str) -> bool {
    zone.is_empty() || is_name(zone)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "node".to_owned(),
        name => name.to_owned(),
    }
}

/// Tells this process from all others of its name. Never 0.
fn drawn() -> u64 {
    RandomState::new().hash_one(std::process::id()) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_says_what_the_machine_has() {
        let allows = Allows { hosts: vec!["*".to_owned()], ..Allows::default() };
        let chosen = Chosen { name: "eu-3", zone: "eu", weight: 2.0, allows: &allows };
        let card = card(&chosen, "key".to_owned());
        assert_eq!((card.node.as_str(), card.zone.as_str(), card.weight), ("eu-3", "eu", 2.0));
        assert!(card.cores > 0 && card.memory_bytes > 0 && card.open_files > 0, "{card:?}");
        assert!(card.ports > 0 && card.calibration > 0.0 && card.boot != 0, "{card:?}");
        assert!(card.os.starts_with("Linux"), "{card:?}");
        assert!(!card.host.is_empty() && !card.host.contains('\n'));
    }

    #[test]
    fn a_default_name_is_a_name() {
        let name = default_name();
        assert!(is_name(&name), "{name}");
        assert!(name.ends_with(&std::process::id().to_string()), "{name}");
        assert!(is_zone("") && is_zone("eu-1") && !is_zone("eu.1"));
    }
}
