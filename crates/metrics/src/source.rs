//! Who recorded a slice.

/// Who records slices, and numbers names and metrics for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A worker: an event loop of the generator with its virtual users.
    Worker(u32),
    /// A monitor, which samples something beside the load, such as a host. It has no users and records metrics only;
    /// no second waits for it, and what it records makes none a second of the run.
    Monitor(u32),
}

/// Set in the numbers of monitors on disk.
const MONITOR: u32 = 1 << 31;

impl Source {
    /// The highest number of a worker or a monitor.
    pub const HIGHEST: u32 = MONITOR - 1;

    /// Whether it is a worker.
    pub fn is_worker(self) -> bool {
        matches!(self, Source::Worker(_))
    }

    /// Its number on disk.
    pub(crate) fn number(self) -> u32 {
        match self {
            Source::Worker(number) => number & Source::HIGHEST,
            Source::Monitor(number) => number | MONITOR,
        }
    }

    pub(crate) fn from_number(number: u32) -> Source {
        match number & MONITOR {
            0 => Source::Worker(number),
            _ => Source::Monitor(number & Source::HIGHEST),
        }
    }
}

impl Default for Source {
    fn default() -> Source {
        Source::Worker(0)
    }
}

impl From<u32> for Source {
    /// The worker of this number.
    fn from(worker: u32) -> Source {
        Source::Worker(worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monitor_is_no_worker_on_disk_either() {
        for source in [Source::Worker(7), Source::Monitor(7), Source::Monitor(Source::HIGHEST)] {
            assert_eq!(Source::from_number(source.number()), source);
        }
    }
}
