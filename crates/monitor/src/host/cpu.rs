//! CPU time of the host, by mode and by core, from `/proc/stat`. Pure.

use crate::samples::Samples;

/// Most cores that have a metric of their own.
const MAX_CORES: usize = 128;

/// CPU time as it was the last time: of all cores, and of each.
#[derive(Debug, Default)]
pub(super) struct Cpu(Vec<(String, Modes)>);

/// CPU time of each mode since the host was started, in ticks. What guests use is a part of `user`.
#[derive(Debug, Clone, Copy, Default)]
struct Modes {
    user: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

impl Modes {
    /// Of a line behind its name: user, nice, system, idle, iowait, irq, softirq, steal.
    fn parse<'t>(words: impl Iterator<Item = &'t str>) -> Modes {
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let of = |at: usize| numbers.get(at).copied().unwrap_or(0);
        Modes {
            user: of(0) + of(1),
            system: of(2) + of(5) + of(6),
            idle: of(3),
            iowait: of(4),
            steal: of(7),
        }
    }

    fn since(self, last: Modes) -> Modes {
        Modes {
            user: self.user.saturating_sub(last.user),
            system: self.system.saturating_sub(last.system),
            idle: self.idle.saturating_sub(last.idle),
            iowait: self.iowait.saturating_sub(last.iowait),
            steal: self.steal.saturating_sub(last.steal),
        }
    }

    /// A part of the whole time, as a share.
    fn share(self, part: u64) -> f64 {
        let Modes { user, system, idle, iowait, steal } = self;
        part as f64 / (user + system + idle + iowait + steal).max(1) as f64
    }

    fn busy(self) -> f64 {
        self.share(self.user + self.system)
    }
}

impl Cpu {
    /// Puts the shares of the time since the last sample.
    pub(super) fn put(&mut self, stat: &str, into: &mut Samples) {
        let lines = stat.lines().map_while(|line| line.strip_prefix("cpu"));
        let read = lines.map(|line| {
            let mut words = line.split(' ');
            let core = words.next().unwrap_or_default().to_owned();
            (core, Modes::parse(words.filter(|word| !word.is_empty())))
        });
        let last = std::mem::replace(&mut self.0, read.collect());
        for (core, modes) in &self.0 {
            let Some((_, last)) = last.iter().find(|(own, _)| own == core) else { continue };
            let modes = modes.since(*last);
            if !core.is_empty() {
                if self.0.len() <= MAX_CORES + 1 {
                    into.put_of("cpu_core", ("core", core), modes.busy());
                }
                continue;
            }
            into.put("cpu", modes.busy());
            into.put("cpu_user", modes.share(modes.user));
            into.put("cpu_system", modes.share(modes.system));
            into.put("cpu_iowait", modes.share(modes.iowait));
            into.put("cpu_steal", modes.share(modes.steal));
        }
    }
}
