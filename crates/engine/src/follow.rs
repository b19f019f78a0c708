//! What a run is told to do, for who passes it on to users that are elsewhere.

use std::time::Duration;

use squall_plan::model::Load;
use tokio::sync::watch;

use crate::messages::{ChangeKind, Command, Orders};

/// What a run was told to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Ordered {
    /// The loads stand still.
    Pause,
    /// They go on.
    GoOn,
    /// A load of the plan, by its number, has another shape from `after` the start of the load on.
    Shape {
        /// Which.
        number: u16,
        /// What it is from then on.
        load: Load,
        /// When.
        after: Duration,
    },
    /// The end in order: what is in flight may take so long.
    Stop(Duration),
    /// The end at once.
    Abort,
}

/// Follows what a run is told.
#[derive(Debug)]
pub struct Followed {
    orders: watch::Receiver<Orders>,
    is_paused: bool,
    /// How many changes were passed on.
    changes: usize,
    command: Command,
}

impl Followed {
    pub(crate) fn new(orders: watch::Receiver<Orders>) -> Followed {
        Followed { orders, is_paused: false, changes: 0, command: Command::Run }
    }

    /// What was ordered since the last time, in the order in which it is to be obeyed. A pause that was over by then is not
    /// among it. Shares are not: who divides a load among processes gives them theirs.
    pub fn news(&mut self) -> Vec<Ordered> {
        let orders = self.orders.borrow();
        let mut news = Vec::new();
        if self.is_paused && !orders.paused {
            news.push(Ordered::GoOn);
        }
        for change in orders.changes.iter().skip(self.changes) {
            if let ChangeKind::Shape { load, of, .. } = &change.kind {
                let after = Duration::from_nanos(change.after);
                news.push(Ordered::Shape { number: *load, load: (**of).clone(), after });
            }
        }
        if orders.paused && !self.is_paused {
            news.push(Ordered::Pause);
        }
        (self.is_paused, self.changes) = (orders.paused, orders.changes.len());
        if orders.command != self.command {
            self.command = orders.command;
            match orders.command {
                Command::Run => {}
                Command::Stop { graceful } => {
                    news.push(Ordered::Stop(Duration::from_nanos(graceful)));
                }
                Command::Abort => news.push(Ordered::Abort),
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use squall_plan::model::Closed;

    use super::*;
    use crate::run::Control;

    #[test]
    fn what_is_ordered_is_passed_on_once_and_in_order() {
        let control = Control::default();
        let mut followed = control.follow();
        assert_eq!(followed.news(), []);
        let closed =
            Closed { users: Some(7), duration: Some(Duration::from_secs(9)), ..Closed::default() };
        let (load, after) = (Load::Closed(closed), Duration::from_secs(3));
        control.reshape(1, &load, after).expect("a good load");
        control.pause();
        let shape = Ordered::Shape { number: 1, load: load.clone(), after };
        assert_eq!(followed.news(), [shape.clone(), Ordered::Pause]);
        assert_eq!(followed.news(), []);
        control.resume();
        control.reshape(1, &load, after).expect("a good load");
        control.stop(Duration::from_secs(5));
        let stop = Ordered::Stop(Duration::from_secs(5));
        assert_eq!(followed.news(), [Ordered::GoOn, shape, stop]);
        control.abort();
        assert_eq!(followed.news(), [Ordered::Abort]);
        assert_eq!(followed.news(), []);
    }

    /// What was ordered before somebody followed is to be obeyed too.
    #[test]
    fn a_late_follower_misses_nothing() {
        let control = Control::default();
        control.pause();
        control.stop(Duration::ZERO);
        assert_eq!(control.follow().news(), [Ordered::Pause, Ordered::Stop(Duration::ZERO)]);
    }

    #[test]
    fn a_load_elsewhere_has_begun_when_it_says_so() {
        let control = Control::default();
        assert_eq!(control.elapsed(), None);
        control.begin(Instant::now());
        assert!(control.elapsed().is_some());
        control.begin(Instant::now() + Duration::from_secs(3600));
        assert_eq!(control.elapsed(), None);
    }
}
