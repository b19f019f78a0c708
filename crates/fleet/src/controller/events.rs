//! What happened to the nodes of a run: kept in its folder while it goes on, so that another process that goes on with it
//! knows that too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use squall_report::FleetEvent;

use crate::protocol::io::FleetTime;

/// The file in the folder of a run: a line of JSON for each.
const FILE: &str = "fleet-events.jsonl";
/// Most events of a run, and most bytes of its file that are read.
const MOST: usize = 1_000;
const MOST_BYTES: u64 = 16 << 20;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// What happened to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Happened {
    /// When, in nanoseconds of the fleet's time.
    at: FleetTime,
    node: String,
    text: String,
}

/// All that happened to the nodes of a run.
#[derive(Debug, Default)]
pub(crate) struct Events {
    all: Vec<Happened>,
    file: Option<File>,
}

impl Events {
    /// Of a run with this folder: with what another process has kept there of it.
    pub(crate) fn open(folder: Option<&Path>) -> Events {
        let Some(path) = folder.map(place) else { return Events::default() };
        // Nothing of the result depends on them: without the file they are those of this process.
        let all = read(&path).unwrap_or_default();
        let file = OpenOptions::new().append(true).create(true).open(&path).ok();
        Events { all, file }
    }

    /// Something has happened to a node.
    pub(crate) fn add(&mut self, node: &str, at: FleetTime, text: &str) {
        if self.all.len() >= MOST {
            return;
        }
        let own = Happened { at, node: node.to_owned(), text: text.to_owned() };
        // It begins a line: whoever was killed may have left the half of one.
        let line = serde_json::to_string(&own).map(|own| format!("\n{own}"));
        let written = line.is_ok_and(|own| {
            self.file.as_mut().is_none_or(|file| file.write_all(own.as_bytes()).is_ok())
        });
        if !written {
            self.file = None;
        }
        self.all.push(own);
    }

    /// All of it, in seconds since the start of the load. What happened before it was at its start.
    pub(crate) fn since(&self, start: FleetTime) -> Vec<FleetEvent> {
        let event = |own: &Happened| FleetEvent {
            at_s: (own.at.saturating_sub(start) as f64 / SECOND).max(0.0),
            node: own.node.clone(),
            text: own.text.clone(),
        };
        self.all.iter().map(event).collect()
    }

    /// Deletes what is kept in a run's folder.
    pub(crate) fn delete(folder: &Path) {
        let _gone = fs::remove_file(place(folder));
    }
}

fn place(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Lines that are not whole are left out.
fn read(path: &Path) -> io::Result<Vec<Happened>> {
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).take(MOST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: FleetTime = 50 * SECOND as FleetTime;

    fn texts(events: &Events) -> Vec<(f64, String)> {
        events.since(START).into_iter().map(|own| (own.at_s, own.text)).collect()
    }

    #[test]
    fn who_goes_on_with_a_run_knows_what_happened_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |second: i64| START + second * SECOND as FleetTime;
        let mut first = Events::open(Some(folder.path()));
        first.add("eu-1", at(-7), "refuses the run");
        first.add("eu-2", at(3), "was lost");
        drop(first);
        // The process was killed while it wrote the next one.
        let path = place(folder.path());
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(b"\n{\"at\":5000").expect("written");
        let mut second = Events::open(Some(folder.path()));
        second.add("eu-2", at(9), "is back");
        let all = [(0.0, "refuses the run"), (3.0, "was lost"), (9.0, "is back")];
        let all = all.map(|(at, text)| (at, text.to_owned()));
        assert_eq!(texts(&second), all);
        assert_eq!(texts(&Events::open(Some(folder.path()))), all);
        Events::delete(folder.path());
        assert!(texts(&Events::open(Some(folder.path()))).is_empty());
    }

    #[test]
    fn a_run_has_no_more_events_than_may_be() {
        let mut events = Events::open(None);
        (0..2 * MOST).for_each(|_| events.add("eu-1", START, "is back"));
        assert_eq!(events.since(START).len(), MOST);
    }
}
