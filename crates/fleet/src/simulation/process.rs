//! A process: its machine, its clock, its load, its disk.

use std::collections::{BTreeMap, HashSet};

use crate::protocol::io::{Bytes, Machine, Nanos, Now, Ticket};
use crate::protocol::messages::Card;
use crate::protocol::{Controller, Lead, Node};

use super::iterations::Counted;
use super::load::Load;

/// A slot for processes of one name: that of the controller (0), or of a node.
pub struct Process {
    pub name: String,
    pub machine: Option<Box<dyn Machine>>,
    /// Grows with each start.
    pub incarnation: u32,
    pub boot: u64,
    clock: Clock,
    pub wakes: Option<u64>,
    pub pending: HashSet<Ticket>,
    pub load: Load,
    /// Kept messages by process: they survive it.
    pub disk: BTreeMap<u64, Vec<Bytes>>,
    pub watches: Vec<String>,
    pub listens: Vec<String>,
    /// Until when it does not reach the server, and is not reached.
    pub cut_up: u64,
    pub cut_down: u64,
    pub was_cut: bool,
    /// When a message that renews its lease was published first, by id; the latest that was acknowledged.
    pub firsts: BTreeMap<String, u64>,
    pub lease_from: u64,
    /// The cells that its present process has recorded, and when its load had ended.
    pub recorded: Vec<(u32, u32)>,
    pub load_ended: Option<u64>,
    /// When it is told the last thing that its load has said: it is told all of it in order.
    pub told_until: u64,
    pub gone: bool,
    /// Whether it was told to leave.
    pub leaves: bool,
    /// Most messages that were on their way to the stream at a time, and those that are.
    pub most_in_flight: usize,
    pub in_flight: HashSet<Ticket>,
}

/// A clock with an offset and a drift.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    pub origin: u64,
    pub unix: i64,
    /// Parts in a million.
    pub drift: i64,
}

impl Clock {
    fn steady(&self, time: u64) -> Nanos {
        self.origin + (time as i64 + (time as i64 / 1_000_000) * self.drift) as u64
    }

    /// The time at which the steady clock has at least this value.
    fn time_of(&self, steady: Nanos) -> u64 {
        let local = steady.saturating_sub(self.origin) as i128;
        let mut time = (local * 1_000_000 / (1_000_000 + i128::from(self.drift))) as u64;
        while self.steady(time) < steady {
            time += (steady - self.steady(time)).max(1);
        }
        time
    }
}

impl Process {
    pub fn new(name: String, clock: Clock) -> Process {
        Process {
            name,
            machine: None,
            incarnation: 0,
            boot: 0,
            clock,
            wakes: None,
            pending: HashSet::new(),
            load: Load::default(),
            disk: BTreeMap::new(),
            watches: Vec::new(),
            listens: Vec::new(),
            cut_up: 0,
            cut_down: 0,
            was_cut: false,
            firsts: BTreeMap::new(),
            lease_from: 0,
            recorded: Vec::new(),
            load_ended: None,
            told_until: 0,
            gone: false,
            leaves: false,
            most_in_flight: 0,
            in_flight: HashSet::new(),
        }
    }

    pub fn now(&self, time: u64) -> Now {
        let steady = self.clock.steady(time);
        Now { steady, unix: self.clock.unix + steady as i64 - self.clock.origin as i64 }
    }

    pub fn time_of(&self, steady: Nanos) -> u64 {
        self.clock.time_of(steady)
    }

    fn clean(&mut self) {
        self.incarnation += 1;
        self.wakes = None;
        self.pending.clear();
        self.in_flight.clear();
        self.watches.clear();
        self.listens.clear();
        self.recorded.clear();
        self.firsts.clear();
        self.load_ended = None;
        self.gone = false;
        self.leaves = false;
    }

    /// Starts a node's process.
    pub fn start_node(&mut self, zone: &str, length: u32, counted: Option<Counted>) {
        self.clean();
        self.boot = self.boot * 10 + u64::from(self.incarnation);
        self.load = Load::new(length, counted);
        let card = Card {
            node: self.name.clone(),
            boot: self.boot,
            version: "1".into(),
            cores: 1,
            zone: zone.into(),
            weight: 1.0,
            ..Card::default()
        };
        self.machine = Some(Box::new(Node::new(card, true)));
    }

    /// Starts a controller's process.
    pub fn start_controller(&mut self) {
        self.clean();
        self.boot = 1_000_000 + u64::from(self.incarnation);
        let lead = Lead {
            nonce: self.boot,
            host: "c".into(),
            version: "1".into(),
            seal: Box::new(|card| Ok(vec![card.boot as u8])),
        };
        self.machine = Some(Box::new(Controller::new(lead)));
    }

    pub fn kill(&mut self) {
        self.clean();
        self.machine = None;
        self.load = Load::default();
    }
}
