//! What all kinds have in common: a reader that puts values beside each other, as a monitor of a run.

use std::io;
use std::time::{Duration, Instant};

use squall_runner::{Monitor, MonitorSample};

use crate::samples::Samples;

/// One kind of monitor.
pub(crate) trait Reader: Send {
    /// The names of what it samples.
    fn names(&self) -> Vec<String>;

    /// Reads values; `now` is a time that only grows.
    ///
    /// # Errors
    /// Nothing could be read, in a sentence that says what to do.
    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()>;

    /// What of its values is missing, or may mislead, in a sentence.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// A reader as a monitor. Rates are over the time that has passed, not over that which should have.
pub(crate) struct Sampler<R> {
    reader: R,
    samples: Samples,
    start: Instant,
}

impl<R: Reader> Sampler<R> {
    pub(crate) fn new(monitor: &str, reader: R) -> Sampler<R> {
        Sampler { reader, samples: Samples::new(monitor), start: Instant::now() }
    }
}

impl<R: Reader> Monitor for Sampler<R> {
    fn names(&self) -> Vec<String> {
        self.reader.names()
    }

    fn sample(&mut self, _: Duration) -> io::Result<MonitorSample> {
        let read = self.reader.read(self.start.elapsed(), &mut self.samples);
        let sampled = self.samples.take();
        read.map(|()| sampled)
    }

    fn remark(&self) -> Option<String> {
        self.reader.remark()
    }
}
