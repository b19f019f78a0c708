//! The threads of a family: the busiest one, how long they waited for a core, and how often they were switched. The kernel
//! says it of each thread alone.

use std::collections::HashMap;
use std::time::Duration;

use super::stat::status;
use crate::samples::Samples;
use crate::system::System;

/// Most threads that are read: of more, these metrics are left out.
const MAX_THREADS: usize = 256;

/// What a thread has counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Thread {
    cpu_ns: u64,
    wait_ns: u64,
    /// How often it got a core.
    turns: u64,
    voluntary: u64,
    involuntary: u64,
}

/// The threads as they were the last time.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    last: HashMap<(u32, u32), Thread>,
    read_at: Option<Duration>,
    /// Whether there were too many.
    overflowed: bool,
}

impl Threads {
    /// Puts what those that were there the last time have done since.
    pub(crate) fn put(
        &mut self,
        system: &System,
        pids: &[u32],
        (count, now): (u64, Duration),
        into: &mut Samples,
    ) {
        if count > MAX_THREADS as u64 {
            (self.read_at, self.overflowed) = (None, true);
            self.last.clear();
            return;
        }
        let read: HashMap<(u32, u32), Thread> =
            pids.iter().flat_map(|pid| self.threads(system, *pid)).take(MAX_THREADS).collect();
        let last = std::mem::replace(&mut self.last, read);
        let before = self.read_at.replace(now);
        let time = before.map(|before| now.saturating_sub(before).as_secs_f64());
        let Some(time) = time.filter(|time| *time >= 0.1) else { return };
        let (mut busiest, mut wait, mut switches) = (0_u64, 0_u64, [0_u64; 2]);
        for (id, own) in &self.last {
            let Some(last) = last.get(id) else { continue };
            busiest = busiest.max(own.cpu_ns.saturating_sub(last.cpu_ns));
            wait += own.wait_ns.saturating_sub(last.wait_ns);
            switches[0] += own.voluntary.saturating_sub(last.voluntary);
            switches[1] += own.involuntary.saturating_sub(last.involuntary);
        }
        // Without the kernel's statistics of its scheduler all of them are 0.
        if self.last.values().any(|own| own.cpu_ns > 0) {
            into.put("cpu_thread", busiest as f64 / 1e9 / time);
            into.put("run_queue_wait", wait as f64 / 1e9 / time);
        }
        into.put("context_switches", switches[0] as f64 / time);
        into.put("involuntary_switches", switches[1] as f64 / time);
    }

    /// The threads of a process. Of one that did not run since the last time, the rest is what it was then.
    fn threads(&self, system: &System, pid: u32) -> Vec<((u32, u32), Thread)> {
        let names = system.names(&format!("proc/{pid}/task"));
        let read = |name: String| {
            let id = (pid, name.parse::<u32>().ok()?);
            let folder = format!("proc/{pid}/task/{name}");
            let times = system.small(&format!("{folder}/schedstat")).unwrap_or_default();
            let mut times = times.split_whitespace().map_while(|word| word.parse().ok());
            let [cpu_ns, wait_ns, turns] = [(); 3].map(|()| times.next().unwrap_or(0));
            let rested = self.last.get(&id).filter(|last| last.turns == turns && turns > 0);
            if let Some(last) = rested {
                return Some((id, Thread { cpu_ns, wait_ns, ..*last }));
            }
            let text = system.small(&format!("{folder}/status")).ok()?;
            let number = |name| status(&text, name)?.parse().ok();
            let voluntary = number("voluntary_ctxt_switches").unwrap_or(0);
            let involuntary = number("nonvoluntary_ctxt_switches").unwrap_or(0);
            Some((id, Thread { cpu_ns, wait_ns, turns, voluntary, involuntary }))
        };
        names.into_iter().take(MAX_THREADS).filter_map(read).collect()
    }

    /// That there were too many.
    pub(crate) fn remark(&self) -> Option<String> {
        self.overflowed.then(|| {
            format!(
                "it has more than {MAX_THREADS} threads: cpu_thread, run_queue_wait and switches were left out"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_apart_and_summed() {
        let root = tempfile::tempdir().expect("a folder");
        let system = System::below(root.path());
        let write = |id: u32, times: &str, switches: [u32; 2]| {
            let folder = root.path().join(format!("proc/5/task/{id}"));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("schedstat"), times).expect("a file");
            let [voluntary, involuntary] = switches;
            let text = format!(
                "voluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n"
            );
            std::fs::write(folder.join("status"), text).expect("a file");
        };
        let (mut own, mut samples) = (Threads::default(), Samples::new("server"));
        write(5, "1000 0 1\n", [1, 1]);
        write(6, "1000 0 1\n", [1, 1]);
        own.put(&system, &[5], (2, Duration::from_secs(1)), &mut samples);
        assert!(samples.shown().is_empty());
        write(5, "1800001000 100000000 9\n", [5, 2]);
        write(6, "200001000 500000000 9\n", [7, 1]);
        write(7, "9900001000 0 9\n", [900, 900]); // a new one
        own.put(&system, &[5], (3, Duration::from_secs(3)), &mut samples);
        let shown = samples.shown();
        let of = |name: &str| shown[name];
        assert_eq!((of("cpu_thread"), of("run_queue_wait")), (0.9, 0.3));
        assert_eq!((of("context_switches"), of("involuntary_switches")), (5.0, 0.5));
        own.put(&system, &[5], (257, Duration::from_secs(4)), &mut samples);
        assert!(samples.shown().is_empty() && own.remark().is_some());
    }
}
