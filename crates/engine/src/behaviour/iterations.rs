//! The iterations of a user, whatever it does in them: when one begins, and what follows its end.

use std::sync::atomic::Ordering;

use squall_base::random::Random;

use crate::parts::script_metrics::Builtin;
use crate::program::{Op, Section};
use crate::roster::{After, Begin};
use crate::scripts::Doer;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Stands in the place of an iteration's number where chance is an arrival's: no user has begun so many.
const OF_ARRIVAL: u64 = u64::MAX;

impl Worker {
    /// Begins an iteration at `now`, if there is one for the user.
    pub(super) fn begin_iteration(&self, core: &Core, strand: &mut Strand, now: u64) -> bool {
        let mut roster = self.roster.borrow_mut();
        core.iteration.set(roster.next_iteration(core.seat, core.iteration.get()));
        let begin = roster.begin(core.seat, core.iteration.get());
        let counted = roster.counted(core.seat);
        drop(roster);
        match begin {
            Begin::Yes => {
                counted.into_iter().for_each(|counted| self.recorder.begun(core.seat, counted));
            }
            Begin::No => return false,
            Begin::LoadIsDone => {
                self.end_load_everywhere(core.seat.load);
                return false;
            }
        }
        let taken = self.rows.take(&self.program, core);
        if let Err(no_row) = taken {
            self.note_no_row(no_row);
            return false;
        }
        core.in_iteration.set(true);
        core.began.set(now);
        (strand.failed, strand.is_over) = (false, false);
        core.iteration_over.set(false);
        if self.program.scenarios[core.scenario()].fresh_sessions {
            core.begin_session();
        }
        core.draw_from(self.chance_of(core));
        self.recorder.levels.iteration_started(core.scenario());
        self.recorder.count(|counters| counters.iterations_started += 1);
        self.count_arrival(strand, true);
        true
    }

    /// Everything random of an iteration that begins, whoever has the share: which user takes an arrival depends on how fast
    /// others are, so that it follows from the arrival.
    fn chance_of(&self, core: &Core) -> Random {
        let (seed, scenario) = (self.program.seed, u64::from(core.seat.scenario));
        match core.state.get() {
            Some(_) => Random::of(seed, scenario, core.seat.number, core.iteration.get()),
            None => Random::of(seed, scenario, core.scheduled.get(), OF_ARRIVAL),
        }
    }

    /// An iteration of a scenario that runs scripts counts in their metrics; a setup or a teardown is none.
    fn count_iteration_of_script(&self, core: &Core, now: u64) {
        if matches!(self.program.section, Section::Setup | Section::Teardown) {
            return;
        }
        let scenario = &self.program.scenarios[core.scenario()];
        let first = scenario.script.and_then(|at| scenario.ops.get(at as usize));
        let Some(Op::Script(op)) = first else { return };
        let (site, recorder) = (self.scripts.call_site(op), &self.recorder);
        let ms = now.saturating_sub(core.began.get()) as f64 / 1e6;
        let doer = Doer { op, spot: 0, user: core };
        site.count_span(recorder, doer, (Builtin::IterationDuration, ms), now);
        site.count_span(recorder, doer, (Builtin::Iterations, 1.0), now);
        self.together.completed.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends an iteration at `now`. Returns what follows.
    pub(super) fn end_iteration(&self, core: &Core, strand: &mut Strand, now: u64) -> After {
        self.end_groups(core, strand, now);
        self.recorder.group(&self.iteration(core, strand), now);
        self.count_iteration_of_script(core, now);
        core.in_iteration.set(false);
        self.end_connections(core);
        core.iteration.set(core.iteration.get() + 1);
        self.recorder.count(|counters| counters.iterations_done += 1);
        let mut paced = core.scheduled.get();
        let after = self.roster.borrow().after(core.seat, &mut paced, now);
        core.scheduled.set(paced);
        if let After::Now(due) | After::At(due) = after {
            strand.due = due;
        }
        after
    }
}
