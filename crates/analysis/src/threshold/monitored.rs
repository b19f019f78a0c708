//! `cpu(server) < 80%`, `max(rss, monitor: server) < 1GiB`, `last(pg_stat_activity_count, monitor: db) < 50`: what a
//! monitor samples of the target. A metric of squall's own kinds of monitors is a word of its own, its mean, and has its unit;
//! of others only the target knows the unit, and so the limit has it.

use squall_metrics::{Monitored, MonitoredUnit};

use super::level::Level;
use super::limit::Unit;
use super::metric::{Metric, Statistic};
use super::subject::Subject;

/// What a word asks of a metric that a monitor samples; `None`: it is about something else.
///
/// # Errors
/// It does not say which metric, or which monitor, or asks for what is not known of it.
pub(super) fn parse(word: &str, subject: &mut Subject) -> Result<Option<Metric>, String> {
    // Some are words for something else, which has no name or no such name.
    let is_own = Monitored::unit_of(word).is_some() && Metric::parse(word).is_none();
    let is_named = subject.selector.name.is_some() || subject.monitor.is_some();
    if Monitored::unit_of(word).is_some() && (is_own || is_named) {
        subject.of_monitor(word)?;
        return Ok(Some(Metric::Sampled(Level::Mean)));
    }
    if subject.monitor.is_none() {
        return Ok(None);
    }
    let level = match Metric::parse(word) {
        Some(Metric::Last) => Level::Last,
        Some(Metric::Latency { corrected: false, statistic }) => match statistic {
            Statistic::Mean => Level::Mean,
            Statistic::Min => Level::Min,
            Statistic::Max => Level::Max,
            Statistic::Percentile(_) => return Err(unknown(word)),
        },
        Some(_) => return Err(unknown(word)),
        None => return Ok(None),
    };
    match subject.selector.name {
        Some(_) => Ok(Some(Metric::Sampled(level))),
        None => {
            Err(format!("`{word}` needs the name of a metric, as in {word}(cpu, monitor: server)"))
        }
    }
}

fn unknown(word: &str) -> String {
    format!("`{word}` is not known of what a monitor samples: only mean, min, max and last are")
}

/// The units in which the limit of a metric may be given.
pub(super) fn units(name: &str) -> &'static [Unit] {
    match Monitored::unit_of(name) {
        Some(MonitoredUnit::Share) => &[Unit::Share],
        Some(MonitoredUnit::Bytes) => &[Unit::Bytes],
        Some(MonitoredUnit::BytesPerSecond) => &[Unit::BytesPerSecond],
        Some(MonitoredUnit::PerSecond) => &[Unit::PerSecond],
        Some(MonitoredUnit::Number) => &[Unit::Plain],
        Some(MonitoredUnit::Seconds) => &[Unit::Time],
        None => &[
            Unit::Plain,
            Unit::Share,
            Unit::Bytes,
            Unit::Time,
            Unit::PerSecond,
            Unit::BytesPerSecond,
        ],
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{MetricId, MetricKey, MetricKind, Slice, Source};

    use crate::totals::Totals;
    use crate::{RunMeasure, Threshold};

    /// Ten seconds of what two monitors sample.
    fn totals() -> Totals {
        let tag = |tag: &str, value: &str| (tag.to_owned(), value.to_owned());
        let on = |monitor: &str| tag("monitor", monitor);
        let key = |name: &str, tags| MetricKey::new(MetricKind::Gauge, "", name, tags);
        let keys = [
            key("cpu", vec![on("server")]),
            key("cpu", vec![on("db")]),
            key("rss", vec![on("server")]),
            key("disk_busy", vec![on("db"), tag("disk", "sda")]),
            key("disk_busy", vec![on("db"), tag("disk", "sdb")]),
            key("run_queue_wait", vec![on("server")]),
            key("cache_hits", vec![on("db")]),
            key("pg_stat_activity_count", vec![on("db")]),
        ];
        let mut totals = Totals::new();
        for second in 0..10u32 {
            let mut slice = Slice::new(Source::Monitor(1), second);
            let part = f64::from(second) / 10.0;
            let values = [part, 0.9, 1e9 * (1.0 + part), 0.2, 0.4, 0.25, 0.99, 20.0 + part * 10.0];
            for ((number, key), value) in (0..).zip(&keys).zip(values) {
                if second == 0 {
                    slice.announce_metric(MetricId(number), key);
                }
                let at = u64::from(second) * 1_000_000_000;
                slice.record_metric(MetricId(number), key.kind, value, at).expect("a value");
            }
            totals.add(&slice);
        }
        totals
    }

    #[test]
    fn what_a_monitor_samples_has_its_mean_and_its_unit() {
        let totals = totals();
        for (text, passed, shown) in [
            ("cpu(server) < 80%", true, "45%"),
            ("cpu(monitor: server) < 0.4", false, "45%"),
            ("cpu(db) < 80%", false, "90%"),
            ("max(cpu, monitor: server) <= 90%", true, "90%"),
            ("min(cpu, monitor: server) > 0", false, "0%"),
            ("last(cpu, monitor: server) == 90%", true, "90%"),
            ("mean(cpu, monitor: server) < 200%", true, "45%"),
            ("rss(server) < 1.5GiB", true, "1.4 GiB"),
            ("rss(server) < 1GiB", false, "1.4 GiB"),
            ("disk_busy(db, disk: sdb) > 39%", true, "40%"),
            // Of tags that it does not name, together.
            ("disk_busy(db) == 30%", true, "30%"),
            ("run_queue_wait(server) < 300ms", true, "250 ms"),
            ("cache_hits(db) > 95%", true, "99%"),
            ("mean(pg_stat_activity_count, monitor: db) < 25", true, "24.5"),
            ("max(pg_stat_activity_count, monitor: db) < 2900%", false, "2900%"),
            ("cpu(nobody) < 80%", false, "`nobody` sampled no `cpu`"),
        ] {
            let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
            assert_eq!((result.passed, result.shown.as_str()), (passed, shown), "{text}");
        }
    }

    #[test]
    fn a_wrong_one_says_what_is_missing() {
        for (text, said) in [
            ("cpu < 80%", "`cpu` needs the name of a monitor"),
            ("cpu(server, monitor: db) < 80%", "given twice"),
            ("cpu(server) < 1GiB", "expected a share"),
            ("rss(server) < 80%", "expected a size"),
            ("p99(cpu, monitor: server) < 80%", "only mean, min, max and last"),
            ("rate(cpu, monitor: server) < 80%", "only mean, min, max and last"),
            ("max(monitor: server) < 80%", "needs the name of a metric"),
            ("rss(server) < 1GiB over 1500ms", "whole seconds"),
        ] {
            let error = Threshold::parse(text).expect_err(text);
            assert!(error.message.contains(said), "{text}: {}", error.message);
        }
        // A counter of the run by the same name.
        assert!(Threshold::parse("cache_hits > 5").is_ok_and(|own| own.monitored().is_none()));
    }

    #[test]
    fn measures_have_the_unit_of_their_metric() {
        let totals = totals();
        for (text, unit, value) in [
            ("cpu(server)", "share", 0.45),
            ("rss(server)", "bytes", 1.45e9),
            ("max(run_queue_wait, monitor: server)", "us", 250_000.0),
            ("last(pg_stat_activity_count, monitor: db)", "number", 29.0),
        ] {
            let own = RunMeasure::parse(text).expect(text);
            assert_eq!((own.unit(), own.value(&totals, 10.0)), (unit, Some(value)), "{text}");
        }
    }
}
