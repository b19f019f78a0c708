//! k6's `--out json` and `--out csv`: a sink that writes a point for each value of a metric to a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use squall_k6::output::{PointLines, PointTarget};
use squall_report::Run;
use squall_runner::{Event, EventKind, Phase, Second, Sink, Start, Wanted};

use super::points::{Measuring, Points};
use crate::out;

/// Most bytes of lines that are kept before they are written.
const MAX_KEPT: usize = 1 << 20;

/// Writes the points of a run.
pub struct PointFile {
    /// `None`: the standard output.
    path: Option<PathBuf>,
    points: Points,
    lines: PointLines,
    /// Once the run has begun, until it is over.
    out: Option<Out>,
    /// Lines that are not written yet.
    kept: String,
    /// What is kept is written that often, and when it was.
    every: Duration,
    written: Instant,
}

/// Where lines go.
enum Out {
    Plain(Box<dyn Write + Send>),
    Compressed(Box<GzEncoder<BufWriter<File>>>),
}

impl Out {
    fn open(path: Option<&PathBuf>) -> io::Result<Out> {
        let Some(path) = path else { return Ok(Out::Plain(Box::new(out::Printed))) };
        let file = BufWriter::new(File::create(path)?);
        Ok(match path.extension().is_some_and(|own| own == "gz") {
            true => Out::Compressed(Box::new(GzEncoder::new(file, Compression::fast()))),
            false => Out::Plain(Box::new(file)),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Out::Plain(out) => out.write_all(bytes).and_then(|()| out.flush()),
            // It is flushed at its end: each time costs compression.
            Out::Compressed(out) => out.write_all(bytes),
        }
    }

    fn end(self) -> io::Result<()> {
        match self {
            Out::Plain(mut out) => out.flush(),
            Out::Compressed(out) => out.finish()?.flush(),
        }
    }
}

impl PointFile {
    /// To a target; a file is overwritten.
    pub fn new(target: PointTarget, own: &Measuring, points: Points) -> PointFile {
        PointFile {
            path: target.file.map(PathBuf::from),
            lines: PointLines::new(target.form, own.thresholds.clone(), &own.tags),
            points,
            out: None,
            kept: String::new(),
            every: target.every,
            written: Instant::now(),
        }
    }

    /// Writes what is kept, if it is much, or the time has come.
    fn write_if_due(&mut self) -> io::Result<()> {
        match self.kept.len() >= MAX_KEPT || self.written.elapsed() >= self.every {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let written = self.out.as_mut().map_or(Ok(()), |out| out.write(self.kept.as_bytes()));
        self.kept.clear();
        self.written = Instant::now();
        written
    }

    /// Nothing more comes.
    fn end(&mut self) -> io::Result<()> {
        self.write()?;
        self.out.take().map_or(Ok(()), Out::end)
    }
}

impl Sink for PointFile {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.out = Some(Out::open(self.path.as_ref())?);
        self.points.start(start);
        self.kept = self.lines.head();
        Ok(Wanted { measured: true, ..Wanted::default() })
    }

    fn second(&mut self, own: &Second) -> io::Result<()> {
        let (lines, kept) = (&mut self.lines, &mut self.kept);
        self.points.second(own, &mut |point| lines.add(point, kept));
        self.write_if_due()
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let (lines, kept) = (&mut self.lines, &mut self.kept);
        self.points.event(event, &mut |point| lines.add(point, kept));
        match &event.kind {
            // The teardown may be the end of it.
            EventKind::Evaluated(_) => self.write(),
            EventKind::PhaseEnded { phase: Phase::Teardown, .. } => self.end(),
            _ => self.write_if_due(),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.end()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use squall_k6::output::{Form, TimeFormat};

    use super::*;

    #[test]
    fn files_are_compressed_by_their_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv.gz");
        let mut out = Out::open(Some(&path)).expect("a file");
        out.write(b"a\n").and_then(|()| out.write(b"b\n")).expect("written");
        out.end().expect("written");
        let mut text = String::new();
        let file = File::open(&path).expect("a file");
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("compressed");
        assert_eq!(text, "a\nb\n");
    }

    #[test]
    fn what_is_kept_is_written_when_the_time_has_come() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let options = crate::k6::output::tests::options(&serde_json::json!({}));
        let own =
            Measuring { thresholds: Vec::new(), metrics: Vec::new(), tags: options.system_tags };
        let target = |every| PointTarget {
            form: Form::Csv(TimeFormat::Unix),
            file: Some(path.display().to_string()),
            every,
            warnings: Vec::new(),
        };
        let sizes = [Duration::ZERO, Duration::from_secs(3_600)].map(|every| {
            let points = Points::new(&own);
            let mut file = PointFile::new(target(every), &own, points);
            file.out = Some(Out::open(Some(&path)).expect("a file"));
            file.second(&Second::default()).expect("taken");
            std::fs::read_to_string(&path).expect("a file").lines().count()
        });
        assert_eq!(sizes, [1, 0]);
    }
}
