//! The files of a run: their names, its plan with secrets, and what its programs have printed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conduct::RunOrder;
use crate::plan::monitor;
use crate::prepared::Prepared;

/// The folder of logs, within that of the experiment.
pub const LOGS: &str = "logs";

/// Bytes of a log in which the line is looked for that is shown with an error, and most characters of that line.
const LAST_BYTES: u64 = 4 << 10;
const MAX_LINE: usize = 200;
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

/// Where the version of a server is, in the folder of an experiment: it may be another one in each variant.
pub(crate) fn version_log(folder: &Path, server: &str, variant: usize) -> PathBuf {
    folder.join(LOGS).join(format!("version-{}-{}.log", slug(server), variant + 1))
}

/// The command line of a run, whose folder is made in `out`.
pub(crate) fn command(
    squall: &Path,
    plan: &Path,
    options: &[String],
    order: RunOrder,
    own: &Prepared,
    out: &Path,
) -> Vec<String> {
    let variant = &own.variants[order.variant].name;
    let shown = |path: &Path| path.display().to_string();
    let mut words = vec![shown(squall), "run".to_owned(), shown(plan)];
    words.extend([
        "--quiet".to_owned(),
        "--label".to_owned(),
        format!("experiment={}", own.name),
        "--label".to_owned(),
        format!("variant={variant}"),
        "--label".to_owned(),
        format!("block={}", order.block + 1),
    ]);
    words.extend(options.iter().cloned());
    words.extend(["--out".to_owned(), shown(out)]);
    words
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
