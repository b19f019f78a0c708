//! A target in virtual time: the loads of a plan meet servers whose times are known, and what comes of it is recorded
//! as workers record it. Nothing is sent, and nothing waits.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use squall_limit::RecoveryDetector;
use squall_metrics::{HostMetrics, NameId, RowKey, RowKind, Sample, Slice};
use squall_plan::model::{Load as PlannedLoad, Plan};

use super::load::{Load, Ran, Take};
use crate::error::Error;

/// How long the target takes for a response, ...
const SERVICE_NS: u64 = 20_000_000;
/// ... and beyond its cliff.
const CLIFF_NS: u64 = 2_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A queue: requests are served in their order by the server that is free first, 20 ms each. Its time goes on from one
/// run to the next, so that it still works off what came before.
pub(super) struct Simulated<'a> {
    /// When each server is free.
    pub servers: RefCell<Vec<u64>>,
    /// A target that gets worse and does not recover: from the first request on that finds so many others there, each
    /// takes 5 ms longer than the one before.
    pub leaks_at: Option<usize>,
    pub leaked: Cell<u64>,
    /// A request that finds so many others there takes 2 s.
    pub cliff_at: Option<usize>,
    /// When each request that is there departs: from one run to the next, too.
    pub there: RefCell<BinaryHeap<Reverse<u64>>>,
    pub now: Cell<u64>,
    /// The lengths of the runs of the load, in s.
    pub runs: RefCell<Vec<u64>>,
    /// What happens before a second of a run, both counted from 0: whether the load goes on, or how it breaks off.
    pub before: &'a dyn Fn(usize, u32) -> Result<bool, Error>,
}

/// A response, with the load that it is for.
#[derive(Debug, Clone, Copy)]
struct Response {
    departs: u64,
    latency: u64,
    load: usize,
}

/// A user, or the source of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sender {
    /// When it sends next.
    at: u64,
    load: usize,
}

impl Simulated<'_> {
    pub fn new(servers: usize) -> Simulated<'static> {
        Simulated {
            servers: RefCell::new(vec![0; servers]),
            leaks_at: None,
            leaked: Cell::new(0),
            cliff_at: None,
            there: RefCell::default(),
            now: Cell::new(0),
            runs: RefCell::default(),
            before: &|_, _| Ok(true),
        }
    }

    /// When the response to a request of this moment departs. `others`: how many requests it finds there.
    fn serve(&self, at: u64, others: usize) -> u64 {
        let mut servers = self.servers.borrow_mut();
        let free = servers.iter_mut().min().expect("there is a server");
        let is_beyond = self.cliff_at.is_some_and(|most| others >= most);
        let departs = at.max(*free) + if is_beyond { CLIFF_NS } else { SERVICE_NS };
        *free = departs;
        let Some(most) = self.leaks_at else { return departs };
        let leaks = others >= most || self.leaked.get() > 0;
        let late = self.leaked.replace(self.leaked.get() + if leaks { SERVICE_NS / 4 } else { 0 });
        departs + late
    }

    /// The responses of a run, in the order in which they end, in ns from its start. Loads that begin later are not
    /// there.
    fn responses(&self, plan: &Plan, length: Duration) -> Vec<Response> {
        let began = self.now.get();
        let end = began + length.as_nanos() as u64;
        let mut senders = BinaryHeap::new();
        for (load, scenario) in plan.scenarios.iter().enumerate() {
            if !scenario.after.is_empty() || !scenario.start_after.is_zero() {
                continue;
            }
            let users = match load_of(plan, load) {
                PlannedLoad::Closed(closed) => closed.users.expect("steps have users") as usize,
                PlannedLoad::Open(_) => 1,
            };
            senders.extend(std::iter::repeat_n(Reverse(Sender { at: began, load }), users));
        }
        let mut responses: Vec<Response> = Vec::new();
        let mut there = self.there.borrow_mut();
        while let Some(Reverse(Sender { at, load })) = senders.pop()
            && at < end
        {
            while there.peek().is_some_and(|Reverse(departs)| *departs <= at) {
                there.pop();
            }
            let departs = self.serve(at, there.len());
            there.push(Reverse(departs));
            responses.push(Response { departs: departs - began, latency: departs - at, load });
            let next = match load_of(plan, load) {
                PlannedLoad::Closed(closed) => {
                    departs.max(at + closed.pacing.unwrap_or_default().as_nanos() as u64)
                }
                PlannedLoad::Open(open) => {
                    at + (SECOND_NS as f64 / open.rate.expect("steps have a rate")) as u64
                }
            };
            senders.push(Reverse(Sender { at: next, load }));
        }
        responses.sort_by_key(|response| response.departs);
        responses
    }

    /// Notes a run of so many ns; its number.
    fn ran(&self, length: u64) {
        self.now.set(self.now.get() + length);
        self.runs.borrow_mut().push(length / SECOND_NS);
    }
}

fn load_of(plan: &Plan, scenario: usize) -> &PlannedLoad {
    &plan.scenarios[scenario].load.as_ref().expect("each scenario has one").value
}

impl Load for Simulated<'_> {
    fn measure(&self, plan: &Plan, length: Duration, take: Take<'_>) -> Result<Ran, Error> {
        let host = HostMetrics::default();
        let run = self.runs.borrow().len();
        let responses = self.responses(plan, length);
        let last = Duration::from_nanos(responses.last().map_or(0, |last| last.departs));
        let tail = last.saturating_sub(length).min(plan.graceful_stop.unwrap_or_default());
        let mut responses = responses.into_iter().peekable();
        self.ran(length.as_nanos() as u64);
        self.now.set(self.now.get() + tail.as_nanos() as u64);
        for second in 0..length.as_secs() as u32 {
            if !(self.before)(run, second)? {
                break;
            }
            let mut slice = Slice::new(0, second);
            if second == 0 {
                for (number, scenario) in plan.scenarios.iter().enumerate() {
                    let name = scenario.name.value.as_str();
                    let key = RowKey::new(RowKind::Request, name, name);
                    slice.announce(NameId(number as u32), key);
                }
            }
            let end = u64::from(second + 1) * SECOND_NS;
            while let Some(Response { latency, load, .. }) =
                responses.next_if(|response| response.departs < end)
            {
                slice.counters.iterations_done += 1;
                slice.record(NameId(load as u32), &Sample { latency_ns: latency, ..Sample::ok(0) });
            }
            take(&slice);
        }
        Ok(Ran { host, tail, losses: Vec::new() })
    }

    fn watch(
        &self,
        plan: &Plan,
        length: Duration,
        mut detector: RecoveryDetector,
    ) -> Result<Option<f64>, Error> {
        if !(self.before)(self.runs.borrow().len(), 0)? {
            return Ok(None);
        }
        let length = length.as_nanos() as u64;
        let (servers, leaked) = (self.servers.borrow().clone(), self.leaked.get());
        let there = self.there.borrow().clone();
        let responses = self.responses(plan, Duration::from_nanos(length));
        let last = responses.iter().filter(|response| response.departs < length).find(|response| {
            detector.add(response.departs as f64 / 1e9, response.latency as f64 / 1e3, false)
        });
        let length = last.map_or(length, |last| last.departs);
        // What comes after that was never sent.
        self.servers.replace(servers);
        self.there.replace(there);
        self.leaked.set(leaked);
        self.responses(plan, Duration::from_nanos(length));
        self.ran(length);
        Ok(detector.recovered())
    }
}
