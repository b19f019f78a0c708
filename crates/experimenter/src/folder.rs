//! The folder of an experiment: `experiment.yaml` (as it ran), `state.jsonl` (what has happened), `runs` and `logs`, and at the
//! end the results.

use std::fs;
use std::path::{Path, PathBuf};

use squall_report::new_folder;

use crate::clock::unix_time;
use crate::file::ExperimentText;
use crate::journal::{Begin, Journal};
use crate::prepared::Prepared;

/// The file of the experiment, as it ran.
const FILE: &str = "experiment.yaml";

/// Makes the folder of a new experiment, within another one.
///
/// # Errors
/// It cannot be written, in a sentence.
pub fn begin(own: &Prepared, base: &Path, version: &str) -> Result<(PathBuf, Journal), String> {
    let started_unix = unix_time();
    let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let made = new_folder(base, started_unix as u64, &own.name);
    let folder = made.map_err(|error| wrong(base, error))?;
    fs::write(folder.join(FILE), &own.file.text).map_err(|error| wrong(&folder, error))?;
    let begin = Begin {
        squall: version.to_owned(),
        file: own.file.folder.join(Path::new(&own.file.name).file_name().unwrap_or_default()),
        seed: own.seed,
        plans: own.digest.clone(),
        started_unix,
    };
    let journal = Journal::create(&folder, begin).map_err(|error| wrong(&folder, error))?;
    Ok((folder, journal))
}

/// Goes on with an experiment in its folder: `prepare` prepares it anew from its file, with the seed that it had.
///
/// # Errors
/// There is none, or its file, its plan or squall are not what they were; in a sentence that says what differs.
pub fn resume(
    folder: &Path,
    file: Option<&Path>,
    version: &str,
    prepare: impl FnOnce(ExperimentText, u64) -> Result<Prepared, String>,
) -> Result<(Prepared, Journal), String> {
    let journal = Journal::open(folder)?;
    let begin = &journal.state.begin;
    let now = ExperimentText::read(file.unwrap_or(&begin.file))?;
    let then = ExperimentText::read(&folder.join(FILE))?;
    let anew = "an experiment goes on as it began, or is started anew";
    if let Some((line, then, now)) = difference(&then.text, &now.text) {
        return Err(format!(
            "{}: line {line} is not what it was when the experiment began: it was `{then}`, and is `{now}`; {anew}",
            begin.file.display()
        ));
    }
    if begin.squall != version {
        let was = &begin.squall;
        return Err(format!(
            "the experiment began with squall {was}, and this is {version}; {anew}"
        ));
    }
    let seed = begin.seed;
    let own = prepare(now, seed)?;
    if own.seed != seed {
        let now = own.seed;
        return Err(format!("the seed of the experiment is {seed}, not {now}; {anew}"));
    }
    if own.digest != begin.plans {
        let plan = &own.plan;
        return Err(format!(
            "{plan}: the plan, or a value that was given to it, is not what it was when the experiment began; {anew}"
        ));
    }
    Ok((own, journal))
}

/// The first line in which two texts differ: its number, and what stands there in each.
fn difference<'t>(then: &'t str, now: &'t str) -> Option<(usize, &'t str, &'t str)> {
    if then == now {
        return None;
    }
    let (mut then, mut now) = (then.lines(), now.lines());
    for number in 1.. {
        match (then.next(), now.next()) {
            (None, None) => return Some((number, "", "")),
            (one, other) if one != other => {
                return Some((number, one.unwrap_or(""), other.unwrap_or("")));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n"), Some((2, "b", "c")));
        assert_eq!(difference("a\n", "a\nb"), Some((2, "", "b")));
        assert_eq!(difference("a\n", "a"), Some((2, "", "")));
    }
}
