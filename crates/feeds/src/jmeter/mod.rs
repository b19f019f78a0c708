//! The sink whose points are those of JMeter's Backend Listener. JMeter counts samples, where other feeds have rows of seconds:
//! a transaction and a request are alike, and an error is told by its code and message. So it wants to see each of them.

mod lines;
mod sums;
mod users;

use std::io;

use squall_plan::expr::Pattern;
use squall_plan::feed_target::FeedTarget;
use squall_plan::model::{FeedLayout, JmeterSamples, PlanFeed};
use squall_report::families::Tags;
use squall_report::{ListenedSample, Run};
use squall_runner::{
    Delivery, Event, EventKind, Phase, Sampled, Second, SeenExchange, Sink, Start, Wanted,
};

use self::lines::{Graphite, Influxdb, Lines};
use self::sums::Sums;
use self::users::Users;
use crate::outbox::{Outbox, PATIENCE, Receiver};
use crate::{graphite, http, influxdb};

/// Sends what the samples of a run came to, as JMeter does.
#[derive(Debug)]
pub struct JmeterFeed {
    target: FeedTarget,
    layout: FeedLayout,
    /// The tester's own tags.
    tags: Tags,
    form: Form,
    /// Seconds from one interval to the next.
    every_s: f64,
    sampled: Sampled,
    sums: Sums,
    /// Users of the whole run, whichever samples are told.
    users: Users,
    times: Times,
    /// Whether there is a teardown, whose samples count too.
    has_teardown: bool,
    /// Once it was started, until everything was sent.
    outbox: Option<Outbox>,
}

#[derive(Debug)]
enum Form {
    Influxdb(Influxdb),
    Graphite(Graphite),
}

impl Form {
    /// The form of a layout, with the tester's own tags; `None`: it is none of JMeter's.
    fn of(layout: &FeedLayout, tags: &Tags) -> Option<Form> {
        match layout {
            FeedLayout::Squall => None,
            FeedLayout::JmeterInfluxdb(how) => Some(Form::Influxdb(Influxdb::new(how, tags))),
            FeedLayout::JmeterGraphite(how) => Some(Form::Graphite(Graphite::new(how, tags))),
        }
    }
}

/// Times of a run; but for the first in seconds after its start.
#[derive(Debug, Default)]
struct Times {
    /// When the run began, in seconds since 1970.
    run_unix_s: f64,
    /// When its load did.
    load_s: f64,
    /// The latest that was heard of.
    now_s: f64,
    /// When the interval ends.
    next_s: f64,
    /// The last second since 1970 of which Graphite has numbers: it keeps but one for a series and a second.
    last_unix_s: u64,
}

impl JmeterFeed {
    /// A feed that a plan asks for, with the tester's own tags; `None`: its points are squall's.
    pub fn of_plan(feed: &PlanFeed, tags: &Tags) -> Option<JmeterFeed> {
        let form = Form::of(&feed.layout, tags)?;
        let (samples, default_s) = match &feed.layout {
            FeedLayout::Squall => return None,
            FeedLayout::JmeterInfluxdb(how) => (&how.samples, 5.0),
            FeedLayout::JmeterGraphite(how) => (&how.samples, 1.0),
        };
        let every = feed.layout.jmeter().and_then(|(_, every)| every);
        let JmeterSamples { names, scenarios, .. } = samples;
        // A pattern that is none is an error of its plan.
        let names = names.as_ref().and_then(|names| Pattern::compile(&names.value).ok());
        Some(JmeterFeed {
            target: feed.target.value.clone(),
            layout: feed.layout.clone(),
            tags: tags.clone(),
            form,
            every_s: every.map_or(default_s, |every| every.value.as_secs_f64()),
            sampled: Sampled::new(true, scenarios.iter().map(|name| name.value.clone())),
            sums: Sums::new(names),
            users: Users::default(),
            times: Times::default(),
            has_teardown: false,
            outbox: None,
        })
    }

    /// It is so late, in seconds after the start of the run: sends the intervals that are over.
    fn go_on(&mut self, now_s: f64) {
        self.times.now_s = self.times.now_s.max(now_s);
        while self.times.next_s <= self.times.now_s && self.outbox.is_some() {
            let at_s = self.times.next_s;
            self.send(at_s, None);
            self.times.next_s += self.every_s;
        }
    }

    /// Notes whose sample something is.
    fn see(&mut self, event: &Event) {
        let (phase, scenario, user) = match &event.kind {
            EventKind::Exchange(SeenExchange { phase, exchange }) => {
                (*phase, &exchange.scenario, exchange.user)
            }
            EventKind::Group { phase, group } => (*phase, &group.scenario, group.user),
            _ => return,
        };
        let second = (event.at_s - self.times.load_s).max(0.0) as u32;
        self.users.see(phase, scenario, user, second);
    }

    /// Sends what was counted up to a time, with an event before it.
    fn send(&mut self, at_s: f64, event: Option<&str>) {
        let Some(outbox) = &self.outbox else { return };
        let threads = self.sums.threads(self.users.counts());
        let unix_s = self.times.run_unix_s + at_s;
        let mut out = Lines::default();
        match &self.form {
            Form::Influxdb(form) => {
                let unix_ms = (unix_s * 1e3) as u64;
                event.into_iter().for_each(|word| form.event(word, unix_ms, &mut out));
                form.interval(&self.sums, &threads, unix_ms, &mut out);
            }
            Form::Graphite(form) => {
                let unix_s = (unix_s as u64).max(self.times.last_unix_s + 1);
                self.times.last_unix_s = unix_s;
                form.interval(&self.sums, &threads, unix_s, &mut out);
            }
        }
        outbox.push(out.batch());
        self.sums.begin_interval();
    }

    /// Nothing more comes: sends what is left, and waits for the receiver, but not for long.
    fn over(&mut self) {
        if self.outbox.is_none() {
            return;
        }
        let sums = &mut self.sums;
        // Who is told fails at nothing.
        let _ = self.sampled.rest(&mut |part| {
            sums.add(&ListenedSample::of(&part));
            Ok(())
        });
        self.users.end();
        self.send(self.times.now_s, Some("ended"));
        if let Some(outbox) = self.outbox.take() {
            outbox.finish(PATIENCE);
        }
    }
}

impl Sink for JmeterFeed {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let secrets = &start.program.secrets;
        self.tags.iter_mut().for_each(|(_, value)| *value = secrets.mask_own(value));
        if let Some(form) = Form::of(&self.layout, &self.tags) {
            self.form = form;
        }
        let receiver: Box<dyn Receiver> = match &self.form {
            Form::Influxdb(_) => Box::new(influxdb::Writes::new(&self.target)?),
            Form::Graphite(_) => Box::new(graphite::Carbon::new(&self.target.to)),
        };
        let delivery = Delivery::new(self.target.shown(), http::secrets(&self.target, secrets));
        self.outbox = Some(Outbox::start(receiver, &delivery)?);
        self.has_teardown = !start.plan.teardown.is_empty();
        self.times.run_unix_s = start.meta.started_unix;
        self.times.next_s = self.every_s;
        if matches!(self.form, Form::Influxdb(_)) {
            self.send(0.0, Some("started"));
        }
        Ok(Wanted { delivery: Some(delivery), ..self.sampled.start(start) })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.sampled.second(second);
        if let Some(active) = self.sampled.users() {
            self.users.second(second.second, active);
        }
        self.go_on(self.times.load_s + f64::from(second.second) + 1.0);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.go_on(event.at_s);
        self.see(event);
        let sums = &mut self.sums;
        self.sampled.event(event, &mut |part| {
            sums.add(&ListenedSample::of(&part));
            Ok(())
        })?;
        match &event.kind {
            EventKind::PhaseBegan(Phase::Load) => self.times.load_s = event.at_s,
            EventKind::Evaluated(_) if !self.has_teardown => self.over(),
            // A teardown that is killed takes nothing with it.
            EventKind::Evaluated(_) => {
                self.users.end();
                self.send(self.times.now_s, None);
            }
            EventKind::PhaseEnded { phase: Phase::Teardown, .. }
            | EventKind::NotRun(Phase::Teardown) => self.over(),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.over();
        Ok(())
    }
}
