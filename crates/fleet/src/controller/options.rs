//! What a run wants of a fleet.

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::messages::OnLoss;
use crate::transport::Connect;

/// How long a node may be without the server unless the run says otherwise: a Kubernetes Job replaces a pod in about 10 s.
pub const LEASE: Duration = Duration::from_secs(15);
/// How long nodes are waited for unless the run says otherwise.
pub const WAIT: Duration = Duration::from_secs(5 * 60);
/// Most nodes of a run.
const MOST_NODES: u32 = 10_000;

/// A node that was started by this process, and has ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedNode {
    /// Its name.
    pub node: String,
    /// How it has ended and what it said last, in a line.
    pub how: String,
}

/// Says which of the nodes that this process has started have ended by themselves so far, in the order in which they have.
pub type EndedNodes = Arc<dyn Fn() -> Vec<EndedNode> + Send + Sync>;

/// What a run wants of a fleet.
#[derive(Clone)]
pub struct FleetOptions {
    /// The server.
    pub connect: Connect,
    /// How many nodes of each zone; one entry with an empty zone: of any.
    pub nodes: Vec<(String, u32)>,
    /// How long to wait for them.
    pub wait: Duration,
    /// How long a node may be without the server before it stops by itself.
    pub lease: Duration,
    /// What becomes of the load of a node that is lost.
    pub on_loss: OnLoss,
    /// squall's version, which nodes must have as well.
    pub version: String,
    /// Which nodes have ended that this process has started: without all of them a load does not begin, and they are not waited
    /// for.
    pub ended: EndedNodes,
}

impl FleetOptions {
    /// These nodes at this server, with what is usual otherwise.
    pub fn new(connect: Connect, nodes: Vec<(String, u32)>) -> FleetOptions {
        FleetOptions {
            connect,
            nodes,
            wait: WAIT,
            lease: LEASE,
            on_loss: OnLoss::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ended: Arc::new(Vec::new),
        }
    }
}

/// Reads how many nodes are wanted: `20`, or `eu=12,us=8`.
///
/// # Errors
/// It says something else, in a sentence.
pub fn parse_nodes(text: &str) -> Result<Vec<(String, u32)>, String> {
    let number = |text: &str| {
        let number = text.trim().parse::<u32>().ok().filter(|own| (1..=MOST_NODES).contains(own));
        let expected = "expected a number from 1 to 10,000, such as 20, or one for each zone, such as eu=12,us=8";
        number.ok_or_else(|| format!("invalid number of nodes `{}`: {expected}", text.trim()))
    };
    if !text.contains('=') {
        return Ok(vec![(String::new(), number(text)?)]);
    }
    let mut zones: Vec<(String, u32)> = Vec::new();
    for part in text.split(',') {
        let (zone, count) = part.split_once('=').unwrap_or((part, ""));
        let zone = zone.trim();
        if !crate::protocol::keys::is_name(zone) {
            return Err(format!(
                "invalid zone `{zone}`: expected letters, digits, `-` and `_`, as in eu=12,us=8"
            ));
        }
        if zones.iter().any(|(known, _)| known == zone) {
            return Err(format!("the zone `{zone}` is there twice: give it one number of nodes"));
        }
        zones.push((zone.to_owned(), number(count)?));
    }
    let all: u64 = zones.iter().map(|(_, count)| u64::from(*count)).sum();
    match all <= u64::from(MOST_NODES) {
        true => Ok(zones),
        false => Err(format!("{all} nodes are too many: at most 10,000 take part in a run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_a_number_or_one_for_each_zone() {
        let zones = |list: &[(&str, u32)]| -> Vec<(String, u32)> {
            list.iter().map(|(zone, count)| ((*zone).to_owned(), *count)).collect()
        };
        assert_eq!(parse_nodes("20"), Ok(zones(&[("", 20)])));
        assert_eq!(parse_nodes("eu=12, us=8"), Ok(zones(&[("eu", 12), ("us", 8)])));
        for (wrong, part) in [
            ("0", "invalid number of nodes `0`: expected a number from 1"),
            ("", "invalid number of nodes ``"),
            ("eu=", "invalid number of nodes ``"),
            ("eu=1,eu=2", "the zone `eu` is there twice"),
            ("=3", "invalid zone ``"),
            // A zone may be called 4, but then its number is missing.
            ("eu=1,4", "invalid number of nodes ``"),
            ("a=9000,b=9000", "18000 nodes are too many"),
        ] {
            let said = parse_nodes(wrong).expect_err(wrong);

            assert!(said.starts_with(part), "{wrong}: {said}");
        }
    }
}
