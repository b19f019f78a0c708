//! How a server ends: with the report of the run, which pages that are open may still fetch.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::runs::REPORT;

#[derive(Debug, Default)]
pub struct Ending {
    /// Nothing is served any more.
    pub is_closed: AtomicBool,
    report: Mutex<Option<Report>>,
}

/// The report of a run that is over.
#[derive(Debug, Clone)]
pub enum Report {
    /// In the run's folder, which has this name in the folder of runs.
    InFolder(String),
    /// The page itself, of a run without a folder.
    Held(Vec<u8>),
}

impl Ending {
    /// If the run is over: where its report is, below the address.
    pub fn place(&self) -> Option<String> {
        Some(match self.known().as_ref()? {
            Report::InFolder(name) => format!("runs/{}/{REPORT}", encoded(name)),
            Report::Held(_) => REPORT.to_owned(),
        })
    }

    /// The report that is in no folder.
    pub fn held(&self) -> Option<Vec<u8>> {
        match self.known().as_ref()? {
            Report::InFolder(_) => None,
            Report::Held(page) => Some(page.clone()),
        }
    }

    /// The run is over, and this is its report.
    pub fn set(&self, report: Report) {
        *self.known() = Some(report);
    }

    fn known(&self) -> MutexGuard<'_, Option<Report>> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name as a part of a path.
fn encoded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}
