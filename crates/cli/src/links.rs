//! How full the machine's network links are: bytes of `/proc/net/dev` (proc(5)) against the speeds of
//! `/sys/class/net` (sysfs-class-net). Loopback is left out; it is no link.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

/// Looks at the links, again and again.
#[derive(Debug, Default)]
pub struct Links {
    /// When they were last looked at, and what each had carried then.
    before: Option<(Instant, HashMap<String, Carried>)>,
}

/// Bytes that a link has carried in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Carried {
    received: u64,
    sent: u64,
}

/// One look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Bytes of all links in both directions.
    pub bytes: u64,
    /// Since the look before: the fuller direction of the fullest link, in thousandths of its speed; 0
    /// where no speed is known.
    pub used_permille: u64,
}

impl Links {
    /// One look.
    pub fn look(&mut self) -> Look {
        let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
        self.seen(&text, Instant::now(), speed)
    }

    /// With the text of `/proc/net/dev`, and the speeds of links in bytes a second.
    fn seen(&mut self, text: &str, now: Instant, speed: impl Fn(&str) -> Option<u64>) -> Look {
        let links: HashMap<String, Carried> = carried(text).collect();
        let used = self.before.take().map(|(then, before)| {
            let seconds = now.saturating_duration_since(then).as_secs_f64();
            let used = links.iter().filter_map(|(name, link)| {
                let (before, speed) = (before.get(name)?, speed(name)?);
                let received = link.received.saturating_sub(before.received);
                let more = received.max(link.sent.saturating_sub(before.sent));
                Some((more as f64 / (speed as f64 * seconds) * 1e3) as u64)
            });
            used.max().unwrap_or(0)
        });
        let bytes = links.values().map(|link| link.received + link.sent).sum();
        self.before = Some((now, links));
        Look { bytes, used_permille: used.unwrap_or(0) }
    }
}

/// Names of links and what they have carried.
fn carried(text: &str) -> impl Iterator<Item = (String, Carried)> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(name, _)| name.trim() != "lo").filter_map(|(name, counts)| {
        let mut counts = counts.split_whitespace().map(|text| text.parse().ok());
        Some((name.trim().to_owned(), Carried { received: counts.next()??, sent: counts.nth(7)?? }))
    })
}

/// The speed of a link in bytes a second, where the system knows it: virtual links say -1 or nothing.
fn speed(name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/class/net/{name}/speed")).ok()?;
    let mbit: u64 = text.trim().parse().ok()?;
    (mbit > 0).then_some(mbit * 1_000_000 / 8)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HEAD: &str = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n";

    #[test]
    fn the_fullest_direction_of_a_link_counts() {
        let mut links = Links::default();
        let start = Instant::now();
        let speed = |name: &str| (name != "wlan0").then_some(1_000);
        let mut look = |second, lines: &str| {
            links.seen(&format!("{HEAD}{lines}"), start + Duration::from_secs(second), speed)
        };
        let first = look(
            0,
            "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\n",
        );
        assert_eq!(first, Look { bytes: 150, used_permille: 0 });
        let second = look(
            2,
            "  eth0: 200 1 0 0 0 0 0 0 1650 1 0 0 0 0 0 0\n wlan0: 7000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        );
        assert_eq!(second, Look { bytes: 8_850, used_permille: 800 });
        // What has no speed, or was not there before, says nothing.
        let third = look(
            3,
            " wlan0: 99000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n  eth1: 9999 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        );
        assert_eq!(third.used_permille, 0);
    }
}
