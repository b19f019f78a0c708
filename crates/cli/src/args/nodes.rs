//! The nodes that a run is to have, as they are typed: `20`, `local:4`, `eu=12,us=8`.

/// Most nodes of a fleet.
pub const MAX_NODES: u32 = 10_000;
/// Most processes that a run starts on this machine.
const MAX_LOCAL: u32 = 64;
/// Most letters of the name of a node or a zone.
const MAX_NAME: usize = 64;

/// The nodes that a run is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nodes {
    /// So many processes on this machine, which the run starts and ends.
    Local(u32),
    /// So many of each zone; one entry with an empty name: of any.
    Zones(Vec<(String, u32)>),
}

impl Nodes {
    /// How many there are in all.
    pub fn count(&self) -> u32 {
        match self {
            Nodes::Local(count) => *count,
            Nodes::Zones(zones) => zones.iter().map(|(_, count)| *count).sum(),
        }
    }
}

/// Reads the nodes of a run.
pub fn nodes(text: &str) -> Result<Nodes, String> {
    const FORMS: &str =
        "write a number of nodes, such as 20, local:4, or a number for each zone, such as eu=12,us=8";
    if let Some(count) = text.strip_prefix("local") {
        let count = count.strip_prefix(':').ok_or("write it as local:N, such as local:4")?;
        return Ok(Nodes::Local(number(count, MAX_LOCAL, "processes on this machine")?));
    }
    if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() {
        return Ok(Nodes::Zones(vec![(String::new(), number(text, MAX_NODES, "nodes")?)]));
    }
    if !text.contains('=') {
        return Err(FORMS.to_owned());
    }
    let mut zones: Vec<(String, u32)> = Vec::new();
    for part in text.split(',') {
        let (zone, count) = part.split_once('=').ok_or(FORMS)?;
        let zone = name(zone).map_err(|why| format!("zone `{zone}`: {why}"))?;
        if zones.iter().any(|(known, _)| *known == zone) {
            return Err(format!("zone `{zone}` is there twice"));
        }
        let count = number(count, MAX_NODES, "nodes");
        zones.push((zone.clone(), count.map_err(|why| format!("zone `{zone}`: {why}"))?));
    }
    let all: u64 = zones.iter().map(|(_, count)| u64::from(*count)).sum();
    match all <= u64::from(MAX_NODES) {
        true => Ok(Nodes::Zones(zones)),
        false => Err(format!("these are {all} nodes: at most {MAX_NODES} can work together")),
    }
}

/// Reads the name of a node or a zone.
pub fn name(text: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match text.is_empty() || text.len() > MAX_NAME || !text.chars().all(is_good) {
        true => {
            Err(format!("a name has letters, digits, `-` and `_`, and at most {MAX_NAME} of them"))
        }
        false => Ok(text.to_owned()),
    }
}

fn number(text: &str, most: u32, of: &str) -> Result<u32, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("expected at least 1 node".to_owned()),
        Ok(number) => match u32::try_from(number).ok().filter(|number| *number <= most) {
            Some(number) => Ok(number),
            None => Err(format!("at most {most} {of}")),
        },
        Err(_) if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) => {
            Err(format!("at most {most} {of}"))
        }
        Err(_) => Err("expected a whole number of nodes, at least 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_a_number_or_zones_or_here() {
        let any = |count| Nodes::Zones(vec![(String::new(), count)]);
        assert_eq!((nodes("20"), nodes("1")), (Ok(any(20)), Ok(any(1))));
        assert_eq!(nodes("local:4"), Ok(Nodes::Local(4)));
        let zones = vec![("eu".to_owned(), 12), ("us-east_1".to_owned(), 8)];
        assert_eq!(nodes("eu=12,us-east_1=8"), Ok(Nodes::Zones(zones)));
        assert_eq!(nodes("eu=12,us=8").map(|nodes| nodes.count()), Ok(20));
    }

    #[test]
    fn what_is_wrong_with_nodes_is_said() {
        for (text, why) in [
            ("", "such as 20, local:4"),
            ("many", "such as 20, local:4"),
            ("-1", "such as 20, local:4"),
            ("0", "at least 1 node"),
            ("local", "local:N"),
            ("local:", "a whole number of nodes"),
            ("local:0", "at least 1 node"),
            ("local:x", "a whole number of nodes"),
            ("local:65", "at most 64 processes on this machine"),
            ("10001", "at most 10000 nodes"),
            ("99999999999999999999999", "at most 10000 nodes"),
            ("eu=12,", "such as 20, local:4"),
            ("eu=12,us", "such as 20, local:4"),
            ("eu=0", "zone `eu`: expected at least 1 node"),
            ("eu=1,eu=2", "zone `eu` is there twice"),
            ("=3", "zone ``: a name has letters"),
            ("e.u=3", "zone `e.u`: a name has letters"),
            ("eu=6000,us=6000", "these are 12000 nodes: at most 10000"),
        ] {
            let error = nodes(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
