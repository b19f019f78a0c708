//! What was tested, with what, and what happened meanwhile, as `run.json` has it.

use std::collections::BTreeMap;

use squall_analysis::{Shape, Warmup};
use squall_base::units;

use crate::fleet::{Machine, each};
use crate::schema::document;

document! {
    /// What is known about a run before it starts.
    Meta {
        /// Version of squall.
        squall: String,
        /// Name of the plan.
        plan: String,
        /// Its file, as it was asked for; null: the command line was the plan.
        file: Option<String>,
        /// Where requests with a relative URL go, as it was in this run; null: the plan has no target.
        target: Option<String>,
        /// The command line, with secrets masked.
        command: Vec<String>,
        /// Start, in seconds since 1970 (UTC).
        started_unix: f64,
        /// The machines that generated the load: one, or the nodes of a fleet.
        nodes: Vec<Machine>,
        /// Seed of everything random.
        seed: u64,
        /// The scenarios with their loads.
        scenarios: Vec<ScenarioMeta>,
        /// SHA-256 of the plan as it was run, and of its data files by name.
        digests: BTreeMap<String, String>,
        /// What the tester says of it, by name; `commit` is the commit of what is tested, where it is known.
        labels: BTreeMap<String, String>,
        /// Thresholds by which the run passes or fails.
        thresholds: Vec<String>,
        /// Whether numbers that are invalid fail the run.
        strict: bool,
        /// How the beginning is cut off: `auto`, `none`, or a number of seconds.
        warmup: String,
        /// From and to which second the plan's load is constant; null: never.
        constant_s: Option<(f64, Option<f64>)>,
    }

    /// What became of the points that a feed sent while the run went on.
    FeedReport {
        /// Where to: kind and target, secrets masked.
        name: String,
        /// Points that arrived, as far as the receiver says.
        points_sent: u64,
        /// Points that did not.
        points_lost: u64,
        /// The first thing that went wrong, be it that it was repeated with success; null: nothing.
        error: Option<String>,
    }

    /// What the plan asks for of a scenario over time. Scenarios that share a load have parts by weight.
    PlannedLoad {
        /// `users`, or `arrivals` (a second); empty: unknown.
        unit: String,
        /// Seconds from the start of the load, ascending, and how many: straight from point to point, two at the
        /// same time are a jump, and after the last one the number stays.
        points: Vec<(f64, f64)>,
        /// The scenarios that have to end before it begins: its points count from then, which is seen by its first user.
        /// None: it begins with the load.
        after: Vec<String>,
        /// Whether it ends when its iterations are done, which is seen by its last user.
        until_done: bool,
    }

    /// A moment of the load that explains what is seen after it.
    Mark {
        /// Seconds after the start of the load.
        at_s: f64,
        /// `stage` (one begins, or the last is over), `paused`, `resumed`, `scaled` (somebody changed a load),
        /// `stopped`, `aborted` (both by somebody), or `threshold` (which ended the load).
        kind: String,
        /// The scenario; empty: all of them.
        scenario: String,
        /// In words.
        text: String,
    }

    /// A scenario.
    ScenarioMeta {
        /// Its name.
        name: String,
        /// Its load in words.
        load: String,
        /// The same as a curve.
        planned: PlannedLoad,
    }
}

impl FeedReport {
    /// What is lost, in a sentence; `None`: nothing.
    pub fn loss(&self) -> Option<String> {
        let FeedReport { name, points_sent, points_lost, error } = self;
        let all = units::count(points_sent.saturating_add(*points_lost));
        let why = error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        let lost = units::count(*points_lost);
        (*points_lost > 0).then(|| format!("{name}: {lost} of {all} points were lost{why}"))
    }
}

impl Meta {
    /// Worker threads of all machines.
    pub fn workers(&self) -> u64 {
        self.nodes.iter().map(|own| own.workers).sum()
    }

    /// CPUs of all machines that squall may use.
    pub fn cpus(&self) -> u64 {
        self.nodes.iter().map(|own| own.cpus).sum()
    }

    /// What its machines are, in a line: each value once, in order.
    pub(crate) fn machines(&self, of: impl Fn(&Machine) -> String) -> String {
        each(&self.nodes, of)
    }

    /// After how many seconds the last load ends by the plan; `None`: nobody knows before it has.
    pub fn load_ends_s(&self) -> Option<f64> {
        let ends = self.scenarios.iter().map(|scenario| {
            let PlannedLoad { points, after, until_done, .. } = &scenario.planned;
            // A load that has no end stays as it is after the last point.
            let (at, left) = points.last().filter(|_| after.is_empty() && !until_done)?;
            (*left == 0.0).then_some(*at)
        });
        ends.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// What the plan says about the load over time.
    pub fn shape(&self) -> Shape {
        let warmup = match self.warmup.as_str() {
            "none" => Warmup::None,
            text => text.parse().map_or(Warmup::Auto, Warmup::Fixed),
        };
        Shape {
            warmup,
            constant_from_s: self.constant_s.map(|(from, _)| from),
            constant_to_s: self.constant_s.and_then(|(_, to)| to),
        }
    }
}
