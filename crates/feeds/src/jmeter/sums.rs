//! What samples came to since points were sent last, as JMeter's backend listeners count them (`SamplerMetric`,
//! `UserMetric` and `ErrorMetric` of Apache JMeter 5.6.3): counts are those of the interval, times those of the last samples,
//! whenever these were. Pure.

use std::collections::{BTreeMap, VecDeque};

use squall_metrics::OTHER;
use squall_plan::expr::Pattern;
use squall_report::ListenedSample;

/// Of how many of the last samples times and users are.
const WINDOW: usize = 100;
/// The code of an error that an assertion has found.
const ASSERTION_FAILED: &str = "Assertion failed";

/// Most kinds of errors of a name in an interval, whose texts may be what was received: others are told together.
const MOST_ERRORS: usize = 100;
/// What is said of those others, in place of code and message.
const OTHER_ERRORS: (&str, &str) = (OTHER, "errors beyond the first 100 kinds");
/// Most characters of what is said of an error.
const LONGEST: usize = 300;

/// The last values of a kind.
#[derive(Debug, Default)]
pub struct Window(VecDeque<u64>);

impl Window {
    fn push(&mut self, value: u64) {
        if self.0.len() == WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// The smallest; 0 if there is none.
    pub fn min(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }

    /// The largest; 0 if there is none.
    pub fn max(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// Their mean; 0 if there is none.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len().max(1) as f64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Percentiles, in their order, each between the two values around it (`LEGACY` of Apache Commons Math 3).
    pub fn percentiles(&self, wanted: &[f32]) -> Vec<f64> {
        let mut values: Vec<u64> = self.0.iter().copied().collect();
        values.sort_unstable();
        let at = |place: usize| {
            let place = place.clamp(1, values.len().max(1));
            values.get(place - 1).copied().unwrap_or(0) as f64
        };
        let of = |p: &f32| {
            let place = f64::from(*p) * (values.len() + 1) as f64 / 100.0;
            let below = at(place as usize);
            // Before the first value and behind the last there is but one.
            let above = if place < 1.0 { below } else { at(place as usize + 1) };
            below + place.fract() * (above - below)
        };
        wanted.iter().map(of).collect()
    }
}

/// Samples that succeeded, or that failed.
#[derive(Debug, Default)]
pub struct Counted {
    /// How many, in the interval.
    pub count: u64,
    /// The last times, in ms.
    pub times: Window,
}

/// Samples of one name, or all.
#[derive(Debug, Default)]
pub struct Sum {
    pub ok: Counted,
    pub ko: Counted,
    /// The last times of both, in ms.
    pub times: Window,
    /// Samples in them, themselves among them.
    pub hits: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Errors by their code and message, which are one whatever their case.
    errors: BTreeMap<(String, String), Error>,
}

/// Errors of one kind.
#[derive(Debug)]
pub struct Error {
    pub code: String,
    /// What is said beside it.
    pub message: String,
    /// How many, in the interval.
    pub count: u64,
}

impl Sum {
    /// Adds a sample. One that stands beside its own samples adds neither hits nor bytes to the sum of all.
    fn add(&mut self, sample: &ListenedSample, is_all: bool) {
        let counted = if sample.has_failed { &mut self.ko } else { &mut self.ok };
        counted.count += 1;
        counted.times.push(sample.elapsed_ms);
        self.times.push(sample.elapsed_ms);
        if !(is_all && sample.is_apart) {
            self.hits += sample.hits;
            self.bytes_in += sample.bytes_in;
            self.bytes_out += sample.bytes_out;
        }
        // Points of errors are by name alone.
        if sample.has_failed && !is_all {
            self.add_error(sample);
        }
    }

    fn add_error(&mut self, sample: &ListenedSample) {
        let (code, message) = match sample.failure.is_empty() {
            true => (sample.code.as_str(), sample.message.as_str()),
            false => (ASSERTION_FAILED, sample.failure.as_str()),
        };
        let or = |text: &str, without: &str| match text {
            "" => without.to_owned(),
            text => shortened(text.trim()),
        };
        let (mut code, mut message) = (or(code, "0"), or(message, "None"));
        let mut key = (code.to_lowercase(), message.to_lowercase());
        if self.errors.len() >= MOST_ERRORS && !self.errors.contains_key(&key) {
            (code, message) = (OTHER_ERRORS.0.to_owned(), OTHER_ERRORS.1.to_owned());
            key = (code.clone(), message.clone());
        }
        self.errors.entry(key).or_insert(Error { code, message, count: 0 }).count += 1;
    }

    pub fn count(&self) -> u64 {
        self.ok.count + self.ko.count
    }

    /// Errors by their code and message.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.errors.values()
    }

    fn begin_interval(&mut self) {
        (self.ok.count, self.ko.count, self.hits) = (0, 0, 0);
        (self.bytes_in, self.bytes_out) = (0, 0);
        self.errors.clear();
    }
}

/// A text with at most 300 characters, the last of them an ellipsis if it was longer.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['\u{2026}']).collect(),
    }
}

/// Virtual users, which JMeter calls threads.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Threads {
    /// How many were active when the last samples came: the fewest, the most, and their mean.
    pub min: u64,
    pub max: u64,
    pub mean: u64,
    /// How many were started in the whole run.
    pub started: u64,
    /// How many of these have ended.
    pub ended: u64,
}

/// All that is counted.
#[derive(Debug, Default)]
pub struct Sums {
    /// Names that have sums of their own.
    names: Option<Pattern>,
    pub all: Sum,
    /// Those of one name.
    pub by_name: BTreeMap<String, Sum>,
    /// Active users when samples came.
    users: Window,
}

impl Sums {
    /// With sums of their own for the names in which a pattern is found.
    pub fn new(names: Option<Pattern>) -> Sums {
        Sums { names, ..Sums::default() }
    }

    pub fn add(&mut self, sample: &ListenedSample) {
        self.users.push(sample.users);
        let has_own = |names: &Pattern| names.is_match(sample.name.as_bytes());
        if self.names.as_ref().is_some_and(has_own) {
            match self.by_name.get_mut(&sample.name) {
                Some(sum) => sum.add(sample, false),
                None => {
                    let sum = self.by_name.entry(sample.name.clone()).or_default();
                    sum.add(sample, false);
                }
            }
        }
        self.all.add(sample, true);
    }

    /// The users, of whom so many were started, and have ended.
    pub fn threads(&self, (started, ended): (u64, u64)) -> Threads {
        let users = &self.users;
        Threads { min: users.min(), max: users.max(), mean: users.mean() as u64, started, ended }
    }

    /// Begins an interval: nothing was counted in it yet.
    pub fn begin_interval(&mut self) {
        self.all.begin_interval();
        self.by_name.values_mut().for_each(Sum::begin_interval);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A sample that took so long.
    pub fn sample(name: &str, elapsed_ms: u64) -> ListenedSample {
        ListenedSample {
            name: name.to_owned(),
            elapsed_ms,
            hits: 1,
            bytes_in: 10,
            bytes_out: 1,
            users: 2,
            ..ListenedSample::default()
        }
    }

    pub fn failed(name: &str, code: &str, message: &str, failure: &str) -> ListenedSample {
        ListenedSample {
            has_failed: true,
            code: code.to_owned(),
            message: message.to_owned(),
            failure: failure.to_owned(),
            ..sample(name, 30)
        }
    }

    #[test]
    fn percentiles_are_those_of_commons_math() {
        let window = |values: &[u64]| {
            let mut window = Window::default();
            values.iter().for_each(|value| window.push(*value));
            window
        };
        assert_eq!(window(&[]).percentiles(&[50.0]), [0.0]);
        assert_eq!(window(&[7]).percentiles(&[1.0, 99.0]), [7.0, 7.0]);
        let four = window(&[40, 10, 30, 20]);
        assert_eq!(
            four.percentiles(&[10.0, 50.0, 90.0, 30.0, 100.0]),
            [10.0, 25.0, 40.0, 15.0, 40.0]
        );
        assert_eq!((four.min(), four.max(), four.mean()), (10, 40, 25.0));
    }

    #[test]
    fn times_are_of_the_last_samples_and_counts_of_the_interval() {
        let mut sums = Sums::new(Pattern::compile("^a").ok());
        (0..150).for_each(|ms| sums.add(&sample("ab", ms)));
        sums.add(&sample("b", 1_000));
        assert_eq!(sums.by_name.keys().collect::<Vec<_>>(), ["ab"]);
        assert_eq!(
            (sums.all.count(), sums.all.times.min(), sums.all.times.max()),
            (151, 51, 1_000)
        );
        assert_eq!(sums.by_name["ab"].ok.times.min(), 50);
        assert_eq!((sums.all.hits, sums.all.bytes_in, sums.all.bytes_out), (151, 1_510, 151));
        sums.begin_interval();
        assert_eq!((sums.all.count(), sums.all.hits, sums.all.bytes_in), (0, 0, 0));
        assert_eq!(sums.all.times.max(), 1_000, "it slides");
    }

    #[test]
    fn errors_are_told_apart_by_what_they_say() {
        let mut sums = Sums::new(Pattern::compile("").ok());
        for own in [
            failed("a", "500", "Internal Server Error", ""),
            failed("a", "500", "internal server error ", ""),
            failed("a", "200", "OK", "expected b"),
            failed("a", "", "", ""),
        ] {
            sums.add(&own);
        }
        let sum = &sums.by_name["a"];
        let errors = sum.errors().map(|own| (own.code.as_str(), own.message.as_str(), own.count));
        let expected = [
            ("0", "None", 1),
            ("500", "Internal Server Error", 2),
            ("Assertion failed", "expected b", 1),
        ];
        assert_eq!(errors.collect::<Vec<_>>(), expected);
        assert_eq!((sum.ko.count, sum.ok.count, sums.all.errors().count()), (4, 0, 0));
    }

    #[test]
    fn what_is_said_of_errors_has_an_end() {
        let mut sums = Sums::new(Pattern::compile("").ok());
        for round in 0..2 {
            for kind in 0..MOST_ERRORS + 50 {
                sums.add(&failed("a", "500", &format!("answer {kind}"), ""));
                sums.add(&failed("b", "500", "", &format!("expected {}", "\u{e4}".repeat(round))));
            }
            let errors: Vec<&Error> = sums.by_name["a"].errors().collect();
            assert_eq!(errors.len(), MOST_ERRORS + 1);
            assert_eq!(errors.iter().map(|own| own.count).sum::<u64>(), 150);
            let last = errors.last().expect("an error");
            assert_eq!((last.code.as_str(), last.count), ("other", 50));
            assert!(last.message.contains(&MOST_ERRORS.to_string()), "{last:?}");
            assert_eq!(sums.by_name["b"].errors().count(), 1, "each name has its own");
            sums.begin_interval();
        }
        sums.add(&failed("a", "200", "OK", &"\u{e4}".repeat(LONGEST)));
        sums.add(&failed("a", "200", "OK", &"\u{e4}".repeat(LONGEST + 9)));
        let lengths = sums.by_name["a"].errors().map(|own| own.message.chars().count());
        assert_eq!(lengths.collect::<Vec<_>>(), [LONGEST; 2]);
    }

    #[test]
    fn a_transaction_that_stands_apart_counts_once() {
        let mut sums = Sums::new(Pattern::compile("").ok());
        sums.add(&ListenedSample { is_apart: true, ..sample("t", 5) });
        assert_eq!((sums.all.count(), sums.all.hits, sums.all.bytes_in), (1, 0, 0));
        let own = &sums.by_name["t"];
        assert_eq!((own.count(), own.hits, own.bytes_in), (1, 1, 10));
    }

    #[test]
    fn threads_are_those_that_were_active_when_samples_came() {
        let mut sums = Sums::default();
        assert_eq!(sums.threads((0, 0)), Threads::default());
        for users in [1, 4, 4] {
            sums.add(&ListenedSample { users, ..sample("a", 1) });
        }
        assert_eq!(sums.threads((4, 1)), Threads { min: 1, max: 4, mean: 3, started: 4, ended: 1 });
    }
}
