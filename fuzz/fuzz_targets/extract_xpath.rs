//! Fuzzes XPath over HTML and XML: a pattern, a zero byte, a body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_extract::{Documents, Extractor, Spec, Which};

fuzz_target!(|input: &[u8]| {
    let split = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (pattern, body) = input.split_at(split);
    let body = body.get(1..).unwrap_or_default();
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    let Ok(extractor) = Extractor::compile(&Spec::XPath(pattern)) else { return };
    for content_type in ["text/html", "text/xml"] {
        let documents = Documents::with_content_type(body, content_type.as_bytes());
        for which in [Which::First, Which::All] {
            let _ = extractor.find_in(&documents, which, 0);
        }
    }
});
