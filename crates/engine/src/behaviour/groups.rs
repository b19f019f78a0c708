//! Groups that are over: recorded, and told to who watches.

use crate::trace::{SeenGroup, Tally, Trace};
use crate::user::{Core, OpenGroup, Strand};
use crate::worker::Worker;

impl Worker {
    /// All groups and critical sections that a strand is in are over.
    pub(super) fn end_groups(&self, core: &Core, strand: &mut Strand, now: u64) {
        while let Some(turn) = strand.leave_section() {
            turn.leave(now);
        }
        while let Some(group) = strand.pop_group() {
            self.end_group(core, strand, (&group, true), now);
        }
    }

    /// A group of the plan is over. `is_left`: its user left it before its end.
    pub(super) fn end_group(
        &self,
        core: &Core,
        strand: &mut Strand,
        (group, is_left): (&OpenGroup, bool),
        now: u64,
    ) {
        self.recorder.group(group, now);
        let Some(told) = self.trace.as_ref().and_then(Trace::group) else { return };
        let mut tally = strand.tally().since(group.tally_before);
        let failed = u64::from(group.failed);
        let is_empty = tally.samples == 0;
        let answer = strand.take_looked().filter(|_| is_empty || group.one_sample.is_some());
        if let Some(answer) = answer.as_ref().filter(|_| is_empty) {
            strand.tally_mut().bytes_in += answer.bytes;
            tally.bytes_in += answer.bytes;
        }
        if group.one_sample.is_some() {
            // What is in it failed with it, and only once.
            strand.tally_mut().failed = group.tally_before.failed;
            strand.tally_mut().parts = group.tally_before.parts + tally.samples;
        }
        if is_empty || group.one_sample.is_some() {
            strand.tally_mut().add(Tally { samples: 1, failed, ..Tally::default() });
        }
        told(SeenGroup { tally, answer, is_left, ..self.seen_group(core, strand, group, now) });
    }

    /// A page is there, and what it names. To what is around it that is one sample.
    pub(super) fn end_page(&self, core: &Core, strand: &mut Strand, page: &OpenGroup, now: u64) {
        self.recorder.group(page, now);
        let Some(told) = self.trace.as_ref().and_then(Trace::group) else { return };
        let (before, after) = (page.tally_before, strand.tally());
        let failed = before.failed + u64::from(page.failed);
        *strand.tally_mut() =
            Tally { samples: before.samples + 1, failed, parts: before.parts, ..after };
        let tally = after.since(before);
        let is_page = true;
        told(SeenGroup { tally, is_page, ..self.seen_group(core, strand, page, now) });
    }

    /// What is known of a group, whatever was in it.
    fn seen_group(&self, core: &Core, strand: &Strand, group: &OpenGroup, now: u64) -> SeenGroup {
        let recorder = &self.recorder;
        SeenGroup {
            at_us: group.since.saturating_sub(recorder.start()) / 1_000,
            scenario: self.program.scenarios[core.scenario()].name.clone(),
            user: core.seat.number,
            name: recorder.name_text(group.name),
            secrets: recorder.secrets(),
            duration_ns: now.saturating_sub(group.since),
            failed: group.failed,
            one_sample: group.one_sample,
            part_of: strand.part_of(),
            ..SeenGroup::default()
        }
    }
}
