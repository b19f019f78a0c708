//! What compiled steps are made of, but for HTTP requests: templates bound to slots, extractors and checks. Plain data.

use std::sync::Arc;

use squall_extract::Extractor;
use squall_metrics::PlaceId;
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::model::Match;
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;

use super::places::Intrinsic;

/// What is done with a reply.
#[derive(Debug)]
pub(crate) enum PostOp {
    Extract(ExtractOp),
    Check(CheckOp),
}

impl PostOp {
    /// Whether it needs the body of the reply.
    pub(super) fn reads_body(&self) -> bool {
        let PostOp::Extract(extract) = self else { return false };
        extract.of.is_none()
            && matches!(
                extract.from,
                FromOp::Body(_)
                    | FromOp::Links(_)
                    | FromOp::XPath(_)
                    | FromOp::Fact(Intrinsic::Body)
            )
    }
}

/// How a sample counts.
#[derive(Debug)]
pub(crate) struct RowOp {
    pub name: NameOp,
    /// Where a name counts that is made while the run goes on.
    pub place: PlaceId,
    /// The number of its step, such as `3.1`.
    pub step: Box<str>,
    /// Whether it counts in the results.
    pub counted: bool,
}

/// The name under which a request or a program is counted.
#[derive(Debug)]
pub(crate) enum NameOp {
    Static(u32),
    Rendered(BoundTemplate),
    /// Method and collapsed path, known only when the URL is.
    FromUrl,
}

impl NameOp {
    /// The number of the name, if it is known before the run.
    pub fn known(&self) -> Option<u32> {
        match self {
            NameOp::Static(name) => Some(*name),
            NameOp::Rendered(_) | NameOp::FromUrl => None,
        }
    }
}

/// A JSON-like value with variables.
#[derive(Debug)]
pub(crate) enum JsonOp {
    Constant(Value),
    Text(BoundTemplate),
    List(Vec<JsonOp>),
    Map(Vec<(BoundTemplate, JsonOp)>),
}

/// A value to take from a response.
#[derive(Debug)]
pub(crate) struct ExtractOp {
    pub slot: Slot,
    pub variable: Box<str>,
    /// Where it comes from, as messages say it: `json $.id`.
    pub source: Box<str>,
    pub from: FromOp,
    pub which: Match,
    pub default: Option<JsonOp>,
    /// What is searched in the place of the body.
    pub of: Option<BoundTemplate>,
    /// Whether responses that lead on are searched, too.
    pub redirects: bool,
    /// Whether what the page loads is searched, too.
    pub resources: bool,
}

/// Where it comes from.
#[derive(Debug)]
pub(crate) enum FromOp {
    /// Shared with the threads that search long bodies.
    Body(Arc<Extractor>),
    /// An XPath that variables decide.
    XPath(BoundTemplate),
    /// What a page leads to, in the same way.
    Links(Arc<Extractor>),
    /// In the head of the response.
    Head(Arc<Extractor>),
    Header(Box<str>),
    Cookie(Box<str>),
    /// What every response has.
    Fact(Intrinsic),
    /// The hash of the body, or the path of its file: what [`super::samples::CaptureOp`] made of it.
    Captured,
}

/// An assertion about a response.
#[derive(Debug)]
pub(crate) struct CheckOp {
    pub row: u32,
    pub formula: BoundExpr,
    /// What it is called in reports.
    pub text: Box<str>,
    /// What is said of what fails it; `None`: that, and its formula.
    pub message: Option<BoundTemplate>,
    pub warn: bool,
    /// What is looked at in the place of the body.
    pub of: Option<BoundTemplate>,
    /// Whether responses that lead on must pass it, too.
    pub redirects: bool,
}
