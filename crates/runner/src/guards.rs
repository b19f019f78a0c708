//! Thresholds that end a load while it goes on; pure, but for what they are told.

use squall_analysis::{Abort, MovingWindow, Threshold, Totals};
use squall_metrics::Slice;
use squall_plan::model::Plan;
use squall_plan::secrets::Secrets;

use crate::mask;

/// The thresholds of a plan with `abort_on_fail`, looked at each second.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    own: Vec<Guard>,
    aborted: Option<Abort>,
    is_told: bool,
}

/// A threshold that is looked at while the load goes on.
#[derive(Debug)]
struct Guard {
    threshold: Threshold,
    /// The seconds of the load after which it is looked at.
    after_s: f64,
    /// What has been recorded since, if it has a moving window.
    window: Option<MovingWindow>,
}

impl Guards {
    /// Those of a plan, whose thresholds are good, without its secrets.
    pub(crate) fn of(plan: &Plan, secrets: &Secrets) -> Guards {
        let aborting = plan.thresholds.iter().filter(|own| own.abort_on_fail);
        let own = aborting.filter_map(|own| {
            let text = mask::threshold(&own.text.value, secrets);
            let (threshold, after_s) = (Threshold::parse(&text).ok()?, own.after.as_secs_f64());
            // The first window begins when it is first looked at.
            let window = MovingWindow::new(&threshold, after_s.ceil() as u32);
            Some(Guard { threshold, after_s, window })
        });
        Guards { own: own.collect(), ..Guards::default() }
    }

    /// Looks at what was recorded up to the end of a second, and in it. What has no value yet violates nothing.
    pub(crate) fn look(&mut self, totals: &Totals, second: u32, slices: &[Slice]) {
        if self.aborted.is_some() {
            return;
        }
        let at_s = f64::from(second) + 1.0;
        let due = self.own.iter_mut().filter(|own| own.after_s <= at_s);
        self.aborted = due.into_iter().find_map(|own| {
            let result = match &mut own.window {
                None => own.threshold.evaluate(totals, at_s),
                Some(window) => {
                    window.add(second, slices, totals);
                    window.result()
                }
            };
            let violated = !result.passed && result.value.is_some();
            violated.then_some(Abort { threshold: result.text, at_s, shown: result.shown })
        });
    }

    /// The threshold that is violated; the first time that it is asked for.
    pub(crate) fn news(&mut self) -> Option<&Abort> {
        if std::mem::replace(&mut self.is_told, self.aborted.is_some()) {
            return None;
        }
        self.aborted.as_ref()
    }

    /// The threshold that is violated.
    pub(crate) fn aborted(&self) -> Option<&Abort> {
        self.aborted.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{ErrorKind, NameId, RowKey, RowKind, Sample, Slice};

    use super::*;

    fn guards(thresholds: &str) -> Guards {
        let text = format!(
            "target: builtin\nthresholds: {thresholds}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}"
        );
        let plan = crate::load_str("plan", &text).expect("a plan").plan;
        Guards::of(&plan, &plan.secrets())
    }

    /// A second with `errors` of 10 requests.
    fn slice(second: u32, errors: u64) -> Slice {
        let mut slice = Slice::new(0, second);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "a", "GET /"));
        for n in 0..10 {
            let error = (n < errors).then_some(ErrorKind::Status);
            slice.record(NameId(0), &Sample { error, ..Sample::ok(1_000) });
        }
        slice
    }

    fn totals(errors: u64) -> Totals {
        let mut totals = Totals::new();
        totals.add(&slice(0, errors));
        totals
    }

    #[test]
    fn a_window_that_is_bad_aborts_a_load_that_is_good_as_a_whole() {
        let text = "[{threshold: error_rate < 25% over 3s, abort_on_fail: true, after: 2s}]";
        let mut guards = guards(text);
        let mut totals = Totals::new();
        // Before its time nothing counts.
        let errors = |second| if matches!(second, 0 | 1 | 50) { 10 } else { 0 };
        for second in 0..=50 {
            assert_eq!(guards.aborted(), None, "second {second}");
            let slice = slice(second, errors(second));
            totals.add(&slice);
            guards.look(&totals, second, &[slice]);
        }
        let aborted = guards.aborted().expect("it is violated");
        assert_eq!((aborted.at_s, &*aborted.shown), (51.0, "33.3%, from second 48 to 51"));
    }

    #[test]
    fn a_threshold_is_looked_at_from_its_time_on_and_told_once() {
        let text = "[{threshold: error_rate < 25%, abort_on_fail: true, after: 2s}, count < 5]";
        let mut guards = guards(text);
        guards.look(&totals(0), 4, &[]);
        guards.look(&totals(3), 0, &[]);
        assert_eq!(guards.news(), None);
        assert_eq!(guards.aborted(), None);
        guards.look(&totals(3), 1, &[]);
        let abort =
            Abort { threshold: "error_rate < 25%".to_owned(), at_s: 2.0, shown: "30%".to_owned() };
        assert_eq!(guards.news(), Some(&abort));
        guards.look(&totals(9), 2, &[]);
        assert_eq!(guards.news(), None);
        assert_eq!(guards.aborted(), Some(&abort));
    }

    #[test]
    fn what_has_no_value_yet_aborts_nothing() {
        let mut guards = guards("[{threshold: p99(other) < 1s, abort_on_fail: true}]");
        guards.look(&totals(0), 9, &[]);
        assert_eq!(guards.aborted(), None);
    }
}
