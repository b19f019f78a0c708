//! The iterations of a user, whatever it does in them: when one begins, and what follows its end.

use squall_base::random::Random;

use crate::roster::{After, Begin};
use crate::user::{Core, Strand};
use crate::worker::Worker;

impl Worker {
    /// Begins an iteration at `now`, if there is one for the user.
    pub(super) fn begin_iteration(&self, core: &Core, strand: &mut Strand, now: u64) -> bool {
        let begin = self.roster.borrow_mut().begin(core.seat, core.iteration.get());
        match begin {
            Begin::Yes => {}
            Begin::No => return false,
            Begin::LoadIsDone => {
                self.end_load_everywhere(core.seat.load);
                return false;
            }
        }
        let taken = self.rows.take(&self.program, self.roster.borrow().part().process(), core);
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
        let (seed, scenario) = (self.program.seed, u64::from(core.seat.scenario));
        core.draw_from(Random::of(seed, scenario, core.seat.number, core.iteration.get()));
        self.recorder.levels.iteration_started(core.scenario());
        self.recorder.count(|counters| counters.iterations_started += 1);
        self.count_arrival(strand, true);
        true
    }

    /// Ends an iteration at `now`. Returns what follows.
    pub(super) fn end_iteration(&self, core: &Core, strand: &mut Strand, now: u64) -> After {
        self.end_groups(core, strand, now);
        self.recorder.group(&self.iteration(core, strand), now);
        core.in_iteration.set(false);
        self.end_connections(core);
        core.iteration.set(core.iteration.get() + 1);
        self.recorder.count(|counters| counters.iterations_done += 1);
        let mut paced = core.paced.get();
        let after = self.roster.borrow().after(core.seat, &mut paced, now);
        core.paced.set(paced);
        if let After::Now(due) | After::At(due) = after {
            strand.due = due;
        }
        after
    }
}
