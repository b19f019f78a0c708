//! Any text as a plan: it is read or refused; one that is read prints and reads again as the same.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{load_str, print};

fuzz_target!(|text: &str| {
    // Includes would read files of this machine.
    if text.contains("include") {
        return;
    }
    if let Ok(loaded) = load_str("fuzz.yaml", text, Path::new(""), &LoadOptions::default()) {
        let printed = print(&loaded.plan, false);
        let again = load_str("fuzz.yaml", &printed, Path::new(""), &LoadOptions::default());
        let again = again.unwrap_or_else(|failure| panic!("{:?}\n{printed}", failure.diagnostics));
        assert_eq!(again.plan, loaded.plan, "{printed}");
    }
});
