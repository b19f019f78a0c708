//! Drives a state machine over a transport, on a thread of its own: what arrives goes in, what comes out is performed, at the
//! same time but for what concerns one key, which keeps its order.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc as blocking};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::protocol::io::{Answer, Input, Machine, Nanos, Now, Output, Ticket};
use crate::transport::nats::Nats;
use crate::transport::{
    Connect, ConnectError, EVENTS_WAITING, Event, Events, Left, Room, Spool, Transport,
};

/// How long what is on its way may take when the machine has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Outputs that are performed at the same time; more wait.
const AT_ONCE: usize = 1024;

/// What a load or a run has said that waits for the machine, which may be held up by a disk. Who says more waits.
const INPUTS_WAITING: usize = 4096;

/// A state machine that goes on by itself. It ends when the machine is done, or by [`Driver::stop`].
#[derive(Debug)]
pub struct Driver {
    tell: Tell,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// Tells a driven machine something; as many of it as there are who have something to say.
#[derive(Debug, Clone)]
pub struct Tell(mpsc::Sender<Input>);

/// Takes what a driven machine has for the load, the run and the log.
pub trait Handle: Send {
    /// Takes it; must not block, as the machine waits meanwhile.
    fn take(&mut self, output: Output);

    /// The room in the queue that it goes into, which messages of a run's stream wait for.
    fn room(&self) -> Room {
        Room::default()
    }
}

impl<F: FnMut(Output) + Send> Handle for F {
    fn take(&mut self, output: Output) {
        self(output);
    }
}

impl Tell {
    /// Tells it, when there is room. What an ended machine is told is lost.
    pub fn tell(&self, input: Input) {
        let Err(TrySendError::Full(input)) = self.0.try_send(input) else { return };
        match tokio::runtime::Handle::try_current() {
            // The machine's own thread makes room, and must not wait for it.
            Ok(runtime) => {
                let tell = self.0.clone();
                runtime.spawn(async move { tell.send(input).await });
            }
            Err(_) => _ = self.0.blocking_send(input),
        }
    }
}

impl Driver {
    /// Connects to a NATS server and drives a machine over it. `handle` is called on the machine's thread with what is for the
    /// load, the run and the log, in order; it must not block. What it puts into a queue it has a room of: see [`Handle`].
    ///
    /// # Errors
    /// Why the server cannot be used, or the thread not be started.
    pub fn start<M, S, H>(
        machine: M,
        connect: Connect,
        spool: S,
        handle: H,
    ) -> Result<Driver, ConnectError>
    where
        M: Machine + Send + 'static,
        S: Spool + 'static,
        H: Handle + 'static,
    {
        Driver::start_over(machine, move |events| Nats::open(connect, events), spool, handle)
    }

    /// The same over any transport.
    ///
    /// # Errors
    /// Why it cannot be opened, or the thread not be started.
    pub fn start_over<M, S, H, T, O, F>(
        machine: M,
        open: O,
        spool: S,
        handle: H,
    ) -> Result<Driver, ConnectError>
    where
        M: Machine + Send + 'static,
        S: Spool + 'static,
        H: Handle + 'static,
        T: Transport,
        O: FnOnce(Events) -> F + Send + 'static,
        F: Future<Output = Result<T, ConnectError>>,
    {
        let (tell, told) = mpsc::channel(INPUTS_WAITING);
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let (opened, is_open) = blocking::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("squall-fleet".to_owned())
            .spawn(move || {
                let runtime =
                    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                        Ok(runtime) => runtime,
                        Err(error) => {
                            let _nobody = opened.send(Err(no_thread(&error)));
                            return;
                        }
                    };
                runtime.block_on(async move {
                    let (events, arrives) = mpsc::channel(EVENTS_WAITING);
                    match open(events).await {
                        Ok(transport) => {
                            let _nobody = opened.send(Ok(()));
                            let performer = Performer::new(transport, spool, handle);
                            drive(machine, performer, arrives, (told, &stopped)).await;
                        }
                        Err(error) => {
                            let _nobody = opened.send(Err(error));
                        }
                    }
                });
                // What still waits for a name to be looked up is not waited for.
                runtime.shutdown_background();
            })
            .map_err(|error| no_thread(&error))?;
        match is_open.recv() {
            Ok(Ok(())) => Ok(Driver { tell: Tell(tell), stop, thread: Some(thread) }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ConnectError::new(
                "the thread of the fleet has ended before it began".to_owned(),
            )),
        }
    }

    /// Tells the machine something.
    pub fn tell(&self, input: Input) {
        self.tell.tell(input);
    }

    /// For others that have something to tell it.
    pub fn teller(&self) -> Tell {
        self.tell.clone()
    }

    /// Whether the machine is done.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it now: what is on its way may take three seconds.
    pub fn stop(mut self) {
        self.end();
    }

    /// Waits for the machine to be done, for at most so long; after that it is ended. Whether it was done.
    pub fn join(mut self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let was_done = self.has_ended();
        self.end();
        was_done
    }

    fn end(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the machine has printed itself.
            let _panicked = thread.join();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.end();
    }
}

fn no_thread(error: &io::Error) -> ConnectError {
    ConnectError::new(format!("cannot start the thread of the fleet: {error}"))
}

/// The clocks of a process.
#[derive(Debug, Clone, Copy)]
pub struct Clocks {
    origin: Instant,
}

impl Clocks {
    /// Nanoseconds of the steady clock count from the first use of any of these in the process.
    pub fn new() -> Clocks {
        static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        Clocks { origin: *ORIGIN.get_or_init(Instant::now) }
    }

    /// What time it is.
    pub fn now(&self) -> Now {
        let unix = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos)
            }
        };
        Now { steady: self.steady(Instant::now()), unix }
    }

    /// An instant by the steady clock; 0 for what was before its origin.
    pub fn steady(&self, instant: Instant) -> Nanos {
        u64::try_from(instant.saturating_duration_since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// The instant of a time by the steady clock; at most a year ahead.
    pub fn instant(&self, steady: Nanos) -> Instant {
        const YEAR: u64 = 365 * 24 * 3600 * 1_000_000_000;
        let ahead = self.steady(Instant::now()).saturating_add(YEAR);
        self.origin + Duration::from_nanos(steady.min(ahead))
    }
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks::new()
    }
}

/// The loop. Ends when the machine says so or is told to stop.
async fn drive<M: Machine, T: Transport, S: Spool, H: Handle>(
    mut machine: M,
    mut performer: Performer<T, S, H>,
    mut arrives: mpsc::Receiver<Event>,
    (mut told, stopped): (mpsc::Receiver<Input>, &Notify),
) {
    let clocks = Clocks::new();
    let mut out = Vec::new();
    for Left { run, boot, numbers } in performer.spool.all_kept() {
        machine.on(clocks.now(), Input::Kept { run, boot, numbers }, &mut out);
        performer.perform_all(&mut out);
    }
    machine.on(clocks.now(), Input::Connected, &mut out);
    performer.perform_all(&mut out);
    while !performer.has_ended {
        let wake_at =
            machine.wake_at().map(|at| tokio::time::Instant::from_std(clocks.instant(at)));
        let input = tokio::select! {
            Some(done) = performer.next_done() => done,
            () = stopped.notified() => break,
            said = told.recv() => match said {
                Some(input) => input,
                None => break,
            },
            Some(event) = arrives.recv() => match event {
                Event::Input(input) => input,
                Event::Log(line) => {
                    performer.handle.take(Output::Log(line));
                    continue;
                }
            },
            () = sleep_until(wake_at) => Input::Tick,
        };
        machine.on(clocks.now(), input, &mut out);
        performer.perform_all(&mut out);
    }
    // Who waits for room to say something says it to nobody, and ends.
    drop(told);
    performer.finish().await;
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// An output that takes time, and what came of it.
type Done = (Option<String>, Option<(Ticket, Answer)>);

/// Performs outputs.
struct Performer<T, S, H> {
    transport: T,
    spool: S,
    handle: H,
    running: JoinSet<Done>,
    /// Outputs that wait for a place among those that are performed.
    waiting: VecDeque<Output>,
    /// Outputs on keys that have one being performed.
    behind: HashMap<String, VecDeque<Output>>,
    /// What was answered at once.
    answered: VecDeque<Input>,
    has_ended: bool,
}

impl<T: Transport, S: Spool, H: Handle> Performer<T, S, H> {
    fn new(transport: T, spool: S, handle: H) -> Performer<T, S, H> {
        Performer {
            transport,
            spool,
            handle,
            running: JoinSet::new(),
            waiting: VecDeque::new(),
            behind: HashMap::new(),
            answered: VecDeque::new(),
            has_ended: false,
        }
    }

    fn perform_all(&mut self, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Keep(kept) => {
                if let Err(why) = self.spool.keep(kept) {
                    self.handle.take(Output::Log(why));
                }
            }
            Output::Recall { ticket, run, boot, number } => {
                let answer = match self.spool.recall(&run, boot, number) {
                    Some(payload) => Answer::Object(payload),
                    None => Answer::Refused(format!("message {number} is kept no more")),
                };
                self.answered.push_back(Input::Done { ticket, answer });
            }
            Output::MayDrop { run, boot, below } => self.spool.may_drop(&run, boot, below),
            Output::Drop { run } => self.spool.drop_run(&run),
            Output::Watch { keys } => self.transport.watch(keys),
            Output::Listen { subject } => self.transport.listen(subject),
            Output::Consume { run } => self.transport.consume(run, self.handle.room()),
            Output::Unwatch { run } => self.transport.unwatch(run),
            Output::Load(_) | Output::Run(_) | Output::Log(_) => self.handle.take(output),
            Output::End => self.has_ended = true,
            _ => self.begin(output),
        }
    }

    /// Begins what takes time, or has it wait for its turn.
    fn begin(&mut self, output: Output) {
        if self.running.len() >= AT_ONCE {
            self.waiting.push_back(output);
            return;
        }
        let key = key_of(&output).map(str::to_owned);
        if let Some(key) = &key {
            if let Some(behind) = self.behind.get_mut(key) {
                behind.push_back(output);
                return;
            }
            self.behind.insert(key.clone(), VecDeque::new());
        }
        let transport = self.transport.clone();
        self.running.spawn(async move { (key, perform_on(transport, output).await) });
    }

    /// The next output that was performed; `None`: none is being performed.
    async fn next_done(&mut self) -> Option<Input> {
        loop {
            if let Some(input) = self.answered.pop_front() {
                return Some(input);
            }
            // What panicked has no answer; nothing here does.
            let (key, answer) = match self.running.join_next().await? {
                Ok(done) => done,
                Err(_) => continue,
            };
            self.make_room(key);
            if let Some((ticket, answer)) = answer {
                return Some(Input::Done { ticket, answer });
            }
        }
    }

    /// Begins what waited for an output that has been performed.
    fn make_room(&mut self, key: Option<String>) {
        let next = key.and_then(|key| self.behind.remove(&key).map(|behind| (key, behind)));
        if let Some((key, mut behind)) = next
            && let Some(output) = behind.pop_front()
        {
            self.behind.insert(key.clone(), behind);
            let transport = self.transport.clone();
            self.running.spawn(async move { (Some(key), perform_on(transport, output).await) });
        }
        while self.running.len() < AT_ONCE
            && let Some(output) = self.waiting.pop_front()
        {
            self.begin(output);
        }
    }

    /// Lets what is on its way arrive.
    async fn finish(mut self) {
        let rest = async { while self.next_done().await.is_some() {} };
        let _too_long = tokio::time::timeout(LAST_WORDS, rest).await;
        self.transport.close().await;
    }
}

/// The key whose outputs keep their order.
fn key_of(output: &Output) -> Option<&str> {
    match output {
        Output::Put { key, .. } | Output::Get { key, .. } | Output::Delete { key, .. } => Some(key),
        _ => None,
    }
}

async fn perform_on<T: Transport>(transport: T, output: Output) -> Option<(Ticket, Answer)> {
    Some(match output {
        Output::Put { ticket, key, value, revision } => {
            (ticket, transport.put(key, value, revision).await)
        }
        Output::Get { ticket, key } => (ticket, transport.get(key).await),
        Output::Delete { ticket, key } => (ticket, transport.delete(key).await),
        Output::Publish { ticket, subject, id, payload } => {
            (ticket, transport.publish(subject, id, payload).await)
        }
        Output::Ask { ticket, subject, payload, wait } => {
            (ticket, transport.ask(subject, payload, wait).await)
        }
        Output::PutObject { ticket, digest, bytes } => {
            (ticket, transport.put_object(digest, bytes).await)
        }
        Output::GetObject { ticket, digest } => (ticket, transport.get_object(digest).await),
        Output::Say { subject, payload } => {
            transport.say(subject, payload).await;
            return None;
        }
        Output::Reply { reply, payload } => {
            transport.say(reply, payload).await;
            return None;
        }
        Output::Forget { run } => {
            transport.forget(run).await;
            return None;
        }
        // The others take no time, and were performed at once.
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
