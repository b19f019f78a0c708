//! An extractor: what a plan says it takes out of a response, compiled once, and the search in a body.

use std::sync::Arc;
use std::time::Duration;

use crate::between::Between;
use crate::cost::{MARKUP_PICOSECONDS, cost_of};
use crate::css::Css;
use crate::documents::Documents;
use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, MatchChoice};
use crate::fuel::Fuel;
use crate::json::JsonPath;
use crate::limits::Limits;
use crate::links;
use crate::regex::Pattern;
use crate::xpath::XPath;

/// The longest pattern that is compiled, in bytes.
const PATTERN_LIMIT: usize = 64 << 10;

/// What to take out of a response, as the plan says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spec<'a> {
    /// What a group of a regular expression matches.
    Regex {
        /// In the syntax of the `regex` crate. A search takes linear time; many searches that each
        /// look far beyond their match end with [`ExtractError::ScannedTooMuch`].
        pattern: &'a str,
        /// The group; 0 is the whole match. By default the first group if there is one, else the
        /// whole match.
        group: Option<u32>,
    },
    /// What stands between two texts.
    Between {
        /// The text before the value; empty: the value begins at the start of the body.
        left: &'a str,
        /// The text after the value; empty: the value ends at the end of the body.
        right: &'a str,
    },
    /// What a JSON path selects (RFC 9535). Members of objects come in their order in the body. Of a body that is nearly
    /// JSON (a comma or a byte too many, `NaN`, something behind it) what can be read is read.
    Json(&'a str),
    /// What a CSS selector selects in HTML or XML.
    Css {
        /// Selectors Level 4, without what needs a browser.
        selector: &'a str,
        /// The attribute to take; by default the text of the element, without the white space
        /// around it. Elements that lack the attribute do not count as matches.
        attr: Option<&'a str>,
    },
    /// What an XPath 1.0 expression gives in HTML or XML: the text of each node as it stands, or
    /// the number, boolean or text that it computes. `name` selects whatever its prefix, `p:name`
    /// what is written so; in HTML, case does not matter.
    XPath(&'a str),
    /// The links, forms and frames of a page, with all references as they stand: each a JSON object as
    /// [`Link`](crate::Link) has it. All of them are found, whatever is asked for.
    Links,
}

/// A compiled [`Spec`].
///
/// It is `Send + Sync`, so that an event loop can hand a long body to a thread that may block:
///
/// ```
/// use std::sync::Arc;
/// use squall_extract::{Body, Documents, Extractor, Found, Limits, MatchChoice, Spec};
///
/// let extractor = Arc::new(Extractor::compile(&Spec::Json("$.id"))?);
/// let body: Arc<[u8]> = br#"{"id": "7"}"#.as_slice().into();
/// let found = std::thread::spawn(move || {
///     let body = Body::new(&body, b"application/json");
///     let documents = Documents::of(&body, Limits::default());
///     extractor.find_in(&documents, MatchChoice::First, 0).map(Found::into_owned)
/// });
/// assert!(matches!(found.join().unwrap()?, Found::One(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// A clone shares the compiled pattern but has its own scratch memory, so
/// that a worker with a clone of its own never waits for another worker.
#[derive(Debug, Clone)]
pub struct Extractor {
    kind: Kind,
    /// The pattern as it was written, for errors.
    source: Arc<str>,
}

#[derive(Debug, Clone)]
enum Kind {
    Regex(Pattern),
    Between(Box<Between>),
    Json(JsonPath),
    Css(Css),
    XPath(XPath),
    Links,
}

impl Extractor {
    /// Compiles a specification; an error says what was expected and where.
    pub fn compile(spec: &Spec) -> Result<Extractor, CompileError> {
        check_length(spec)?;
        let (kind, source) = match *spec {
            Spec::Regex { pattern, group } => {
                (Kind::Regex(Pattern::compile(pattern, group)?), pattern)
            }
            Spec::Between { left, right } => {
                (Kind::Between(Box::new(Between::compile(left, right)?)), left)
            }
            Spec::Json(path) => (Kind::Json(JsonPath::compile(path)?), path),
            Spec::Css { selector, attr } => (Kind::Css(Css::compile(selector, attr)?), selector),
            Spec::XPath(expression) => (Kind::XPath(XPath::compile(expression)?), expression),
            Spec::Links => (Kind::Links, "links"),
        };
        Ok(Extractor { kind, source: source.into() })
    }

    /// What its regular expressions take, in bytes, without what searches keep for themselves. Everything else that
    /// is compiled is as small as the pattern that it comes from.
    pub fn memory(&self) -> usize {
        match &self.kind {
            Kind::Regex(pattern) => pattern.memory(),
            Kind::Json(path) => path.memory(),
            Kind::Between(_) | Kind::Css(_) | Kind::XPath(_) | Kind::Links => 0,
        }
    }

    /// How long an extraction from a usual body of that many bytes takes, with what it takes to
    /// read the body as JSON or markup, on a core of about 3 GHz. Hostile bodies may take up to
    /// about 50 ms for each MiB, and then end with an error.
    pub fn cost_estimate(&self, body_bytes: usize) -> Duration {
        // Measured by the example `speed`, on pages and documents of 2 KiB, and rounded up.
        let picoseconds: u64 = match self.kind {
            Kind::Between(_) => 100,
            Kind::Regex(_) => 2_000,
            Kind::Json(_) => 4_000,
            Kind::Css(_) | Kind::XPath(_) | Kind::Links => MARKUP_PICOSECONDS,
        };
        cost_of(body_bytes, picoseconds)
    }

    /// Takes a value out of a body that nothing else looks at, within the default [`Limits`]; see
    /// [`Extractor::find_in`].
    pub fn find<'b>(
        &self,
        body: &'b [u8],
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        self.find_in(&Documents::new(body, Limits::default()), which, random)
    }

    /// Takes a value out of a body. `random` is a uniformly random number, used by
    /// [`MatchChoice::Random`] alone.
    pub fn find_in<'b>(
        &self,
        documents: &Documents<'b>,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        self.find_within(documents, which, random).map_err(|error| error.with_pattern(&self.source))
    }

    fn find_within<'b>(
        &self,
        documents: &Documents<'b>,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let body = documents.bounded_text()?;
        let fuel = Fuel::new(body.len(), documents.limits());
        let most = fuel.results_left();
        match &self.kind {
            Kind::Regex(pattern) => {
                Chosen::among(pattern.matches(body), which, random, most)?.into_found(&fuel)
            }
            Kind::Between(between) => {
                let matches = between.matches(body).map(Ok::<_, ExtractError>);
                Chosen::among(matches, which, random, most)?.into_found(&fuel)
            }
            Kind::Json(path) => match documents.json_document() {
                Ok(document) => path.find(document, &fuel, which, random),
                Err(flaw) => {
                    let repaired = documents.repaired_json(&flaw);
                    path.find_nearly(repaired, &flaw, &fuel, (which, random))
                }
            },
            Kind::Css(css) => css.find(documents.markup()?, &fuel, which, random),
            Kind::XPath(xpath) => xpath.find(documents.markup()?, &fuel, which, random),
            Kind::Links => links::find(documents.markup()?, &fuel),
        }
    }
}

/// Refuses patterns of a length that no person writes.
fn check_length(spec: &Spec) -> Result<(), CompileError> {
    let length = match spec {
        Spec::Between { left, right } => left.len().max(right.len()),
        Spec::Regex { pattern, .. } => pattern.len(),
        Spec::Css { selector, .. } => selector.len(),
        Spec::Json(pattern) | Spec::XPath(pattern) => pattern.len(),
        Spec::Links => 0,
    };
    if length > PATTERN_LIMIT {
        let message = format!("the pattern is longer than {PATTERN_LIMIT} bytes");
        return Err(CompileError::new(message));
    }
    Ok(())
}
