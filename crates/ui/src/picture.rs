//! What is known of a run as JSON, for a page that knows some of it already: everything to one that knows nothing, then
//! what has changed. Pure.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use squall_live::state::{
    LiveState, LoadState, MetricPoint, Mood, NodeState, Point, Problem, RowSecond, RowState,
    Stopping, TargetMetric, TargetState,
};
use squall_report::html::number;

/// So many seconds before the last that a page has are sent again: a late worker may have added to them.
const LATE: u32 = 3;
/// Moments of the plan ahead.
const AHEAD: u32 = 120;
/// Most nodes that are sent.
const NODES: usize = 100;
/// Most metrics of a monitor that are sent.
const OF_MONITOR: usize = 60;
/// Lines of the log that are sent.
const LOG: usize = 100;

/// What a page knows.
#[derive(Debug, Default)]
pub struct Known {
    /// The parts that are sent whole, as they were sent last.
    parts: HashMap<&'static str, String>,
    /// What is counted in each row.
    rows: Vec<(u64, u64)>,
    /// The last second, and how many seconds a point covers; nothing was sent yet: 0.
    second: u32,
    resolution: u32,
}

/// What a page is to learn now.
pub fn picture(state: &LiveState, known: &mut Known) -> String {
    let resolution = state.history.resolution();
    let is_new = resolution != known.resolution;
    if is_new {
        *known = Known { resolution, ..Known::default() };
    }
    let mut news = Map::new();
    news.insert("new".to_owned(), json!(is_new));
    news.insert("now".to_owned(), now(state));
    for (name, value) in parts(state) {
        let text = value.to_string();
        if known.parts.get(name) != Some(&text) {
            known.parts.insert(name, text);
            news.insert(name.to_owned(), value);
        }
    }
    let since = if is_new { 0 } else { known.second.saturating_sub(LATE) };
    let points: Vec<Value> = state
        .history
        .points()
        .iter()
        .filter(|own| own.second + own.seconds > since)
        .map(point)
        .collect();
    news.insert("points".to_owned(), json!(points));
    news.insert("metrics".to_owned(), metrics(state, since));
    news.insert("rows".to_owned(), rows(state, known, is_new));
    known.second = state.history.last().map_or(0, |last| last.second);
    Value::Object(news).to_string()
}

/// What changes with the clock.
fn now(state: &LiveState) -> Value {
    let at_s = state.load_s();
    let last = state.history.last();
    json!({
        "load_s": at_s,
        "stood_still_s": state.stood_still_s(),
        "seconds": last.map_or(0, |last| last.second + 1),
        "requests": state.requests,
        "errors": state.problems.total(),
        "loads": state.loads.iter().map(|load| json!({
            "part": load.part_done(at_s),
            "left_s": load.left_s(at_s),
            "planned": load.planned(at_s),
            "done": load.done,
            "done_lately": load.done_lately,
            "users": load.now.users,
            "in_flight": load.now.in_flight.most,
            "started": load.now.iterations_started,
            "dropped": load.now.arrivals_dropped,
        })).collect::<Vec<Value>>(),
    })
}

/// What is sent when it has changed.
fn parts(state: &LiveState) -> Vec<(&'static str, Value)> {
    vec![
        ("about", about(state)),
        ("answers", answers(state)),
        ("ahead", ahead(state)),
        (
            "errors",
            json!({
                "all": state.problems.all().iter().filter(|own| own.count > 0).map(problem).collect::<Vec<Value>>(),
                "left_out": state.problems.left_out(),
            }),
        ),
        ("judged", judged(state)),
        ("targets", state.metrics.targets().iter().map(target).collect()),
        ("nodes", nodes(state)),
        ("generator", generator(state)),
        ("log", log(state)),
    ]
}

fn about(state: &LiveState) -> Value {
    json!({
        "plan": state.plan,
        "target": state.target_beside_plan(),
        "doing": state.doing(),
        "phase": state.phase.label(),
        "paused": state.is_paused(),
        "stopping": state.stopping.map(|stopping| match stopping {
            Stopping::InOrder => "in order",
            Stopping::AtOnce => "at once",
        }),
        "length_s": state.length_s(),
        "loads": state.loads.iter().map(load).collect::<Vec<Value>>(),
        "point": Point::names().collect::<Vec<_>>(),
        "result": result(state),
    })
}

fn load(load: &LoadState) -> Value {
    json!({
        "scenario": load.scenario,
        "label": load.label(),
        "users": load.is_users(),
        "from_s": load.from_s(),
        "length_s": load.length_s,
        "iterations": load.iterations,
        "can_change": load.can_change,
    })
}

/// The result, when the load is over and evaluated.
fn result(state: &LiveState) -> Value {
    let Some(run) = &state.result else { return Value::Null };
    let outcome = run.outcome();
    let all = run.totals.all();
    json!({
        "passed": outcome.passed(),
        "interrupted": run.interrupted,
        "reasons": outcome.reasons.iter().map(|failure| failure.text.clone()).collect::<Vec<String>>(),
        "caveats": outcome.caveats,
        "validity": run.validity().label(),
        "requests": all.count,
        "errors": all.errors,
        "p50_us": all.latency.percentile(50.0),
        "p99_us": all.latency.percentile(99.0),
        "elapsed_s": run.elapsed_s,
    })
}

fn mood(mood: Mood) -> &'static str {
    match mood {
        Mood::Unknown => "unknown",
        Mood::Good => "good",
        Mood::Doubtful => "doubt",
        Mood::Bad => "bad",
    }
}

fn answers(state: &LiveState) -> Value {
    let conclusion = state.conclusion();
    let answers = state.answers().map(|own| {
        json!({"question": own.question, "mood": mood(own.mood), "word": own.word, "detail": own.detail})
    });
    json!({
        "conclusion": {"mood": mood(conclusion.mood), "word": conclusion.word, "text": conclusion.text},
        "all": answers,
    })
}

/// What is planned from here to the end: of a load that ends by time.
fn ahead(state: &LiveState) -> Value {
    let Some(length) =
        state.length_s().filter(|_| state.stopping.is_none() && state.result.is_none())
    else {
        return Value::Null;
    };
    let step = (length / f64::from(AHEAD)).max(1.0);
    let moments = (0..AHEAD).map(|at| f64::from(at) * step).take_while(|at| *at < length);
    let planned = |at_s: f64, is_users: bool| -> f64 {
        let meant = state.loads.iter().filter(|load| load.is_users() == is_users);
        meant.map(|load| load.planned(at_s)).sum()
    };
    let all: Vec<Value> =
        moments.map(|at| json!([at, planned(at, false), planned(at, true)])).collect();
    json!(all)
}

fn problem(own: &Problem) -> Value {
    json!({
        "name": own.label,
        "scenario": own.scenario,
        "kind": own.kind.label(),
        "means": own.kind.explain(),
        "count": own.count,
        "lately": own.lately,
        "seen": own.seen,
        "example": own.example,
    })
}

/// Thresholds, checks and all latencies, as they were evaluated last; of thresholds, where one fails, also the last second.
fn judged(state: &LiveState) -> Value {
    let at = |p| state.all.latency.percentile(p);
    let lately =
        state.last_second.iter().map(|own| own.shown.as_str()).chain(std::iter::repeat(""));
    json!({
        "thresholds": state.thresholds.iter().zip(lately).map(|(own, lately)| json!({
            "text": own.text, "standing": state.standing(own).label(), "shown": own.shown, "last_second": lately,
        })).collect::<Vec<Value>>(),
        "checks": state.checks.iter().map(|(scenario, name, counts)| json!({
            "scenario": scenario, "name": name,
            "passed": counts.passed, "failed": counts.failed, "warned": counts.warned,
        })).collect::<Vec<Value>>(),
        "latency_us": [at(50.0), at(90.0), at(95.0), at(99.0), state.all.latency.max()],
        "count": state.all.latency.count(),
    })
}

fn generator(state: &LiveState) -> Value {
    let last = state.history.last().copied().unwrap_or_default();
    let (host, counters) = (&state.host, &state.counters);
    json!({
        "reasons": state.reasons.iter().map(|reason| json!({
            "validity": reason.validity().label(),
            "observed": reason.observed,
            "effect": reason.effect_text(),
            "advice": reason.advice,
            "of_generator": reason.is_of_generator(),
        })).collect::<Vec<Value>>(),
        "busiest": last.busiest_worker,
        "cpu_s": state.cpu_s,
        "starved_us": last.starved_us,
        "send_delay_us": last.send_delay_p99_us,
        "receive_delay_us": last.receive_delay_p99_us,
        "loop_us": last.loop_iteration_max_us,
        "rss_bytes": host.rss_bytes,
        "open_files": [host.open_files, host.open_files_limit],
        "ports": [host.ports_used, host.ports_limit],
        "time_wait": host.time_wait,
        "connections_opened": counters.connections_opened,
        "stale_retries": counters.stale_retries,
        "arrivals": [counters.arrivals_dropped, counters.arrivals_due],
        "bytes": [last.bytes_in, last.bytes_out],
    })
}

/// The nodes of a fleet: how many, and those that need a look first.
fn nodes(state: &LiveState) -> Value {
    let odd = state.nodes.odd();
    let rank = |at: usize| odd.iter().position(|own| own.node == at);
    let mut first: Vec<(usize, &NodeState)> = state.nodes.all().iter().enumerate().collect();
    first.sort_by_key(|(at, own)| (!state.nodes.is_silent(own), rank(*at).unwrap_or(usize::MAX)));
    let first = first.into_iter().take(NODES).map(|(at, own)| json!({
        "node": own.node, "zone": own.zone, "second": own.second, "silent": state.nodes.is_silent(own),
        "odd": rank(at).map(|at| odd[at].text()), "users": number(own.users),
        "requests": number(own.requests), "errors": number(own.errors), "p95_us": own.p95_us,
        "send_delay_us": own.send_delay_us, "cpu": own.cpu,
    }));
    let zones = state.nodes.zones().iter();
    let zones = zones.map(|own| json!({"zone": own.zone, "p95_us": own.p95_us}));
    json!({
        "count": state.nodes.all().len(),
        "first": first.collect::<Vec<Value>>(),
        "zones": zones.collect::<Vec<Value>>(),
    })
}

/// What a monitor samples of the target; its course is among the metrics.
fn target(own: &TargetState<'_>) -> Value {
    let row = |own: &TargetMetric<'_>| {
        let (now, highest) = own.now_and_highest()?;
        Some(json!({
            "at": own.at, "name": own.state.label, "now": own.show(now), "highest": own.show(highest),
            "full_at": own.full_at.map(|full| own.show(full)), "top": own.full_at,
            "is_full": own.is_full(now),
        }))
    };
    let rows: Vec<Value> = own.metrics.iter().take(OF_MONITOR).filter_map(row).collect();
    let left_out = own.metrics.len().saturating_sub(OF_MONITOR);
    json!({"monitor": own.monitor, "metrics": rows, "left_out": left_out})
}

/// The latest lines of the log, the latest first.
fn log(state: &LiveState) -> Value {
    let lines = state.log.iter().rev().take(LOG);
    let lines = lines.map(|line| json!([line.at_s, line.text, line.is_warning]));
    json!(lines.collect::<Vec<Value>>())
}

fn point(own: &Point) -> Value {
    own.values().map(number).collect()
}

/// Metrics over time that have points of this second or later, with these.
fn metrics(state: &LiveState, since: u32) -> Value {
    let since = |own: &&MetricPoint| own.second + own.seconds > since;
    let metrics = state.metrics.all().iter().enumerate().filter_map(|(at, own)| {
        let points = own.course.points().iter().filter(since);
        let points: Vec<Value> =
            points.map(|own| json!([own.second, own.seconds, number(own.shown())])).collect();
        let key = &own.key;
        (!points.is_empty()).then(|| {
            json!({
                "at": at, "name": key.name, "scenario": key.scenario, "kind": key.kind.label(),
                "tags": key.tags.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
                "points": points,
            })
        })
    });
    metrics.collect()
}

/// The rows in which something was counted since the page learned of them. All curves end in the same second.
fn rows(state: &LiveState, known: &mut Known, is_new: bool) -> Value {
    let latest = state.rows.latest().unwrap_or(0);
    let passed = latest.saturating_sub(known.second) + LATE;
    let mut changed = Vec::new();
    for (at, own) in state.rows.all().iter().enumerate() {
        let counted = (own.count, own.errors);
        let is_first = known.rows.len() <= at;
        if is_first {
            known.rows.push(counted);
        } else if std::mem::replace(&mut known.rows[at], counted) == counted {
            continue;
        }
        let tail = if is_first || is_new { own.curve.len() } else { passed as usize };
        changed.push(row(at, own, is_first, tail));
    }
    json!({"latest": latest, "changed": changed, "left_out": state.rows.left_out()})
}

fn row(at: usize, own: &RowState, is_first: bool, tail: usize) -> Value {
    let from = own.curve.len().saturating_sub(tail);
    let second =
        |own: &RowSecond| json!([own.count, own.errors, own.p95_us, own.p50_us, own.p99_us]);
    let tail: Vec<Value> = own.curve.iter().skip(from).map(second).collect();
    let mut row = json!({
        "at": at, "count": own.count, "errors": own.errors, "latency_us": own.latency_us, "tail": tail,
    });
    if is_first {
        row["label"] = json!(own.label);
        row["scenario"] = json!(own.scenario);
        row["kind"] = json!(own.kind.label());
    }
    row
}

#[cfg(test)]
mod tests;
