//! What a Java virtual machine says of itself in the file that `jstat` reads: `hsperfdata_USER/PID` in its folder of temporary
//! files. The layout is that of `PerfDataPrologue` and `PerfDataEntry` in HotSpot's
//! `src/hotspot/share/runtime/perfMemory.hpp`; the counters are those of `jdk/internal/jvmstat` and `jstat`'s options.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::stat::status;
use crate::rates::Rate;
use crate::samples::Samples;
use crate::system::System;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Most entries of a file.
const MAX_ENTRIES: usize = 10_000;

/// The numbers of a file, by name, and the names of its collectors.
#[derive(Debug, Default, PartialEq)]
struct PerfData {
    numbers: HashMap<String, i64>,
    texts: HashMap<String, String>,
}

impl PerfData {
    /// Reads it; `None`: it is none, or not yet whole.
    fn parse(bytes: &[u8]) -> Option<PerfData> {
        if bytes.get(..4)? != MAGIC {
            return None;
        }
        let is_little = *bytes.get(4)? == 1;
        // Whether its machine has announced that it can be read.
        if *bytes.get(7)? == 0 {
            return None;
        }
        let word = |at: usize| {
            let word = *bytes.get(at..)?.first_chunk::<4>()?;
            let word = if is_little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) };
            usize::try_from(word).ok()
        };
        let long = |at: usize| {
            let long = *bytes.get(at..)?.first_chunk::<8>()?;
            Some(if is_little { i64::from_le_bytes(long) } else { i64::from_be_bytes(long) })
        };
        let text = |at: usize| {
            let rest = bytes.get(at..)?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let (mut at, count) = (word(24)?, word(28)?.min(MAX_ENTRIES));
        let mut found = PerfData::default();
        for _ in 0..count {
            let length = word(at).filter(|length| *length >= 20)?;
            let name = text(at.checked_add(word(at + 4)?)?)?;
            let (kind, data) = (*bytes.get(at + 12)?, at.checked_add(word(at + 16)?)?);
            match (kind, word(at + 8)?) {
                (b'J', 0) => {
                    found.numbers.insert(name, long(data)?);
                }
                (b'B', 1..) => {
                    found.texts.insert(name, text(data).unwrap_or_default());
                }
                _ => {}
            }
            at = at.checked_add(length)?;
        }
        Some(found)
    }

    /// The sum of the numbers of a name whose places `*` are filled with 0, 1, 2, ...
    fn sum(&self, before: &str, after: &str) -> i64 {
        let numbers = (0..16).map_while(|at| self.numbers.get(&format!("{before}{at}{after}")));
        numbers.fold(0, |sum, number| sum.saturating_add(*number))
    }

    fn heap_used(&self) -> i64 {
        let of = |generation: usize| {
            self.sum(&format!("sun.gc.generation.{generation}.space."), ".used")
        };
        (0..4).map(of).fold(0, i64::saturating_add)
    }

    /// The most that the heap may have. G1 and later collectors give each generation all of it.
    fn heap_limit(&self) -> i64 {
        let of = |at: usize| self.numbers.get(&format!("sun.gc.generation.{at}.maxCapacity"));
        let limits: Vec<i64> = (0..4).map_while(of).copied().collect();
        let collector = self.texts.get("sun.gc.collector.0.name").map_or("", String::as_str);
        let is_divided =
            ["Copy", "PCopy", "PSScavenge", "PSParallelCompact", "MSC", "Serial", "Parallel"]
                .iter()
                .any(|own| collector.starts_with(own));
        match is_divided {
            true => limits.iter().copied().fold(0, i64::saturating_add),
            false => limits.iter().copied().max().unwrap_or(0),
        }
    }

    /// Time of collections so far, in seconds.
    fn gc_time(&self) -> Option<f64> {
        let frequency = *self.numbers.get("sun.os.hrt.frequency")?;
        (frequency > 0).then(|| self.sum("sun.gc.collector.", ".time") as f64 / frequency as f64)
    }
}

/// For [`crate::fuzz`].
pub(super) fn fuzz(bytes: &[u8]) {
    if let Some(data) = PerfData::parse(bytes) {
        let _ = (data.heap_used(), data.heap_limit(), data.gc_time());
    }
}

/// The counters of one machine.
#[derive(Debug, Default)]
struct Machine {
    time: Rate,
    pauses: Rate,
}

/// The Java virtual machines of a family.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    counters: HashMap<u32, Machine>,
    /// Where the file of each process is; `None`: it had none when it was looked for.
    files: HashMap<u32, Option<String>>,
}

/// Processes with this name are looked at each time: the file of one that was just started may come.
const NAME: &str = "java";

impl Machines {
    /// Puts what those among these processes say: memory, pauses and threads of all of them, and the largest share of the time.
    pub(crate) fn put<'n>(
        &mut self,
        system: &System,
        processes: impl Iterator<Item = (u32, &'n str)>,
        now: Duration,
        into: &mut Samples,
    ) {
        let read = |(pid, name)| {
            let file = self.files.entry(pid).or_insert_with(|| file(system, pid));
            if file.is_none() && name == NAME {
                *file = self::file(system, pid);
            }
            let bytes = system.bytes(file.as_ref()?).ok()?;
            Some((pid, PerfData::parse(&bytes)?))
        };
        let found: Vec<(u32, PerfData)> = processes.filter_map(read).collect();
        self.counters.retain(|pid, _| found.iter().any(|(own, _)| own == pid));
        if found.is_empty() {
            return;
        }
        let sum = |of: fn(&PerfData) -> i64| found.iter().map(|(_, own)| of(own) as f64).sum();
        into.put("heap_used", sum(PerfData::heap_used));
        into.put("heap_limit", sum(PerfData::heap_limit));
        let threads = |own: &PerfData| own.numbers.get("java.threads.live").copied().unwrap_or(0);
        into.put("jvm_threads", sum(threads));
        let (mut share, mut pauses): (Option<f64>, Option<f64>) = (None, None);
        for (pid, own) in &found {
            let last = self.counters.entry(*pid).or_default();
            let time = own.gc_time().and_then(|time| last.time.of(time, now));
            share = share.into_iter().chain(time.map(|time| time.min(1.0))).reduce(f64::max);
            let count = own.sum("sun.gc.collector.", ".invocations") as f64;
            let rate = last.pauses.of(count, now);
            pauses = pauses.into_iter().chain(rate).reduce(|sum, rate| sum + rate);
        }
        into.put_known("gc_share", share);
        into.put_known("gc_pauses", pauses);
    }

    /// Looks for all files again.
    pub(crate) fn look_again(&mut self) {
        self.files.clear();
    }
}

/// The file of a process; `None`: it is not Java, or was told to write none, or may not be read.
fn file(system: &System, pid: u32) -> Option<String> {
    let status_text = system.small(&format!("proc/{pid}/status")).ok()?;
    // In a container it is written under its number there.
    let inner = status(&status_text, "NSpid").and_then(|ids| ids.split_whitespace().last());
    let inner = inner.map_or_else(|| pid.to_string(), str::to_owned);
    let owner: u32 = status(&status_text, "Uid")?.split_whitespace().nth(1)?.parse().ok()?;
    let roots = [format!("proc/{pid}/root/tmp"), "tmp".to_owned()];
    let of_root = |root: &String| {
        let folders = system.names(root).into_iter().filter(|name| name.starts_with("hsperfdata_"));
        let files = folders.map(|folder| format!("{root}/{folder}/{inner}"));
        // Anybody may write there: a file counts that belongs to the process's user.
        let is_own = |file: &String| {
            let path = system.path(file);
            path.symlink_metadata().is_ok_and(|own| own.is_file() && own.uid() == owner)
        };
        files.into_iter().find(is_own)
    };
    roots.iter().find_map(of_root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file as a machine writes it.
    fn written(entries: &[(&str, Result<i64, &str>)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        for (name, value) in entries {
            let name_length = (name.len() + 1).next_multiple_of(8);
            let data = match value {
                Ok(number) => number.to_le_bytes().to_vec(),
                Err(text) => [text.as_bytes(), &[0; 8]].concat(),
            };
            let offset = 20 + name_length;
            let length = (offset + data.len()).next_multiple_of(4);
            let vector = value.map_or(data.len(), |_| 0);
            let start = bytes.len();
            for word in [length, 20, vector] {
                bytes.extend((word as u32).to_le_bytes());
            }
            bytes.extend([if value.is_ok() { b'J' } else { b'B' }, 1, 1, 1]);
            bytes.extend((offset as u32).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.resize(start + offset, 0);
            bytes.extend(data);
            bytes.resize(start + length, 0);
        }
        bytes
    }

    fn machine(gc_ticks: i64, collections: i64, collector: &str) -> Vec<u8> {
        written(&[
            ("sun.os.hrt.frequency", Ok(1_000_000_000)),
            ("sun.gc.collector.0.name", Err(collector)),
            ("sun.gc.collector.0.time", Ok(gc_ticks)),
            ("sun.gc.collector.0.invocations", Ok(collections)),
            ("sun.gc.collector.1.time", Ok(0)),
            ("sun.gc.generation.0.maxCapacity", Ok(100)),
            ("sun.gc.generation.1.maxCapacity", Ok(200)),
            ("sun.gc.generation.0.space.0.used", Ok(10)),
            ("sun.gc.generation.0.space.1.used", Ok(5)),
            ("sun.gc.generation.1.space.0.used", Ok(60)),
            ("java.threads.live", Ok(19)),
        ])
    }

    #[test]
    fn a_machine_is_read_as_jstat_does() {
        let root = tempfile::tempdir().expect("a folder");
        let system = System::below(root.path());
        let own = rustix::process::getuid().as_raw();
        let folder = root.path().join("tmp/hsperfdata_shop");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::create_dir_all(root.path().join("proc/9")).expect("a folder");
        let status = format!("NSpid:\t9\t1\nUid:\t{own}\t{own}\t{own}\t{own}\n");
        std::fs::write(root.path().join("proc/9/status"), status).expect("a file");
        let (mut machines, mut samples) = (Machines::default(), Samples::new("server"));
        let mut shown = |second, bytes: Vec<u8>| {
            std::fs::write(folder.join("1"), bytes).expect("a file");
            machines.put(
                &system,
                [(9, "java")].into_iter(),
                Duration::from_secs(second),
                &mut samples,
            );
            samples.shown()
        };
        let first = shown(1, machine(1_000_000_000, 4, "Copy"));
        assert_eq!((first["heap_used"], first["heap_limit"]), (75.0, 300.0));
        assert_eq!(first["jvm_threads"], 19.0);
        assert!(!first.contains_key("gc_share"));
        let second = shown(3, machine(1_500_000_000, 10, "G1 young collection pauses"));
        assert_eq!((second["gc_share"], second["gc_pauses"]), (0.25, 3.0));
        assert_eq!(second["heap_limit"], 200.0);
        assert!(shown(4, b"something else".to_vec()).is_empty());
    }

    proptest! {
        /// Its bytes are another process's.
        #[test]
        fn a_damaged_file_is_no_panic(changes in prop::collection::vec((0usize..700, any::<u8>()), 0..20)) {
            let mut bytes = machine(1, 2, "Copy");
            for (at, byte) in changes {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            if let Some(data) = PerfData::parse(&bytes) {
                let _ = (data.heap_used(), data.heap_limit(), data.gc_time());
            }
            let _ = PerfData::parse(&bytes[..bytes.len() / 2]);
        }
    }
}
