//! What has happened in an experiment, as a file: a line of JSON each, on disk before the next thing is done, so that an
//! experiment that was interrupted or killed goes on where it was.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use squall_plan::files;
use squall_report::ExperimentRun;

/// The file in the folder of an experiment.
pub const JOURNAL: &str = "state.jsonl";
/// Largest such file that is read, in bytes: a line has some hundred.
const MAX_JOURNAL: u64 = 256 << 20;

/// What an experiment began with, which has to be the same when it goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// Version of squall.
    pub squall: String,
    /// The experiment's file, absolute.
    pub file: PathBuf,
    /// Seed of the order of its runs.
    pub seed: u64,
    /// What the plans of its variants were, in a few letters.
    pub plans: String,
    /// In seconds since 1970.
    pub started_unix: f64,
}

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Line {
    Begin(Begin),
    /// A variant was prepared.
    Prepared {
        variant: u64,
    },
    Run(ExperimentRun),
}

/// What an experiment has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub begin: Begin,
    /// Variants that were prepared.
    pub prepared: BTreeSet<usize>,
    /// In the order in which they were made.
    pub runs: Vec<ExperimentRun>,
}

/// The journal of an experiment in progress.
#[derive(Debug)]
pub struct Journal {
    file: File,
    pub state: State,
}

impl Journal {
    /// Begins one in the folder of a new experiment.
    ///
    /// # Errors
    /// It cannot be written, or there is one.
    pub fn create(folder: &Path, begin: Begin) -> io::Result<Journal> {
        let file = OpenOptions::new().append(true).create_new(true).open(folder.join(JOURNAL))?;
        let state = State { begin: begin.clone(), prepared: BTreeSet::new(), runs: Vec::new() };
        let mut journal = Journal { file, state };
        journal.write(&Line::Begin(begin))?;
        Ok(journal)
    }

    /// Goes on with that of an experiment that was interrupted or killed. A last line that is not whole is cut off.
    ///
    /// # Errors
    /// There is none, or it cannot be read or written; in a sentence with its name.
    pub fn open(folder: &Path) -> Result<Journal, String> {
        let path = folder.join(JOURNAL);
        let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let bytes = files::bytes(&path, MAX_JOURNAL).map_err(|error| wrong(&error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let state = read(&bytes[..whole]).map_err(|why| wrong(&why))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(|error| wrong(&error))?;
        file.set_len(whole as u64).map_err(|error| wrong(&error))?;
        Ok(Journal { file, state })
    }

    /// Notes that a variant was prepared.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn prepared(&mut self, variant: usize) -> io::Result<()> {
        self.state.prepared.insert(variant);
        self.write(&Line::Prepared { variant: variant as u64 })
    }

    /// Notes a run that was made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn made(&mut self, run: ExperimentRun) -> io::Result<()> {
        self.state.runs.push(run.clone());
        self.write(&Line::Run(run))
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }
}

/// Reads the lines of a journal.
fn read(bytes: &[u8]) -> Result<State, String> {
    let mut state: Option<State> = None;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        let wrong = |error| format!("line {}: {error}", number + 1);
        match (serde_json::from_slice(line).map_err(wrong)?, &mut state) {
            (Line::Begin(begin), None) => {
                state = Some(State { begin, prepared: BTreeSet::new(), runs: Vec::new() });
            }
            (Line::Prepared { variant }, Some(state)) => {
                state.prepared.insert(variant as usize);
            }
            (Line::Run(run), Some(state)) => state.runs.push(run),
            (Line::Begin(_), Some(_)) | (_, None) => {
                return Err(format!(
                    "line {}: this is not the journal of an experiment",
                    number + 1
                ));
            }
        }
    }
    state.ok_or_else(|| "the experiment had not begun: start it anew".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_goes_on_where_it_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let begin = Begin {
            squall: "1".into(),
            file: "/a.yaml".into(),
            seed: 7,
            plans: "ab".into(),
            started_unix: 1.5,
        };
        let mut journal = Journal::create(folder.path(), begin.clone()).unwrap();
        let run =
            |number| ExperimentRun { number, values: vec![Some(0.1), None], ..Default::default() };
        journal.prepared(1).unwrap();
        journal.made(run(1)).unwrap();
        journal.made(run(2)).unwrap();
        let path = folder.path().join(JOURNAL);
        let all = std::fs::read(&path).unwrap();
        // Wherever it was cut off, what was whole is there.
        for cut in 0..all.len() {
            std::fs::write(&path, &all[..cut]).unwrap();
            let whole = all[..cut].iter().filter(|byte| **byte == b'\n').count();
            match Journal::open(folder.path()) {
                Ok(mut journal) => {
                    assert_eq!(journal.state.runs.len(), whole.saturating_sub(2), "{cut}");
                    assert_eq!(
                        (&journal.state.begin, journal.state.prepared.len()),
                        (&begin, usize::from(whole > 1))
                    );
                    journal.made(run(9)).unwrap();
                    let again = Journal::open(folder.path()).unwrap().state;
                    assert_eq!(again.runs.last(), Some(&run(9)));
                }
                Err(error) => assert!(whole == 0 && error.contains("had not begun"), "{error}"),
            }
        }
        std::fs::write(&path, "{\"what\": \"prepared\", \"variant\": 1}\n").unwrap();
        assert!(Journal::open(folder.path()).is_err_and(|why| why.contains("line 1")));
    }
}
