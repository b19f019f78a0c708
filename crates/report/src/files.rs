//! The files that a finished run can be written as: which there are, and what makes each.

use std::io;
use std::path::Path;

use crate::document::RunDocument;
use crate::export::{Format, export};
use crate::html::{Details, html};
use crate::json::write_json;
use crate::recording::Recording;
use crate::run::Run;
use crate::{annotations, csv, junit, markdown, openmetrics};

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// One page that holds everything.
    Html,
    /// `run.json`.
    Json,
    /// A line for each row.
    Csv,
    /// For a pull request.
    Markdown,
    /// JUnit XML: a test for each threshold and check.
    Junit,
    /// Annotations of GitHub: workflow commands.
    Github,
    /// Annotations of GitLab: a code quality report.
    Gitlab,
    /// OpenMetrics, the text format of Prometheus.
    Openmetrics,
    /// HdrHistogram's interval log of the latencies.
    Hlog,
}

impl FileKind {
    /// All kinds with their names.
    pub const ALL: [(FileKind, &str); 9] = [
        (FileKind::Html, "html"),
        (FileKind::Json, "json"),
        (FileKind::Csv, "csv"),
        (FileKind::Markdown, "markdown"),
        (FileKind::Junit, "junit"),
        (FileKind::Github, "github"),
        (FileKind::Gitlab, "gitlab"),
        (FileKind::Openmetrics, "openmetrics"),
        (FileKind::Hlog, "hlog"),
    ];

    /// The kind of a name.
    pub fn from_label(label: &str) -> Option<FileKind> {
        FileKind::ALL.iter().find(|(_, own)| *own == label).map(|(kind, _)| *kind)
    }

    pub fn label(self) -> &'static str {
        FileKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, label)| label)
    }
}

/// A run that is over.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    pub document: &'a RunDocument,
    /// The run; `None`: there is nothing but the result.
    pub run: Option<&'a Run>,
    /// Its folder, if it has one.
    pub folder: Option<&'a Path>,
}

/// The bytes of a file.
///
/// # Errors
/// What it is made of cannot be read: an interval log needs what was recorded.
pub fn file(kind: FileKind, of: Finished<'_>) -> io::Result<Vec<u8>> {
    let run = of.document;
    Ok(match kind {
        FileKind::Html => page(of).into_bytes(),
        FileKind::Json => {
            let mut bytes = Vec::new();
            write_json(run, &mut bytes)?;
            bytes
        }
        FileKind::Csv => csv::csv(run).into_bytes(),
        FileKind::Markdown => markdown::markdown(run).into_bytes(),
        FileKind::Junit => junit::junit(run).into_bytes(),
        FileKind::Github => annotations::github(run).into_bytes(),
        FileKind::Gitlab => annotations::gitlab(run).into_bytes(),
        FileKind::Openmetrics => openmetrics::openmetrics(run).into_bytes(),
        FileKind::Hlog => {
            let (Some(run), Some(folder)) = (of.run, of.folder) else {
                return Err(io::Error::other("an interval log needs the run's folder"));
            };
            let mut recording = Recording::open(&folder.join("slices.bin"))?;
            let mut bytes = Vec::new();
            export(run, &mut recording, Format::Hlog, &mut bytes)?;
            bytes
        }
    })
}

fn page(of: Finished<'_>) -> String {
    let details = of.run.map(|run| Details::of(run, of.folder));
    html(of.document, &details.unwrap_or_default())
}
