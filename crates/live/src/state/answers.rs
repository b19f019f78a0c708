//! The three questions that a tester has while a run goes on: does it go as planned, is the target fine, and is it
//! squall? Pure.

use squall_analysis::{Validity, worst};
use squall_base::units::{count, counted, percent, rate, time};
use squall_runner::Phase;

use super::health::{Conclusion, HealthAnswer, Mood};
use super::{LiveState, Point, Span, Standing, Stopping};

/// Seconds that count as now.
const NOW: usize = 5;
/// The share of what is planned that may be missing.
const MAX_MISSING: f64 = 0.02;

impl LiveState {
    /// Who is the limit (the target, squall, or nobody), or which threshold fails. Of a generator that is in trouble nothing is said of the target,
    /// since its numbers are squall's own.
    pub fn conclusion(&self) -> Conclusion {
        let [planned, target, _] = self.answers();
        let of = |mood, word: &str, text: String| Conclusion { mood, word: word.to_owned(), text };
        let own = self
            .reasons
            .iter()
            .find(|reason| reason.is_of_generator() && reason.validity() > Validity::Valid);
        if let Some(reason) = own {
            let (mood, word) = match reason.validity() {
                Validity::Invalid => (Mood::Bad, "The generator is the limit"),
                _ => (Mood::Doubtful, "The generator may be the limit"),
            };
            let text = "squall or its machine is part of what is measured";
            return of(mood, word, format!("{text}: {}.", reason.observed));
        }
        if self.stopping.is_some() || self.is_paused() {
            let word = match self.stopping {
                Some(_) => "The load was stopped manually",
                None => "The load was paused manually",
            };
            return of(Mood::Doubtful, word, format!("It is {}.", self.doing()));
        }
        match (planned.mood, target.mood) {
            (Mood::Bad, _) => {
                let text = "It answers too slowly for the planned load, and squall keeps up";
                of(Mood::Bad, "The target is the limit", format!("{text}: {}.", planned.detail))
            }
            (_, Mood::Bad) => {
                let failing = self.failing_thresholds();
                let word = match failing.as_slice() {
                    [] => format!("Requests fail: {}", self.errors_now()),
                    [one] => format!("1 threshold failing: {one}"),
                    [first, others @ ..] => {
                        let number = failing.len();
                        let more = others.join("; ");
                        format!("{number} thresholds failing: {first}; {more}")
                    }
                };
                let text = match self.not_sent() {
                    Some(not_sent) => format!("Besides, {not_sent}, and squall keeps up."),
                    None => "The load is as planned, and squall keeps up.".to_owned(),
                };
                Conclusion { mood: Mood::Bad, word, text }
            }
            (Mood::Doubtful, _) => {
                let mood = if self.requests == 0 { Mood::Bad } else { Mood::Doubtful };
                let text = "squall could not make them from the plan: the errors say why.";
                of(mood, &self.not_sent().unwrap_or_default(), text.to_owned())
            }
            (_, Mood::Doubtful) => of(
                Mood::Doubtful,
                "The target had errors",
                format!("There are none now: {}.", target.detail),
            ),
            (Mood::Unknown, _) | (_, Mood::Unknown) => {
                of(Mood::Unknown, "Nothing is known yet", String::new())
            }
            _ => {
                let text = "The load is as planned, the target answers, and squall keeps up.";
                of(Mood::Good, "No bottleneck found", text.to_owned())
            }
        }
    }

    pub fn answers(&self) -> [HealthAnswer; 3] {
        let answer = |question, (mood, word, detail): (Mood, &str, String)| HealthAnswer {
            question,
            mood,
            word: word.to_owned(),
            detail,
        };
        [
            answer("As planned?", self.as_planned()),
            answer("Target OK?", self.target_ok()),
            answer("Generator OK?", self.generator_ok()),
        ]
    }

    fn now(&self) -> &[Point] {
        let lately = self.history.lately();
        &lately[lately.len().saturating_sub(NOW)..]
    }

    /// Those of them after the last change, by a person or as a load began that came after others: in the second of a change both loads
    /// were there.
    fn settled(&self) -> &[Point] {
        let now = self.now();
        let from = now.partition_point(|point| {
            self.changed_in.is_some_and(|second| f64::from(point.second) <= second)
        });
        &now[from..]
    }

    fn as_planned(&self) -> (Mood, &'static str, String) {
        match (self.phase, self.stopping, self.is_paused()) {
            (_, Some(_), _) => return (Mood::Doubtful, "stopping", self.load_now()),
            (_, _, true) => return (Mood::Doubtful, "paused", "the load is paused".to_owned()),
            (Phase::Preparation | Phase::Setup, ..) => {
                return (Mood::Unknown, "not yet", self.phase.label().to_owned());
            }
            _ if self.history.last().is_none() => return (Mood::Unknown, "not yet", String::new()),
            _ => {}
        }
        let now = self.settled();
        let dropped: u64 = now.iter().map(|point| point.arrivals_dropped).sum();
        let planned: f64 = now.iter().map(|point| point.planned_arrivals).sum();
        let started = now.iter().map(|point| point.arrivals).sum::<u64>() as f64;
        // Random arrivals vary by the root of their number.
        let tolerance = MAX_MISSING * planned + 2.0 * planned.sqrt();
        let is_open = self.loads.iter().any(|load| !load.is_users());
        let is_closed = self.loads.iter().any(|load| load.is_users());
        let few_arrivals = is_open && started < planned - tolerance;
        let wanted = now.last().map_or(0.0, |point| point.planned_users);
        let there = now.last().map_or(0, |point| point.closed_users) as f64;
        // Users that have made their iterations go earlier.
        let ends_by_time = self.loads.iter().all(|load| load.iterations.is_none());
        let few_users = is_closed && ends_by_time && there < wanted * (1.0 - MAX_MISSING) - 1.0;
        let not_sent = self.not_sent();
        let detail = match &not_sent {
            Some(not_sent) => format!("{not_sent}, {}", self.load_now()),
            None => self.load_now(),
        };
        match (dropped > 0 || few_arrivals || few_users, not_sent) {
            (true, _) => (Mood::Bad, "no", detail),
            (false, Some(_)) => (Mood::Doubtful, "in part", detail),
            (false, None) => (Mood::Good, "yes", detail),
        }
    }

    /// How many requests could not be sent; `None`: none of them.
    fn not_sent(&self) -> Option<String> {
        let number = self.problems.not_sent();
        (number > 0).then(|| format!("{} could not be sent", counted(number, "request")))
    }

    /// What of the load is there, of what was planned.
    fn load_now(&self) -> String {
        let now = self.now();
        let Some(last) = now.last() else { return String::new() };
        let seconds: f64 = now.iter().map(Point::length_s).sum();
        let mut words = Vec::new();
        let closed = self.loads.iter().any(|load| load.is_users());
        if self.loads.iter().any(|load| !load.is_users()) {
            let planned: f64 = now.iter().map(|point| point.planned_arrivals).sum();
            let dropped: u64 = now.iter().map(|point| point.arrivals_dropped).sum();
            let started = now.iter().map(|point| point.arrivals).sum::<u64>() as f64;
            let (started, planned) = (rate(started / seconds), rate(planned / seconds));
            words.push(format!("{started} of {planned} arrivals"));
            words.push(match dropped {
                0 => "none dropped".to_owned(),
                _ => format!("{} dropped", rate(dropped as f64 / seconds)),
            });
        }
        // Of an open workload there are as many users as its arrivals need.
        words.push(match closed {
            true => {
                let planned = count(last.planned_users.round() as u64);
                format!("{} of {planned} users", count(last.closed_users))
            }
            false => format!("{} users", count(last.users)),
        });
        words.push(format!("{} requests", rate(last.rate())));
        words.join(", ")
    }

    fn target_ok(&self) -> (Mood, &'static str, String) {
        let lately = self.history.lately();
        let requests: u64 = lately.iter().map(|point| point.requests).sum();
        let Some(last) = self.history.last().filter(|_| requests > 0) else {
            return (Mood::Unknown, "not yet", String::new());
        };
        let errors: u64 = self.now().iter().map(|point| point.errors).sum();
        let failing = self.failing_thresholds();
        // What is wrong first: a narrow screen shows no more.
        let mut words = Vec::new();
        if let [first, others @ ..] = failing.as_slice() {
            words.push(first.clone());
            words.extend(match others.len() {
                0 => None,
                1 => Some("1 more fails".to_owned()),
                more => Some(format!("{more} more fail")),
            });
        }
        if errors > 0 {
            words.push(self.errors_now());
        } else if self.problems.total() > 0 {
            words.push(format!("{} before", counted(self.problems.total(), "error")));
        }
        // In a second without any response there is none.
        if last.p99_us > 0.0 {
            let [p50, p99] = [last.p50_us, last.p99_us].map(time);
            words.push(format!("p50 {p50}, p99 {p99}"));
        }
        if failing.is_empty() {
            let of = |standing: Standing, one: &str, more: &str| -> Option<String> {
                let all = self.thresholds.iter().filter(|own| self.standing(own) == standing);
                let number = all.count() as u64;
                let does = if number == 1 { one } else { more };
                (number > 0).then(|| format!("{} {does}", counted(number, "threshold")))
            };
            words.extend(of(Standing::Passes, "passes so far", "pass so far"));
            words.extend(of(Standing::NotYet, "has no value yet", "have no value yet"));
        }
        let detail = words.join(", ");
        match (failing.len(), errors, self.problems.total()) {
            (1.., ..) => (Mood::Bad, "no", detail),
            (0, 1.., _) => (Mood::Bad, "errors", detail),
            (0, 0, 1..) => (Mood::Doubtful, "again", detail),
            _ => (Mood::Good, "yes", detail),
        }
    }

    /// How many of the requests of the last seconds were errors.
    fn errors_now(&self) -> String {
        let sum = |of: fn(&Point) -> u64| self.now().iter().map(of).sum::<u64>() as f64;
        let (errors, requests) = (sum(|point| point.errors), sum(|point| point.requests));
        format!("{} errors now", percent(errors / requests.max(1.0)))
    }

    fn generator_ok(&self) -> (Mood, &'static str, String) {
        let Some(last) = self.history.last() else {
            return (Mood::Unknown, "not yet", String::new());
        };
        let validity = worst(&self.reasons);
        if let Some(reason) = self.reasons.first().filter(|_| validity > Validity::Valid) {
            let mood = if validity == Validity::Invalid { Mood::Bad } else { Mood::Doubtful };
            return (mood, validity.label(), reason.observed.clone());
        }
        let detail = format!(
            "busiest worker {} of a CPU, send delay p99 {}",
            percent(last.busiest_worker),
            time(last.send_delay_p99_us as f64)
        );
        (Mood::Good, "yes", detail)
    }

    /// What the run does now, in a word.
    pub fn doing(&self) -> &'static str {
        match (self.stopping, self.is_paused(), self.phase) {
            (Some(Stopping::AtOnce), ..) => "ending at once",
            (Some(Stopping::InOrder), ..) => "stopping",
            (None, true, _) => "PAUSED",
            (None, false, Phase::Preparation) => "preparation",
            (None, false, Phase::Setup) => "setup",
            (None, false, Phase::Load) => "running",
            (None, false, Phase::Teardown) => "teardown",
        }
    }
}
