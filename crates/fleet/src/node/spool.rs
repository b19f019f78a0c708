//! The messages that a node keeps on its disk until the controller has written them down: an acknowledgement of the server is
//! no promise that they are stored.
//!
//! Files are only appended to, and each belongs to one process: what a process that died in the midst of writing has left
//! is read up to the torn end. They are not synced, as they outlive the process and not the machine.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use squall_base::units::bytes as print_bytes;

use super::files::user;
use super::segment::{HEAD, MAX_MESSAGE, Segment};
use crate::protocol::io::{Bytes, Kept};
use crate::protocol::keys::is_name;
use crate::transport::{Left, Spool};

/// What a spool may hold unless it is told otherwise.
pub const DEFAULT_SIZE: u64 = 1 << 30;
/// How long files of dead processes are kept whose runs nobody has released.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// A file gets no longer than this, or than a part of what the spool may hold: files are deleted as a whole.
const MAX_FILE: u64 = 16 << 20;
const PARTS: u64 = 16;
/// How the names of its files end.
const ENDING: &str = ".spool";
/// Most files that are looked at.
const MAX_FILES: usize = 10_000;

/// A process in a run.
type Process = (String, u64);

/// A spool in a folder, of which no other process makes use.
#[derive(Debug)]
pub struct DiskSpool {
    folder: PathBuf,
    /// Locked as long as it lives.
    _lock: File,
    most: u64,
    bytes: u64,
    processes: HashMap<Process, Files>,
    /// Those that were there when it was opened.
    left: Vec<Left>,
    /// Whether there was no room or no disk when something was to be kept last: that is told once.
    is_failing: bool,
}

/// The files of a process in a run.
#[derive(Debug, Default)]
struct Files {
    /// By their numbers.
    files: BTreeMap<u32, Segment>,
    /// Messages below this number may be deleted.
    below: u64,
}

impl DiskSpool {
    /// Opens the spool in a folder, which is made if it is not there, for at most so many bytes.
    ///
    /// # Errors
    /// It cannot be used, or another process does, in a sentence.
    pub fn open(folder: &Path, most: u64) -> Result<DiskSpool, String> {
        let wrong = |error: io::Error| format!("the spool in {}: {error}", folder.display());
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrong)?;
        // Where everybody may make folders, another user may have made this one.
        if fs::metadata(folder).map_err(wrong)?.uid() != user() {
            return Err(format!(
                "the spool in {} belongs to another user: give this node another folder with `--spool DIR`",
                folder.display()
            ));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(folder.join("lock")).map_err(wrong)?;
        lock.try_lock().map_err(|_| {
            format!(
                "the spool in {} is in use by another node on this machine: give this one another name, or another folder with `--spool DIR`",
                folder.display()
            )
        })?;
        let mut spool = DiskSpool {
            folder: folder.to_owned(),
            _lock: lock,
            most,
            bytes: 0,
            processes: HashMap::new(),
            left: Vec::new(),
            is_failing: false,
        };
        spool.read_all().map_err(wrong)?;
        Ok(spool)
    }

    /// Deletes the spools in a folder of which no process makes use, and that hold nothing that is still asked for: nodes
    /// whose names were made for one process leave them.
    pub(crate) fn sweep(folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let paths = entries.flatten().take(MAX_FILES).map(|entry| entry.path());
        for path in paths.filter(|path| path.join("lock").is_file()) {
            // To open one is to delete what is old in it; it goes when it is empty.
            drop(DiskSpool::open(&path, DEFAULT_SIZE));
        }
    }

    /// Reads what former processes have left.
    fn read_all(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)?.take(MAX_FILES) {
            let path = entry?.path();
            let Some((process, number)) = path.file_name().and_then(|name| named(name.to_str()?))
            else {
                continue;
            };
            if is_old(&path) {
                fs::remove_file(&path)?;
                continue;
            }
            // What cannot be read is no reason not to start.
            let Ok(segment) = Segment::read(path) else { continue };
            self.bytes += segment.bytes;
            self.processes.entry(process).or_default().files.insert(number, segment);
        }
        self.left = self.processes.iter().map(|(process, files)| files.left(process)).collect();
        self.left.sort_by(|a, b| (&a.run, a.boot).cmp(&(&b.run, b.boot)));
        Ok(())
    }

    fn append(&mut self, kept: &Kept) -> Result<(), String> {
        if !is_name(&kept.run) {
            return Err(format!("`{}` is not the name of a run", kept.run));
        }
        let length = u32::try_from(kept.payload.len()).ok().filter(|own| *own <= MAX_MESSAGE);
        let length = length.ok_or("a message is too long to be kept")?;
        let bytes = HEAD as u64 + u64::from(length);
        self.make_room(bytes)?;
        let longest = MAX_FILE.min(self.most / PARTS);
        let wrong = |error: io::Error| {
            format!(
                "the spool in {}: {error}: what this node records is not kept, and is lost if the server loses it",
                self.folder.display()
            )
        };
        let process = (kept.run.clone(), kept.boot);
        let files = self.processes.entry(process.clone()).or_default();
        let last = files.files.last_key_value();
        let number = match last {
            // Behind a torn end nobody would find it.
            Some((number, own)) if !own.is_torn && own.bytes + bytes <= longest => *number,
            Some((number, _)) => number + 1,
            None => 0,
        };
        let segment = match files.files.entry(number) {
            Entry::Occupied(own) => own.into_mut(),
            Entry::Vacant(place) => {
                let path = self.folder.join(file_name(&process, number));
                place.insert(Segment::new(path).map_err(wrong)?)
            }
        };
        segment.append(kept.number, length, &kept.payload).map_err(wrong)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Deletes what may be deleted until there is room for so many bytes.
    fn make_room(&mut self, bytes: u64) -> Result<(), String> {
        while self.bytes + bytes > self.most {
            let oldest = self.processes.iter_mut().find_map(|(process, files)| {
                let number = files.deletable()?;
                Some((process.clone(), files.files.remove(&number)?))
            });
            let Some((_, segment)) = oldest else {
                return Err(format!(
                    "the spool in {} is full ({}): what this node records from now on is not kept, and is lost if the server loses it; `--spool-size` allows more",
                    self.folder.display(),
                    print_bytes(self.bytes)
                ));
            };
            self.delete(&segment);
        }
        Ok(())
    }

    fn delete(&mut self, segment: &Segment) {
        self.bytes = self.bytes.saturating_sub(segment.bytes);
        // What is left is deleted when the next process starts, or a day later.
        let _left = fs::remove_file(&segment.path);
    }
}

impl Drop for DiskSpool {
    fn drop(&mut self) {
        if self.processes.is_empty() {
            // Whoever opens it in between has it: then it is not empty.
            let _in_use = fs::remove_file(self.folder.join("lock"));
            let _not_empty = fs::remove_dir(&self.folder);
        }
    }
}

impl Spool for DiskSpool {
    fn keep(&mut self, kept: Kept) -> Result<(), String> {
        let appended = self.append(&kept);
        let was_failing = std::mem::replace(&mut self.is_failing, appended.is_err());
        if was_failing { Ok(()) } else { appended }
    }

    fn recall(&mut self, run: &str, boot: u64, number: u64) -> Option<Bytes> {
        let files = self.processes.get(&(run.to_owned(), boot))?;
        files.files.values().find_map(|segment| segment.message(number))
    }

    fn may_drop(&mut self, run: &str, boot: u64, below: u64) {
        if let Some(files) = self.processes.get_mut(&(run.to_owned(), boot)) {
            files.below = files.below.max(below);
        }
    }

    fn drop_run(&mut self, run: &str) {
        let of_run = |(own, _): &Process| own == run;
        let processes: Vec<Process> =
            self.processes.keys().filter(|own| of_run(own)).cloned().collect();
        for process in processes {
            let files = self.processes.remove(&process).unwrap_or_default();
            files.files.values().for_each(|segment| self.delete(segment));
        }
        self.left.retain(|left| left.run != run);
    }

    fn all_kept(&mut self) -> Vec<Left> {
        self.left.clone()
    }
}

impl Files {
    /// What is left of a process: one more than the highest number.
    fn left(&self, (run, boot): &Process) -> Left {
        let highest = self.files.values().filter_map(|segment| segment.messages.last_key_value());
        let numbers = highest.map(|(number, _)| number.saturating_add(1)).max().unwrap_or(0);
        Left { run: run.clone(), boot: *boot, numbers }
    }

    /// The first file of which every message may be deleted. The one that is written to is not among them.
    fn deletable(&self) -> Option<u32> {
        let (last, _) = self.files.last_key_value()?;
        let is_written = |segment: &Segment| {
            segment.messages.last_key_value().is_none_or(|(number, _)| *number < self.below)
        };
        self.files.iter().find(|(number, own)| *number != last && is_written(own)).map(|(n, _)| *n)
    }
}

fn file_name((run, boot): &Process, number: u32) -> String {
    format!("{run}.{boot:016x}.{number:06}{ENDING}")
}

/// The process and the number of a file.
fn named(name: &str) -> Option<(Process, u32)> {
    let mut parts = name.strip_suffix(ENDING)?.split('.');
    let (run, boot, number) = (parts.next()?, parts.next()?, parts.next()?);
    let boot = u64::from_str_radix(boot, 16).ok()?;
    (is_name(run) && parts.next().is_none())
        .then_some(((run.to_owned(), boot), number.parse().ok()?))
}

/// Whether a file was last written to so long ago that nobody asks for it any more.
fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|own| own.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > KEPT_FOR))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(run: &str, boot: u64, number: u64, payload: &[u8]) -> Kept {
        let (run, subject, id) = (run.to_owned(), "s".to_owned(), "i".to_owned());
        Kept { run, boot, number, subject, id, payload: payload.into() }
    }

    fn opened(folder: &Path) -> DiskSpool {
        DiskSpool::open(folder, DEFAULT_SIZE).expect("a spool")
    }

    #[test]
    fn what_a_process_has_kept_another_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = opened(folder.path());
        for number in 0..5 {
            spool.keep(kept("r1", 7, number, &[number as u8; 100])).expect("room");
        }
        spool.keep(kept("r2", 7, 0, b"other")).expect("room");
        assert_eq!(spool.recall("r1", 7, 3).as_deref(), Some(&[3; 100][..]));
        assert_eq!(spool.recall("r1", 8, 3), None);
        assert!(spool.all_kept().is_empty(), "it has no former process");
        let error = DiskSpool::open(folder.path(), 1).expect_err("in use");
        assert!(error.contains("another node") && error.contains("--spool"), "{error}");
        drop(spool);
        let mut spool = opened(folder.path());
        let left = |run: &str, numbers| Left { run: run.to_owned(), boot: 7, numbers };
        assert_eq!(spool.all_kept(), [left("r1", 5), left("r2", 1)]);
        assert_eq!(spool.recall("r1", 7, 4).as_deref(), Some(&[4; 100][..]));
        spool.drop_run("r1");
        assert_eq!((spool.recall("r1", 7, 4), spool.all_kept()), (None, vec![left("r2", 1)]));
        drop(spool);
        assert_eq!(opened(folder.path()).all_kept(), [left("r2", 1)]);
    }

    #[test]
    fn a_full_spool_makes_room_of_what_is_written_down_and_says_once_when_it_cannot() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = DiskSpool::open(folder.path(), 16_000).expect("a spool");
        let message = [1; 400];
        let mut number = 0;
        let refused = loop {
            match spool.keep(kept("r", 1, number, &message)) {
                Ok(()) => number += 1,
                Err(why) => break why,
            }
        };
        assert!(refused.contains("is full") && refused.contains("--spool-size"), "{refused}");
        assert!((30..=38).contains(&number), "{number}");
        assert_eq!(spool.keep(kept("r", 1, number, &message)), Ok(()), "it is told once");
        assert_eq!(spool.recall("r", 1, number), None);
        spool.may_drop("r", 1, 20);
        spool.keep(kept("r", 1, number, &message)).expect("room");
        assert!(spool.recall("r", 1, number).is_some() && spool.recall("r", 1, 0).is_none());
        // What is not written down is still there.
        assert!((20..number).all(|own| spool.recall("r", 1, own).is_some()));
        assert!(spool.bytes <= 16_000);
    }

    #[test]
    fn what_nobody_asked_for_in_a_day_is_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        opened(folder.path()).keep(kept("r", 1, 0, b"x")).expect("room");
        let path = folder.path().join("r.0000000000000001.000000.spool");
        let long_ago = SystemTime::now() - KEPT_FOR - Duration::from_secs(60);
        let file = OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_modified(long_ago).expect("a time");
        assert!(opened(folder.path()).all_kept().is_empty() && !path.exists());
    }

    #[test]
    fn an_empty_spool_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        drop(opened(&at("empty")));
        assert!(!at("empty").exists());
        opened(&at("left")).keep(kept("r", 1, 0, b"x")).expect("room");
        fs::create_dir(at("dead")).expect("a folder");
        fs::write(at("dead/lock"), "").expect("writable");
        let mut used = opened(&at("used"));
        DiskSpool::sweep(folder.path());
        assert!(at("left").exists() && at("used").exists() && !at("dead").exists());
        used.keep(kept("r", 1, 0, b"x")).expect("room");
        used.drop_run("r");
        drop(used);
        assert!(!at("used").exists());
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.spool", "r.1.2.3.spool", "../x", "r.zz.000000.spool", "notes.txt"] {
            assert_eq!(named(name), None, "{name}");
        }
        fs::write(folder.path().join("notes.txt"), "x").expect("writable");
        assert!(opened(folder.path()).all_kept().is_empty());
        let process = ("r-1_a".to_owned(), u64::MAX);
        assert_eq!(named(&file_name(&process, 7)), Some((process, 7)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A file that ends anywhere, or has a wrong byte, gives the messages before that, and no wrong one.
        #[test]
        fn a_torn_file_gives_what_is_whole(
            lengths in prop::collection::vec(0usize..200, 1..12),
            cut in 0.0f64..1.0,
            flipped in prop::option::of((0.0f64..1.0, 1u8..=255)),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut spool = opened(folder.path());
            let payload = |number: usize, length: usize| vec![number as u8 ^ 0x5a; length];
            let mut ends = Vec::new();
            for (number, length) in lengths.iter().enumerate() {
                spool.keep(kept("r", 1, number as u64, &payload(number, *length))).expect("room");
                ends.push(spool.bytes);
            }
            drop(spool);
            let path = folder.path().join("r.0000000000000001.000000.spool");
            let mut bytes = fs::read(&path).expect("a file");
            let cut = (cut * (bytes.len() + 1) as f64) as usize;
            bytes.truncate(cut);
            let mut good = cut as u64;
            if let Some((at, mask)) = flipped.filter(|_| !bytes.is_empty()) {
                let at = (at * bytes.len() as f64) as usize;
                bytes[at] ^= mask;
                good = good.min(at as u64);
            }
            fs::write(&path, &bytes).expect("writable");
            let mut spool = opened(folder.path());
            let whole = ends.iter().filter(|end| **end <= good).count();
            for (number, length) in lengths.iter().enumerate() {
                let expected = (number < whole).then(|| payload(number, *length));
                let found = spool.recall("r", 1, number as u64).map(|bytes| bytes.to_vec());
                prop_assert_eq!(found, expected);
            }
            let numbers = spool.all_kept().first().map(|left| left.numbers);
            prop_assert_eq!(numbers, Some(whole as u64));
        }

        /// Whatever is in a file, it is read to some end.
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("r.0000000000000001.000000.spool"), bytes).expect("writable");
            prop_assert_eq!(opened(folder.path()).recall("r", 1, 0), None);
        }
    }
}
