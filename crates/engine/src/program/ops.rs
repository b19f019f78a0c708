//! What compiled steps are made of, but for HTTP requests: templates bound to slots, extractors and checks. Plain data.

use std::path::PathBuf;
use std::sync::Arc;

use squall_extract::Extractor;
use squall_metrics::{MetricKey, PlaceId};
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
    /// Its row.
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

/// A text that is looked at as a response is.
#[derive(Debug)]
pub(crate) struct LookOp {
    pub text: BoundTemplate,
    pub status: BoundExpr,
    /// `None`: that it is OK.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// What is done with it, in the plan's order.
    pub post: Vec<PostOp>,
}

/// A text that is written to a file.
#[derive(Debug)]
pub(crate) struct WriteOp {
    pub file: PathBuf,
    pub text: BoundTemplate,
    /// Whether it is added to what is there.
    pub append: bool,
}

/// A cookie to set.
#[derive(Debug)]
pub(crate) struct CookieOp {
    pub name: BoundTemplate,
    pub value: BoundTemplate,
    pub place: CookiePlace,
    /// Whether it goes over TLS alone.
    pub secure: bool,
    /// The number of the jar that it is put into.
    pub jar: u16,
}

/// Where a cookie goes.
#[derive(Debug)]
pub(crate) enum CookiePlace {
    /// Where one goes that the response of this URL sets.
    Url(BoundTemplate),
    /// To the target's host, or to a domain with what is below it; to a path with what is below it.
    Domain { domain: Option<BoundTemplate>, path: Option<BoundTemplate> },
}

/// A value to record.
#[derive(Debug)]
pub(crate) struct MetricOp {
    /// Name and kind, with the tags where all of them are known before the run.
    pub key: MetricKey,
    pub value: BoundExpr,
    /// All tags, where one of them depends on the user.
    pub tags: Vec<(Box<str>, BoundTemplate)>,
}
