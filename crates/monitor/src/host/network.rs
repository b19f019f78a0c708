//! The network of the host: its interfaces, TCP, and local ports.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use crate::rates::Rates;
use crate::samples::Samples;
use crate::system::System;

/// Most interfaces.
const MAX_INTERFACES: usize = 32;
/// From how many TCP sockets on ports are counted, as a share of the local ports: fewer cannot have used them up.
const MANY: f64 = 0.25;
/// How often they are: with many sockets it takes some milliseconds.
const PORTS_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Network {
    rates: Rates<(String, &'static str)>,
    /// When ports were counted, and how many were in use.
    ports: Option<(Duration, u64)>,
}

impl Network {
    pub(super) fn put(&mut self, system: &System, now: Duration, into: &mut Samples) {
        self.put_interfaces(system, now, into);
        let snmp = system.text("proc/net/snmp").unwrap_or_default();
        into.put_known("tcp_established", column(&snmp, "Tcp", "CurrEstab"));
        let sockets = system.text("proc/net/sockstat").unwrap_or_default();
        let (used, waiting) = (sockets_of(&sockets, "inuse"), sockets_of(&sockets, "tw"));
        into.put_known("tcp_time_wait", waiting);
        let more = system.text("proc/net/netstat").unwrap_or_default();
        for (name, value) in [
            ("tcp_retransmits", column(&snmp, "Tcp", "RetransSegs")),
            ("listen_overflows", column(&more, "TcpExt", "ListenOverflows")),
            ("listen_drops", column(&more, "TcpExt", "ListenDrops")),
        ] {
            let rate = value.and_then(|value| self.rates.of((String::new(), name), value, now));
            into.put_known(name, rate);
        }
        self.rates.forget_all_but(now);
        let sockets = used.unwrap_or(0.0) + waiting.unwrap_or(0.0);
        self.put_ports(system, (sockets, now), into);
    }

    fn put_interfaces(&mut self, system: &System, now: Duration, into: &mut Samples) {
        let text = system.text("proc/net/dev").unwrap_or_default();
        // Two lines of titles come first.
        for line in text.lines().skip(2).take(MAX_INTERFACES) {
            let Some((name, numbers)) = line.split_once(':') else { continue };
            let name = name.trim();
            let numbers: Vec<f64> =
                numbers.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
            let (Some(received), Some(sent)) = (numbers.first(), numbers.get(8)) else { continue };
            // One that has never carried anything says nothing.
            if received + sent == 0.0 {
                continue;
            }
            for (metric, value) in [("network_in_bytes", received), ("network_out_bytes", sent)] {
                if let Some(rate) = self.rates.of((name.to_owned(), metric), *value, now) {
                    into.put_of(metric, ("interface", name), rate);
                }
            }
            // In Mbit/s; -1 where it has none.
            let speed = system.number(&format!("sys/class/net/{name}/speed"));
            if let Some(speed) = speed.filter(|speed| *speed > 0.0) {
                into.put_of("network_limit", ("interface", name), speed * 1e6 / 8.0);
            }
        }
    }

    /// Local ports in use toward the destination that uses the most, where there are enough sockets for that to matter.
    fn put_ports(&mut self, system: &System, (sockets, now): (f64, Duration), into: &mut Samples) {
        let range = system.text("proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        let mut range = range.split_whitespace().map_while(|word| word.parse::<u64>().ok());
        let (Some(low), Some(high)) = (range.next(), range.next()) else { return };
        let limit = (high + 1).saturating_sub(low);
        into.put("ports_limit", limit as f64);
        if sockets < limit as f64 * MANY {
            self.ports = None;
            return;
        }
        let used = match self.ports {
            Some((at, used)) if now.saturating_sub(at) < PORTS_EVERY => used,
            _ => {
                let used = ports_used(system, low..=high);
                self.ports = Some((now, used));
                used
            }
        };
        into.put("ports_used", used as f64);
    }
}

/// A number of `/proc/net/snmp` or `/proc/net/netstat`: a line of names comes before one of numbers.
fn column(text: &str, of: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_ascii_whitespace().position(|own| own == name)?;
    numbers.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// A number of the TCP sockets in `/proc/net/sockstat`.
fn sockets_of(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_ascii_whitespace().skip_while(|word| *word != name);
    words.nth(1)?.parse().ok()
}

/// Ports of a range in use from one address toward one destination, the most of all such pairs.
fn ports_used(system: &System, range: std::ops::RangeInclusive<u64>) -> u64 {
    let mut pairs: HashMap<(String, String), u64> = HashMap::new();
    for table in ["proc/net/tcp", "proc/net/tcp6"] {
        let Ok(file) = File::open(system.path(table)) else { continue };
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            let mut words = line.split_ascii_whitespace().skip(1);
            if let (Some(local), Some(remote)) = (words.next(), words.next())
                && let Some((from, port)) = local.rsplit_once(':')
                && u64::from_str_radix(port, 16).is_ok_and(|port| range.contains(&port))
                && !remote.ends_with(":0000")
            {
                *pairs.entry((from.to_owned(), remote.to_owned())).or_default() += 1;
            }
            line.clear();
        }
    }
    pairs.into_values().max().unwrap_or(0)
}
