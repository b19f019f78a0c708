//! The page itself: one file, made once, which asks nobody but its own server for anything. Pure.

use serde_json::json;
use squall_report::html::{HELPERS, STYLE, data, digest, digests, fill};

use crate::answer::Response;

const FRAME: &str = include_str!("assets/page.html");
const OWN_STYLE: &str = include_str!("assets/page.css");
/// One function, so that nothing of it is global.
const PARTS: [&str; 8] = [
    HELPERS,
    include_str!("assets/chart.js"),
    include_str!("assets/run.js"),
    include_str!("assets/rows.js"),
    include_str!("assets/target.js"),
    include_str!("assets/runs.js"),
    include_str!("assets/control.js"),
    include_str!("assets/page.js"),
];

/// The page of a server that has a run to show, or the runs of a folder alone, or both.
pub fn page(has_run: bool, has_folder: bool) -> Response {
    let script = format!("(function () {{\n'use strict';\n{}}})();\n", PARTS.concat());
    let style = format!("{STYLE}{OWN_STYLE}");
    // A report that the page holds when its server is gone (a `blob:` of its own) obeys the page's policy and its own.
    let [report_script, report_style] = digests();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}' 'sha256-{report_script}'; \
         style-src 'sha256-{}' 'sha256-{report_style}'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        digest(&script),
        digest(&style)
    );
    let parts = [
        ("STYLE", style),
        ("SERVED", data(&json!({"run": has_run, "folder": has_folder}))),
        ("SCRIPT", script),
    ];
    let media = "text/html; charset=utf-8";
    Response { status: 200, media, policy, body: fill(FRAME, &parts).into_bytes() }
}

/// What a report may do: its own script, and nothing else. It may have been written by anybody, so it gets an
/// origin of its own, from which this server takes nothing.
pub const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; \
     script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing in the script makes markup of text, or asks anybody else for anything.
    #[test]
    fn the_script_makes_no_markup_of_text_and_asks_nobody_else() {
        let script = PARTS.concat();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "XMLHttp",
            "</script",
            "{{",
        ] {
            assert!(!script.contains(word), "{word}");
        }
        let addresses = script.matches("http").count();
        assert_eq!(addresses, script.matches("http://www.w3.org/2000/svg").count());
        assert!(!OWN_STYLE.contains("</style") && !OWN_STYLE.contains("url("));
        let text = String::from_utf8(page(true, true).body).expect("text");
        assert!(text.contains(r#"{"run":true,"folder":true}"#) && !text.contains("{{"));
    }
}
