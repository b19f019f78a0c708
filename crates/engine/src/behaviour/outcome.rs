//! What follows for a user from what it did: how its state is accounted for, and what `on_error` asks for.

use squall_metrics::UserState;
use squall_plan::model::OnError;

use crate::sample::{Moment, Sampled};
use crate::user::{Core, Strand};
use crate::worker::Worker;

impl Worker {
    /// A strand begins a sample.
    pub(super) fn note_begin(&self, core: &Core, strand: &Strand, now: Moment) {
        if !strand.is_branch {
            self.note(core, UserState::Request, now.ready);
        } else if let Some(at) = core.concurrency.begin(now.ready) {
            self.note(core, UserState::Request, at);
        }
    }

    /// A strand's sample is over. Returns when it was.
    pub(super) fn note_end(&self, core: &Core, strand: &mut Strand, sampled: &Sampled) -> Moment {
        let end = sampled.end.ready;
        if !strand.is_branch {
            self.note(core, UserState::Ready, end);
        } else if let Some(at) = core.concurrency.end(end) {
            self.note(core, UserState::Think, at);
        }
        self.judge(core, strand, sampled.failed);
        sampled.end
    }

    /// Notes whether the last sample of a strand failed, with what follows from that.
    pub(super) fn judge(&self, core: &Core, strand: &mut Strand, failed: bool) {
        core.last_ok.set(!failed);
        if failed {
            self.react(core, strand);
        }
    }

    /// Does what `on_error` asks for after a sample that failed.
    fn react(&self, core: &Core, strand: &mut Strand) {
        strand.fail_groups();
        match self.program.scenarios[core.scenario()].on_error {
            OnError::Continue => {}
            OnError::NextIteration => {
                // It begins anew.
                core.last_ok.set(true);
                strand.end_iteration(core);
            }
            OnError::StopUser => core.stopped.set(true),
            OnError::StopRun => self.stop_run(self.program.graceful_stop),
            OnError::AbortRun => self.stop_run(std::time::Duration::ZERO),
        }
    }
}

impl Strand {
    /// Lets its user's iteration end, with all strands.
    pub(super) fn end_iteration(&mut self, core: &Core) {
        self.is_over = true;
        core.iteration_over.set(self.is_branch);
    }
}
