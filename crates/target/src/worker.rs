//! A worker: what the connections of one thread share.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::Timers;
use crate::counters::Counters;
use crate::home::HomePage;
use crate::http::response::{DATE_LEN, Response};
use crate::site::Site;

/// Bytes read at once, into a buffer that all connections of a worker share.
pub(crate) const READ_SIZE: usize = 128 * 1024;

/// What the connections of one thread share.
pub(crate) struct Worker {
    pub(crate) site: Arc<Site>,
    pub(crate) timers: Timers,
    pub(crate) scratch: RefCell<Scratch>,
    index: usize,
    date: Cell<(u64, [u8; DATE_LEN])>,
}

/// Buffers for the time of one poll: borrowed, used and returned without a wait in between, so
/// that a connection that waits holds none.
pub(crate) struct Scratch {
    pub(crate) read: Box<[u8]>,
    pub(crate) out: Vec<u8>,
    pub(crate) response: Response,
    pub(crate) home: HomePage,
}

impl Worker {
    pub(crate) fn new(index: usize, site: Arc<Site>) -> io::Result<Self> {
        Ok(Worker {
            timers: Timers::new()?,
            scratch: RefCell::new(Scratch {
                read: vec![0; READ_SIZE].into_boxed_slice(),
                out: Vec::new(),
                response: Response::default(),
                home: HomePage::new(),
            }),
            index,
            date: Cell::new((0, [b' '; DATE_LEN])),
            site,
        })
    }

    pub(crate) fn counters(&self) -> &Counters {
        // There is one set of counters for each index that a worker is made with.
        &self.site.counters[self.index]
    }

    /// Now, as a header says it; formatted once a second.
    pub(crate) fn date(&self) -> [u8; DATE_LEN] {
        let now = SystemTime::now();
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (cached, date) = self.date.get();
        if cached == second {
            return date;
        }
        let text = httpdate::fmt_http_date(now);
        let mut date = [b' '; DATE_LEN];
        for (place, byte) in date.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        self.date.set((second, date));
        date
    }
}

/// A connection that is counted as open.
pub(crate) struct Open(pub(crate) Rc<Worker>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counters().closed.add(1);
    }
}
