//! The documentation of monitors follows from the code.

use std::fmt::Write as _;

use squall_metrics::{Bound, MONITORED, MonitoredKind};

/// `docs/monitors.md` lists the names of what is sampled. With SQUALL_UPDATE_DOCS the table is written.
#[test]
fn the_documentation_has_the_names() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitors.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let head =
        "| sampled by | name | unit | meaning | full at |\n| --- | --- | --- | --- | --- |\n";
    let (before, rest) = text.split_once(head).expect("the table");
    let mut rows = String::new();
    for kind in MonitoredKind::ALL {
        for own in MONITORED.iter().filter(|own| own.of == kind) {
            let full = match own.bound {
                Bound::No => String::new(),
                Bound::Value(value) => value.to_string(),
                Bound::Metric(name) => format!("`{name}`"),
            };
            let name = match own.tag {
                "" => format!("`{}`", own.name),
                tag => format!("`{}` (tag `{tag}`)", own.name),
            };
            let (of, unit, about) = (kind.label(), own.unit.label(), own.about);
            let _ = writeln!(rows, "| {of} | {name} | {unit} | {about} | {full} |");
        }
    }
    let length: usize =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    if std::env::var_os("SQUALL_UPDATE_DOCS").is_some() {
        let text = [before, head, &rows, &rest[length..]].concat();
        std::fs::write(path, text).expect("the documentation can be written");
        return;
    }
    assert!(rest[..length] == rows, "docs/monitors.md is not current: set SQUALL_UPDATE_DOCS=1");
}
