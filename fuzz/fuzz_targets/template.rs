//! Any text as a template.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_plan::span::Span;
use squall_plan::template::Template;

fuzz_target!(|text: &str| {
    let _ = Template::parse(text, Span::default());
});
