//! What a load of a fleet talks to: the controller's state machine, over the transport; in tests, a script.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::controller::front::Front;
use crate::protocol::Controller;
use crate::protocol::io::{Bytes, Input, Output, RunCommand, RunEvent};
use crate::transport::{Connect, ConnectError, Driver, NoSpool};

/// What the other side says.
#[derive(Debug)]
pub(crate) enum Told {
    /// The protocol.
    Event(RunEvent),
    /// A line that a person reads.
    Log(String),
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
        let driver =
            Driver::start(Front::new(controller, objects), connect, NoSpool, move |output| {
                let said = match output {
                    Output::Run(event) => Told::Event(event),
                    Output::Log(line) => Told::Log(line),
                    _ => return,
                };
                // Nobody listens any more when the load is over.
                let _over = say.send(said);
            })?;
        Ok(Driven { driver, told })
    }
}

impl Link for Driven {
    fn command(&self, command: RunCommand) {
        self.driver.tell(Input::Run(command));
    }

    fn next(&mut self, within: Duration) -> Result<Option<Told>, Gone> {
        match self.told.recv_timeout(within) {
            Ok(told) => Ok(Some(told)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    fn end(self: Box<Self>, within: Duration) -> bool {
        self.driver.join(within)
    }
}
