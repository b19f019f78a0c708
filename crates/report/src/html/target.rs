//! What the page shows of the target: for each monitor the charts that its curves make, and a table of everything.

use serde::Serialize;
use squall_metrics::{Monitored, MonitoredUnit};

use crate::document::RunDocument;
use crate::target::{SampledMetric, SampledTarget, sampled};

/// Most lines of a chart, most charts of a monitor, and of all.
const MAX_LINES: usize = 6;
const MAX_CHARTS: usize = 8;
const MAX_ALL_CHARTS: usize = 24;

/// What belongs into one chart: its title, and names of metrics of one unit.
const CHARTS: [(&str, &[&str]); 14] = [
    ("CPU", &["cpu", "cpu_thread", "cpu_user", "cpu_system", "cpu_iowait", "cpu_steal"]),
    ("Memory", &["rss", "memory_used", "heap_used", "swap_used"]),
    ("Garbage collection", &["gc_share"]),
    ("Threads and processes", &["threads", "processes", "jvm_threads"]),
    ("Waiting for a core or a disk", &["run_queue_wait", "io_wait", "longest_query"]),
    ("CPU quota", &["cpu_throttled"]),
    ("Listen queue", &["listen_queue"]),
    ("Connections not accepted", &["listen_overflows", "listen_drops", "tcp_retransmits"]),
    (
        "Connections",
        &[
            "connections",
            "active",
            "waiting",
            "idle_in_transaction",
            "connections_writing",
            "connections_reading",
        ],
    ),
    ("Requests", &["requests", "commits", "rollbacks", "accepts"]),
    ("Disk busy", &["disk_busy"]),
    ("Disk", &["read_bytes", "written_bytes", "disk_read_bytes", "disk_written_bytes"]),
    ("Network", &["network_in_bytes", "network_out_bytes"]),
    ("Pressure", &["pressure_cpu", "pressure_memory", "pressure_io"]),
];

/// A monitor on the page.
#[derive(Debug, Serialize)]
pub(super) struct TargetFigures {
    monitor: String,
    charts: Vec<TargetChart>,
    rows: Vec<TargetRow>,
}

/// A chart of a monitor.
#[derive(Debug, Serialize)]
struct TargetChart {
    title: String,
    unit: &'static str,
    /// The places of its metrics among all of the run.
    metrics: Vec<usize>,
    /// The lines that are named so, in the same order.
    names: Vec<String>,
    /// The value at which something of it is full, each with what that is.
    limits: Vec<(f64, String)>,
    about: String,
}

/// A metric of a monitor in its table.
#[derive(Debug, Serialize)]
struct TargetRow {
    name: String,
    about: &'static str,
    mean: String,
    max: String,
    last: String,
    full_at: String,
    was_full: bool,
}

impl TargetFigures {
    /// Of all monitors of a run.
    pub(super) fn of(run: &RunDocument) -> Vec<TargetFigures> {
        let mut room = MAX_ALL_CHARTS;
        let of = |own: SampledTarget<'_>| {
            let charts = charts(run, &own, room.min(MAX_CHARTS));
            room -= charts.len();
            let rows = own.metrics.iter().filter(|own| !own.is_bound).map(row);
            TargetFigures { monitor: own.monitor.to_owned(), charts, rows: rows.collect() }
        };
        sampled(run).into_iter().map(of).collect()
    }
}

fn row(own: &SampledMetric<'_>) -> TargetRow {
    TargetRow {
        name: own.label.clone(),
        about: Monitored::named(&own.row.name).next().map_or("", |known| known.about),
        mean: own.show(own.row.mean),
        max: own.show(own.row.max),
        last: own.show(own.row.last),
        full_at: own.full_at.map_or_else(String::new, |value| own.show(Some(value))),
        was_full: own.was_full(),
    }
}

/// The charts of a monitor, at most so many: of what is known, and then one for each name that only the target knows. What
/// never was above 0 is in the table alone.
fn charts(run: &RunDocument, target: &SampledTarget<'_>, most: usize) -> Vec<TargetChart> {
    let drawn =
        |own: &&SampledMetric<'_>| !own.is_bound && own.row.max.is_some_and(|max| max > 0.0);
    let named = |name: &str| -> Vec<&SampledMetric<'_>> {
        target.metrics.iter().filter(drawn).filter(|own| own.row.name == name).collect()
    };
    let known = CHARTS.iter().map(|(title, names)| {
        let own: Vec<&SampledMetric<'_>> = names.iter().flat_map(|name| named(name)).collect();
        ((*title).to_owned(), own)
    });
    let mut others: Vec<&str> = Vec::new();
    for own in target.metrics.iter().filter(drawn) {
        let name = own.row.name.as_str();
        if Monitored::unit_of(name).is_none() && !others.contains(&name) {
            others.push(name);
        }
    }
    let others = others.into_iter().map(|name| (name.to_owned(), named(name)));
    let all = known.chain(others).filter(|(_, own)| !own.is_empty());
    all.take(most).map(|(title, own)| chart(run, title, &own)).collect()
}

fn chart(run: &RunDocument, title: String, all: &[&SampledMetric<'_>]) -> TargetChart {
    let lines = &all[..all.len().min(MAX_LINES)];
    let place =
        |own: &SampledMetric<'_>| run.metrics.iter().position(|row| std::ptr::eq(row, own.row));
    let mut limits: Vec<(f64, String)> = Vec::new();
    for own in lines {
        // Two lines with the same limit have one.
        if let Some(full) = own.full_at.filter(|full| limits.iter().all(|(other, _)| other != full))
        {
            limits.push((full, format!("{} full at {}", own.label, own.show(Some(full)))));
        }
    }
    let more = all.len() - lines.len();
    TargetChart {
        title,
        unit: all.first().map_or("number", |own| unit(own.unit)),
        metrics: lines.iter().filter_map(|own| place(own)).collect(),
        names: lines.iter().map(|own| own.label.clone()).collect(),
        limits,
        about: match more {
            0 => String::new(),
            more => format!("{more} more are in the table alone."),
        },
    }
}

/// The unit of the page's axes; shares of CPU time may be more than 1, and times are in seconds.
fn unit(unit: MonitoredUnit) -> &'static str {
    match unit {
        MonitoredUnit::Share => "percent",
        MonitoredUnit::Bytes => "size",
        MonitoredUnit::BytesPerSecond => "bytes",
        MonitoredUnit::PerSecond => "rate",
        MonitoredUnit::Number => "number",
        MonitoredUnit::Seconds => "seconds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::MetricRow;

    fn row(name: &str, tags: &[(&str, &str)], max: f64) -> MetricRow {
        let tags = tags.iter().chain([&("monitor", "server")]);
        MetricRow {
            name: name.to_owned(),
            kind: "gauge".to_owned(),
            tags: tags.map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned())).collect(),
            last: Some(max),
            max: Some(max),
            ..MetricRow::default()
        }
    }

    #[test]
    fn what_belongs_together_is_in_one_chart_with_its_limits() {
        let mut metrics = vec![
            row("cpu", &[], 1.9),
            row("cpu_limit", &[], 2.0),
            row("cpu_thread", &[], 0.9),
            row("swap_used", &[], 0.0),
            row("pool_active", &[], 20.0),
        ];
        let disks = (0..9).map(|disk| row("disk_busy", &[("disk", &format!("sd{disk}"))], 0.5));
        metrics.extend(disks);
        let run = RunDocument { metrics, ..RunDocument::default() };
        let found = TargetFigures::of(&run);
        let charts = &found[0].charts;
        let titles: Vec<&str> = charts.iter().map(|own| own.title.as_str()).collect();
        assert_eq!(titles, ["CPU", "Disk busy", "pool_active"]);
        assert_eq!((&*charts[0].metrics, charts[0].unit), (&[0, 2][..], "percent"));
        let limits: Vec<&str> = charts[0].limits.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(limits, ["cpu full at 200%", "cpu_thread full at 100%"]);
        assert_eq!(
            (charts[1].metrics.len(), &*charts[1].about),
            (6, "3 more are in the table alone.")
        );
        assert_eq!(found[0].rows.len(), 13, "all but the limit");
    }

    #[test]
    fn charts_are_few() {
        let metrics = (0..100).map(|number| row(&format!("m{number}"), &[], 1.0)).collect();
        let found = TargetFigures::of(&RunDocument { metrics, ..RunDocument::default() });
        assert_eq!((found[0].charts.len(), found[0].rows.len()), (MAX_CHARTS, 100));
    }
}
