//! What programs have printed: the names of their logs, and what is read of them.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The folder of logs, within that of the experiment.
pub const LOGS: &str = "logs";
/// Bytes of a log in which the line is looked for that is shown with an error, and most characters of that line.
const LAST_BYTES: u64 = 4 << 10;
const MAX_LINE: usize = 200;
/// Most bytes of a log in which a line is looked for.
const MAX_LOOKED_AT: u64 = 16 << 20;

/// A name as a part of a file's.
pub(crate) fn slug(name: &str) -> String {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let parts: Vec<&str> = name.split(|c| !is_good(c)).filter(|own| !own.is_empty()).collect();
    parts.join("-").chars().take(60).collect()
}

/// Where the version of a server is, in the folder of an experiment: it may be another one in each variant.
pub(crate) fn version_log(folder: &Path, server: &str, variant: usize) -> PathBuf {
    folder.join(LOGS).join(format!("version-{}-{}.log", slug(server), variant + 1))
}

/// Whether a line of a log has a text in it.
pub(crate) fn has_line(log: &Path, text: &str) -> bool {
    let mut read = Vec::new();
    let opened = File::open(log).and_then(|file| file.take(MAX_LOOKED_AT).read_to_end(&mut read));
    opened.is_ok() && String::from_utf8_lossy(&read).lines().any(|line| line.contains(text))
}

/// The line of a log that says most, and where all of it is, as they are put behind a sentence.
pub(crate) fn shown_log(log: &Path) -> String {
    let text = end(log);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // What follows an error may be a trace of calls, or a hint.
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "exception", "fatal", "panicked"].iter().any(|word| line.contains(word))
    };
    match lines().find(is_error).or(lines().next_back()) {
        None => "; it printed nothing".to_owned(),
        Some(line) => {
            let all = log.iter().skip(log.iter().count().saturating_sub(2)).collect::<PathBuf>();
            format!(": {} (all of it: {})", cut(line), all.display())
        }
    }
}

/// The first line that a log has, no longer than it is of use; empty: it has none.
pub(crate) fn first_line(log: &Path) -> String {
    let mut read = Vec::new();
    let opened = File::open(log).and_then(|file| file.take(LAST_BYTES).read_to_end(&mut read));
    let text = String::from_utf8_lossy(if opened.is_ok() { &read } else { &[] }).into_owned();
    cut(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

/// The end of a log; empty: it cannot be read.
fn end(log: &Path) -> String {
    let last = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)))?;
        let mut read = Vec::new();
        file.take(LAST_BYTES).read_to_end(&mut read)?;
        Ok(read)
    };
    String::from_utf8_lossy(&last().unwrap_or_default()).into_owned()
}

/// A line, as much of it as stands in a sentence.
fn cut(line: &str) -> String {
    let cut: String = line.chars().take(MAX_LINE).collect();
    if cut.len() < line.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn of_a_log_the_line_is_shown_that_says_most() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs").join("003-web.log");
        fs::create_dir(log.parent().unwrap()).unwrap();
        assert_eq!(shown_log(&log), "; it printed nothing");
        let shown = |text: &str| {
            fs::write(&log, text).unwrap();
            shown_log(&log)
        };
        let lines: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
        assert_eq!(shown(&lines), ": line 1999 (all of it: logs/003-web.log)");
        assert!(has_line(&log, "line 12") && !has_line(&log, "line 2000"));
        assert_eq!(first_line(&log), "line 0");
        let trace =
            "starting\njava.net.BindException: Address already in use\n\tat A.main(A.java:5)\n\n";
        assert_eq!(
            shown(trace),
            ": java.net.BindException: Address already in use (all of it: logs/003-web.log)"
        );
        let long = shown(&"é".repeat(1_000));
        assert_eq!(long.matches('é').count(), MAX_LINE);
        assert_eq!(first_line(&folder.path().join("none")), "");
    }
}
