//! k6's `--out json` and `--out csv`: a sink that writes a point for each value of a metric. Requests are told of one by one,
//! when they have ended; everything else a second at a time, as squall records it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use squall_k6::output::{PointLines, PointTarget};
use squall_report::Run;
use squall_runner::{Event, EventKind, Phase, Second, Sink, Start, Wanted, WantedExchanges};
use squall_script::ScriptMetric;

use super::points::{self, Moment};
use crate::out;

/// Bytes of each message that are copied: the method is read from them.
const COPIED: usize = 16;
/// Most bytes of lines that are kept before they are written.
const MAX_KEPT: usize = 1 << 20;

/// Writes the points of a run.
pub struct PointFile {
    /// `None`: the standard output.
    path: Option<PathBuf>,
    lines: PointLines,
    /// Those that the script makes.
    metrics: Vec<ScriptMetric>,
    /// Once the run has begun.
    out: Option<Box<dyn Write + Send>>,
    /// When the run began, in seconds since 1970, and when each of its phases did.
    run_unix_s: f64,
    phases_unix_s: BTreeMap<Phase, f64>,
    /// The second of the load that comes next, from 0.
    next_second: u32,
    /// Lines that are not written yet.
    kept: String,
}

impl PointFile {
    /// To a target; a file is overwritten. `thresholds` are those of the script: the metric with its
    /// tags, and the expression; `metrics` those that it makes.
    pub fn new(
        target: PointTarget,
        thresholds: Vec<(String, String)>,
        metrics: Vec<ScriptMetric>,
    ) -> PointFile {
        PointFile {
            path: target.file.map(PathBuf::from),
            lines: PointLines::new(target.form, thresholds),
            metrics,
            out: None,
            run_unix_s: 0.0,
            phases_unix_s: BTreeMap::new(),
            next_second: 0,
            kept: String::new(),
        }
    }

    /// When a phase began, in µs since 1970.
    fn began_us(&self, phase: Phase) -> u64 {
        (self.phases_unix_s.get(&phase).copied().unwrap_or(self.run_unix_s) * 1e6) as u64
    }

    /// Writes what is kept, if it is that many bytes.
    fn write(&mut self, at_least: usize) -> io::Result<()> {
        if self.kept.len() < at_least {
            return Ok(());
        }
        let written = self.out.as_mut().map_or(Ok(()), |out| out.write_all(self.kept.as_bytes()));
        self.kept.clear();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write(0)?;
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Sink for PointFile {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.out = Some(match &self.path {
            Some(path) => Box::new(BufWriter::with_capacity(MAX_KEPT, File::create(path)?)),
            None => Box::new(out::Printed),
        });
        self.run_unix_s = start.meta.started_unix;
        self.kept = self.lines.head();
        let which = squall_engine::ExchangeFilter::All;
        let exchanges = Some(WantedExchanges { which, bytes: COPIED });
        Ok(Wanted { exchanges, ..Wanted::default() })
    }

    fn second(&mut self, own: &Second) -> io::Result<()> {
        let end_us = self.began_us(Phase::Load) + (u64::from(own.second) + 1) * 1_000_000;
        let moment = Moment { unix_us: end_us, is_new: own.second >= self.next_second };
        self.next_second = self.next_second.max(own.second.saturating_add(1));
        let (lines, kept) = (&mut self.lines, &mut self.kept);
        points::of_second(own, moment, &self.metrics, &mut |point| lines.add(&point, kept));
        self.write(MAX_KEPT)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::PhaseBegan(phase) => {
                self.phases_unix_s.insert(*phase, self.run_unix_s + event.at_s);
                Ok(())
            }
            EventKind::Exchange(seen) => {
                let began_us = self.began_us(seen.phase);
                let (lines, kept) = (&mut self.lines, &mut self.kept);
                points::of_request(&seen.exchange, began_us, &mut |point| lines.add(&point, kept));
                self.write(MAX_KEPT)
            }
            // The teardown may be the end of it.
            EventKind::Evaluated(_) => self.flush(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use squall_runner::{Handle, Options};

    use super::*;

    #[test]
    fn a_run_is_told_of_as_it_goes_on() {
        let plan = r#"
target: builtin
scenarios:
  buyers:
    load: {users: 1, iterations: 2}
    steps:
      - {get: /, name: home}
      - metric: {name: iterations, kind: counter}
"#;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("points.json");
        let target = PointTarget::parse(&format!("json={}", file.display())).expect("a target");
        let points = PointFile::new(target, Vec::new(), Vec::new());
        let loaded = squall_runner::load_str("plan.yaml", plan).expect("a plan");
        let sinks: Vec<(String, Box<dyn Sink>)> = vec![("points".to_owned(), Box::new(points))];
        let options = Options { workers: Some(1), ..Options::default() };
        squall_runner::run(&loaded, &options, sinks, &Handle::default()).expect("a run");
        let text = std::fs::read_to_string(&file).expect("a file");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let values = |name: &str| {
            let points =
                lines.iter().filter(|line| line["type"] == "Point" && line["metric"] == name);
            points.map(|line| line["data"]["value"].as_f64().expect("a number")).collect::<Vec<_>>()
        };
        assert_eq!((values("http_reqs"), values("http_req_failed")), (vec![1.0; 2], vec![0.0; 2]));
        assert_eq!(values("iterations").iter().sum::<f64>(), 2.0);
        let point = lines.iter().find(|line| line["type"] == "Point").expect("a point");
        let tags = &point["data"]["tags"];
        assert_eq!(
            (&tags["method"], &tags["name"], &tags["proto"]),
            (&"GET".into(), &"home".into(), &"HTTP/1.1".into())
        );
        assert!(lines.iter().any(|line| line["type"] == "Metric" && line["metric"] == "vus"));
    }
}
