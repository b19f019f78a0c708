//! What a load of a fleet talks to: the controller's state machine, over the transport; in tests, a script.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::controller::front::Front;
use crate::protocol::Controller;
use crate::protocol::io::{Bytes, Input, Output, RunCommand, RunEvent};
use crate::transport::drive::Handle;
use crate::transport::{Connect, ConnectError, Driver, NoSpool, Room};

/// Bytes of what the other side says that may wait for a load that is slower, such as one whose disk is: then the stream of the
/// run is read on when they were taken.
const WAITING: usize = 64 << 20;
/// About how many bytes everything has beside a record.
const BESIDE: usize = 256;

/// What the other side says.
#[derive(Debug)]
pub(crate) enum Told {
    /// The protocol.
    Event(RunEvent),
    /// A line that a person reads.
    Log(String),
}

impl Told {
    /// About how many bytes it has.
    fn size(&self) -> usize {
        match self {
            Told::Event(RunEvent::Record { second, .. }) => second.record.len() + BESIDE,
            _ => BESIDE,
        }
    }
}

/// The other side has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// The other side.
pub(crate) trait Link: Send {
    /// Asks for something.
    fn command(&self, command: RunCommand);

    /// What is said next within so long; `None`: nothing.
    ///
    /// # Errors
    /// It has ended, and says nothing more.
    fn next(&mut self, within: Duration) -> Result<Option<Told>, Gone>;

    /// Waits until all is done that was asked for, at most so long; whether it is.
    fn end(self: Box<Self>, within: Duration) -> bool;
}

/// The controller's machine, driven over a server.
pub(crate) struct Driven {
    driver: Driver,
    told: Receiver<Told>,
    room: Room,
}

/// Passes on what is said.
struct Say {
    say: Sender<Told>,
    room: Room,
}

impl Handle for Say {
    fn take(&mut self, output: Output) {
        let said = match output {
            Output::Run(event) => Told::Event(event),
            Output::Log(line) => Told::Log(line),
            _ => return,
        };
        let size = said.size();
        self.room.fill(size);
        if self.say.send(said).is_err() {
            // Nobody listens any more when the load is over.
            self.room.free(size);
        }
    }

    fn room(&self) -> Room {
        self.room.clone()
    }
}

impl Driven {
    /// Connects, and stores objects before the machine begins.
    ///
    /// # Errors
    /// The server cannot be used, in a sentence that says what to do.
    pub(crate) fn start(
        controller: Controller,
        objects: Vec<(String, Bytes)>,
        connect: Connect,
    ) -> Result<Driven, ConnectError> {
        let (say, told) = channel();
        let room = Room::of(WAITING);
        let handle = Say { say, room: room.clone() };
        let driver = Driver::start(Front::new(controller, objects), connect, NoSpool, handle)?;
        Ok(Driven { driver, told, room })
    }
}

impl Link for Driven {
    fn command(&self, command: RunCommand) {
        self.driver.tell(Input::Run(command));
    }

    fn next(&mut self, within: Duration) -> Result<Option<Told>, Gone> {
        match self.told.recv_timeout(within) {
            Ok(told) => {
                self.room.free(told.size());
                Ok(Some(told))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    fn end(self: Box<Self>, within: Duration) -> bool {
        // What the machine still reads, such as that its nodes have let the run go, must not wait for a load that is over.
        let Driven { driver, told, room } = *self;
        drop(told);
        room.clear();
        driver.join(within)
    }
}
