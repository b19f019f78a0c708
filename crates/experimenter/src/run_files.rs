//! The files of a run: their names, its command line, and its plan with secrets.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::conduct::RunOrder;
use crate::logs::slug;
use crate::plan::monitor;

/// What the names of files of a run begin with.
pub(crate) fn prefix(order: RunOrder) -> String {
    format!("{:03}", order.number)
}

/// `003-virtual-gson-b1`: its number, its variant, and its block from 1.
pub(crate) fn folder_name(order: RunOrder, variant: &str) -> String {
    format!("{}-{}-b{}", prefix(order), slug(variant), order.block + 1)
}

/// The command line of a run, whose folder is made in `out`.
pub(crate) fn command(
    squall: &Path,
    plan: &Path,
    options: &[String],
    order: RunOrder,
    (experiment, variant): (&str, &str),
    out: &Path,
) -> Vec<String> {
    let shown = |path: &Path| path.display().to_string();
    let mut words = vec![shown(squall), "run".to_owned(), shown(plan)];
    words.extend([
        "--quiet".to_owned(),
        "--label".to_owned(),
        format!("experiment={experiment}"),
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
