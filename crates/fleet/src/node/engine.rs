//! A node's load as a source of seconds: the engine, started when the fleet says so, and again after a fence.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use squall_engine::{Ended, Event, RunOptions};
use squall_metrics::{Slice, Source};
use squall_runner::{LoadOrder, LoadSource};

use super::shared::{Launch, Shared};

/// Runs the shards that a node has.
pub(crate) struct NodeEngine(pub Arc<Shared>);

impl LoadSource for NodeEngine {
    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        self.0.ready();
        let workers = self.workers(&order.program, order.options);
        let mut all = Ended {
            elapsed: Duration::ZERO,
            asked: false,
            failures: Vec::new(),
            variables: Vec::new(),
        };
        let mut runs = 0;
        while let Some(launch) = self.0.launch() {
            let (first_worker, unsaid) = (runs * workers, HashMap::new());
            let pass = Pass { shared: &self.0, launch: &launch, first_worker, unsaid, on };
            let ended = run(&order, &launch, pass);
            self.0.ended(&launch);
            all.elapsed = Instant::now().saturating_duration_since(launch.start);
            match ended {
                Ok(ended) => {
                    if ended.asked {
                        self.0.ask_to_stop();
                    }
                    all.asked |= ended.asked;
                    all.failures.extend(ended.failures);
                }
                // What was recorded before a fence is there.
                Err(error) if runs > 0 => all.failures.push(error.to_string()),
                Err(error) => return Err(error),
            }
            runs += 1;
        }
        Ok(all)
    }
}

fn run(order: &LoadOrder<'_>, launch: &Launch, mut pass: Pass<'_, '_>) -> io::Result<Ended> {
    let options = RunOptions {
        share: launch.share.clone(),
        stays: true,
        start: Some(launch.start),
        ..order.options.clone()
    };
    let (program, network) = (order.program.clone(), order.network.clone());
    let (control, trace) = (&launch.control, order.trace.clone());
    squall_engine::run(program, network, &options, control, trace, |event| pass.pass(event))
}

/// Passes on what the engine says.
struct Pass<'p, 'o> {
    shared: &'p Shared,
    launch: &'p Launch,
    /// Workers of each start of the engine have numbers of their own: each hands over a slice of a second.
    first_worker: u32,
    /// Names that were announced with what was left out.
    unsaid: HashMap<Source, Slice>,
    on: &'o mut dyn FnMut(Event<'_>),
}

impl Pass<'_, '_> {
    fn pass(&mut self, event: Event<'_>) {
        self.shared.look_for_a_stop(&self.launch.control);
        match event {
            Event::Started if self.first_worker > 0 => {}
            Event::Idle(is_idle) => self.shared.idle(is_idle),
            Event::Progress { second, progress } => self.shared.progress(second, progress),
            Event::Slice(slice) => self.slice(slice),
            other => (self.on)(other),
        }
    }

    fn slice(&mut self, slice: &Slice) {
        if slice.second < self.launch.second {
            // Before it was started nothing was recorded, but names may have been announced.
            let unsaid = Slice::new(slice.source, slice.second);
            let unsaid = self.unsaid.entry(slice.source).or_insert(unsaid);
            unsaid.names.extend_from_slice(&slice.names);
            unsaid.metric_keys.extend_from_slice(&slice.metric_keys);
            return;
        }
        let unsaid = self.unsaid.remove(&slice.source);
        if self.first_worker == 0 && unsaid.is_none() {
            return (self.on)(Event::Slice(slice));
        }
        let mut own = slice.clone();
        if let Some(before) = unsaid {
            own.names.splice(..0, before.names);
            own.metric_keys.splice(..0, before.metric_keys);
        }
        if let Source::Worker(number) = own.source {
            own.source = Source::Worker(self.first_worker + number);
        }
        (self.on)(Event::Slice(&own));
    }
}
