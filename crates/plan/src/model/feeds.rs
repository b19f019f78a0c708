//! Feeds that a plan itself asks for.

use std::time::Duration;

use crate::feed_target::{FeedKind, FeedTarget};
use crate::keys::{
    At, Endpoint, Key, Keys, Known, Like, Maybe, Names, Of, Place, ReceiverUrl, Union, record,
};
use crate::span::Spanned;

record! {
    /// Somewhere that the seconds of a run go while it goes on, beside where its user sends them (`--out`).
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct PlanFeed as "a feed" {
        /// Its kind, where it goes, and what authorizes.
        #[key(no)]
        pub target: Spanned<FeedTarget>,
        /// What its points are called.
        #[key(no)]
        pub layout: FeedLayout,
        /// Tags of all its points, in addition to those of `--tag`, which take precedence.
        #[key([Names<Known, false>])]
        pub tags: Vec<(Spanned<String>, String)>,
    }
    first(this, keys) {
        let mut receiver = Receiver(this.target.clone(), this.layout.clone());
        keys.union(&mut receiver, true);
        (this.target, this.layout) = (receiver.0, receiver.1);
    }
}

/// What the points of a feed are called.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FeedLayout {
    /// As squall calls them.
    #[default]
    Squall,
    /// As JMeter's listener calls them in InfluxDB.
    JmeterInfluxdb(JmeterInfluxdb),
    /// As JMeter's listener calls them in Graphite.
    JmeterGraphite(JmeterGraphite),
}

record! {
    /// Points as JMeter's Backend Listener writes them to InfluxDB.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct JmeterInfluxdb as "a layout of points" {
        /// Of which samples, and how often.
        #[key(flat)]
        pub samples: JmeterSamples,
        /// Time from one point of a series to the next, at least 1s.
        #[key(default "5s")]
        pub every: Option<Spanned<Duration>>,
        /// The tag `application`.
        #[key([Maybe<Known>])]
        pub application: Option<String>,
        /// The measurement.
        #[key([Maybe<Known>] default "jmeter")]
        pub measurement: Option<String>,
        /// How the text of the events at the start and the end begins.
        #[key([Maybe<Known>] default "Test")]
        pub title: Option<String>,
        /// The tag `tags` of these events.
        #[key([Maybe<Known>])]
        pub event_tags: Option<String>,
    }
}

record! {
    /// Paths as JMeter's Backend Listener writes them to Graphite.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct JmeterGraphite as "a layout of paths" {
        /// Of which samples, and how often.
        #[key(flat)]
        pub samples: JmeterSamples,
        /// Time from one point of a series to the next, at least 1s.
        #[key(default "1s")]
        pub every: Option<Spanned<Duration>>,
        /// What each path begins with.
        #[key([Maybe<Known>] default "jmeter.")]
        pub prefix: Option<String>,
    }
}

record! {
    /// Which samples JMeter's points are of.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct JmeterSamples as "which samples" {
        /// Samples that also get points of their own: those whose name matches this regular expression.
        #[key([Maybe<At<Known>>] default "none")]
        pub names: Option<Spanned<String>>,
        /// Percentiles, above 0 and up to 100.
        pub percentiles: Vec<Spanned<f64>>,
        /// The scenarios whose samples are counted.
        #[key(default "all, and setup and teardown")]
        pub scenarios: Vec<Spanned<String>>,
    }
}

impl FeedLayout {
    /// Which samples JMeter's points are of, and how often they are sent, if they are JMeter's.
    pub fn jmeter(&self) -> Option<(&JmeterSamples, Option<&Spanned<Duration>>)> {
        match self {
            FeedLayout::Squall => None,
            FeedLayout::JmeterInfluxdb(own) => Some((&own.samples, own.every.as_ref())),
            FeedLayout::JmeterGraphite(own) => Some((&own.samples, own.every.as_ref())),
        }
    }
}

/// Where a feed goes, and what its points are called, as the keys have it.
#[derive(Clone)]
struct Receiver(Spanned<FeedTarget>, FeedLayout);

impl Union for Receiver {
    fn variants() -> Vec<Receiver> {
        let of = |(kind, _)| {
            let target = FeedTarget { kind, ..FeedTarget::default() };
            Receiver(Spanned::new(target, Default::default()), FeedLayout::Squall)
        };
        FeedKind::ALL.map(of).into()
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        let Receiver(target, layout) = self;
        let FeedTarget { kind, to, token, .. } = &mut target.value;
        let about = match kind {
            FeedKind::JsonLines => {
                "A file or a named pipe, or `-`; relative to the working directory."
            }
            FeedKind::Influxdb => "The URL of InfluxDB that takes writes.",
            FeedKind::Graphite => "Graphite, as `HOST:PORT`.",
            FeedKind::Statsd => "StatsD, as `HOST:PORT`.",
            FeedKind::Prometheus => "Where Prometheus scrapes: `PORT` or `HOST:PORT`.",
            FeedKind::RemoteWrite => "The URL that takes Prometheus remote write.",
            FeedKind::Otlp => "The URL that takes OpenTelemetry's metrics.",
            FeedKind::OtlpGrpc => "The server that takes OpenTelemetry's metrics over gRPC.",
        };
        let mut written = Spanned::new(std::mem::take(to), target.span);
        let key = Key::required(kind.label(), about);
        match kind {
            FeedKind::JsonLines => keys.key::<At<Known>>(&mut written, key),
            FeedKind::Graphite | FeedKind::Statsd => {
                keys.key::<At<Like<Known, Place>>>(&mut written, key);
            }
            FeedKind::Prometheus => keys.key::<At<Like<Known, Endpoint>>>(&mut written, key),
            _ => keys.key::<At<Like<Known, ReceiverUrl>>>(&mut written, key),
        }
        (*to, target.span) = (written.value, written.span);
        if kind.token_variable().is_some() {
            let about =
                "The authorization token, instead of a user in the URL; masked in every output.";
            let default = Some("that of the environment");
            keys.key::<Maybe<Known>>(token, Key { default, ..Key::new("token", about) });
        }
        layout.keys(*kind, keys);
    }
}

impl FeedLayout {
    /// The key for JMeter's names, of those kinds that JMeter knows.
    fn keys(&mut self, kind: FeedKind, keys: &mut Keys<'_>) {
        match kind {
            FeedKind::Influxdb => {
                let mut own = match self {
                    FeedLayout::JmeterInfluxdb(own) => Some(own.clone()),
                    _ => None,
                };
                let about = "Points as JMeter's Backend Listener names them, instead of squall's.";
                keys.key::<Maybe<Of<JmeterInfluxdb>>>(&mut own, Key::new("jmeter_points", about));
                *self = own.map_or(FeedLayout::Squall, FeedLayout::JmeterInfluxdb);
            }
            FeedKind::Graphite => {
                let mut own = match self {
                    FeedLayout::JmeterGraphite(own) => Some(own.clone()),
                    _ => None,
                };
                let about = "Paths as JMeter's Backend Listener names them, instead of squall's.";
                keys.key::<Maybe<Of<JmeterGraphite>>>(&mut own, Key::new("jmeter_paths", about));
                *self = own.map_or(FeedLayout::Squall, FeedLayout::JmeterGraphite);
            }
            _ => {}
        }
    }
}
