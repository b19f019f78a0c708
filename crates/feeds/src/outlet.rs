//! What becomes of seconds in a feed of each kind: points or totals as bytes, which the outbox hands over, or totals that
//! others fetch.

use std::io;

use squall_plan::feed_target::{FeedKind, FeedTarget};
use squall_report::families::Tags;
use squall_runner::Delivery;

use crate::families::{Family, families};
use crate::outbox::{Batch, Outbox, PATIENCE, Receiver};
use crate::points::{Point, points};
use crate::scrape::Endpoint;
use crate::timeline::{Moment, SentSecond};
use crate::{graphite, influxdb, json_lines, otlp, remote_write, statsd};

/// Where the seconds of a feed go.
#[derive(Debug)]
pub struct Outlet {
    own: Tags,
    way: OutletKind,
}

#[derive(Debug)]
enum OutletKind {
    /// Each second as it was.
    Points(Outbox, EncodePoints),
    /// Everything so far, each second.
    Totals(Outbox, EncodeTotals, Box<SentSecond>),
    /// Everything so far, when somebody asks.
    Scraped(Endpoint),
}

type EncodePoints = fn(Moment, &[Point]) -> Vec<u8>;
type EncodeTotals = fn(Moment, &[Family]) -> Vec<u8>;

impl Outlet {
    /// Opens it, for points with the tester's own tags.
    ///
    /// # Errors
    /// It cannot work, in a sentence that names what it writes to.
    pub fn open(target: &FeedTarget, own: &Tags, delivery: &Delivery) -> io::Result<Outlet> {
        let to = target.to.as_str();
        let points = |receiver: Box<dyn Receiver>, encode: EncodePoints| {
            Ok::<_, io::Error>(OutletKind::Points(Outbox::start(receiver, delivery)?, encode))
        };
        let totals = |receiver: Box<dyn Receiver>, encode: EncodeTotals| {
            let outbox = Outbox::start(receiver, delivery)?;
            Ok::<_, io::Error>(OutletKind::Totals(outbox, encode, Box::default()))
        };
        let way = match target.kind {
            FeedKind::JsonLines => {
                points(Box::new(json_lines::Lines::open(to)?), json_lines::encode)
            }
            FeedKind::Influxdb => {
                points(Box::new(influxdb::Writes::new(target)?), influxdb::encode)
            }
            FeedKind::Graphite => points(Box::new(graphite::Carbon::new(to)), graphite::encode),
            FeedKind::Statsd => points(Box::new(statsd::Lines::new(to)), statsd::encode),
            FeedKind::RemoteWrite => {
                totals(Box::new(remote_write::Writes::new(target)?), remote_write::encode)
            }
            FeedKind::Otlp => totals(Box::new(otlp::Metrics::new(target)?), otlp::encode),
            FeedKind::OtlpGrpc => totals(Box::new(otlp::Calls::new(target)?), otlp::encode),
            FeedKind::Prometheus => Endpoint::start(to, own, delivery).map(OutletKind::Scraped),
        }?;
        Ok(Outlet { own: own.clone(), way })
    }

    pub fn take(&mut self, at: Moment, second: &SentSecond) {
        match &mut self.way {
            OutletKind::Points(outbox, encode) => {
                let points = points(second, &self.own);
                outbox.push(Batch { bytes: encode(at, &points), points: points.len() as u64 });
            }
            OutletKind::Totals(outbox, encode, totals) => {
                totals.go_on(second);
                let families = families(totals, &self.own);
                let points = families.iter().map(|family| family.series.len() as u64).sum();
                outbox.push(Batch { bytes: encode(at, &families), points });
            }
            OutletKind::Scraped(endpoint) => endpoint.add(second),
        }
    }

    /// Waits for the receiver, but not for long, and closes the account.
    pub fn finish(&self) {
        match &self.way {
            OutletKind::Points(outbox, _) | OutletKind::Totals(outbox, ..) => {
                outbox.finish(PATIENCE)
            }
            OutletKind::Scraped(endpoint) => endpoint.finish(PATIENCE),
        }
    }
}
