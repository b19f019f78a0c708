//! What a controller does at each stage of its run, looked after ten times a second.

use crate::protocol::io::{Now, Output, RunEvent, Wanted};
use crate::protocol::keys;
use crate::protocol::messages::{Card, Change, Phase};
use crate::protocol::units::{Nanos, SECOND};

use super::barrier::Barrier;
use super::candidates::Candidates;
use super::desk::Cx;
use super::member::Status;
use super::resume::Step;
use super::run::Run;
use super::{Controller, RENEWAL, Stage, blank};

impl Controller {
    /// Looks after the run.
    pub(super) fn look(&mut self, now: Now, out: &mut Vec<Output>) {
        match self.stage.clone() {
            Stage::Idle | Stage::Ended | Stage::Over => {}
            Stage::Locks => self.look_at_lock(now),
            Stage::Gathers(until) => self.gather(now, until, out),
            Stage::Orders(chosen, until) => self.order(now, &chosen, until, out),
            Stage::Prepares(until) => self.prepare(now, until, out),
            Stage::Resumes => self.resume(now, out),
            Stage::TakesOver => self.take_over(now, out),
            Stage::Replays(since) => self.replay(now, since, out),
            Stage::Runs => self.watch(now, out),
            Stage::Releases(until) => self.let_go(now, until, out),
        }
    }

    fn look_at_lock(&mut self, now: Now) {
        let Some(run) = &self.run else { return };
        if run.writer.is_stored(&keys::leader(&run.order.run)) {
            self.stage = Stage::Gathers(now.steady.saturating_add(run.wanted.wait));
        }
    }

    fn gather(&mut self, now: Now, until: Nanos, out: &mut Vec<Output>) {
        let time = self.clock.time(now.steady);
        let Some(run) = &mut self.run else { return };
        let mut cx = Cx { now, out, desk: &mut self.desk, time, lead: &self.lead };
        match run.choose(&self.candidates, until, &mut cx) {
            Ok(chosen) => {
                run.write_order(&chosen, &mut cx);
                self.stage = Stage::Orders(chosen, until);
            }
            Err(text) if now.steady < until => self.tell_standing(text, out),
            Err(text) => {
                let seconds = run.wanted.wait / SECOND;
                self.refuse(now, &format!("too few nodes after {seconds} s: {text}"), out);
            }
        }
    }

    fn order(&mut self, now: Now, chosen: &[Card], until: Nanos, out: &mut Vec<Output>) {
        if !self.run.as_ref().is_some_and(|run| run.writer.all_stored()) {
            if now.steady >= until {
                self.refuse(now, "the server does not store the run's order", out);
            }
            return;
        }
        let called =
            self.with(now, out, |run, cx| chosen.iter().try_for_each(|card| run.call(card, cx)));
        match called {
            Some(Err(why)) => self.refuse(now, &why, out),
            _ => self.stage = Stage::Prepares(until),
        }
    }

    fn prepare(&mut self, now: Now, until: Nanos, out: &mut Vec<Output>) {
        let looked = self.look_after(now, out, |run, candidates, cx| {
            let barrier = run.barrier(candidates, until, cx);
            if let Barrier::Starts(at) = barrier {
                run.begin(at, cx);
            }
            (barrier, run.standing())
        });
        match looked {
            Some((Barrier::Waits, text)) => self.tell_standing(text, out),
            Some((Barrier::Starts(_), _)) => self.stage = Stage::Runs,
            Some((Barrier::Refused(why), _)) => self.refuse(now, &why, out),
            None => {}
        }
    }

    /// Looks which nodes are lost, and does something with the run, if there is one.
    fn look_after<T>(
        &mut self,
        now: Now,
        out: &mut Vec<Output>,
        act: impl FnOnce(&mut Run, &Candidates, &mut Cx<'_>) -> T,
    ) -> Option<T> {
        let candidates = std::mem::take(&mut self.candidates);
        let done = self.with(now, out, |run, cx| {
            let name = run.order.run.clone();
            run.marks.send(&name, cx);
            run.find_lost(cx);
            act(run, &candidates, cx)
        });
        self.candidates = candidates;
        done
    }

    fn tell_standing(&mut self, text: String, out: &mut Vec<Output>) {
        if self.standing != text {
            self.standing.clone_from(&text);
            out.push(Output::Run(RunEvent::Waiting(text)));
        }
    }

    fn resume(&mut self, now: Now, out: &mut Vec<Output>) {
        let time = self.clock.time(now.steady);
        let Some(resume) = &mut self.resume else { return };
        let key = keys::leader(&resume.run);
        if self.run.as_ref().is_some_and(|run| run.writer.is_stored(&key)) {
            resume.locked();
        }
        let mut cx = Cx { now, out, desk: &mut self.desk, time, lead: &self.lead };
        match resume.advance(&mut cx) {
            Step::Reads => {}
            Step::Lock(revision) => {
                let mut lock = Run::new(blank(&resume.run), Wanted::default());
                lock.writer.know(key, revision);
                lock.write_leader(1, &cx);
                self.renewal = (1, now.steady + RENEWAL);
                self.run = Some(lock);
            }
            Step::Run(run) => self.begin_taking_over(now, *run, out),
            Step::Refused(why) => {
                out.push(Output::Run(RunEvent::Refused(why)));
                self.stage = Stage::Over;
            }
        }
    }

    fn begin_taking_over(&mut self, now: Now, mut run: Run, out: &mut Vec<Output>) {
        if !self.clock.is_set() {
            // No node is heard of that knows it.
            self.clock.set(now);
        }
        if let Some(lock) = self.run.take() {
            // The lock goes on as it is, also what is on its way.
            run.writer.join(lock.writer);
        }
        self.run = Some(run);
        self.stage = Stage::TakesOver;
        let pending = std::mem::take(&mut self.pending);
        self.with(now, out, |run, cx| {
            run.write_all(cx);
            pending.into_iter().for_each(|change| run.change(change, cx));
        });
    }

    fn take_over(&mut self, now: Now, out: &mut Vec<Output>) {
        let is_stored = self.with(now, out, |run, cx| {
            let is_stored = run.writer.all_stored();
            if is_stored {
                cx.out.push(Output::Consume { run: run.order.run.clone() });
                cx.out.push(Output::Listen { subject: keys::clock(&run.order.run) });
                if let Some(at) = run.start {
                    let nodes = run.members.values().map(|member| member.card.clone()).collect();
                    cx.run(RunEvent::Starts { at, shards: run.order.shards, nodes });
                    // Somebody has ended it while nobody led it, or the controller that is dead had been told to.
                    let stops = |own: &Change| matches!(own, Change::Stop { .. } | Change::Abort);
                    if run.changes.0.iter().any(stops) {
                        cx.run(RunEvent::Interrupted);
                    }
                }
            }
            is_stored
        });
        if is_stored == Some(true) {
            self.stage = Stage::Replays(now.steady);
        }
    }

    fn replay(&mut self, now: Now, since: Nanos, out: &mut Vec<Output>) {
        let is_live = self.with(now, out, |run, cx| {
            let name = run.order.run.clone();
            run.marks.send(&name, cx);
            let is_live = run.marks.read_until.is_some_and(|until| until >= since);
            if is_live {
                run.settle(cx);
            }
            is_live
        });
        if is_live == Some(true) {
            let has_begun = self.run.as_ref().is_some_and(|run| run.start.is_some());
            let wait = self.run.as_ref().map_or(0, |run| run.wanted.wait);
            self.stage = if has_begun { Stage::Runs } else { Stage::Prepares(now.steady + wait) };
        }
    }

    fn watch(&mut self, now: Now, out: &mut Vec<Output>) {
        let before = self.carries;
        let looked = self.look_after(now, out, |run, candidates, cx| {
            run.call_more(candidates, cx);
            run.place_free(cx);
            run.even_out(cx);
            run.ask_again(cx);
            run.find_whole(cx);
            run.end_when_done(cx);
            let carries = run.carries();
            if carries != before {
                cx.run(RunEvent::Carries { users: carries });
            }
            let is_over = run.is_over(cx);
            if is_over {
                run.end(cx);
            }
            (carries, is_over)
        });
        let Some((carries, is_over)) = looked else { return };
        self.carries = carries;
        if is_over {
            self.stage = Stage::Ended;
        }
    }

    fn let_go(&mut self, now: Now, until: Nanos, out: &mut Vec<Output>) {
        let Some(run) = &self.run else { return };
        let all = run.members.values().all(|member| {
            matches!(member.status, Status::Lost | Status::Left)
                || matches!(member.sign.phase, Phase::Released | Phase::Left)
        });
        let is_told = run.writer.is_stored(&keys::release(&run.order.run));
        if (all && is_told) || now.steady >= until {
            out.push(Output::Forget { run: run.order.run.clone() });
            out.push(Output::End);
            self.stage = Stage::Over;
        }
    }
}
