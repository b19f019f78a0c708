//! The sink: seconds come in, and go to the outlet in order.

use std::io;

use squall_plan::feed_target::FeedTarget;
use squall_report::Run;
use squall_report::families::Tags;
use squall_runner::{Delivery, Event, EventKind, Phase, Second, Sink, Start, Wanted};

use crate::http;
use crate::outlet::Outlet;
use crate::timeline::{Moment, SentSecond, Timeline};

/// Sends the seconds of a run somewhere.
#[derive(Debug)]
pub struct Feed {
    target: FeedTarget,
    tags: Tags,
    timeline: Timeline,
    /// When the run began, and when its load did, in seconds since 1970.
    run_unix_s: f64,
    load_unix_s: f64,
    /// Once it was started.
    outlet: Option<Outlet>,
}

impl Feed {
    /// To a target, with the tester's own tags on all points. None of them may have a name of [`TAGS_TAKEN`].
    ///
    /// [`TAGS_TAKEN`]: crate::TAGS_TAKEN
    pub fn new(target: &FeedTarget, tags: &[(String, String)]) -> Feed {
        Feed {
            target: target.clone(),
            tags: tags.to_vec(),
            timeline: Timeline::default(),
            run_unix_s: 0.0,
            load_unix_s: 0.0,
            outlet: None,
        }
    }

    fn send(&mut self, second: &SentSecond) {
        let unix_s = self.load_unix_s + f64::from(second.second);
        if let Some(outlet) = &mut self.outlet {
            outlet.take(Moment { second: second.second, unix_s }, second);
        }
    }

    /// Sends what is left, and waits for the receiver, but not for long.
    fn over(&mut self) {
        if let Some(rest) = self.timeline.rest() {
            self.send(&rest);
        }
        self.outlet.iter().for_each(Outlet::finish);
    }
}

impl Sink for Feed {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.run_unix_s = start.meta.started_unix;
        self.load_unix_s = self.run_unix_s;
        let secrets = &start.program.secrets;
        self.tags.iter_mut().for_each(|(_, value)| *value = secrets.mask_own(value));
        let delivery = Delivery::new(self.target.shown(), http::secrets(&self.target, secrets));
        self.outlet = Some(Outlet::open(&self.target, &self.tags, &delivery)?);
        Ok(Wanted { delivery: Some(delivery), ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        if let Some(second) = self.timeline.take(second) {
            self.send(&second);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::PhaseBegan(Phase::Load) => self.load_unix_s = self.run_unix_s + event.at_s,
            EventKind::Evaluated(_) => self.over(),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}
