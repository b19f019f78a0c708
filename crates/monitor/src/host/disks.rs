//! Disks, from `/proc/diskstats` (Documentation/admin-guide/iostats.rst of the kernel).

use std::time::Duration;

use crate::rates::Rates;
use crate::samples::Samples;
use crate::system::System;

/// Most disks.
const MAX_DISKS: usize = 32;
/// What the kernel counts sectors in, whatever the disk has.
const SECTOR: f64 = 512.0;

#[derive(Debug, Default)]
pub(super) struct Disks(Rates<(String, &'static str)>);

impl Disks {
    /// Puts what whole disks that have ever done something did: partitions are parts of them.
    pub(super) fn put(&mut self, system: &System, now: Duration, into: &mut Samples) {
        let text = system.text("proc/diskstats").unwrap_or_default();
        let disks = text.lines().filter_map(disk);
        let is_whole = |name: &str| system.path(&format!("sys/block/{name}")).exists();
        for (disk, read, written, busy_ms) in
            disks.filter(|(name, ..)| is_whole(name)).take(MAX_DISKS)
        {
            for (name, value) in [
                ("disk_busy", busy_ms / 1e3),
                ("disk_read_bytes", read * SECTOR),
                ("disk_written_bytes", written * SECTOR),
            ] {
                if let Some(rate) = self.0.of((disk.to_owned(), name), value, now) {
                    // The kernel counts busy time in ticks, which may be one more than a second has.
                    let rate = if name == "disk_busy" { rate.min(1.0) } else { rate };
                    into.put_of(name, ("disk", disk), rate);
                }
            }
        }
        self.0.forget_all_but(now);
    }
}

/// A disk's name, sectors read and written, and the milliseconds in which it was busy; `None`: it has never done anything.
fn disk(line: &str) -> Option<(&str, f64, f64, f64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let of = |at: usize| words.get(at)?.parse::<f64>().ok();
    let (name, read, written, busy) = (*words.get(2)?, of(5)?, of(9)?, of(12)?);
    (read + written > 0.0).then_some((name, read, written, busy))
}
