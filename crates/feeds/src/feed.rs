//! The sink: seconds come in, batches of points go to the outbox.

use std::io;

use squall_report::Run;
use squall_runner::{Delivery, Event, EventKind, Phase, Second, Sink, Start, Wanted};

use crate::outbox::{Batch, Outbox, PATIENCE, Receiver};
use crate::points::{Point, Tags, points};
use crate::target::{FeedKind, FeedTarget};
use crate::timeline::{SentSecond, Timeline};
use crate::{graphite, influxdb, json_lines};

/// When a second of the load began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Its number, from 0, from the start of the load.
    pub second: u32,
    /// In seconds since 1970 (UTC).
    pub unix_s: f64,
}

/// Sends the seconds of a run somewhere.
#[derive(Debug)]
pub struct Feed {
    target: FeedTarget,
    tags: Tags,
    timeline: Timeline,
    /// When the run began, and when its load did, in seconds since 1970.
    run_unix_s: f64,
    load_unix_s: f64,
    delivery: Delivery,
    /// Once it was started.
    outbox: Option<Outbox>,
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
            delivery: Delivery::new(target.shown()),
            outbox: None,
        }
    }

    fn send(&self, second: &SentSecond) {
        let unix_s = self.load_unix_s + f64::from(second.second);
        let points = points(second, &self.tags);
        let bytes = encoder(self.target.kind)(Moment { second: second.second, unix_s }, &points);
        if let Some(outbox) = &self.outbox {
            outbox.push(Batch { bytes, points: points.len() as u64 });
        }
    }

    /// Sends what is left, and waits for the receiver, but not for long.
    fn over(&mut self) {
        let rest = self.timeline.rest();
        rest.iter().for_each(|second| self.send(second));
        self.outbox.iter().for_each(|outbox| outbox.finish(PATIENCE));
    }
}

/// What makes bytes of the points of a second.
fn encoder(kind: FeedKind) -> fn(Moment, &[Point]) -> Vec<u8> {
    match kind {
        FeedKind::JsonLines => json_lines::encode,
        FeedKind::Influxdb => influxdb::encode,
        FeedKind::Graphite => graphite::encode,
    }
}

fn receiver(target: &FeedTarget) -> io::Result<Box<dyn Receiver>> {
    Ok(match target.kind {
        FeedKind::JsonLines => Box::new(json_lines::Lines::open(&target.to)?),
        FeedKind::Influxdb => Box::new(influxdb::Writes::new(&target.to)?),
        FeedKind::Graphite => Box::new(graphite::Carbon::new(&target.to)),
    })
}

impl Sink for Feed {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.run_unix_s = start.meta.started_unix;
        self.load_unix_s = self.run_unix_s;
        self.outbox = Some(Outbox::start(receiver(&self.target)?, &self.delivery)?);
        Ok(Wanted { delivery: Some(self.delivery.clone()), ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        let second = self.timeline.take(second);
        second.iter().for_each(|second| self.send(second));
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
