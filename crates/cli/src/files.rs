//! `--out KIND=TARGET`: the result of a run in files of other kinds, and feeds while it goes on.

use std::fs::File;
use std::path::{Path, PathBuf};

use squall_feeds::{FeedKind, FeedTarget};
use squall_report::{FileKind, Finished, SampleFormat};

use crate::args::SampleFile;
use crate::out;

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    /// The folder in which run folders are made.
    Folder(PathBuf),
    /// A file.
    File(ResultFile),
    /// A file that gets a row for each request while the run goes on.
    Samples(SampleFile),
    /// A feed.
    Feed(FeedTarget),
}

/// A file of a kind; `-` is the standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    pub kind: FileKind,
    pub path: String,
}

/// The kind of files that have a row for each request.
const SAMPLES: &str = "jtl";

/// Reads `DIR` or `KIND=TARGET`.
pub fn parse_out(text: &str) -> Result<Out, String> {
    match text.split_once('=') {
        Some((SAMPLES, "" | "-")) => {
            Err(format!("samples go to a file while the run goes on: {SAMPLES}=FILE"))
        }
        Some((SAMPLES, path)) => {
            Ok(Out::Samples(SampleFile { path: path.into(), format: SampleFormat::Jtl }))
        }
        // A folder with such a name is written `./a=b`.
        Some((kind, to)) if !kind.contains('/') => match FeedKind::from_label(kind) {
            Some(kind) => FeedTarget::new(kind, to).map(Out::Feed),
            None => parse_file(text).map(Out::File).map_err(|error| {
                format!(
                    "{error}, {SAMPLES}; feeds: {}",
                    FeedKind::ALL.map(|(_, name)| name).join(", ")
                )
            }),
        },
        _ => Ok(Out::Folder(text.into())),
    }
}

/// Reads `KIND=FILE`.
pub fn parse_file(text: &str) -> Result<ResultFile, String> {
    let kinds = || FileKind::ALL.map(|(_, name)| name).join(", ");
    let (kind, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(|| {
            format!("expected KIND=FILE, such as html=report.html; kinds: {}", kinds())
        })?;
    if kind == SAMPLES {
        return Err(format!(
            "a run's folder has no single requests: they are written while it goes on, by `squall run PLAN --out {SAMPLES}=FILE`"
        ));
    }
    let kind = FileKind::from_label(kind)
        .ok_or_else(|| format!("unknown kind of file `{kind}`; kinds: {}", kinds()))?;
    Ok(ResultFile { kind, path: path.to_owned() })
}

/// Makes the files, so that one that cannot be written is known before the run, which `has_folder` or not.
///
/// # Errors
/// One cannot be written, in a sentence with its name.
pub fn prepare(files: &[ResultFile], has_folder: bool) -> Result<(), String> {
    if !has_folder && files.iter().any(|own| own.kind == FileKind::Hlog) {
        return Err(
            "an interval log (hlog) is made of the run's folder: add `--out DIR`".to_owned()
        );
    }
    let paths = files.iter().map(|own| &own.path).filter(|path| *path != "-");
    paths
        .map(|path| File::create(path).map_err(|error| format!("{path}: {error}")))
        .try_for_each(|made| made.map(drop))
}

/// Writes the files of a run that is over.
///
/// # Errors
/// One cannot be made or written, in a sentence with its name.
pub fn write(files: &[ResultFile], of: Finished<'_>) -> Result<(), String> {
    let failed = files.iter().filter_map(|file| write_one(file, of).err());
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

fn write_one(ResultFile { kind, path }: &ResultFile, of: Finished<'_>) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{path}: {error}");
    let bytes = squall_report::file(*kind, of).map_err(wrong)?;
    match path.as_str() {
        "-" => out::print_bytes(&bytes),
        path => std::fs::write(path, &bytes).map_err(wrong)?,
    }
    Ok(())
}

/// Writes what a run's folder says of its outcome once more, as something was lost after it was written.
///
/// # Errors
/// A file cannot be written, with its name.
pub fn amend(folder: &Path, of: Finished<'_>) -> Result<(), String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let files = [(FileKind::Json, "run.json"), (FileKind::Html, "report.html")];
    let files = files.map(|(kind, name)| ResultFile { kind, path: path(name) });
    write(&files, of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_files() {
        let file = |kind, path: &str| ResultFile { kind, path: path.to_owned() };
        assert_eq!(parse_out("runs"), Ok(Out::Folder("runs".into())));
        assert_eq!(parse_out("./a=b"), Ok(Out::Folder("./a=b".into())));
        assert_eq!(parse_out("html=a=b.html"), Ok(Out::File(file(FileKind::Html, "a=b.html"))));
        assert_eq!(parse_file("junit=-"), Ok(file(FileKind::Junit, "-")));
        let feed = FeedTarget::new(FeedKind::Graphite, "a:2003").map(Out::Feed);
        assert_eq!(parse_out("graphite=a:2003"), feed);
        let jtl = SampleFile { path: "all.csv".into(), format: SampleFormat::Jtl };
        assert_eq!(parse_out("jtl=all.csv"), Ok(Out::Samples(jtl)));
        assert!(parse_out("jtl=-").is_err() && parse_out("jtl=").is_err());
        assert!(parse_file("jtl=a").is_err_and(|text| text.contains("squall run PLAN --out jtl=")));
        assert!(parse_out("graphite=a").is_err_and(|text| text.contains("HOST:PORT")));
        assert!(parse_out("xml=a").is_err_and(|text| text.contains("kinds: html, json")));
        assert!(parse_file("html").is_err() && parse_file("html=").is_err());
    }
}
