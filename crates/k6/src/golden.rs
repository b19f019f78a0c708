//! Files that hold what a test expects, for the tests of this crate.

/// Compares a text with a file, by its path in `src`. After an intended change, `SQUALL_BLESS=1 cargo test -p squall-k6`
/// rewrites the files: read the difference.
pub fn golden(path: &str, output: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
    if std::env::var_os("SQUALL_BLESS").is_some() {
        std::fs::write(&file, output).expect("writable");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(output, expected, "{path} differs: see the head of src/golden.rs");
}
