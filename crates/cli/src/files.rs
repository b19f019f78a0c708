//! `--out KIND=TARGET`: the result of a run in files of other kinds, and feeds while it goes on.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use squall_feeds::{FeedKind, FeedTarget};
use squall_report::{FileKind, Finished, NO_PARQUET, SampleFormat, WRITES_PARQUET};

use crate::out;

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    /// The folder in which run folders are made.
    Folder(PathBuf),
    File(ResultFile),
    Samples(RequestRows),
    Feed(FeedTarget),
}

/// A file of a kind; `-` is the standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    pub kind: FileKind,
    pub path: String,
}

/// A file that gets a row for each request while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRows {
    pub path: PathBuf,
    pub form: RowForm,
}

/// The form of such a file, as the ending of its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    Rows(SampleFormat),
    /// A line of JSON for each request, with its messages if that is asked for.
    Lines,
}

/// How long a pipe is waited for whose reader is slow or does not come.
const PIPE_PATIENCE: Duration = Duration::from_secs(10);

/// The kind of files that have a row for each request, and what it was called before for one of its forms.
const SAMPLES: &str = "samples";
const SAMPLES_BEFORE: &str = "jtl";

/// Reads `DIR` or `KIND=TARGET`.
pub fn parse_out(text: &str) -> Result<Out, String> {
    match text.split_once('=') {
        Some((SAMPLES, path)) => parse_samples(path).map(Out::Samples),
        Some((SAMPLES_BEFORE, _)) => {
            Err(format!("write {SAMPLES}=FILE.jtl: the ending of the name says the form"))
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

/// Reads the name of a file of samples.
fn parse_samples(path: &str) -> Result<RequestRows, String> {
    let path = PathBuf::from(path);
    let form = match SampleFormat::of(&path) {
        Some(SampleFormat::Parquet) if !WRITES_PARQUET => return Err(NO_PARQUET.to_owned()),
        Some(format) => RowForm::Rows(format),
        None if path.extension().is_some_and(|end| end == "jsonl") => RowForm::Lines,
        None => {
            return Err("the name must end in .csv, .jtl, .parquet or .jsonl, which says the form"
                .to_owned());
        }
    };
    Ok(RequestRows { path, form })
}

/// Reads `KIND=FILE`.
pub fn parse_file(text: &str) -> Result<ResultFile, String> {
    let kinds = || FileKind::ALL.map(|(_, name)| name).join(", ");
    let (kind, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(|| {
            format!("expected KIND=FILE, such as html=report.html; kinds: {}", kinds())
        })?;
    if [SAMPLES, SAMPLES_BEFORE].contains(&kind) {
        return Err(format!(
            "a run's folder has no single requests: they are written while it goes on, by `squall run PLAN --out {SAMPLES}=FILE.jtl`"
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
    let paths = files.iter().map(|own| &own.path);
    // Who reads a pipe would take that it is closed for the end.
    let paths = paths.filter(|path| *path != "-" && !is_pipe(Path::new(path)));
    paths
        .map(|path| File::create(path).map_err(|error| format!("{path}: {error}")))
        .try_for_each(|made| made.map(drop))
}

/// Whether a path is that of a pipe.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|own| own.file_type().is_fifo())
}

/// Refuses outputs that would be written over each other, each a flag with its file.
///
/// # Errors
/// Two have the same file, in a sentence with both.
pub fn refuse_shared(outputs: &[(String, PathBuf)]) -> Result<(), String> {
    // Any number may go to a device or a pipe.
    let is_file = |path: &Path| path.metadata().is_ok_and(|own| own.is_file()) || !path.exists();
    let files = outputs.iter().filter(|(_, path)| is_file(path));
    let files: Vec<_> = files.map(|(flag, path)| (flag, path, place(path))).collect();
    for (number, (flag, path, own)) in files.iter().enumerate() {
        if let Some((before, ..)) = files[..number].iter().find(|(.., other)| other == own) {
            let path = path.display();
            return Err(format!(
                "{before} and {flag} would both write `{path}`: give each a file of its own"
            ));
        }
    }
    Ok(())
}

/// Where a file is, or would be, without links on the way.
fn place(path: &Path) -> PathBuf {
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => whole,
    }
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
    let wrong = |error: io::Error| format!("{path}: {error}");
    let bytes = squall_report::file(*kind, of).map_err(wrong)?;
    match path.as_str() {
        "-" => out::print_bytes(&bytes),
        path if is_pipe(Path::new(path)) => write_pipe(path, bytes).map_err(wrong)?,
        path => write_file(Path::new(path), &bytes).map_err(wrong)?,
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = std::fs::write(path, bytes);
    if written.is_err() && path.is_file() {
        // A part of it is of no use, and takes the room of what still has to be written.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Writes to a pipe on a thread of its own, which is left behind if nobody reads it.
fn write_pipe(path: &str, bytes: Vec<u8>) -> io::Result<()> {
    let (say, said) = mpsc::channel();
    let to = path.to_owned();
    let write = move || {
        // Who gave up does not listen.
        let _ = say.send(std::fs::write(to, bytes));
    };
    std::thread::Builder::new().name("pipe".to_owned()).spawn(write)?;
    let late = |_| Err(io::Error::other("nobody read this pipe to its end within 10s"));
    said.recv_timeout(PIPE_PATIENCE).unwrap_or_else(late)
}

/// Writes what is known of a run's outcome once more, as something was lost after it was written: in its `folder`, if it has
/// one, and in the file of JSON. What cannot be written stays as it was.
///
/// # Errors
/// A file cannot be written, with its name.
pub fn amend(folder: Option<&Path>, json: Option<&Path>, of: Finished<'_>) -> Result<(), String> {
    let mut failed = Vec::new();
    let mut note = |path: &Path, written: io::Result<()>| {
        failed.extend(written.err().map(|error| format!("{}: {error}", path.display())));
    };
    if let Some(folder) = folder {
        note(&folder.join("run.json"), squall_report::amend_result(folder, of.document));
    }
    let page = folder.map(|folder| (FileKind::Html, folder.join("report.html")));
    let json = json.map(|path| (FileKind::Json, path.to_owned()));
    // A page that was not written was missed already, and a device has the result.
    for (kind, path) in page.into_iter().chain(json).filter(|(_, path)| path.is_file()) {
        let written = squall_report::file(kind, of).and_then(|bytes| {
            squall_report::rewrite_file(&path, |mut file| file.write_all(&bytes))
        });
        note(&path, written);
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What says that the run passed may not be there any more where what says more cannot be written.
    #[test]
    fn a_result_is_amended_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("run.json"), "before").expect("writable");
        std::fs::write(path("r.json"), "before").expect("writable");
        let document = squall_report::document(&squall_report::Run::default());
        let of = Finished { document: &document, run: None, folder: None };
        std::fs::create_dir(path("run.json.new")).expect("writable");
        let error = amend(Some(folder.path()), Some(&path("r.json")), of).expect_err("no room");
        assert!(error.contains("/run.json: ") && !error.contains("/r.json"), "{error}");
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("it is there");
        assert_eq!(read("run.json"), "before");
        assert!(read("r.json").contains("\"schema\"") && !path("report.html").exists());
    }

    #[test]
    fn two_outputs_have_two_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = |flag: &str, name: &str| (flag.to_owned(), folder.path().join(name));
        std::fs::write(folder.path().join("there"), "").expect("writable");
        std::os::unix::fs::symlink("there", folder.path().join("link")).expect("a link");
        for [one, other] in [["same.csv", "same.csv"], ["./same", "same"], ["there", "link"]] {
            let error = refuse_shared(&[own("--out samples", one), own("--json", other)]);
            let error = error.expect_err("they are the same");
            assert!(error.starts_with("--out samples and --json would both write `"), "{error}");
        }
        assert_eq!(refuse_shared(&[own("--out samples", "a"), own("--json", "b")]), Ok(()));
        assert_eq!(
            refuse_shared(&["a", "b"].map(|flag| (flag.to_owned(), "/dev/null".into()))),
            Ok(())
        );
    }

    #[test]
    fn folders_and_files() {
        let file = |kind, path: &str| ResultFile { kind, path: path.to_owned() };
        assert_eq!(parse_out("runs"), Ok(Out::Folder("runs".into())));
        assert_eq!(parse_out("./a=b"), Ok(Out::Folder("./a=b".into())));
        assert_eq!(parse_out("html=a=b.html"), Ok(Out::File(file(FileKind::Html, "a=b.html"))));
        assert_eq!(parse_file("junit=-"), Ok(file(FileKind::Junit, "-")));
        let feed = FeedTarget::new(FeedKind::Graphite, "a:2003").map(Out::Feed);
        assert_eq!(parse_out("graphite=a:2003"), feed);
        for (path, form) in [
            ("a/all.csv", RowForm::Rows(SampleFormat::Csv)),
            ("all.jtl", RowForm::Rows(SampleFormat::Jtl)),
            ("all.jsonl", RowForm::Lines),
        ] {
            let file = RequestRows { path: path.into(), form };
            assert_eq!(parse_out(&format!("samples={path}")), Ok(Out::Samples(file)));
        }
        for nameless in ["samples=-", "samples=", "samples=all", "samples=all.txt"] {
            assert!(parse_out(nameless).is_err_and(|text| text.contains(".jsonl")), "{nameless}");
        }
        assert!(parse_out("jtl=all.csv").is_err_and(|text| text.contains("samples=FILE.jtl")));
        for kind in ["jtl=a", "samples=a.jtl"] {
            assert!(
                parse_file(kind).is_err_and(|text| text.contains("squall run PLAN --out samples="))
            );
        }
        assert!(parse_out("graphite=a").is_err_and(|text| text.contains("HOST:PORT")));
        assert!(parse_out("xml=a").is_err_and(|text| text.contains("kinds: html, json")));
        assert!(parse_file("html").is_err() && parse_file("html=").is_err());
    }
}
