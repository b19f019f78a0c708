//! What the controller has asked for, and waits for.

use crate::protocol::io::{Now, Output, RunEvent};
use crate::protocol::messages::Card;
use crate::protocol::tickets::Tickets;
use crate::protocol::units::{Bytes, FleetTime, Nanos};

/// Seals the order's key for a node, or says why not.
pub type Seal = Box<dyn Fn(&Card) -> Result<Vec<u8>, String> + Send>;

/// What a controller is.
pub struct Lead {
    /// Drawn at each start of the process.
    pub nonce: u64,
    /// Name of its machine.
    pub host: String,
    /// squall's version, with its commit.
    pub version: String,
    /// Seals the order's key.
    pub seal: Seal,
}

impl std::fmt::Debug for Lead {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Lead")
            .field("nonce", &self.nonce)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

/// What an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A key is put, with this value.
    Put(String, Bytes),
    /// A key is read.
    Get(String),
    /// A mark, with its serial number.
    Mark,
}

/// What the controller waits for.
pub type Desk = Tickets<Purpose>;

/// The fleet's time: the controller's system's clock when it began, counted on by its steady clock, so that a step of the
/// former moves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct FleetClock {
    ahead: Option<i64>,
}

impl FleetClock {
    /// Takes the time of the controller's own system.
    pub fn set(&mut self, now: Now) {
        self.ahead = Some(now.unix.saturating_sub(now.steady as i64));
    }

    /// A node says that it is this time, or later, as its message took a while: the latest is the nearest.
    pub fn learn(&mut self, time: FleetTime, steady: Nanos) {
        let ahead = time.saturating_sub(steady as i64);
        self.ahead = Some(self.ahead.map_or(ahead, |known| known.max(ahead)));
    }

    /// Whether it is known.
    pub fn is_set(&self) -> bool {
        self.ahead.is_some()
    }

    /// The time.
    pub fn time(&self, steady: Nanos) -> FleetTime {
        self.ahead.unwrap_or(0).saturating_add(steady as i64)
    }
}

/// What a step of the machine works with.
pub struct Cx<'m> {
    /// The time.
    pub now: Now,
    /// What is to be done.
    pub out: &'m mut Vec<Output>,
    /// Its tickets.
    pub desk: &'m mut Desk,
    /// The fleet's time.
    pub time: FleetTime,
    /// The controller.
    pub lead: &'m Lead,
}

impl Cx<'_> {
    /// Tells the run something.
    pub fn run(&mut self, event: RunEvent) {
        self.out.push(Output::Run(event));
    }

    /// Tells the run what a person is told.
    pub fn tell(&mut self, node: &str, text: impl Into<String>) {
        self.run(RunEvent::Told { node: node.into(), at: self.time, text: text.into() });
    }

    /// Puts a key.
    pub fn put(&mut self, key: String, value: Bytes, revision: Option<u64>) {
        let ticket = self.desk.ticket(Purpose::Put(key.clone(), value.clone()));
        self.out.push(Output::Put { ticket, key, value, revision });
    }

    /// Reads a key.
    pub fn get(&mut self, key: String) {
        let ticket = self.desk.ticket(Purpose::Get(key.clone()));
        self.out.push(Output::Get { ticket, key });
    }
}
