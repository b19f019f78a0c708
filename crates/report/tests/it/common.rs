//! Compares outputs with files in `tests/golden`. After an intended change,
//! `SQUALL_BLESS=1 cargo test -p squall-report` rewrites the files: read the difference.

use std::path::Path;

/// Compares an output with its file.
pub fn golden(name: &str, output: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("SQUALL_BLESS").is_some() {
        std::fs::write(&path, output).expect("writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(output, expected, "{name} differs: see the head of tests/it/common.rs");
}
