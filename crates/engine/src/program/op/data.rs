//! What a user changes and notes: variables, rows of data, cookies, caches, logs, metrics, files.

use std::fmt::{Formatter, Result};
use std::path::PathBuf;

use squall_metrics::MetricKey;
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};
use crate::program::ops::JsonOp;

/// Changes what a user has, or notes it.
#[derive(Debug)]
pub(crate) enum DataOp {
    /// Gives a variable a value.
    Set {
        slot: Slot,
        value: JsonOp,
    },
    /// The next row of a feed.
    NextRow(u16),
    /// Forgets the cookies of a jar, or of all.
    ClearCookies(Option<u16>),
    /// Forgets what is in a cache, or in all.
    ClearCache(Option<u16>),
    SetCookie(Box<CookieOp>),
    /// A line for the run's log.
    Log(BoundTemplate),
    Metric(Box<MetricOp>),
    /// Writes a text to a file, or adds it to what is there.
    Write {
        file: PathBuf,
        text: BoundTemplate,
        append: bool,
    },
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

impl Operation for DataOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match self {
            DataOp::Set { slot, .. } => write!(f, "set {}", names.variable(*slot)),
            DataOp::NextRow(feed) => write!(f, "next row of {}", names.feed(*feed)),
            DataOp::ClearCookies(None) => f.write_str("clear cookies"),
            DataOp::ClearCookies(Some(jar)) => write!(f, "clear cookies of jar {jar}"),
            DataOp::ClearCache(None) => f.write_str("clear the cache"),
            DataOp::ClearCache(Some(cache)) => write!(f, "clear cache {cache}"),
            DataOp::SetCookie(_) => f.write_str("set a cookie"),
            DataOp::Log(_) => f.write_str("log"),
            DataOp::Metric(own) => write!(f, "{} {}", own.key.kind.label(), own.key.label()),
            DataOp::Write { file, .. } => write!(f, "write to {}", file.display()),
        }
    }
}
