//! Thresholds that end a load while it goes on; pure, but for what they are told.

use squall_analysis::{Abort, Threshold, Totals};
use squall_plan::model::Plan;
use squall_plan::secrets::Secrets;

use crate::mask;

/// The thresholds of a plan with `abort_on_fail`, looked at each second.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// Each with the seconds of the load after which it is looked at.
    thresholds: Vec<(Threshold, f64)>,
    aborted: Option<Abort>,
    is_told: bool,
}

impl Guards {
    /// Those of a plan, whose thresholds are good, without its secrets.
    pub(crate) fn of(plan: &Plan, secrets: &Secrets) -> Guards {
        let aborting = plan.thresholds.iter().filter(|own| own.abort_on_fail);
        let thresholds = aborting.filter_map(|own| {
            let text = mask::threshold(&own.text.value, secrets);
            Some((Threshold::parse(&text).ok()?, own.after.as_secs_f64()))
        });
        Guards { thresholds: thresholds.collect(), ..Guards::default() }
    }

    /// Looks at what was recorded in the load's first `seconds`. What has no value yet violates nothing.
    pub(crate) fn look(&mut self, totals: &Totals, seconds: u32) {
        if self.aborted.is_some() {
            return;
        }
        let at_s = f64::from(seconds);
        let due = self.thresholds.iter().filter(|(_, after_s)| *after_s <= at_s);
        self.aborted = due.into_iter().find_map(|(threshold, _)| {
            let result = threshold.evaluate(totals, at_s);
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

    /// `errors` of 10 requests.
    fn totals(errors: u64) -> Totals {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "a", "GET /"));
        for n in 0..10 {
            let error = (n < errors).then_some(ErrorKind::Status);
            slice.record(NameId(0), &Sample { error, ..Sample::ok(1_000) });
        }
        let mut totals = Totals::new();
        totals.add(&slice);
        totals
    }

    #[test]
    fn a_threshold_is_looked_at_from_its_time_on_and_told_once() {
        let text = "[{threshold: error_rate < 25%, abort_on_fail: true, after: 2s}, count < 5]";
        let mut guards = guards(text);
        guards.look(&totals(0), 5);
        guards.look(&totals(3), 1);
        assert_eq!(guards.news(), None);
        assert_eq!(guards.aborted(), None);
        guards.look(&totals(3), 2);
        let abort =
            Abort { threshold: "error_rate < 25%".to_owned(), at_s: 2.0, shown: "30%".to_owned() };
        assert_eq!(guards.news(), Some(&abort));
        guards.look(&totals(9), 3);
        assert_eq!(guards.news(), None);
        assert_eq!(guards.aborted(), Some(&abort));
    }

    #[test]
    fn what_has_no_value_yet_aborts_nothing() {
        let mut guards = guards("[{threshold: p99(other) < 1s, abort_on_fail: true}]");
        guards.look(&totals(0), 10);
        assert_eq!(guards.aborted(), None);
    }
}
