//! Thresholds on a moving window (`p95 < 300ms over 10s`): each complete window of that length has to pass, so that a
//! minute that was bad is not hidden by an hour that was good. Windows begin at each second, as records are by second.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use squall_base::units::print_duration;
use squall_metrics::{Slice, SliceSet, Source};

use super::limit::Op;
use super::part::Part;
use super::requirement::Threshold;
use super::result::{FROM, ThresholdResult};
use crate::censored::Bounded;
use crate::totals::Totals;

/// A threshold on a moving window, of which the seconds come one after the other.
#[derive(Debug, Clone)]
pub struct MovingWindow {
    threshold: Threshold,
    /// In seconds.
    length: u32,
    seconds: Sliding,
    from: u32,
    /// The second that comes next.
    next: u32,
    /// Whether anything was recorded of what it is about.
    is_used: bool,
    worst: Option<Worst>,
}

/// The worst of the windows that are over.
#[derive(Debug, Clone, Copy)]
struct Worst {
    from: u32,
    value: Bounded,
    passed: bool,
}

impl MovingWindow {
    /// A threshold whose first window begins with second `from`; `None`: it has no window.
    pub fn new(threshold: &Threshold, from: u32) -> Option<MovingWindow> {
        Some(MovingWindow {
            length: threshold.window?,
            threshold: threshold.clone(),
            seconds: Sliding::default(),
            from,
            next: from,
            is_used: false,
            worst: None,
        })
    }

    /// Whether it is that of a threshold.
    pub fn is_of(&self, threshold: &Threshold) -> bool {
        self.threshold == *threshold
    }

    /// Adds what workers and monitors recorded in a second; `totals` know their names. Seconds that are left out recorded nothing,
    /// and one that comes too late counts no more.
    pub fn add<'s>(
        &mut self,
        second: u32,
        slices: impl IntoIterator<Item = &'s Slice>,
        totals: &Totals,
    ) {
        let mut part = Part::default();
        for slice in slices {
            part.merge(&self.threshold.part_in(slice, totals));
        }
        self.add_part(second, part);
    }

    fn add_part(&mut self, second: u32, part: Part) {
        if second < self.next {
            return;
        }
        self.skip_to(second);
        self.is_used |= !part.is_empty();
        self.push(part);
    }

    /// Nothing was recorded in the seconds before this one that have not come.
    fn skip_to(&mut self, second: u32) {
        while self.next < second {
            self.push(Part::default());
        }
    }

    fn push(&mut self, part: Part) {
        self.next += 1;
        self.seconds.push(part, self.length as usize);
        if self.next - self.from < self.length {
            return;
        }
        let sum = self.seconds.sum();
        let Some(value) = self.threshold.value_of_part(&sum, f64::from(self.length)) else {
            return;
        };
        let (from, passed) = (self.next - self.length, self.threshold.holds(value));
        let own = Worst { from, value, passed };
        if self.worst.is_none_or(|worst| self.is_worse(&own, &worst)) {
            self.worst = Some(own);
        }
    }

    fn is_worse(&self, own: &Worst, than: &Worst) -> bool {
        if own.passed != than.passed {
            return than.passed;
        }
        match self.threshold.op {
            Op::Below | Op::AtMost => own.value.value > than.value.value,
            Op::Above | Op::AtLeast => own.value.value < than.value.value,
            Op::Equal | Op::NotEqual => false,
        }
    }

    /// What it comes to by now: the worst window.
    pub fn result(&self) -> ThresholdResult {
        let worst = self.worst.filter(|_| self.is_used || self.threshold.subject.is_all());
        let shown = match worst {
            Some(Worst { from, value, .. }) => format!(
                "{}{FROM}{from} to {}",
                self.threshold.unit.show_bounded(value),
                from + self.length
            ),
            None if self.next - self.from < self.length => {
                let length = Duration::from_secs(u64::from(self.length));
                format!("there was no window of {}", print_duration(length))
            }
            None => self.threshold.nothing_counted(),
        };
        ThresholdResult {
            worst_from_s: worst.map(|worst| worst.from),
            passed: worst.is_some_and(|worst| worst.passed),
            ..self.threshold.result(worst.map(|worst| worst.value), self.threshold.unit, shown)
        }
    }
}

/// The sum of the last seconds. Statistics can be merged and not taken apart, so it is a queue of two stacks: what comes is
/// added to one sum, and what goes is taken from sums that were made beforehand. A second is merged twice, however long
/// the window is.
#[derive(Debug, Clone, Default)]
struct Sliding {
    /// Seconds that came last, and their sum.
    back: Vec<Part>,
    back_sum: Part,
    /// Of the seconds before, the last one first: each with those that are above it.
    front: Vec<Part>,
}

impl Sliding {
    /// Adds a second, and leaves out the first where there are more than `most`.
    fn push(&mut self, mut second: Part, most: usize) {
        self.back_sum.merge(&second);
        second.compact();
        self.back.push(second);
        if self.front.len() + self.back.len() <= most {
            return;
        }
        if self.front.is_empty() {
            let mut sum = Part::default();
            for second in self.back.drain(..).rev() {
                sum.merge(&second);
                let mut kept = sum.clone();
                kept.compact();
                self.front.push(kept);
            }
            self.back_sum.clear();
        }
        self.front.pop();
    }

    fn sum(&self) -> Part {
        let mut sum = self.front.last().cloned().unwrap_or_default();
        sum.merge(&self.back_sum);
        sum
    }
}

/// Evaluates thresholds on moving windows on everything recorded in a run, whose slices come as they were recorded: those
/// of a worker in order, and those of different workers in any.
#[derive(Debug)]
pub struct Windows {
    totals: Arc<Totals>,
    own: Vec<MovingWindow>,
    /// Whether any is about what monitors sample.
    has_sampled: bool,
    /// No window ends later than that.
    end: u32,
    seen: SliceSet,
    /// Of each worker the second that it has handed over last.
    latest: BTreeMap<Source, u32>,
    /// Of seconds of which slices may be missing what each window needs.
    open: BTreeMap<u32, Vec<Part>>,
}

impl Windows {
    /// Those of the thresholds that have a window. `totals` are those of the whole run, of which at least the counts are
    /// known; it took `seconds` whole seconds.
    pub fn new(thresholds: &[Threshold], totals: Arc<Totals>, seconds: u32) -> Windows {
        let own = thresholds.iter().filter_map(|own| MovingWindow::new(own, 0));
        let own: Vec<MovingWindow> = own.collect();
        Windows {
            totals,
            has_sampled: own.iter().any(|own| own.threshold.monitored().is_some()),
            own,
            end: seconds,
            seen: SliceSet::default(),
            latest: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// Adds a slice.
    pub fn add(&mut self, slice: &Slice) {
        let is_wanted = slice.source.is_worker() || self.has_sampled;
        if self.own.is_empty() || !is_wanted || !self.seen.insert(slice.source, slice.second) {
            return;
        }
        let latest = self.latest.entry(slice.source).or_default();
        *latest = slice.second.max(*latest);
        if slice.second < self.end {
            let none = || vec![Part::default(); self.own.len()];
            let parts = self.open.entry(slice.second).or_insert_with(none);
            for (part, own) in parts.iter_mut().zip(&self.own) {
                part.merge(&own.threshold.part_in(slice, &self.totals));
            }
        }
        // What monitors sampled in a second may stand behind what the last worker recorded in it, and before its next.
        match self.complete_before() {
            u32::MAX if self.has_sampled => {}
            complete if self.has_sampled => self.close_before(complete.saturating_sub(1)),
            complete => self.close_before(complete),
        }
    }

    /// The second before which nothing is missing: a worker hands over its seconds in order.
    fn complete_before(&self) -> u32 {
        let next =
            self.totals.last_seconds().map(|(worker, last)| match self.latest.get(&worker) {
                Some(latest) if *latest >= last => u32::MAX,
                Some(latest) => latest + 1,
                None => 0,
            });
        next.min().unwrap_or(0)
    }

    fn close_before(&mut self, second: u32) {
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < second) {
            let (second, parts) = first.remove_entry();
            self.own.iter_mut().zip(parts).for_each(|(own, part)| own.add_part(second, part));
        }
    }

    /// What they come to, once all slices were added.
    pub fn finish(mut self) -> Vec<ThresholdResult> {
        self.close_before(u32::MAX);
        self.own.iter_mut().for_each(|own| own.skip_to(self.end));
        self.own.iter().map(MovingWindow::result).collect()
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{
        ErrorKind, MetricId, MetricKey, MetricKind, NameId, RequestStats, RowKey, RowKind, Sample,
    };

    use super::*;

    /// A worker's second with requests that each took so many ms; `failed` of them are errors.
    fn slice(worker: u32, second: u32, latencies_ms: &[u64], failed: usize) -> Slice {
        let mut slice = Slice::new(worker, second);
        if second == 0 {
            slice.announce(NameId(worker), RowKey::new(RowKind::Request, "buyer", "login"));
        }
        for (n, ms) in latencies_ms.iter().enumerate() {
            let error = (n < failed).then_some(ErrorKind::Status);
            slice.record(NameId(worker), &Sample { error, ..Sample::ok(ms * 1_000) });
        }
        slice
    }

    fn totals(slices: &[Slice]) -> Totals {
        let mut totals = Totals::new();
        totals.add_together(slices);
        totals
    }

    fn result(text: &str, slices: &[Slice], seconds: u32) -> ThresholdResult {
        let threshold = Threshold::parse(text).expect(text);
        let mut windows = Windows::new(&[threshold], Arc::new(totals(slices)), seconds);
        slices.iter().for_each(|slice| windows.add(slice));
        windows.finish().pop().expect("a threshold with a window")
    }

    /// Twenty seconds of 10 ms, of which the 8th to the 10th took 400 ms.
    fn with_a_stall() -> Vec<Slice> {
        let of = |second| if (8..11).contains(&second) { 400 } else { 10 };
        (0..20).map(|second| slice(0, second, &[of(second); 10], 0)).collect()
    }

    #[test]
    fn a_bad_window_fails_and_is_named_though_the_run_as_a_whole_passes() {
        let slices = with_a_stall();
        let whole = Threshold::parse("p50 < 100ms").expect("a threshold");
        assert!(whole.evaluate(&totals(&slices), 20.0).passed);
        let found = result("p50(login) < 100ms over 5s", &slices, 20);
        assert_eq!((found.passed, found.worst_from_s), (false, Some(6)), "{}", found.shown);
        assert_eq!(found.shown, "400 ms, from second 6 to 11");
        assert_eq!((found.shown_alone(), found.fails_so_far()), ("400 ms", true));
        assert_eq!((found.text.as_str(), found.over_s), ("p50(login) < 100ms over 5s", Some(5)));
        // Three of ten seconds are no half.
        assert!(result("p50 < 100ms over 10s", &slices, 20).passed);
    }

    #[test]
    fn only_complete_windows_count_and_a_run_without_one_has_not_passed() {
        let slices: Vec<Slice> = (0..5)
            .map(|second| slice(0, second, &[if second == 4 { 400 } else { 10 }], 0))
            .collect();
        assert!(
            result("max < 100ms over 2s", &slices, 4).passed,
            "the last second is not complete"
        );
        assert!(!result("max < 100ms over 2s", &slices, 5).passed);
        let found = result("max < 100ms over 10s", &slices, 5);
        assert_eq!((found.passed, found.shown.as_str()), (false, "there was no window of 10s"));
        assert!(!found.fails_so_far(), "while the run goes on it is not judged");
    }

    /// A second in which nothing was recorded has no latency, but it has a rate.
    #[test]
    fn seconds_without_records_count_as_such() {
        let slices = [slice(0, 0, &[10; 30], 0), slice(0, 4, &[10; 30], 0)];
        let found = result("rate > 1/s over 3s", &slices, 6);
        assert_eq!((found.passed, found.shown.as_str()), (false, "0.00/s, from second 1 to 4"));
        assert!(result("p95 < 20ms over 3s", &slices, 6).passed);
        let found = result("count(nobody) == 0 over 3s", &slices, 6);
        assert_eq!(found.shown, "nothing was counted under `nobody`");
    }

    /// Slices of two workers, of which one is late, come to the same as in order.
    #[test]
    fn workers_may_be_apart() {
        let of = |worker| {
            (0..12).map(move |second| slice(worker, second, &[10, 20], usize::from(second == 7)))
        };
        let apart: Vec<Slice> = of(0).chain(of(1)).collect();
        let mut together: Vec<Slice> = apart.clone();
        together.sort_by_key(|slice| slice.second);
        let text = "error_rate(login) < 5% over 4s";
        assert_eq!(result(text, &apart, 12), result(text, &together, 12));
        assert_eq!(result(text, &apart, 12).shown, "12.5%, from second 4 to 8");
    }

    #[test]
    fn a_window_begins_when_it_is_told_to() {
        let threshold = Threshold::parse("max < 100ms over 2s").expect("a threshold");
        let slices: Vec<Slice> = (0..6)
            .map(|second| slice(0, second, &[if second < 3 { 400 } else { 10 }], 0))
            .collect();
        let mut window = MovingWindow::new(&threshold, 3).expect("a window");
        for slice in &slices {
            window.add(slice.second, [slice], &totals(&slices));
        }
        assert!(window.result().passed, "{}", window.result().shown);
    }

    #[test]
    fn the_sum_is_that_of_the_last_seconds() {
        let mut sliding = Sliding::default();
        for second in 0..50u64 {
            let row = RequestStats { count: 1 << (second % 32), ..RequestStats::default() };
            let stats = Part { row, ..Part::default() };
            sliding.push(stats, 7);
            let expected = (second.saturating_sub(6)..=second).map(|own| 1u64 << (own % 32));
            assert_eq!(sliding.sum().row.count, expected.sum::<u64>(), "second {second}");
        }
    }

    /// What a monitor sampled in a second, recorded behind what the worker did: nothing in the seconds without a value.
    fn sampled(values: &[Option<f64>]) -> Vec<Slice> {
        let tags = vec![("monitor".to_owned(), "server".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "", "rss", tags);
        let second = |(second, value): (u32, &Option<f64>)| {
            let mut own = Slice::new(Source::Monitor(1), second);
            own.announce_metric(MetricId(0), &key);
            if let Some(value) = value {
                let at = u64::from(second) * 1_000_000_000;
                own.record_metric(MetricId(0), key.kind, *value, at).expect("a value");
            }
            [slice(0, second, &[10], 0), own]
        };
        (0..).zip(values).flat_map(second).collect()
    }

    #[test]
    fn a_window_has_the_mean_of_what_was_sampled_in_it() {
        let mib = |own: f64| Some(own * 1_048_576.0);
        let values = [mib(1.0), mib(2.0), mib(6.0), None, mib(2.0), mib(1.0), mib(1.0)];
        let slices = sampled(&values);
        let found = result("rss(server) < 4MiB over 3s", &slices, 7);
        // A second without a sample is a gap, no 0.
        assert_eq!((found.passed, found.shown.as_str()), (false, "4.0 MiB, from second 1 to 4"));
        assert!(result("rss(server) < 5MiB over 3s", &slices, 7).passed);
        let found = result("max(rss, monitor: server) < 6MiB over 2s", &slices, 7);
        assert_eq!((found.worst_from_s, found.unit.as_str()), (Some(1), "bytes"));
        let last = result("rss(server) < 1.5MiB over 1s", &sampled(&[mib(1.0), mib(2.0)]), 2);
        assert_eq!(last.worst_from_s, Some(1), "what stands behind the last second of a worker");
        let found = result("rss(other) < 4MiB over 3s", &slices, 7);
        assert_eq!((found.passed, found.shown.as_str()), (false, "`other` sampled no `rss`"));
    }

    #[test]
    fn while_a_run_goes_on_it_is_the_same() {
        let slices = sampled(&[Some(1e6), Some(3e6), Some(3e6)]);
        let threshold = Threshold::parse("rss(server) < 2500000 over 2s").expect("a threshold");
        let mut window = MovingWindow::new(&threshold, 0).expect("a window");
        for (second, slices) in (0..).zip(slices.chunks(2)) {
            window.add(second, slices, &totals(slices));
            assert_eq!(window.result().fails_so_far(), second == 2, "second {second}");
        }
    }
}
