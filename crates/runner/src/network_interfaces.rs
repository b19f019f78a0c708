//! How busy the host's network interfaces are: bytes of `/proc/net/dev` (proc(5)) compared with the speeds
//! of `/sys/class/net` (sysfs-class-net). Loopback does not count.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

/// Samples the network interfaces.
#[derive(Debug, Default)]
pub struct NetworkInterfaces {
    /// The time of the previous sample, and what each interface had carried by then.
    before: Option<(Instant, HashMap<String, Traffic>)>,
}

/// Bytes that an interface has carried in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Traffic {
    received: u64,
    sent: u64,
}

/// A sample of all interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkSample {
    /// Bytes of all interfaces in both directions.
    pub bytes: u64,
    /// Use of the busiest direction of the busiest interface since the previous sample, in thousandths of
    /// its speed; 0 where no speed is known.
    pub used_permille: u64,
}

impl NetworkInterfaces {
    pub fn sample(&mut self) -> NetworkSample {
        let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
        self.sample_of(&text, Instant::now(), speed)
    }

    /// The sample of a text of `/proc/net/dev`, with interface speeds in bytes per second.
    fn sample_of(
        &mut self,
        text: &str,
        now: Instant,
        speed: impl Fn(&str) -> Option<u64>,
    ) -> NetworkSample {
        let interfaces: HashMap<String, Traffic> = traffic(text).collect();
        let used = self.before.take().map(|(then, before)| {
            let seconds = now.saturating_duration_since(then).as_secs_f64();
            let used = interfaces.iter().filter_map(|(name, link)| {
                let (before, speed) = (before.get(name)?, speed(name)?);
                let received = link.received.saturating_sub(before.received);
                let more = received.max(link.sent.saturating_sub(before.sent));
                Some((more as f64 / (speed as f64 * seconds) * 1e3) as u64)
            });
            used.max().unwrap_or(0)
        });
        let bytes = interfaces.values().map(|link| link.received + link.sent).sum();
        self.before = Some((now, interfaces));
        NetworkSample { bytes, used_permille: used.unwrap_or(0) }
    }
}

/// Names of interfaces and what they have carried.
fn traffic(text: &str) -> impl Iterator<Item = (String, Traffic)> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(name, _)| name.trim() != "lo").filter_map(|(name, counts)| {
        let mut counts = counts.split_whitespace().map(|text| text.parse().ok());
        Some((name.trim().to_owned(), Traffic { received: counts.next()??, sent: counts.nth(7)?? }))
    })
}

/// The speed of an interface in bytes per second, where the system knows it: virtual interfaces report -1
/// or nothing.
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
    fn the_busiest_direction_of_an_interface_counts() {
        let mut interfaces = NetworkInterfaces::default();
        let start = Instant::now();
        let speed = |name: &str| (name != "wlan0").then_some(1_000);
        let mut sample = |second, lines: &str| {
            interfaces.sample_of(
                &format!("{HEAD}{lines}"),
                start + Duration::from_secs(second),
                speed,
            )
        };
        let first = sample(
            0,
            "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\n",
        );
        assert_eq!(first, NetworkSample { bytes: 150, used_permille: 0 });
        let second = sample(
            2,
            "  eth0: 200 1 0 0 0 0 0 0 1650 1 0 0 0 0 0 0\n wlan0: 7000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        );
        assert_eq!(second, NetworkSample { bytes: 8_850, used_permille: 800 });
        // An interface without a speed, or a new one, does not count.
        let third = sample(
            3,
            " wlan0: 99000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n  eth1: 9999 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        );
        assert_eq!(third.used_permille, 0);
    }
}
