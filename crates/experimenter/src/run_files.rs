//! The files of a run: their names, its plan with secrets, and what its programs have printed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::conduct::RunOrder;
use crate::plan::monitor;

/// Lines of a log that are shown with an error, and most bytes of them.
const LAST_LINES: usize = 8;
const LAST_BYTES: u64 = 4 << 10;
/// Most bytes of a log in which a line is looked for.
const MAX_LOOKED_AT: u64 = 16 << 20;

/// What the names of files of a run begin with.
pub(crate) fn prefix(order: RunOrder) -> String {
    format!("{:03}", order.number)
}

/// `003-virtual-gson-b1`: its number, its variant, and its block from 1.
pub(crate) fn folder_name(order: RunOrder, variant: &str) -> String {
    format!("{}-{}-b{}", prefix(order), slug(variant), order.block + 1)
}

/// A name as a part of a file's.
pub(crate) fn slug(name: &str) -> String {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let parts: Vec<&str> = name.split(|c| !is_good(c)).filter(|own| !own.is_empty()).collect();
    parts.join("-").chars().take(60).collect()
}

/// A plan with monitors of the servers; one that it has itself under such a name stays.
pub(crate) fn with_monitors<'s>(
    plan: &Value,
    servers: impl Iterator<Item = (&'s str, u32)>,
) -> String {
    let mut plan = plan.clone();
    for (name, pid) in servers {
        monitor(&mut plan, name, pid);
    }
    format!("{plan:#}\n")
}

/// Writes a file that nobody else reads.
pub(crate) fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let _ = fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// Whether a line of a log has a text in it.
pub(crate) fn has_line(log: &Path, text: &str) -> bool {
    let mut read = Vec::new();
    let opened = File::open(log).and_then(|file| file.take(MAX_LOOKED_AT).read_to_end(&mut read));
    opened.is_ok() && String::from_utf8_lossy(&read).lines().any(|line| line.contains(text))
}

/// The last lines of a log, as they are put behind a sentence.
pub(crate) fn shown_log(log: &Path) -> String {
    let last = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)))?;
        let mut read = Vec::new();
        file.take(LAST_BYTES).read_to_end(&mut read)?;
        Ok(read)
    };
    let text = String::from_utf8_lossy(&last().unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [] => "; it printed nothing".to_owned(),
        lines => {
            let shown = &lines[lines.len().saturating_sub(LAST_LINES)..];
            format!("; its last lines:\n  {}", shown.join("\n  "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn folders_are_named_after_their_runs() {
        let order = RunOrder { number: 7, variant: 0, block: 1, attempt: 1 };
        assert_eq!(folder_name(order, "virtual, a/b"), "007-virtual-a-b-b2");
    }

    #[test]
    fn servers_are_monitored_unless_the_plan_has_its_own() {
        let plan = json!({"monitor": {"db": {"port": 5432}, "cache": {"pid": 4_194_304}}});
        let text = with_monitors(&plan, [("db", 7), ("web", 8), ("cache", 9)].into_iter());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read,
            json!({"monitor": {"db": {"port": 5432}, "cache": {"pid": 9}, "web": {"pid": 8}}})
        );
    }

    #[test]
    fn the_last_lines_of_a_log_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert_eq!(shown_log(&log), "; it printed nothing");
        let lines: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
        fs::write(&log, lines).unwrap();
        let shown = shown_log(&log);
        assert!(
            shown.ends_with("line 1998\n  line 1999") && !shown.contains("line 1991\n"),
            "{shown}"
        );
        assert!(has_line(&log, "line 12") && !has_line(&log, "line 2000"));
    }

    #[test]
    #[cfg(unix)]
    fn a_plan_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        write_secret(&path, "a").unwrap();
        write_secret(&path, "b").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"b");
    }
}
