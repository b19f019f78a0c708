//! Control groups: what they limit, and what they count. Of version 2 everything; of version 1 the limits, the CPU time and
//! the memory.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crate::pressure;
use crate::rates::Rate;
use crate::samples::Samples;
use crate::system::{System, behind};

/// Where they are.
const FOLDER: &str = "sys/fs/cgroup";
/// Most groups below one that are looked at.
const MAX_GROUPS: usize = 1_000;
/// Limits of memory from here on are none: the largest number of pages that version 1 knows.
const UNLIMITED: f64 = 9.0e18;

/// The processes of a group and of those below it.
///
/// # Errors
/// There is no such group.
pub(crate) fn processes(system: &System, path: &str) -> io::Result<Vec<u32>> {
    let path = path.trim_matches('/');
    let roots: Vec<String> = folders(system, path);
    if roots.is_empty() {
        let text = format!("there is no control group {path} below /{FOLDER}");
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    let (mut left, mut found, mut seen) = (roots, BTreeSet::new(), 0);
    while let Some(folder) = left.pop() {
        seen += 1;
        let text = system.text(&format!("{folder}/cgroup.procs")).unwrap_or_default();
        found.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
        if seen < MAX_GROUPS {
            let below = system.names(&folder).into_iter().map(|name| format!("{folder}/{name}"));
            left.extend(below.filter(|own| system.path(own).is_dir()));
        }
    }
    Ok(found.into_iter().collect())
}

/// The folders of a group: one in version 2, and one a controller in version 1.
fn folders(system: &System, path: &str) -> Vec<String> {
    let is_group = |folder: &String| system.path(&format!("{folder}/cgroup.procs")).exists();
    let whole = format!("{FOLDER}/{path}");
    if is_group(&whole) {
        return vec![whole];
    }
    let of = |controller: &str| format!("{FOLDER}/{controller}/{path}");
    ["memory", "cpu", "cpuacct", "pids"].map(of).into_iter().filter(is_group).collect()
}

/// A group's limits, and what it counts.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Its path; of a process's group, that of each version: the first is of version 2.
    path: String,
    periods: Rate,
    throttled: Rate,
    cpu: Rate,
    pressure: pressure::Pressures,
}

impl Group {
    pub(crate) fn new(path: &str) -> Group {
        Group { path: path.trim_matches('/').to_owned(), ..Group::default() }
    }

    /// The group of a process; `None`: it cannot be known, or is the first one, which limits nothing.
    pub(crate) fn of_process(system: &System, pid: u32) -> Option<Group> {
        let text = system.text(&format!("proc/{pid}/cgroup")).ok()?;
        let path_of = |line: &str| line.splitn(3, ':').nth(2).map(str::to_owned);
        let is_of = |line: &&str, controller: &str| {
            line.split(':').nth(1).is_some_and(|own| own.split(',').any(|own| own == controller))
        };
        let version_2 = text.lines().find(|line| line.starts_with("0::")).and_then(path_of);
        let version_2 =
            version_2.filter(|path| !folders(system, path.trim_matches('/')).is_empty());
        let version_1 = || text.lines().find(|line| is_of(line, "cpu")).and_then(path_of);
        let path = version_2.filter(|path| path != "/").or_else(version_1)?;
        let path = path.trim_matches('/');
        (!path.is_empty()).then(|| Group::new(path))
    }

    /// Cores by its quota and those of the groups above it.
    pub(crate) fn cores(&self, system: &System) -> Option<f64> {
        let quota = |folder: &str| {
            if let Ok(text) = system.text(&format!("{FOLDER}/{folder}/cpu.max")) {
                let mut words = text.split_whitespace();
                let (quota, period) = (words.next()?.parse::<f64>(), words.next()?.parse::<f64>());
                return Some(quota.ok()? / period.ok().filter(|period| *period > 0.0)?);
            }
            let of =
                |name: &str| system.number(&format!("{FOLDER}/cpu/{folder}/cpu.cfs_{name}_us"));
            let quota = of("quota").filter(|quota| *quota > 0.0)?;
            Some(quota / of("period").filter(|period| *period > 0.0)?)
        };
        self.and_above().filter_map(quota).reduce(f64::min)
    }

    /// Bytes of memory by its limit and those of the groups above it.
    pub(crate) fn memory(&self, system: &System) -> Option<f64> {
        let limit = |folder: &str| {
            let second = system.number(&format!("{FOLDER}/{folder}/memory.max"));
            let first =
                || system.number(&format!("{FOLDER}/memory/{folder}/memory.limit_in_bytes"));
            second.or_else(first).filter(|limit| *limit < UNLIMITED)
        };
        self.and_above().filter_map(limit).reduce(f64::min)
    }

    fn and_above(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.path.as_str()), |path| {
            path.rsplit_once('/').map(|(above, _)| above)
        })
        .filter(|path| !path.is_empty())
    }

    /// The share of its quota's periods in which it had to wait.
    pub(crate) fn put_throttled(&mut self, system: &System, now: Duration, into: &mut Samples) {
        let text = self.first(system, ["", "cpu/"], "cpu.stat").unwrap_or_default();
        let (periods, throttled) = (behind(&text, "nr_periods"), behind(&text, "nr_throttled"));
        let periods = periods.and_then(|number| self.periods.of(number, now));
        let throttled = throttled.and_then(|number| self.throttled.of(number, now));
        if let (Some(periods), Some(throttled)) = (periods.filter(|own| *own > 0.0), throttled) {
            into.put("cpu_throttled", throttled / periods);
        }
    }

    /// CPU time per second, if the group counts it.
    pub(crate) fn cpu(&mut self, system: &System, now: Duration) -> Option<f64> {
        let second = system.text(&format!("{FOLDER}/{}/cpu.stat", self.path)).ok();
        let second = second.and_then(|text| behind(&text, "usage_usec")).map(|us| us / 1e6);
        let first = || system.number(&format!("{FOLDER}/cpuacct/{}/cpuacct.usage", self.path));
        let used = second.or_else(|| first().map(|ns| ns / 1e9))?;
        self.cpu.of(used, now)
    }

    /// Its memory, and for what its tasks waited.
    pub(crate) fn put_use(&mut self, system: &System, now: Duration, into: &mut Samples) {
        let files = [("", "memory.current"), ("memory/", "memory.usage_in_bytes")];
        let used = files.into_iter().find_map(|(above, name)| {
            system.number(&format!("{FOLDER}/{above}{}/{name}", self.path))
        });
        into.put_known("memory_used", used);
        let file = |what: &str| format!("{FOLDER}/{}/{what}.pressure", self.path);
        self.pressure.put(system, file, now, into);
    }

    fn first(&self, system: &System, above: [&str; 2], name: &str) -> Option<String> {
        let path = |above: &str| format!("{FOLDER}/{above}{}/{name}", self.path);
        above.into_iter().find_map(|above| system.text(&path(above)).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    const OWN: &str = "sys/fs/cgroup/system.slice/shop.service";

    #[test]
    fn a_service_of_systemd_has_limits_and_processes() {
        let root = tempfile::tempdir().expect("a folder");
        let (root, system) = (root.path(), System::below(root.path()));
        write(root, &format!("{OWN}/cgroup.procs"), "40\n");
        write(root, &format!("{OWN}/worker/cgroup.procs"), "41\n42\n");
        write(root, &format!("{OWN}/cpu.max"), "150000 100000\n");
        write(root, "sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
        write(root, &format!("{OWN}/memory.max"), "max\n");
        write(root, "sys/fs/cgroup/system.slice/memory.max", "1073741824\n");
        write(root, &format!("{OWN}/memory.current"), "4096\n");
        write(root, "proc/40/cgroup", "0::/system.slice/shop.service\n");
        assert_eq!(
            processes(&system, "/system.slice/shop.service").expect("it is there"),
            [40, 41, 42]
        );
        let error = processes(&system, "nowhere").expect_err("there is none").to_string();
        assert_eq!(error, "there is no control group nowhere below /sys/fs/cgroup");
        let mut group = Group::of_process(&system, 40).expect("it has one");
        assert_eq!(group.cores(&system), Some(1.5));
        assert_eq!(group.memory(&system), Some(1_073_741_824.0));
        let mut samples = Samples::new("shop");
        for (second, usage, periods, throttled) in [(1, 1_000_000, 10, 2), (3, 2_000_000, 30, 12)] {
            let stat =
                format!("usage_usec {usage}\nnr_periods {periods}\nnr_throttled {throttled}\n");
            write(root, &format!("{OWN}/cpu.stat"), &stat);
            let now = Duration::from_secs(second);
            let cpu = group.cpu(&system, now);
            assert_eq!(cpu, (second == 3).then_some(0.5));
            group.put_throttled(&system, now, &mut samples);
            group.put_use(&system, now, &mut samples);
        }
        let shown = samples.shown();
        assert_eq!((shown["cpu_throttled"], shown["memory_used"]), (0.5, 4_096.0));
    }

    #[test]
    fn version_1_has_a_folder_for_each_controller() {
        let root = tempfile::tempdir().expect("a folder");
        let (root, system) = (root.path(), System::below(root.path()));
        let of =
            |controller: &str, file: &str| format!("sys/fs/cgroup/{controller}/docker/ab/{file}");
        write(root, &of("cpu", "cgroup.procs"), "7\n");
        write(root, &of("cpu", "cpu.cfs_quota_us"), "50000\n");
        write(root, &of("cpu", "cpu.cfs_period_us"), "100000\n");
        write(root, &of("memory", "memory.limit_in_bytes"), "9223372036854771712\n");
        write(root, "proc/7/cgroup", "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n0::/\n");
        let group = Group::of_process(&system, 7).expect("it has one");
        assert_eq!(group.cores(&system), Some(0.5));
        assert_eq!(group.memory(&system), None);
        assert_eq!(processes(&system, "docker/ab").expect("it is there"), [7]);
    }
}
