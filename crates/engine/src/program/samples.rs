//! The steps that are samples, compiled: what is sent or run, and what becomes of it (how it counts, its limits, what is
//! done with the reply). Plain data.

use std::sync::Arc;

use squall_extract::Extractor;
use squall_metrics::PlaceId;
use squall_plan::model::{CacheUse, HashAlgorithm};
use squall_plan::template::BoundTemplate;

use super::call::{CallOp, ContentOp};
use super::limits::{Limits, TimeoutsOp};
use super::ops::{PostOp, RowOp};

/// A request of the plan.
#[derive(Debug)]
pub(crate) struct RequestOp {
    pub call: CallOp,
    pub policy: Policy,
}

/// What becomes of a request, whatever it sends.
#[derive(Debug)]
pub(crate) struct Policy {
    pub row: RowOp,
    pub limits: Limits,
    /// Its limits of time, where the user's variables decide them.
    pub timeouts: Option<Box<TimeoutsOp>>,
    /// Whether it is repeated on a new connection where the target had closed the old one.
    pub retry_stale: bool,
    /// Whether what redirects lead to is a GET, whatever led there but HEAD.
    pub redirect_to_get: bool,
    /// Whether redirects set cookies too.
    pub redirect_cookies: bool,
    /// Whether the user's cookies go along, and those of the response are kept.
    pub cookies: bool,
    /// The number of the jar that they are in.
    pub jar: u16,
    /// Whether the user has a cache for it, where it is a GET.
    pub cache: CacheUse,
    /// The number of that cache.
    pub cache_number: u16,
    /// Where the response's body goes besides.
    pub capture: Option<CaptureOp>,
    /// Whether what was captured takes the place of the body.
    pub sees_digest: bool,
    /// Whether something looks at what was sent.
    pub reads_sent: bool,
    /// Whether a status of 400 and above is an error by itself.
    pub status_errors: bool,
    /// What is done with the reply, in the plan's order.
    pub post: Vec<PostOp>,
    /// How the resources of the page are loaded.
    pub resources: Option<Box<ResourcesOp>>,
}

impl Policy {
    /// How much of what stands for the body those see who read it.
    pub(crate) fn seen_of_body(&self) -> u64 {
        if self.sees_digest { u64::MAX } else { self.limits.keep }
    }
}

/// How the resources of a page are loaded.
#[derive(Debug)]
pub(crate) struct ResourcesOp {
    /// Where the page with all that belongs to it counts, which is a group of the page's name.
    pub group: PlaceId,
    /// Most at the same time, at least 1.
    pub limit: usize,
    /// What their URLs must match.
    pub include: Option<Arc<Extractor>>,
    /// What they must not match.
    pub exclude: Option<Arc<Extractor>>,
    /// Whether they are loaded from the host of the page alone.
    pub same_host: bool,
    /// Whether what styles name by `url(...)` is loaded.
    pub css_urls: bool,
    /// Whether users have a cache for them.
    pub cache: CacheUse,
    /// What each is asked for with.
    pub content: ContentOp,
    /// What becomes of one of which nobody reads the body, ...
    pub file: Policy,
    /// ... and of one whose body names others.
    pub document: Policy,
}

/// Where the body of a response goes while it is received.
#[derive(Debug)]
pub(crate) enum CaptureOp {
    Hash(HashAlgorithm),
    /// A file. `fixed`: what of its path the plan itself says, if it does not say all of it: what comes
    /// behind the last `/` of that stays below it.
    File {
        path: BoundTemplate,
        fixed: Option<Box<str>>,
    },
}
