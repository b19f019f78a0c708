//! The monitors of a run, each on a thread of its own.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use squall_metrics::{Slice, Source};

use super::account::Account;
use super::interface::{Monitor, Sampled};
use crate::error::Error;
use crate::sink::give_way;

/// A sample, and what of the samples so far is missing or may mislead.
type Answer = (io::Result<Sampled>, Option<String>);

/// The monitors of a run, each on a thread of its own.
#[derive(Debug, Default)]
pub(crate) struct Monitors(Vec<Watched>);

#[derive(Debug)]
struct Watched {
    account: Account,
    ask: Sender<Duration>,
    answers: Receiver<Answer>,
}

impl Monitors {
    /// Starts monitors, each under its name, with the numbers from `first` on.
    ///
    /// # Errors
    /// There is no thread for one.
    pub(crate) fn start(
        first: u32,
        monitors: Vec<(String, Box<dyn Monitor>)>,
    ) -> Result<Monitors, Error> {
        let start = |(number, (name, monitor)): (u32, (String, Box<dyn Monitor>))| {
            let (ask, asked) = channel();
            let (answer, answers) = channel();
            std::thread::Builder::new()
                .name("monitor".to_owned())
                .spawn(move || live(monitor, &asked, &answer))
                .map_err(|error| Error::incomplete(format!("{name}: {error}")))?;
            let account = Account::new(name, Source::Monitor(number));
            Ok(Watched { account, ask, answers })
        };
        (first..).zip(monitors).map(start).collect::<Result<_, _>>().map(Monitors)
    }

    /// Asks those for a sample in this second that have given the one before.
    pub(crate) fn ask(&mut self, second: u32) {
        for own in &mut self.0 {
            if own.account.ask(second) {
                // One that has ended is found out when its answer is looked for.
                let _ = own.ask.send(Duration::from_secs(u64::from(second)));
            }
        }
    }

    /// What has come by now of seconds of the load, of which `begun` have begun to come and those that `is_open` says are
    /// not whole yet.
    pub(crate) fn take(&mut self, begun: u32, is_open: &dyn Fn(u32) -> bool) -> Vec<Slice> {
        let take = |own: &mut Watched| {
            match own.answers.try_recv() {
                Ok((answer, remark)) => {
                    own.account.answered(answer);
                    own.account.remarked(remark);
                }
                Err(TryRecvError::Disconnected) => own.account.ended(),
                Err(TryRecvError::Empty) => {}
            }
            own.account.take(begun, is_open)
        };
        self.0.iter_mut().filter_map(take).collect()
    }

    /// What was lost, a sentence for each monitor that lost something, and what monitors remark.
    pub(crate) fn losses(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|own| [own.account.loss(), own.account.remark()]).flatten()
    }
}

/// A monitor's thread: it ends when nothing more is asked for.
fn live(mut monitor: Box<dyn Monitor>, asked: &Receiver<Duration>, answer: &Sender<Answer>) {
    give_way();
    for at in asked {
        let panicked = |_| Err(io::Error::other("it panicked: this is a bug of the monitor"));
        let sampled =
            catch_unwind(AssertUnwindSafe(|| monitor.sample(at))).unwrap_or_else(panicked);
        let remark = catch_unwind(AssertUnwindSafe(|| monitor.remark())).unwrap_or_default();
        if answer.send((sampled, remark)).is_err() {
            break;
        }
    }
}
