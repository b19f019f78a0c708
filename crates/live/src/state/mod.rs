//! What is known of a run while it goes on: fed by seconds and events, asked by the view. No clock, no I/O.

mod answers;
mod course;
mod health;
mod history;
mod loads;
mod metrics;
pub(crate) mod nodes;
mod problems;
mod rows;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod tests;
mod thresholds;

use std::collections::VecDeque;
use std::sync::Arc;

use squall_analysis::{
    Facts, MovingWindow, Reason, Recent, Series, SeriesRow, Threshold, ThresholdResult, Totals,
};
use squall_base::escape_control;
use squall_metrics::{
    CheckCounts, Counters, HostMetrics, HostSample, Quantities, RequestStats, ScenarioLoad,
};
use squall_plan::model::Plan;
use squall_report::{Meta, Run};
use squall_runner::{Event, EventKind, LatestLoad, Phase, Second, Start};

pub use course::Span;
pub use health::{Conclusion, HealthAnswer, Mood};
pub use history::{History, Point};
pub use loads::LoadState;
pub use metrics::{MetricPoint, MetricState, MetricStates};
pub use nodes::{NodeState, NodeStates};
pub use problems::{Problem, Problems};
pub use rows::{RowSecond, RowState, Rows};
pub use target::{TargetMetric, TargetState};
pub use thresholds::Standing;

/// Seconds between evaluations of thresholds and validity, which look at everything recorded.
const EVALUATE_EVERY: u32 = 5;
/// Most lines of the log that are kept.
const MAX_LOG: usize = 500;

/// What somebody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// The end in order.
    InOrder,
    /// The end at once.
    AtOnce,
}

/// A line of the log.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// When, in s after the run began.
    pub at_s: f64,
    /// What, without control characters.
    pub text: String,
    /// Whether it is a warning or an error.
    pub is_warning: bool,
}

/// A run while it goes on.
#[derive(Debug)]
pub struct LiveState {
    pub plan: String,
    pub target: String,
    pub phase: Phase,
    /// Since the run began, in s.
    pub now_s: f64,
    /// The end that was asked for.
    pub stopping: Option<Stopping>,
    pub loads: Vec<LoadState>,
    pub history: History,
    /// Its requests by name.
    pub rows: Rows,
    /// Its metrics over time.
    pub metrics: MetricStates,
    /// The nodes of its fleet.
    pub nodes: NodeStates,
    /// Its errors by name and kind.
    pub problems: Problems,
    /// What checks came to, by scenario and name.
    pub checks: Vec<(String, String, CheckCounts)>,
    /// Its thresholds as they stand.
    pub thresholds: Vec<ThresholdResult>,
    /// What they come to in the last second alone; empty: none of them fails.
    pub last_second: Vec<ThresholdResult>,
    /// What its numbers may suffer from so far, the most severe first.
    pub reasons: Vec<Reason>,
    /// Requests, resources and programs that have ended.
    pub requests: u64,
    /// All requests together, at the last evaluation.
    pub all: RequestStats,
    /// Warnings, what the plan logs, and what happened.
    pub log: VecDeque<LogLine>,
    /// What was counted so far.
    pub counters: Counters,
    /// The last sample of the host.
    pub host: HostSample,
    /// CPU time of all workers in the last second, in s.
    pub cpu_s: f64,
    /// What a person should know at first.
    pub greeting: Option<String>,
    /// The result, once the load is evaluated.
    pub result: Option<Arc<Run>>,
    /// Seconds and events that came.
    pub changes: u64,
    latest: LatestLoad,
    limits: Vec<Threshold>,
    /// Those of them that have a moving window, with what was recorded.
    windows: Vec<MovingWindow>,
    length_s: Option<f64>,
    began_s: Option<f64>,
    ended_s: Option<f64>,
    paused_s: Option<f64>,
    stood_still_s: f64,
    /// The second of the load in which a person changed it last, or a load began that had come after others.
    changed_in: Option<f64>,
    totals: Totals,
    recent: Recent,
    host_metrics: HostMetrics,
}

impl LiveState {
    /// Of a run that is about to begin.
    pub fn new(start: &Start) -> LiveState {
        LiveState::of(&start.meta, &start.plan, start.program.length_s())
    }

    /// Of a run of this plan, which lasts so many seconds.
    pub fn of(meta: &Meta, plan: &Plan, length_s: Option<f64>) -> LiveState {
        let limits = meta.thresholds.iter().filter_map(|text| Threshold::parse(text).ok());
        let limits: Vec<Threshold> = limits.collect();
        LiveState {
            plan: escape_control(&meta.plan).into_owned(),
            target: escape_control(meta.target.as_deref().unwrap_or_default()).into_owned(),
            phase: Phase::Preparation,
            now_s: 0.0,
            stopping: None,
            loads: LoadState::of(plan),
            history: History::default(),
            rows: Rows::default(),
            metrics: MetricStates::default(),
            nodes: NodeStates::default(),
            problems: Problems::default(),
            checks: Vec::new(),
            thresholds: Vec::new(),
            last_second: Vec::new(),
            reasons: Vec::new(),
            requests: 0,
            all: RequestStats::default(),
            log: VecDeque::new(),
            counters: Counters::default(),
            host: HostSample::default(),
            cpu_s: 0.0,
            greeting: None,
            result: None,
            changes: 0,
            latest: LatestLoad::default(),
            windows: limits.iter().filter_map(|limit| MovingWindow::new(limit, 0)).collect(),
            limits,
            length_s,
            began_s: None,
            ended_s: None,
            paused_s: None,
            stood_still_s: 0.0,
            changed_in: None,
            totals: Totals::new(),
            recent: Recent::default(),
            host_metrics: HostMetrics::default(),
        }
    }

    /// A second of the load is over.
    pub fn second(&mut self, second: &Second) {
        self.changes += 1;
        for slice in &second.slices {
            if self.totals.add(slice) {
                self.recent.add(slice);
            }
        }
        for (at_s, sample) in &second.host {
            self.host_metrics.add(*at_s, *sample);
            self.host = *sample;
        }
        self.cpu_s = second.self_metrics.cpu_ns as f64 / 1e9;
        self.counters = self.totals.counters();
        let requests = second.rows.iter().filter(|row| row.key.place.kind.is_request());
        self.requests += requests.map(|row| row.stats.count).sum::<u64>();
        self.rows.add(second, &self.totals);
        self.metrics.add(second.second, &second.metrics);
        self.nodes.add(second.second, &second.metrics);
        self.problems.add(second);
        self.latest.note(second);
        let at_s = f64::from(second.second) - self.stood_still_s;
        for load in &mut self.loads {
            load.done_lately = load.ended_in(second);
            load.done += load.done_lately;
            let is_awaited = load.from_s().is_none();
            load.note(self.latest.load().of(&load.members), at_s);
            if is_awaited && load.from_s().is_some() {
                self.changed_in = Some(f64::from(second.second));
            }
        }
        self.remember(second);
        for window in &mut self.windows {
            window.add(second.second, &second.slices, &self.totals);
        }
        if second.second.is_multiple_of(EVALUATE_EVERY) {
            self.evaluate(f64::from(second.second + 1));
        }
        let fails = self.thresholds.iter().any(|own| self.standing(own) == Standing::Fails);
        self.last_second = match fails {
            false => Vec::new(),
            true => {
                let totals = thresholds::of_second(second);
                self.limits.iter().map(|limit| limit.evaluate(&totals, 1.0)).collect()
            }
        };
    }

    /// How one of its thresholds stands. When the load is over, one that has not passed has failed.
    pub fn standing(&self, own: &ThresholdResult) -> Standing {
        match own.passed {
            true => Standing::Passes,
            false if self.ended_s.is_some() || own.fails_so_far() => Standing::Fails,
            false => Standing::NotYet,
        }
    }

    /// The thresholds that fail so far, a line each, with what the last second alone came to.
    pub fn failing_thresholds(&self) -> Vec<String> {
        let lately = self.last_second.iter().map(Some).chain(std::iter::repeat(None));
        let all = self.thresholds.iter().zip(lately);
        let all = all.filter(|(own, _)| self.standing(own) == Standing::Fails);
        all.map(|(own, lately)| thresholds::failing(own, lately)).collect()
    }

    /// Where requests go, if the name of the plan does not say so: a single URL is both.
    pub fn target_beside_plan(&self) -> Option<&str> {
        let is_said = self.target.is_empty() || self.plan.contains(self.target.as_str());
        (!is_said).then_some(self.target.as_str())
    }

    /// Notes a second for the charts.
    fn remember(&mut self, second: &Second) {
        let number = second.second;
        let Some(row) = self.recent.rows().find(|row| row.second == number) else { return };
        let at_s = f64::from(number) - self.stood_still_s;
        let planned = |is_users: bool| -> f64 {
            let meant = self.loads.iter().filter(|load| load.is_users() == is_users);
            if self.is_paused() { 0.0 } else { meant.map(|load| load.planned(at_s)).sum() }
        };
        let point = Point {
            arrivals: self.of_loads(second, false).iterations_started,
            closed_users: self.of_loads(second, true).users,
            second: number,
            seconds: row.seconds,
            quantities: Quantities {
                planned_arrivals: planned(false),
                planned_users: planned(true),
                ..row.quantities
            },
            longest_stall_us: row.longest_stall_us,
        };
        self.history.add(point);
    }

    /// The loads of users, or of arrivals, of which nobody knows when they begin; the names of their scenarios. As long as there are any,
    /// what is planned ends with the others.
    pub fn awaited(&self, is_users: bool) -> Vec<&str> {
        let meant = self.loads.iter().filter(|load| load.is_users() == is_users);
        meant.filter(|load| load.from_s().is_none()).map(LoadState::label).collect()
    }

    /// What was there in a second of all closed workloads together, or of all open ones.
    fn of_loads(&self, second: &Second, is_users: bool) -> ScenarioLoad {
        let mut sum = ScenarioLoad::default();
        let meant = self.loads.iter().filter(|load| load.is_users() == is_users);
        meant.for_each(|load| sum.add_worker(&second.load.of(&load.members)));
        sum
    }

    /// Looks at everything recorded: the validity of the numbers, thresholds, checks.
    fn evaluate(&mut self, elapsed_s: f64) {
        self.all = self.totals.all();
        let rows: Vec<SeriesRow> = self.history.points().iter().map(Point::row).collect();
        let fleet = self.nodes.facts();
        self.reasons = squall_analysis::assess(&Facts {
            totals: &self.totals,
            series: &Series::of_rows(rows),
            all: &self.all,
            elapsed_s,
            host: &self.host_metrics,
            fleet: fleet.as_ref(),
            // What is steady is known at the end, and so is whether there are enough values.
            steady: None,
            thresholds: &[],
            results: &[],
            shows_corrected: true,
        });
        let results = self.limits.iter().map(|limit| {
            let window = self.windows.iter().find(|window| window.is_of(limit));
            window.map_or_else(|| limit.evaluate(&self.totals, elapsed_s), MovingWindow::result)
        });
        self.thresholds = results.collect();
        let checks = self.totals.checks().map(|(key, counts)| {
            (escape_control(&key.place.scenario).into_owned(), rows::label_of_check(key), counts)
        });
        self.checks = checks.collect();
    }

    pub fn event(&mut self, event: &Event) {
        self.changes += 1;
        let at_s = event.at_s;
        match &event.kind {
            EventKind::Warning(text) => text.lines().for_each(|line| self.note(at_s, line, true)),
            EventKind::PhaseBegan(phase) => {
                self.phase = *phase;
                if *phase == Phase::Load {
                    self.began_s = Some(at_s);
                }
                self.note(at_s, &format!("{} begins", phase.label()), false);
            }
            EventKind::PhaseEnded { phase, failed } => self.ended(at_s, *phase, failed.as_deref()),
            EventKind::NotRun(phase) => {
                self.note(at_s, &format!("the {} is not run", phase.label()), true);
            }
            EventKind::Stage { scenario, stage, stages, .. } => {
                let of = if scenario.is_empty() { "all scenarios" } else { scenario };
                let what = match stage > stages {
                    true => "the stages are over".to_owned(),
                    false => format!("stage {stage} begins"),
                };
                self.note(at_s, &format!("{of}: {what}"), false);
            }
            EventKind::StopAsked(_) => {
                self.stopping.get_or_insert(Stopping::InOrder);
                self.note(at_s, "stop requested: requests in flight may finish", false);
            }
            EventKind::Aborted(abort) => {
                self.stopping.get_or_insert(Stopping::InOrder);
                self.note(at_s, &abort.text(), true);
            }
            EventKind::AbortAsked(_) => {
                self.stopping = Some(Stopping::AtOnce);
                self.note(at_s, "immediate stop requested", false);
            }
            EventKind::Paused => {
                self.paused_s.get_or_insert(at_s);
                self.note(at_s, "the load is paused", false);
            }
            EventKind::Resumed => {
                let since = self.paused_s.take();
                self.stood_still_s += since.map_or(0.0, |since| at_s - since);
                self.changed_in = self.began_s.map(|began| at_s - began);
                self.note(at_s, "the load goes on", false);
            }
            EventKind::Scaled { scenario, to, level } => {
                self.now_s = self.now_s.max(at_s);
                self.scaled(scenario, *level);
                let of = if scenario.is_empty() { "all scenarios" } else { scenario };
                self.note(at_s, &format!("{of}: {to} from now on"), false);
            }
            EventKind::FirstError { key, kind } => self.problems.meet(key, kind),
            EventKind::Log { text, example, .. } => match example {
                Some(example) => {
                    self.problems.example(&example.scenario, &example.name, example.kind, text);
                }
                None => self.note(at_s, text, false),
            },
            EventKind::Notice { text, .. } => self.note(at_s, text, false),
            EventKind::Error(text) => self.note(at_s, text, true),
            EventKind::Evaluated(run) => self.result = Some(run.clone()),
            EventKind::Exchange(_) | EventKind::Group { .. } | EventKind::Measured { .. } => {}
        }
    }

    fn ended(&mut self, at_s: f64, phase: Phase, failed: Option<&str>) {
        if phase == Phase::Load {
            self.ended_s = Some(at_s);
            self.paused_s = None;
            if let Some(last) = self.history.last() {
                self.evaluate(f64::from(last.second + 1));
            }
        }
        match failed {
            Some(why) => self.note(at_s, &format!("{} failed: {why}", phase.label()), true),
            None => self.note(at_s, &format!("{} is over", phase.label()), false),
        }
    }

    /// Says something at first, and in the log.
    pub(crate) fn greet(&mut self, text: String) {
        self.note(0.0, &text, false);
        self.greeting = Some(text);
    }

    fn note(&mut self, at_s: f64, text: &str, is_warning: bool) {
        if self.log.len() >= MAX_LOG {
            self.log.pop_front();
        }
        let text = escape_control(text).replace('\t', "    ");
        self.log.push_back(LogLine { at_s, text, is_warning });
    }

    /// A person wants another level of a load from now on.
    pub(crate) fn scaled(&mut self, scenario: &str, level: f64) {
        let at_s = self.load_s();
        let own = self.loads.iter_mut().find(|load| load.scenario == scenario);
        own.into_iter().for_each(|load| load.scale(at_s, level));
        self.changed_in = self.began_s.map(|began| self.now_s - began);
    }

    /// How long the load has gone on, in s, pauses left out.
    pub fn load_s(&self) -> f64 {
        let Some(began) = self.began_s else { return 0.0 };
        let until = self.paused_s.or(self.ended_s).unwrap_or(self.now_s);
        (until - began - self.stood_still_s).max(0.0)
    }

    /// How long the load lasts by the plan, in s.
    pub fn length_s(&self) -> Option<f64> {
        self.length_s
    }

    /// Seconds for which the load has stood still before now, in s: charts, which show the clock, have it.
    pub fn stood_still_s(&self) -> f64 {
        self.stood_still_s + self.paused_s.map_or(0.0, |since| self.now_s - since)
    }

    /// Whether the load is paused.
    pub fn is_paused(&self) -> bool {
        self.paused_s.is_some()
    }
}
