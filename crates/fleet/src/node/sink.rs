//! Hands over what the run recorded, second by second.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use squall_engine::LogLine;
use squall_report::Run;
use squall_runner::{Event, EventKind, Phase, Sink, Start, Wanted};

use super::job::Copies;
use super::parts::Driven;
use super::shared::Shared;
use crate::protocol::io::LoadEvent;
use crate::protocol::messages::Second;
use crate::record::{self, Aside};
use crate::seal::RunKey;

/// Seconds of which it is remembered how often they came.
const REMEMBERED: u32 = 600;

/// Makes a record of each second. What is told between two seconds goes into the next one.
pub(crate) struct NodeSink {
    shared: Arc<Shared>,
    copies: Copies,
    key: RunKey,
    aside: Aside,
    /// How often each second came, of those that may come again.
    came: HashMap<u32, u32>,
}

impl NodeSink {
    /// Of a run that wants these copies, and encrypts them with this key.
    pub(crate) fn new(shared: Arc<Shared>, copies: Copies, key: RunKey) -> NodeSink {
        let aside = Aside::of_run(key.clone());
        NodeSink { shared, copies, key, aside, came: HashMap::new() }
    }

    fn hand_over(&mut self, second: &squall_runner::Second) {
        let Driven { shards, is_whole } = self.shared.driven_in(second.second, Instant::now());
        self.shared.is_past(second.second);
        self.shared.tell_progress(second.second);
        let aside = std::mem::replace(&mut self.aside, Aside::of_run(self.key.clone()));
        // Without shards there is nothing to say but of what they have left in flight, and that it carries none of them; and a
        // second may come again for no more than a sample of the host.
        let has_none = shards.is_empty() && !is_whole && second.rows.is_empty();
        let is_empty = second.slices.is_empty() || has_none;
        if is_empty && aside.is_empty() {
            return;
        }
        let times = self.came.entry(second.second).or_insert(0);
        let late = *times;
        *times += 1;
        if let Some(past) = second.second.checked_sub(REMEMBERED) {
            self.came.retain(|own, _| *own >= past);
        }
        let record = record::encode(second, &aside);
        let second = Second { second: second.second, shards, is_whole, late, record };
        self.shared.tell(LoadEvent::Second(second));
    }
}

impl Sink for NodeSink {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        let Copies { exchanges, groups } = self.copies;
        Ok(Wanted { exchanges, groups, ..Wanted::default() })
    }

    fn second(&mut self, second: &squall_runner::Second) -> io::Result<()> {
        self.hand_over(second);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Log { phase: Phase::Load, worker, second, text, example } => {
                let (worker, second, text) = (*worker, *second, text.clone());
                let example = example.clone();
                self.aside.log(&LogLine { worker, second, text, is_failure: false, example });
            }
            EventKind::Exchange(seen) => self.aside.exchange(&seen.exchange),
            EventKind::Group { group, .. } => self.aside.group(group),
            _ => {}
        }
        Ok(())
    }

    /// What was told since the last second goes with one more record of it, and how many copies found a queue full.
    fn finish(&mut self, run: &Run) -> io::Result<()> {
        self.aside.exchanges_left_out(run.generator.requests_not_logged.unwrap_or(0));
        if !self.aside.is_empty() {
            let second = self.came.keys().max().copied().unwrap_or(0);
            // It does not stand for the second itself, if that has never come.
            self.came.entry(second).or_insert(1);
            self.hand_over(&squall_runner::Second { second, ..Default::default() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// The last second is over before all of what was told in it has come.
    #[test]
    fn what_is_told_after_the_last_second_is_handed_over_at_the_end() {
        let (tell, told) = channel();
        let tell = move |event| tell.send(event).expect("somebody listens");
        let shared = Arc::new(Shared::new(8, None, Arc::new(tell)));
        let key = RunKey::new().expect("a key");
        let mut sink = NodeSink::new(shared, Copies { exchanges: None, groups: false }, key);
        let (phase, text) = (Phase::Load, "the last line".to_owned());
        let kind = EventKind::Log { phase, worker: 0, second: 0, text, example: None };
        sink.event(&Event { at_s: 1.0, kind }).expect("taken");
        let mut run = Run::default();
        run.generator.requests_not_logged = Some(7);
        sink.finish(&run).expect("taken");
        let LoadEvent::Second(second) = told.try_recv().expect("a second") else { panic!() };
        let aside = record::decode(&second.record).expect("a record").aside;
        assert_eq!((aside.log[0].text.as_str(), aside.left_out.exchanges), ("the last line", 7));
        sink.finish(&Run::default()).expect("taken");
        assert!(told.try_recv().is_err(), "there is nothing more to say");
    }
}
