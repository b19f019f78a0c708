//! The result as one page (`report.html`), which needs nothing else: style, script and data are in it, and it asks
//! no network for anything. What a server sent is data in it, never markup or script.

mod details;
mod figures;
mod fleet;
mod target;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use squall_analysis::DEFINITIONS;
use squall_base::escape_json;
use squall_metrics::{ErrorKind, PHASES};

use crate::distribution;
use crate::document::RunDocument;
pub(crate) use crate::markup::escaped;
use crate::text::{Show, text};
pub use details::Details;
use figures::Figures;
pub use figures::number;

/// The frame of the page.
const FRAME: &str = include_str!("html/assets/frame.html");
/// How it looks, as all of squall's pages do.
pub const STYLE: &str = include_str!("html/assets/style.css");
/// What pages of other crates draw with: elements, numbers, axes.
pub const HELPERS: &str =
    concat!(include_str!("html/assets/base.js"), include_str!("html/assets/axes.js"));
/// What draws it; one function, so that nothing of it is global.
const SCRIPT: &str = concat!(
    "(function () {\n'use strict';\n",
    include_str!("html/assets/base.js"),
    include_str!("html/assets/axes.js"),
    include_str!("html/assets/data.js"),
    include_str!("html/assets/chart.js"),
    include_str!("html/assets/plots.js"),
    include_str!("html/assets/time.js"),
    include_str!("html/assets/target.js"),
    include_str!("html/assets/rows.js"),
    include_str!("html/assets/responses.js"),
    include_str!("html/assets/fleet.js"),
    include_str!("html/assets/profile.js"),
    include_str!("html/assets/sections.js"),
    include_str!("html/assets/page.js"),
    "})();\n"
);
/// The result as text, for whom the script does not run.
const PLAIN: Show = Show { columns: 110, color: false, full: true, explain: false };

/// The digest of the script of [`html`], and that of its style.
pub fn digests() -> [String; 2] {
    [SCRIPT, STYLE].map(digest)
}

/// The page of a result, with what else is known of the run.
pub fn html(run: &RunDocument, details: &Details) -> String {
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(STYLE)
    );
    let title =
        format!("{} {}", run.meta.plan, if run.outcome.passed { "passed" } else { "failed" });
    let parts = [
        ("POLICY", policy),
        ("TITLE", escaped(&title)),
        ("STYLE", STYLE.to_owned()),
        ("TEXT", escaped(&text(run, &PLAIN))),
        ("RUN", data(&Figures::of(run))),
        ("DETAILS", data(details)),
        ("WORDS", data(&words())),
        ("SCRIPT", SCRIPT.to_owned()),
    ];
    fill(FRAME, &parts)
}

/// Puts each part at its `{{NAME}}` in the frame. What is put in is not looked at again.
pub fn fill(frame: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(
        frame.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>(),
    );
    let mut pieces = frame.split("{{");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or(("", piece));
        let part = parts.iter().find(|(own, _)| *own == name);
        out.push_str(part.map_or("", |(_, part)| part));
        out.push_str(rest);
    }
    out
}

/// What the page calls things, as all reports do.
fn words() -> Value {
    let definitions: Map<String, Value> =
        DEFINITIONS.iter().map(|own| (own.key.to_owned(), json!(own.text))).collect();
    let errors: Map<String, Value> = ErrorKind::ALL
        .iter()
        .map(|kind| (kind.label().to_owned(), json!(kind.explain())))
        .collect();
    json!({
        "definitions": definitions,
        "errors": errors,
        "phases": PHASES,
        "percentiles": distribution::PERCENTILES,
        "bins_per_decade": distribution::BINS_PER_DECADE,
        "apdex_us": details::APDEX_US,
    })
}

/// JSON that ends no script and begins none, and in which a terminal or an editor obeys nothing, whatever is in it.
pub fn data(value: &impl Serialize) -> String {
    // All keys are texts, and nothing in it fails.
    let text = serde_json::to_string(value).unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    for c in escape_json(&text).chars() {
        match c {
            '<' | '>' | '&' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out
}

/// The digest of a script or style by which a page's policy lets it run: SHA-256 as base64.
pub fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_neither_markup_nor_the_end_of_a_script() {
        let hostile =
            "</script><script>alert(1)</script><!-- & \u{2028}\u{2029}\u{202e}\u{9b} \" ' {{RUN}}";
        let written = data(&hostile);
        for part in ["<", ">", "&", "\u{2028}", "\u{2029}", "\u{202e}", "\u{9b}"] {
            assert!(!written.contains(part), "{part}: {written}");
        }
        assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), hostile);
        assert_eq!(escaped("<a b=\"&\">"), "&lt;a b=&quot;&amp;&quot;&gt;");
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let parts = [("A", "{{B}}".to_owned()), ("B", "b".to_owned())];
        assert_eq!(fill("x {{A}} y {{B}} z", &parts), "x {{B}} y b z");
    }

    /// Nothing in the script makes markup of text, or asks for anything.
    #[test]
    fn the_script_makes_no_markup_of_text() {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "fetch(",
            "XMLHttp",
            "http",
        ] {
            let uses = SCRIPT.matches(word).count()
                - SCRIPT.matches("http://www.w3.org/2000/svg").count()
                    * usize::from(word == "http");
            assert_eq!(uses, 0, "{word}");
        }
        assert!(
            !SCRIPT.contains("</script") && !STYLE.contains("</style") && !SCRIPT.contains("{{")
        );
    }
}
