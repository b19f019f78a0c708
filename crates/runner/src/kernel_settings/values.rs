//! What the kernel settings are here, read below a root of `/proc`.

use std::fs;
use std::path::Path;

use super::settings::SETTINGS;

/// The kernel settings of a machine, and what it counts of what they limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelSettings {
    /// The numbers of each of the settings, in their order; empty: this kernel has no such setting, or it cannot be read.
    values: Vec<Vec<u64>>,
    /// Open files of all processes together.
    pub(super) files_in_use: u64,
    /// Packets dropped since the machine started, as they came faster than CPUs took them.
    pub(super) packets_dropped: u64,
}

impl KernelSettings {
    /// Reads them below this folder, which is `/proc` but for tests.
    pub fn read(proc: &Path) -> KernelSettings {
        let text = |path: &str| fs::read_to_string(proc.join(path)).unwrap_or_default();
        let values = SETTINGS.iter().map(|own| {
            let path = format!("sys/{}", own.name.replace('.', "/"));
            numbers(&text(&path))
        });
        let files = numbers(&text("sys/fs/file-nr"));
        KernelSettings {
            values: values.collect(),
            files_in_use: files.first().copied().unwrap_or(0),
            packets_dropped: dropped(&text("net/softnet_stat")),
        }
    }

    /// The numbers of a setting; empty: there is none.
    pub(super) fn of(&self, name: &str) -> &[u64] {
        let at = SETTINGS.iter().position(|own| own.name == name);
        at.and_then(|at| self.values.get(at)).map_or(&[], Vec::as_slice)
    }

    /// The first number of a setting.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.of(name).first().copied()
    }
}

/// Numbers between white space.
pub(super) fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The sum of the second column of `softnet_stat`, a row a CPU, in hexadecimal digits
/// (`softnet_seq_show` in the kernel's net/core/net-procfs.c).
fn dropped(text: &str) -> u64 {
    let second = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(second).fold(0, u64::saturating_add)
}
