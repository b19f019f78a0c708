//! What follows from everything recorded in a run: its series, curves and totals, its steady part, thresholds, and the
//! validity of its numbers. Everything is read in one pass, of which little is held.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use squall_analysis::{
    Batches, CompleteRow, Facts, RowLatencies, SeriesBuilder, Threshold, ThresholdResult, Totals,
    Windows, whole_seconds,
};
use squall_metrics::Slice;

use crate::curves::{RowsBuilder, WholeBuilder};
use crate::recording::Recording;
use crate::run::Run;

/// Most slices that wait for the thread that adds up rows. Whoever hands over another waits: each takes memory.
const MOST_WAITING: usize = 2;
/// Most slices that are added to totals together, and most bytes of them, but for one slice that may have more: those of a
/// thousand names take a megabyte each.
const SLICES_TOGETHER: usize = 16;
const BYTES_TOGETHER: usize = 4 << 20;

impl Run {
    /// Evaluates it from its totals and from everything recorded, of which little is held: the series, the steady
    /// part, thresholds, and the validity of its numbers. Thresholds that cannot be parsed are ignored: they were
    /// reported when the plan was read.
    ///
    /// Where the recording is damaged, the run is `incomplete`, which says so.
    ///
    /// # Errors
    /// The recording cannot be read. Everything that needs no series is there nevertheless.
    pub fn evaluate(&mut self, recording: &mut Recording) -> io::Result<()> {
        let series = self.totals.series();
        self.evaluate_with(recording, series, Also::default())
    }

    /// The same, and in the same pass the curves that a page draws; they are not free, and nothing else needs them.
    ///
    /// # Errors
    /// As of [`Run::evaluate`]; the curves are of what could be read.
    pub fn evaluate_to_draw(&mut self, recording: &mut Recording) -> io::Result<()> {
        let series = self.totals.series();
        let rows = Some(self.row_curves(&self.totals, &series));
        match Also::begin(&series, Aside { rows, totals: None }) {
            Ok(also) => self.evaluate_with(recording, series, also),
            // A system that has no thread for the curves may have the run's result nevertheless.
            Err(error) => self.evaluate_with(recording, series, Also::default()).and(Err(error)),
        }
    }

    /// Evaluates it from everything recorded alone, its totals too where they are not known. The counts are then read
    /// before all else: of which rows there are series, and how fine these are, depends on them.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(crate) fn read(
        &mut self,
        recording: &mut Recording,
        totals: Option<Totals>,
    ) -> io::Result<()> {
        match totals {
            Some(totals) => {
                self.hold(totals);
                self.evaluate(recording)
            }
            None => self.add_up(recording, |_, _, _| None),
        }
    }

    /// The same with the curves that a page draws.
    ///
    /// # Errors
    /// As of [`Run::read`].
    pub(crate) fn read_to_draw(
        &mut self,
        recording: &mut Recording,
        totals: Option<Totals>,
    ) -> io::Result<()> {
        match totals {
            Some(totals) => {
                self.hold(totals);
                self.evaluate_to_draw(recording)
            }
            None => {
                self.add_up(recording, |run, totals, series| Some(run.row_curves(totals, series)))
            }
        }
    }

    /// Evaluates it from everything recorded alone, and adds up its totals in the same pass; `curves` says what is drawn of
    /// a run that counted so much, with this series.
    fn add_up(
        &mut self,
        recording: &mut Recording,
        curves: impl FnOnce(&Run, &Totals, &SeriesBuilder) -> Option<RowsBuilder>,
    ) -> io::Result<()> {
        let counted = Arc::new(counts(recording)?);
        let series = counted.series();
        let rows = curves(self, &counted, &series);
        let also = Also::begin(&series, Aside { rows, totals: Some(Totals::new()) })?;
        let also = Also { windows: Some(self.windows(counted)), ..also };
        self.evaluate_with(recording, series, also)
    }

    /// Its thresholds on moving windows, given its totals, of which the counts are enough.
    fn windows(&self, totals: Arc<Totals>) -> Windows {
        let elapsed_s = if self.finished { self.elapsed_s } else { f64::from(totals.seconds()) };
        // When nothing more is begun, the rate falls for no fault of the target.
        let seconds = self.meta.load_ends_s().map_or(elapsed_s, |end| end.min(elapsed_s));
        Windows::new(&self.thresholds(&totals), totals, whole_seconds(seconds))
    }

    /// Holds its thresholds against its totals once more, but for those on moving windows.
    pub fn judge_again(&mut self) {
        let thresholds = self.meta.thresholds.iter().filter_map(|own| Threshold::parse(own).ok());
        for (threshold, result) in thresholds.zip(&mut self.threshold_results) {
            if threshold.window().is_none() {
                *result = threshold.evaluate(&self.totals, self.elapsed_s);
            }
        }
    }

    /// Its thresholds: without a load there is nothing to hold against them.
    fn thresholds(&self, totals: &Totals) -> Vec<Threshold> {
        let texts = self.meta.thresholds.iter().filter(|_| totals.workers() > 0);
        texts.filter_map(|text| Threshold::parse(text).ok()).collect()
    }

    /// What computes the curves of the rows of a run with these totals and this series.
    fn row_curves(&self, totals: &Totals, series: &SeriesBuilder) -> RowsBuilder {
        let seconds = if self.finished { self.elapsed_s.ceil() as u32 } else { totals.seconds() };
        let rows = totals.rows().count() + totals.checks().count();
        RowsBuilder::new(seconds, series.resolution(), rows)
    }

    fn evaluate_with(
        &mut self,
        recording: &mut Recording,
        mut series: SeriesBuilder,
        mut also: Also,
    ) -> io::Result<()> {
        let mut windows = match also.windows.take() {
            Some(windows) => windows,
            None => self.windows(self.totals.clone()),
        };
        let read = recording.replay_held(|slice| {
            windows.add(&slice);
            also.rows(series.complete(&slice));
            also.slice(slice);
        });
        also.rows(series.complete_rest());
        self.series = Arc::new(series.finish());
        let Aside { rows, totals } = also.aside.map_or_else(Aside::default, AsideThread::finish);
        let curves = also.whole.zip(rows);
        self.curves = curves.map(|(whole, rows)| Arc::new(whole.finish(rows.finish())));
        if let Some(totals) = totals {
            self.hold(totals);
        }
        let read = read.map(|reason| {
            let left_out = |reason| format!("slices.bin: {reason}; what follows it is left out");
            self.incomplete.extend(reason.map(left_out));
        });
        self.judge(&also.latencies, windows.finish());
        read
    }

    /// Takes totals that were read; a run that was broken off was as long as they are.
    fn hold(&mut self, totals: Totals) {
        if !self.finished {
            self.elapsed_s = f64::from(totals.seconds());
        }
        self.totals = Arc::new(totals);
    }

    /// What follows from totals and series, and the batches of the steady part.
    fn judge(&mut self, latencies: &[RowLatencies], windows: Vec<ThresholdResult>) {
        let (totals, elapsed_s) = (&self.totals, self.elapsed_s);
        self.steady = squall_analysis::steady(totals, &self.series, elapsed_s, self.meta.shape());
        let batches = self.steady.map(|steady| Batches::of(&self.series, steady, latencies));
        self.batches = batches.map(Arc::new);
        let thresholds = self.thresholds(totals);
        let mut windows = windows.into_iter();
        let results = thresholds.iter().filter_map(|threshold| match threshold.window() {
            Some(_) => windows.next(),
            None => Some(threshold.evaluate(totals, elapsed_s)),
        });
        self.threshold_results = results.collect();
        let fleet = self.fleet.as_ref().map(|own| own.facts(&self.nodes, &self.meta.nodes));
        self.reasons = squall_analysis::assess(&Facts {
            totals,
            series: &self.series,
            all: &totals.all(),
            elapsed_s,
            host: &self.host,
            fleet: fleet.as_ref(),
            steady: self.steady,
            thresholds: &thresholds,
            results: &self.threshold_results,
            shows_corrected: true,
        });
    }
}

/// What is made of everything recorded besides the series, as far as it is wanted.
#[derive(Default)]
struct Also {
    /// Latencies by row of the series, of which its steady part is judged.
    latencies: Vec<RowLatencies>,
    whole: Option<WholeBuilder>,
    aside: Option<AsideThread>,
    /// Thresholds on moving windows; `None`: the run knows its totals, of which they follow.
    windows: Option<Windows>,
}

impl Also {
    /// With what is wanted of each row of the run; who wants their curves wants that of the whole too.
    fn begin(series: &SeriesBuilder, aside: Aside) -> io::Result<Also> {
        let whole = aside.rows.is_some().then(|| WholeBuilder::new(series.resolution()));
        Ok(Also { whole, aside: Some(AsideThread::begin(aside)?), ..Also::default() })
    }

    fn slice(&mut self, slice: Slice) {
        if let Some(aside) = &self.aside {
            aside.add(slice);
        }
    }

    fn rows(&mut self, rows: impl IntoIterator<Item = CompleteRow>) {
        for row in rows {
            if let Some(whole) = &mut self.whole {
                whole.add(&row);
            }
            self.latencies.push(row.into());
        }
    }
}

/// What is computed of each row of the run, aside of the series: it is as much work as that.
#[derive(Default)]
struct Aside {
    rows: Option<RowsBuilder>,
    totals: Option<Totals>,
}

impl Aside {
    /// Adds all slices that come.
    fn add_all(mut self, from: &Receiver<Slice>) -> Aside {
        let mut together = Together::default();
        for slice in from {
            if let Some(rows) = &mut self.rows {
                rows.add(&slice);
            }
            if let Some(totals) = &mut self.totals {
                together.add(slice, totals);
            }
        }
        if let Some(totals) = &mut self.totals {
            together.flush(totals);
        }
        self
    }
}

/// Slices that are to be added to totals together, see [`Totals::add_together`].
#[derive(Default)]
struct Together {
    slices: Vec<Slice>,
    bytes: usize,
}

impl Together {
    fn add(&mut self, slice: Slice, totals: &mut Totals) {
        self.bytes += slice.heap_bytes();
        self.slices.push(slice);
        if self.slices.len() >= SLICES_TOGETHER || self.bytes >= BYTES_TOGETHER {
            self.flush(totals);
        }
    }

    fn flush(&mut self, totals: &mut Totals) {
        totals.add_together(&self.slices);
        self.slices.clear();
        self.bytes = 0;
    }
}

/// A thread that computes [`Aside`].
struct AsideThread {
    slices: SyncSender<Slice>,
    thread: JoinHandle<Aside>,
}

impl AsideThread {
    fn begin(aside: Aside) -> io::Result<AsideThread> {
        let (slices, from) = sync_channel(MOST_WAITING);
        let thread = thread::Builder::new().name("rows".to_owned());
        Ok(AsideThread { slices, thread: thread.spawn(move || aside.add_all(&from))? })
    }

    fn add(&self, slice: Slice) {
        // A thread that is gone has panicked, which the end passes on.
        let _ = self.slices.send(slice);
    }

    fn finish(self) -> Aside {
        drop(self.slices);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What a recording counted, without any times.
fn counts(recording: &mut Recording) -> io::Result<Totals> {
    let mut totals = Totals::new();
    recording.replay_counts(|slice| {
        totals.add(slice);
    })?;
    Ok(totals)
}
