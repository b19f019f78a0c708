//! Writes k6's summary where it was asked for: its text to the standard output, the file of `--summary-export`, and in place
//! of the text what the script's `handleSummary` has returned. Those files lie in the current folder or below it.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use squall_k6::summary::{
    Destination, SummaryData, SummaryMode, TextOptions, export, files_of, machine_readable, text,
};

use squall_plan::secrets::Secrets;

use super::log;
use crate::out;

/// Where a summary goes.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The text that is printed.
    pub mode: SummaryMode,
    /// The file of `--summary-export`.
    pub export: Option<PathBuf>,
    /// The script's file, if the data is to have k6's newer form.
    pub newer: Option<String>,
    /// What is masked in texts that the script has made.
    pub secrets: Secrets,
}

impl Asked {
    /// What `handleSummary` gets.
    pub fn data(&self, data: &SummaryData) -> Value {
        self.newer.as_ref().map_or_else(|| data.to_json(), |script| newer(data, script))
    }
}

/// The newer form of a summary now.
fn newer(data: &SummaryData, script: &str) -> Value {
    machine_readable(data, script, &log::time(log::now()))
}

/// Writes a summary. `returned` is what the script's `handleSummary` gave, which takes the place of the text; `None`: it has
/// none, or that has failed. Returns what could not be done, a sentence each.
pub fn write(data: &SummaryData, asked: &Asked, returned: Option<&Value>) -> Vec<String> {
    let mut troubles = Vec::new();
    if let Some(path) = &asked.export {
        let exported = asked.newer.as_ref().map_or_else(|| export(data), |own| newer(data, own));
        let content = format!("{exported:#}\n");
        troubles.extend(file(path, content.as_bytes()).err());
    }
    let is_full = match asked.mode {
        SummaryMode::Disabled => return troubles,
        SummaryMode::Compact => false,
        SummaryMode::Full => true,
    };
    match returned.map(files_of) {
        Some(Ok(files)) => {
            troubles.extend(
                files
                    .iter()
                    .filter_map(|(to, content)| send(to, &masked(content, &asked.secrets)).err()),
            );
        }
        // Nobody is left without the numbers of a run because of a script that is wrong at its end.
        failed => {
            troubles.extend(failed.and_then(Result::err));
            let has_colors = data.state.is_stdout_terminal && !data.options.no_color;
            let options = TextOptions { is_full, has_colors, ..TextOptions::default() };
            out::print(&text(data, &options));
        }
    }
    troubles
}

/// A content without secrets; what is no text is left as it is.
fn masked<'c>(content: &'c [u8], secrets: &Secrets) -> Cow<'c, [u8]> {
    match std::str::from_utf8(content) {
        Ok(text) => Cow::Owned(secrets.mask(text).into_bytes()),
        Err(_) => Cow::Borrowed(content),
    }
}

fn send(to: &Destination, content: &[u8]) -> Result<(), String> {
    match to {
        Destination::Stdout => out::print_bytes(content),
        // That it cannot be read is no reason to do anything else.
        Destination::Stderr => {
            let _ = out::Messages.write_all(content);
        }
        Destination::File(path) => file(below_here(path)?, content)?,
    }
    Ok(())
}

fn file(path: &Path, content: &[u8]) -> Result<(), String> {
    let written = squall_report::rewrite_file(path, |mut file| file.write_all(content));
    written
        .map_err(|error| format!("{}: the summary could not be written: {error}", path.display()))
}

/// A path that a script gave, if it does not lead out of the current folder.
fn below_here(path: &str) -> Result<&Path, String> {
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    match Path::new(path).components().all(is_below) {
        true => Ok(Path::new(path)),
        false => Err(format!(
            "handleSummary: `{path}` leads out of the current folder: expected a path below it; give that, or start squall in another folder"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_lie_below_the_current_folder() {
        for path in ["summary.html", "out/a.json", "./a"] {
            assert_eq!(below_here(path), Ok(Path::new(path)));
        }
        for path in ["/etc/passwd", "../a", "out/../../a"] {
            assert!(below_here(path).is_err_and(|why| why.contains("current folder")), "{path}");
        }
    }

    #[test]
    fn the_exported_file_is_written_in_each_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("summary.json");
        let asked =
            Asked { mode: SummaryMode::Disabled, export: Some(path.clone()), ..Asked::default() };
        let data = SummaryData::default();
        assert_eq!(write(&data, &asked, None), Vec::<String>::new());
        let written: Value =
            serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        assert_eq!(written, export(&data));
        let asked = Asked { export: Some(folder.path().join("none/a.json")), ..asked };
        let troubles = write(&data, &asked, None);
        assert!(troubles.len() == 1 && troubles[0].contains("none/a.json"), "{troubles:?}");
    }

    #[test]
    fn what_cannot_be_written_does_not_keep_the_rest() {
        let returned = json!({"../a": "1", "stderr": "", "/b": "2"});
        let troubles = write(&SummaryData::default(), &Asked::default(), Some(&returned));
        let named: Vec<bool> =
            troubles.iter().zip(["`../a`", "`/b`"]).map(|(why, path)| why.contains(path)).collect();
        assert_eq!(named, [true, true], "{troubles:?}");
        let troubles = write(&SummaryData::default(), &Asked::default(), Some(&json!(3)));
        assert!(troubles[0].contains("has to return an object"), "{troubles:?}");
    }
}
