//! Tables of the documentation that follow from the code.

use std::fmt::Write as _;

use squall_metrics::Quantities;

/// `docs/run.md` lists the quantities of a second. With SQUALL_UPDATE_DOCS the table is written.
#[test]
fn the_documentation_has_the_quantities_of_a_second() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let head = "| key | unit | meaning |\n| --- | --- | --- |\n";
    let (before, rest) = text.split_once(head).expect("the table");
    let mut rows = String::new();
    for own in Quantities::ALL {
        let about = own.about.trim_end_matches('.');
        let _ = writeln!(rows, "| `{}` | {} | {about} |", own.name, own.unit.label());
    }
    let length: usize =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    if std::env::var_os("SQUALL_UPDATE_DOCS").is_some() {
        let text = [before, head, &rows, &rest[length..]].concat();
        std::fs::write(path, text).expect("the documentation can be written");
        return;
    }
    assert!(rest[..length] == rows, "docs/run.md is not current: set SQUALL_UPDATE_DOCS=1");
}
