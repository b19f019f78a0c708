//! Transactions as groups, and the assertions about those that are one sample with all that is in them.

use squall_plan::expr::Expr;
use squall_plan::model::{
    CountedBy, Group, GroupSamples, Look, Request, Step, StepKind, Tags, ThinkTime,
};
use squall_plan::span::Span;

use super::controller::first_passes;
use super::made::{CODE, HEADS, MESSAGE, SENT};
use super::{Translator, no_time, scripted, step};
use crate::scope::Scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// A transaction: a sample; if there is nothing in it, in the first pass of each user.
    pub(super) fn transaction(&self, id: ElementId, mut steps: Vec<Step>) -> StepKind {
        let reader = self.read(id);
        let is_parent = reader.flag("TransactionController.parent", false);
        let with_timers = reader.flag("TransactionController.includeTimers", true);
        reader.finish();
        let think_time = if with_timers { ThinkTime::Included } else { ThinkTime::Excluded };
        let name = self.name(id);
        let tags = Tags::new();
        // JMeter forgets a controller with nothing in it after its first pass.
        let is_empty = steps.is_empty();
        if is_empty {
            steps.push(no_time());
        }
        steps.extend(is_parent.then(|| self.own_sample(id)).flatten());
        let is_one = is_parent || is_empty;
        let samples = if is_one { GroupSamples::Parts } else { GroupSamples::Apart };
        let group = StepKind::Group(Box::new(Group { name, tags, think_time, samples, steps }));
        if !is_empty {
            return group;
        }
        first_passes(Expr::number(1, Span::default()), CountedBy::User, vec![step(group)])
    }

    /// What the assertions look at that hold for a transaction's own sample: its time, and a response of nothing, with code
    /// 200, as one in which something has failed has failed by that.
    fn own_sample(&self, id: ElementId) -> Option<Step> {
        let assertions = self.scopes.assertions_of_transaction(id);
        let held = Scope { assertions, ..Scope::default() };
        let unknown = [HEADS.as_slice(), &MESSAGE, &SENT].concat();
        self.refuse_looks(id, &held, &unknown);
        for other in &held.assertions {
            let element = self.tree.element(*other);
            let is_size = element.class == "SizeAssertion"
                && !self.is_of_variable(*other)
                && !self.asks_for(*other, &CODE);
            if is_size || scripted::script_of(element).is_some() {
                self.obstacle(id, format!("`{}`, which looks at its own sample", element.name));
            }
        }
        if self.assumes_success(&held) {
            self.obstacle(id, "an assertion that ignores whether its samples failed");
        }
        let mut seen = Request::default();
        seen.http.status_errors = Some(false);
        let is_within = self.is_judging.replace(true);
        self.without_settings(|| self.checks(&held, &mut seen));
        self.is_judging.set(is_within);
        let status = Expr::number(200, Span::default());
        let look = Look { status, check: seen.check, ..Look::default() };
        (!look.check.is_empty()).then(|| step(StepKind::Look(Box::new(look))))
    }
}
