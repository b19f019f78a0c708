//! What a node has asked for, and waits for.

use crate::protocol::io::{Now, Output};
use crate::protocol::messages::Card;
use crate::protocol::tickets::Tickets;
use crate::protocol::units::Nanos;

/// What an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The card of its name, as it stands.
    ReadCard,
    /// Its card is put.
    PutCard,
    /// Its card is put again, so that the server keeps it.
    PutCardAgain,
    /// Its card is deleted.
    Farewell,
    /// The time, asked for at this moment.
    Time(Nanos),
    /// A key of its run.
    Key(Polled),
    /// A message of the outbox.
    Publish(u64),
    /// A kept message that was asked for again.
    Again { boot: u64, number: u64, round: u64 },
}

/// Keys of a run that a node reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled {
    /// The order.
    Order,
    /// Its share.
    Share,
    /// The changes.
    Changes,
    /// Whether the run was released.
    Release,
}

/// What a node waits for.
pub type Desk = Tickets<Purpose>;

impl Purpose {
    /// Whether it is the affair of a run, and not of the node's place in the fleet.
    pub fn is_of_run(&self) -> bool {
        !matches!(
            self,
            Purpose::ReadCard | Purpose::PutCard | Purpose::PutCardAgain | Purpose::Farewell
        )
    }
}

/// What a process is, whatever run it is in.
#[derive(Debug)]
pub struct Me {
    /// Its card.
    pub card: Card,
    /// What former processes of it have left: run, boot, and how many messages.
    pub former: Vec<(String, u64, u64)>,
}

/// What a step of the machine works with.
pub struct Cx<'m> {
    /// The time.
    pub now: Now,
    /// What is to be done.
    pub out: &'m mut Vec<Output>,
    /// Its tickets.
    pub desk: &'m mut Desk,
    /// The process.
    pub me: &'m Me,
}

impl Cx<'_> {
    /// Says a line in the log.
    pub fn log(&mut self, text: impl Into<String>) {
        self.out.push(Output::Log(text.into()));
    }
}
