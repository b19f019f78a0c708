//! Sends what others make of a run in their own layout, as lines or as families of series: with the receivers, the memory and the
//! losses of feeds.

use std::io;

use squall_plan::feed_target::{FeedKind, FeedTarget};
use squall_plan::secrets::Secrets;
use squall_runner::Delivery;

use crate::families::Family;
use crate::http;
use crate::otlp::{self, Exporter};
use crate::outbox::{Batch, Outbox, PATIENCE, Receiver};
use crate::timeline::Moment;
use crate::{influxdb, remote_write};

/// Hands what others encode to a receiver.
#[derive(Debug)]
pub struct Dispatch(Outbox);

impl Dispatch {
    /// The account of what is sent to a target, in which its secrets and those of the run are masked.
    pub fn delivery(target: &FeedTarget, of_run: &Secrets) -> Delivery {
        Delivery::new(target.shown(), http::secrets(target, of_run))
    }

    /// To InfluxDB. `create`: the URL that makes the database, which is asked once before the first write.
    ///
    /// # Errors
    /// It cannot work, in a sentence.
    pub fn influxdb(
        target: &FeedTarget,
        create: Option<&str>,
        delivery: &Delivery,
    ) -> io::Result<Dispatch> {
        let writes = match create {
            Some(url) => influxdb::Writes::creating(target, url)?,
            None => influxdb::Writes::new(target)?,
        };
        Ok(Dispatch(Outbox::start(Box::new(writes), delivery)?))
    }

    /// To a target of Prometheus remote write or OpenTelemetry.
    ///
    /// # Errors
    /// It cannot work, in a sentence.
    pub fn totals(target: &FeedTarget, delivery: &Delivery) -> io::Result<Dispatch> {
        let receiver: Box<dyn Receiver> = match target.kind {
            FeedKind::RemoteWrite => Box::new(remote_write::Writes::new(target)?),
            FeedKind::OtlpGrpc => Box::new(otlp::Calls::new(target)?),
            _ => Box::new(otlp::Metrics::new(target)?),
        };
        Ok(Dispatch(Outbox::start(receiver, delivery)?))
    }

    /// Sends so many points in lines.
    pub fn lines(&self, lines: String, points: u64) {
        self.0.push(Batch { bytes: lines.into_bytes(), points });
    }

    /// Sends families to Prometheus as they are at a moment.
    pub fn remote_write(&self, at: Moment, families: &[Family<'_>]) {
        self.push(remote_write::encode(at, families), families);
    }

    /// Sends families to OpenTelemetry as they are at a moment.
    pub fn otlp(&self, exporter: &Exporter, at: Moment, families: &[Family<'_>]) {
        self.push(otlp::encode_as(exporter, at, families), families);
    }

    fn push(&self, bytes: Vec<u8>, families: &[Family<'_>]) {
        let points = families.iter().map(|family| family.series.len() as u64).sum();
        self.0.push(Batch { bytes, points });
    }

    /// Waits for the receiver, but not for long, and closes the account.
    pub fn finish(&self) {
        self.0.finish(PATIENCE);
    }
}
