//! What becomes of a monitor's samples: which are asked for, which come in time, and which are lost. Pure.

use std::io;

use squall_base::units::counted;
use squall_metrics::{Slice, Source};

use super::interface::Sampled;
use super::recorder::Recorder;

/// The samples of a monitor.
#[derive(Debug)]
pub(super) struct Account {
    name: String,
    recorder: Recorder,
    /// The second of the sample that was asked for and has not come.
    asked: Option<u32>,
    /// The sample that has come and belongs to a second of which no worker has handed over anything yet.
    sampled: Option<(u32, Sampled)>,
    /// Whether it could not be asked in the last second, which may never begin: then nothing is lost.
    missed: bool,
    asked_for: u64,
    lost: u64,
    /// Why the first of them was.
    error: Option<String>,
    /// What of its samples is missing or may mislead.
    remark: Option<String>,
}

impl Account {
    pub(super) fn new(name: String, source: Source) -> Account {
        let recorder = Recorder::new(source);
        Account {
            name,
            recorder,
            asked: None,
            sampled: None,
            missed: false,
            asked_for: 0,
            lost: 0,
            error: None,
            remark: None,
        }
    }

    /// Whether to ask for a sample in this second: not before the one before it has come.
    pub(super) fn ask(&mut self, second: u32) -> bool {
        self.asked_for += 1;
        if std::mem::take(&mut self.missed) {
            self.lose(TOO_SLOW);
        }
        if self.asked.is_some() {
            self.missed = true;
            return false;
        }
        self.asked = Some(second);
        true
    }

    /// The sample that was asked for has come, or could not be taken.
    pub(super) fn answered(&mut self, answer: io::Result<Sampled>) {
        let Some(second) = self.asked.take() else { return };
        match answer {
            Ok(sampled) => self.sampled = Some((second, sampled)),
            Err(error) => self.lose(&error.to_string()),
        }
    }

    /// What of its samples is missing or may mislead, as far as it knows now.
    pub(super) fn remarked(&mut self, remark: Option<String>) {
        self.remark = remark.or_else(|| self.remark.take());
    }

    /// There is nobody any more to answer.
    pub(super) fn ended(&mut self) {
        self.answered(Err(io::Error::other("its thread has ended")));
    }

    /// The sample that has come, if its second is one of the first `begun` of the load: it is recorded if that second is not
    /// whole yet, and otherwise lost.
    pub(super) fn take(&mut self, begun: u32, is_open: &dyn Fn(u32) -> bool) -> Option<Slice> {
        let (second, sampled) = self.sampled.take_if(|(second, _)| *second < begun)?;
        if !is_open(second) {
            self.lose(TOO_SLOW);
            return None;
        }
        let recorded = self.recorder.slice(second, sampled);
        recorded.map_err(|error| self.lose(&error)).ok()
    }

    /// What it has remarked.
    pub(super) fn remark(&self) -> Option<String> {
        Some(format!("monitor {}: {}", self.name, self.remark.as_ref()?))
    }

    /// How much was lost, and why; `None`: nothing.
    pub(super) fn loss(&self) -> Option<String> {
        let Account { name, asked_for, lost, .. } = self;
        let why = self.error.as_ref()?;
        let samples = counted(asked_for - u64::from(self.missed), "sample");
        Some(format!("monitor {name}: {lost} of {samples} were lost: {why}"))
    }

    fn lose(&mut self, why: &str) {
        self.lost += 1;
        self.error.get_or_insert_with(|| why.to_owned());
    }
}

/// Why a sample is lost that does not come before its second is over.
const TOO_SLOW: &str = "it took longer than a second";

#[cfg(test)]
mod tests {
    use squall_metrics::{MetricKey, MetricKind};

    use super::*;

    fn stock(value: f64) -> io::Result<Sampled> {
        Ok(vec![(MetricKey::new(MetricKind::Gauge, "", "stock", Vec::new()), value)])
    }

    /// A monitor beside a load of one worker: in each second of the script it answers to what it was asked for, or not.
    /// What of its samples belongs to which second.
    fn scripted(script: Vec<Option<io::Result<Sampled>>>) -> (Account, Vec<(u32, f64)>) {
        let mut own = Account::new("shop".to_owned(), Source::Monitor(1));
        let mut taken = Vec::new();
        own.ask(0);
        for (second, answer) in (0..).zip(script) {
            answer.into_iter().for_each(|answer| own.answered(answer));
            // The worker hands over its slice, with which the second has begun and, when this is done, is whole.
            let slice = own.take(second + 1, &|asked| asked >= second);
            taken.extend(slice.map(|slice| {
                let (_, stats) = slice.metrics().next().expect("a metric");
                (slice.second, stats.gauge().expect("a gauge").last)
            }));
            own.ask(second + 1);
        }
        (own, taken)
    }

    #[test]
    fn a_sample_belongs_to_the_second_that_it_was_taken_in() {
        let (own, taken) = scripted(vec![Some(stock(7.0)), Some(stock(6.0)), Some(stock(5.0))]);
        assert_eq!(taken, [(0, 7.0), (1, 6.0), (2, 5.0)]);
        assert_eq!(own.loss(), None);
    }

    /// Not those before it, and not those after it.
    #[test]
    fn a_slow_monitor_loses_what_comes_too_late() {
        let (own, taken) = scripted(vec![
            Some(stock(7.0)),
            // Asked in second 1, it answers in second 3: that of 1 is whole, and in 2 and 3 nothing could be asked.
            None,
            None,
            Some(stock(6.0)),
            Some(stock(5.0)),
        ]);
        assert_eq!(taken, [(0, 7.0), (4, 5.0)]);
        let expected = "monitor shop: 3 of 6 samples were lost: it took longer than a second";
        assert_eq!(own.loss().as_deref(), Some(expected));
    }

    #[test]
    fn a_monitor_that_fails_is_asked_again() {
        let failed = || Some(Err(io::Error::other("no connection")));
        let wrong = || Some(stock(f64::NAN));
        let (own, taken) = scripted(vec![failed(), Some(stock(3.0)), wrong(), Some(stock(2.0))]);
        assert_eq!(taken, [(1, 3.0), (3, 2.0)]);
        let expected = "monitor shop: 2 of 5 samples were lost: no connection";
        assert_eq!(own.loss().as_deref(), Some(expected));
        let (own, _) = scripted(vec![wrong()]);
        let expected = "monitor shop: 1 of 2 samples were lost: `stock` takes no value of NaN";
        assert_eq!(own.loss().as_deref(), Some(expected));
    }

    /// The load may end before it has come to the second of a sample, which is then nobody's.
    #[test]
    fn a_sample_waits_for_its_second_to_begin() {
        let mut own = Account::new("shop".to_owned(), Source::Monitor(1));
        assert!(own.ask(4));
        own.answered(stock(1.0));
        assert_eq!(own.take(4, &|_| true), None);
        assert_eq!(own.loss(), None);
        assert_eq!(own.take(5, &|_| true).map(|slice| slice.second), Some(4));
    }

    #[test]
    fn the_last_remark_is_kept() {
        let mut own = Account::new("shop".to_owned(), Source::Monitor(1));
        assert_eq!(own.remark(), None);
        for remark in [Some("1 broken line"), Some("2 broken lines"), None] {
            own.remarked(remark.map(str::to_owned));
        }
        assert_eq!(own.remark().as_deref(), Some("monitor shop: 2 broken lines"));
    }

    /// After its last second, a load has none in which it could still answer.
    #[test]
    fn the_second_after_the_load_is_not_lost() {
        let mut own = Account::new("shop".to_owned(), Source::Monitor(1));
        assert!(own.ask(0) && !own.ask(1));
        assert_eq!(own.loss(), None);
        assert!(!own.ask(2));
        let expected = "monitor shop: 1 of 2 samples were lost: it took longer than a second";
        assert_eq!(own.loss().as_deref(), Some(expected));
    }

    #[test]
    fn one_that_has_ended_answers_nothing() {
        let mut own = Account::new("shop".to_owned(), Source::Monitor(1));
        for second in 0..3 {
            assert!(own.ask(second));
            own.ended();
        }
        let expected = "monitor shop: 3 of 3 samples were lost: its thread has ended";
        assert_eq!(own.loss().as_deref(), Some(expected));
    }
}
