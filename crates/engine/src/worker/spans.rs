//! What a user is in: its groups and its iteration, which is recorded as groups are.

use std::sync::atomic::Ordering;

use super::Worker;
use crate::user::{Core, OpenGroup, Strand};

impl Worker {
    /// A user ends within its groups and its iteration.
    pub(crate) fn cut_off_spans(&self, core: &Core, strand: &mut Strand) {
        let in_iteration = core.in_iteration.get() && !strand.is_branch;
        if strand.groups.is_empty() && !in_iteration {
            return;
        }
        let now = self.clock.now();
        strand.groups.drain(..).for_each(|group| self.recorder.cut_off_group(&group, now));
        if in_iteration {
            if self.program.scenarios[core.scenario()].script.is_some() {
                self.together.cut_off.fetch_add(1, Ordering::Relaxed);
            }
            self.recorder.cut_off_group(&self.iteration(core, strand), now);
        }
    }

    /// The iteration of a user, which is recorded as groups are.
    pub(crate) fn iteration(&self, core: &Core, strand: &Strand) -> OpenGroup {
        let name = self.program.scenarios[core.scenario()].iteration;
        OpenGroup {
            name,
            since: core.began.get(),
            failed: strand.failed,
            thought_before: None,
            tally_before: strand.tally(),
            is_sample: false,
            one_sample: None,
        }
    }
}
