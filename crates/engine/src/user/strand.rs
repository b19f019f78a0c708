//! One flow of a user's steps, whatever decides on them: its groups, and when its next request was due. Plain data.

use crate::trace::{StatedResponse, Tally};
use crate::turns::Turn;

/// A flow of steps.
#[derive(Debug, Default)]
pub(crate) struct Strand {
    /// When the current iteration, or the request after a wait, was due, on the run's clock.
    pub due: u64,
    /// Whether it comes from a wait or is an arrival: the next request then has a moment at which it
    /// was due.
    pub waited: bool,
    /// Whether it is an arrival whose first request has not been begun: it is, even if the load has
    /// ended meanwhile.
    pub arrived: bool,
    /// Groups that it is in, the innermost last.
    pub groups: Vec<OpenGroup>,
    /// How long it has waited where the plan says so, in nanoseconds.
    pub thought: u64,
    /// Whether it is one of several of its user at the same time.
    pub is_branch: bool,
    /// Whether it ends at its next step, and with it the iteration.
    pub is_over: bool,
    /// Whether something in it failed: what a branch tells the strand that it belongs to.
    pub failed: bool,
    /// What few flows have. Until it is wanted it is one word: there may be a million users.
    rare: Option<Box<Rare>>,
}

/// What a flow has that is in a critical section, or that somebody watches.
#[derive(Debug, Default)]
struct Rare {
    /// Critical sections that it is in, the innermost last; dropped, they are another user's.
    sections: Vec<Turn>,
    /// What was sampled in it, where somebody watches.
    tally: Tally,
    /// What the last text said of itself that was looked at since a group began, where somebody watches.
    looked: Option<StatedResponse>,
    /// The number of the group around a branch that is one sample.
    sample_around: Option<u64>,
}

/// A group that has begun and is not over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenGroup {
    pub name: u32,
    /// When it began, on the run's clock.
    pub since: u64,
    /// Whether a request in it failed.
    pub failed: bool,
    /// How long its strand had waited before, if waits within it are left out of its time.
    pub thought_before: Option<u64>,
    /// What had been sampled before.
    pub tally_before: Tally,
    /// Whether what is in it are parts of one sample.
    pub is_sample: bool,
    /// Its number, if somebody watches and what is in it are parts of one sample.
    pub one_sample: Option<u64>,
}

impl Strand {
    /// It is in a critical section from now on.
    pub(crate) fn enter_section(&mut self, turn: Turn) {
        self.rare().sections.push(turn);
    }

    /// The innermost critical section that it is in, which it is in no longer.
    pub(crate) fn leave_section(&mut self) -> Option<Turn> {
        self.rare.as_mut()?.sections.pop()
    }

    /// What was sampled in it, where somebody watches.
    pub(crate) fn tally(&self) -> Tally {
        self.rare.as_ref().map(|rare| rare.tally).unwrap_or_default()
    }

    /// The same, to add to it.
    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        &mut self.rare().tally
    }

    /// Keeps what a text said of itself that was looked at.
    pub(crate) fn has_looked(&mut self, answer: StatedResponse) {
        self.rare().looked = Some(answer);
    }

    /// Takes what the last such text said since a group began.
    pub(crate) fn take_looked(&mut self) -> Option<StatedResponse> {
        self.rare.as_mut()?.looked.take()
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Something in it failed, and with it the groups that it is in.
    pub(crate) fn fail_groups(&mut self) {
        self.failed = true;
        self.groups.iter_mut().for_each(|group| group.failed = true);
    }

    /// The number of the innermost group that is one sample, of which what is done now is a part.
    pub(crate) fn part_of(&self) -> Option<u64> {
        let around = || self.rare.as_ref().and_then(|rare| rare.sample_around);
        self.groups.iter().rev().find_map(|group| group.one_sample).or_else(around)
    }

    /// Ends the innermost group. One that leaves its waits out begins later by them.
    pub(crate) fn pop_group(&mut self) -> Option<OpenGroup> {
        let since = self.group_since()?;
        let group = self.groups.pop()?;
        Some(OpenGroup { since, ..group })
    }

    /// When the innermost group began, by which its time counts.
    pub(crate) fn group_since(&self) -> Option<u64> {
        let group = self.groups.last()?;
        let waited = group.thought_before.map_or(0, |before| self.thought.saturating_sub(before));
        Some(group.since.saturating_add(waited))
    }

    /// The strand of a branch, which begins where this one stands: in no group of its own.
    pub(crate) fn branch(&self) -> Strand {
        let around = self.part_of();
        let rare = |around| Box::new(Rare { sample_around: Some(around), ..Rare::default() });
        Strand {
            due: self.due,
            waited: self.waited,
            arrived: self.arrived,
            groups: Vec::new(),
            thought: 0,
            is_branch: true,
            is_over: false,
            failed: false,
            rare: around.map(rare),
        }
    }

    /// Takes over what a branch has done, which may be followed by another one on the same strand.
    pub(crate) fn join(&mut self, branch: &mut Strand) {
        if let Some(rare) = &mut branch.rare {
            self.tally_mut().add(std::mem::take(&mut rare.tally));
        }
        if std::mem::take(&mut branch.failed) {
            self.fail_groups();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_on_the_same_strand_is_added_once() {
        let (mut strand, samples) =
            (Strand::default(), |samples| Tally { samples, ..Tally::default() });
        let mut branch = strand.branch();
        for _ in 0..3 {
            branch.tally_mut().add(samples(2));
            branch.fail_groups();
            strand.join(&mut branch);
            assert!(std::mem::take(&mut strand.failed));
        }
        strand.join(&mut branch);
        assert_eq!((strand.tally(), strand.failed), (samples(6), false));
    }

    #[test]
    fn a_group_may_leave_out_the_waits_in_it() {
        let group = |thought_before| OpenGroup {
            name: 0,
            since: 100,
            failed: false,
            thought_before,
            tally_before: Tally::default(),
            is_sample: false,
            one_sample: None,
        };
        let mut strand = Strand { thought: 10, ..Strand::default() };
        strand.groups = vec![group(None), group(Some(10))];
        strand.thought = 40;
        let mut begins = || strand.pop_group().map(|group| group.since);
        assert_eq!([begins(), begins(), begins()], [Some(130), Some(100), None]);
    }
}
