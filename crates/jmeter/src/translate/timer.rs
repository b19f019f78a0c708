//! Timers as waits. All timers in the scope of a sampler are waited for in one wait, before each sampler of the scope.

use std::time::Duration;

use squall_plan::expr::Expr;
use squall_plan::model::{If, Pace, PacedBy, Rendezvous, StepKind, Think, Thinking};
use squall_plan::span::Span;

use super::Translator;
use super::reader::Reader;
use super::texts::{TextPiece, literal};
use crate::elements::Role;
use crate::tree::ElementId;

/// A delay in milliseconds.
#[derive(Debug, Clone, PartialEq)]
enum Delay {
    Fixed(f64),
    /// Evenly between two numbers.
    Uniform(f64, f64),
    /// What an expression gives each time.
    Each(String),
}

/// A year, in milliseconds: the longest wait.
const YEAR: f64 = 365.0 * 86_400.0 * 1e3;

/// The names of the modes of a Constant Throughput Timer, as old plans have them.
const MODES: [&str; 5] = [
    "this thread only",
    "all active threads",
    "all active threads in current thread group",
    "all active threads (shared)",
    "all active threads in current thread group (shared)",
];

impl Translator<'_> {
    /// The waits before a sampler: for other threads first, then rates, which count from the moment at which it is reached,
    /// then the rest.
    pub(super) fn waits_before(&self, timers: &[ElementId]) -> Vec<StepKind> {
        let synchronizing = timers.iter().filter(|timer| self.class(**timer) == "SyncTimer");
        let mut steps: Vec<StepKind> =
            synchronizing.filter_map(|timer| self.rendezvous(*timer)).collect();
        let mut delays = Vec::new();
        for timer in timers {
            match self.class(*timer) {
                "SyncTimer" => {}
                "ConstantThroughputTimer" => steps.extend(self.pace(*timer)),
                "PreciseThroughputTimer" => steps.extend(self.precise(*timer)),
                "kg.apc.jmeter.timers.VariableThroughputTimer" => {
                    steps.extend(self.shaped(*timer));
                }
                _ => delays.extend(self.delay(*timer)),
            }
        }
        steps.extend(self.think(timers.first().copied(), &delays));
        steps
    }

    /// A Synchronizing Timer: threads wait until so many of them are there.
    fn rendezvous(&self, id: ElementId) -> Option<StepKind> {
        let reader = self.read(id);
        let (size, timeout) =
            (reader.number_or_0("groupSize", 0)?, reader.number_or_0("timeoutInMs", 0)?);
        reader.finish();
        let users = match u32::try_from(size) {
            // All threads of the group.
            Ok(0) => match self.threads_of(id).map(u32::try_from) {
                Some(Ok(threads)) => threads.max(1),
                _ => {
                    self.obstacle(
                        id,
                        "waiting for all threads of a group whose number is not known",
                    );
                    return None;
                }
            },
            Ok(size) => size,
            Err(_) => {
                self.obstacle(id, format!("{size} as groupSize"));
                return None;
            }
        };
        let timeout = match u64::try_from(timeout) {
            Ok(0) => None,
            Ok(timeout) => Some(super::milliseconds(timeout)),
            Err(_) => {
                self.obstacle(id, format!("{timeout} as timeoutInMs"));
                return None;
            }
        };
        // It is one place, before whichever samplers it stands.
        let name = Some(format!("timer_{}", id.number()));
        Some(StepKind::Rendezvous(Box::new(Rendezvous { users, timeout, name })))
    }

    /// What a timer adds to the wait; nothing if it is not supported, which the inventory says.
    fn delay(&self, id: ElementId) -> Option<Delay> {
        let class = self.class(id);
        if !matches!(
            class,
            "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" | "PoissonRandomTimer"
        ) {
            return None;
        }
        let reader = self.read(id);
        let delay = self.milliseconds(id, reader.source("ConstantTimer.delay"));
        let range = match class {
            "ConstantTimer" => Some(Delay::Fixed(0.0)),
            _ => self.milliseconds(id, reader.source("RandomTimer.range")),
        };
        reader.finish();
        let (delay, range) = (delay?, range?);
        Some(match (class, delay, range) {
            (_, delay, Delay::Fixed(0.0)) => delay,
            ("UniformRandomTimer", Delay::Fixed(from), Delay::Fixed(range)) => {
                Delay::Uniform(from, from + range)
            }
            ("UniformRandomTimer", delay, range) => {
                Delay::Each(format!("random_float() * {} + {}", source(&range), source(&delay)))
            }
            ("GaussianRandomTimer", delay, range) => {
                Delay::Each(format!("abs(random_normal({}, {}))", source(&delay), source(&range)))
            }
            (_, delay, range) => {
                let mean = format!("round({})", source(&range));
                Delay::Each(format!("random_poisson({mean}) + {}", source(&delay)))
            }
        })
    }

    /// Delays as one wait.
    fn think(&self, timer: Option<ElementId>, delays: &[Delay]) -> Option<StepKind> {
        let (mut from, mut to, mut each) = (0.0, 0.0, Vec::new());
        for delay in delays {
            match delay {
                Delay::Fixed(fixed) => (from, to) = (from + fixed, to + fixed),
                // Two of them together are not even.
                Delay::Uniform(low, high) if from == to && each.is_empty() => {
                    (from, to) = (from + low, to + high);
                }
                Delay::Uniform(low, high) => {
                    each.push(format!("random_float() * {} + {low}", high - low));
                }
                Delay::Each(source) => each.push(source.clone()),
            }
        }
        let time = |milliseconds: f64| Duration::from_secs_f64(milliseconds / 1e3);
        let think = match (from, to) {
            _ if !each.is_empty() => {
                match (from, to) {
                    (0.0, 0.0) => {}
                    (from, to) if from == to => each.push(from.to_string()),
                    (from, to) => each.push(format!("random_float() * {} + {from}", to - from)),
                }
                let sum = format!("int({})", each.join(" + "));
                let pieces = [TextPiece::Expr(sum), TextPiece::Text("ms".to_owned())];
                let template = self.template_of(timer?, &pieces);
                return Some(StepKind::Think(Thinking::OfUser(template)));
            }
            (0.0, 0.0) => return None,
            (from, to) if from == to => Think::Fixed(time(from)),
            (from, to) => Think::Uniform(time(from), time(to)),
        };
        Some(StepKind::Think(Thinking::Known(think)))
    }

    /// A time in milliseconds, from 0 to a year where it is known before the run.
    fn milliseconds(&self, id: ElementId, text: &str) -> Option<Delay> {
        let pieces = self.pieces(id, text);
        let Some(text) = literal(&pieces) else {
            return Some(Delay::Each(format!("double({})", super::texts::expression(&pieces))));
        };
        // JMeter takes 0 for what is no number: a variable that nobody sets, a sum that nobody adds up.
        let number = text.trim().parse().unwrap_or(0.0);
        let number = Some(number).filter(|number| (0.0..=YEAR).contains(number));
        if number.is_none() {
            self.obstacle(id, format!("`{text}` as a time"));
        }
        number.map(Delay::Fixed)
    }

    /// A Constant Throughput Timer: so many samples a minute, and who keeps that.
    fn pace(&self, id: ElementId) -> Option<StepKind> {
        let reader = self.read(id);
        let rate = self.per_minute(id, &reader)?;
        let mode = reader.constant("calcMode")?;
        reader.finish();
        // What is neither a number nor a name of this language is none to JMeter either, and the first holds.
        let known = MODES.iter().position(|name| *name == mode);
        let clock = format!("timer_{}", id.number());
        let (by, clock) = match mode.trim().parse().ok().or(known).unwrap_or(0) {
            0 => (PacedBy::User, clock),
            1 => (PacedBy::Run, clock),
            2 => (PacedBy::Scenario, clock),
            3 => (PacedBy::RunInLine, "all_timers".to_owned()),
            4 => (PacedBy::ScenarioInLine, "all_timers".to_owned()),
            other => {
                self.obstacle(id, format!("{other} as what its throughput is based on"));
                return None;
            }
        };
        let clock = Some(clock);
        Some(StepKind::Pace(Box::new(Pace { rate, by, clock, batch: 1, ..Pace::default() })))
    }

    /// A Precise Throughput Timer: an exact number of samples in a time, at random moments. All of a thread group have one
    /// line, which the first of them decides.
    fn precise(&self, id: ElementId) -> Option<StepKind> {
        let reader = self.read(id);
        let positive = |name: &str, without: f64| {
            let text = reader.constant(name)?;
            let number =
                if text.trim().is_empty() { Some(without) } else { text.trim().parse().ok() };
            let number = number.filter(|number: &f64| (f64::MIN_POSITIVE..=1e9).contains(number));
            if number.is_none() {
                self.obstacle(id, format!("`{text}` as {name}"));
            }
            number
        };
        let (samples, period) =
            (positive("throughput", 100.0)?, positive("throughputPeriod", 3_600.0)?);
        let duration = positive("duration", 3_600.0)?;
        let batch = reader.number("batchSize", 1)?.clamp(1, i64::from(u32::MAX)) as u32;
        // JMeter itself looks at none of these any more; what is drawn follows from the run's seed.
        reader.pass(&["batchThreadDelay", "exactLimit", "allowedThroughputSurplus", "randomSeed"]);
        reader.finish();
        if self.differs_from_another(id) {
            self.obstacle(id, "another of its kind in the group, which differs");
        }
        let rate = self.expression(id, &(samples / period).to_string())?;
        Some(StepKind::Pace(Box::new(Pace {
            rate,
            by: PacedBy::ScenarioInLine,
            clock: Some("precise_timers".to_owned()),
            exact_over: Some(Duration::from_secs_f64(duration)),
            batch,
        })))
    }

    /// Whether there is another Precise Throughput Timer in its group that says something else.
    fn differs_from_another(&self, id: ElementId) -> bool {
        let group_of =
            |id| self.tree.around(id).find(|id| self.role(*id) == Some(Role::ThreadGroup));
        let own = group_of(id);
        let says = |id: ElementId| {
            let properties = &self.tree.element(id).properties;
            ["throughput", "throughputPeriod", "duration", "batchSize"]
                .map(|name| properties.text(name).map(str::trim))
        };
        self.scopes.of_class("PreciseThroughputTimer").iter().any(|other| {
            group_of(*other).is_none_or(|group| own.is_none_or(|own| own == group))
                && says(*other) != says(id)
        })
    }

    fn per_minute(&self, id: ElementId, reader: &Reader<'_>) -> Option<Expr> {
        let pieces = self.pieces(id, reader.source("throughput"));
        let source = match literal(&pieces) {
            None => format!("double({}) / 60", super::texts::expression(&pieces)),
            Some(text) => match text.trim().parse::<f64>() {
                Ok(rate) if rate.is_finite() && rate > 0.0 => (rate / 60.0).to_string(),
                _ => {
                    self.obstacle(id, format!("`{text}` as a throughput"));
                    return None;
                }
            },
        };
        self.expression(id, &source)
    }

    /// A Throughput Shaping Timer: a rate over time, kept by all threads in one line; then the run ends.
    fn shaped(&self, id: ElementId) -> Vec<StepKind> {
        let reader = self.read(id);
        let rows = reader.list("load_profile");
        reader.finish();
        // It begins with the first sample of all.
        let began = self.began(id);
        let elapsed = format!("(elapsed - {began})");
        let (mut source, mut begins) = (String::new(), 0.0);
        for row in rows {
            let Some([from, to, over]) = self.rates_of_row(id, &row.value) else {
                return Vec::new();
            };
            let ends = begins + over;
            let rise = (to - from) / over.max(f64::MIN_POSITIVE);
            let rate = match rise {
                0.0 => from.to_string(),
                rise => format!("{from} + {rise} * ({elapsed} - {begins})"),
            };
            source.push_str(&format!("{elapsed} < {ends} ? {rate} : "));
            begins = ends;
        }
        let over = self.expression(id, &format!("{elapsed} >= {begins}"));
        // Whoever waits when the schedule ends goes on, and ends the run.
        let rate = self.expression(id, &format!("{source}1000000000"));
        let (Some(over), Some(rate)) = (over, rate) else { return Vec::new() };
        let stop = super::step(StepKind::Stop(squall_plan::model::StopScope::Run));
        let ended =
            StepKind::If(Box::new(If { condition: over, then: vec![stop], otherwise: Vec::new() }));
        let clock = Some(format!("timer_{}", id.number()));
        let first = self.only_if(
            id,
            &format!("{began} == null"),
            vec![super::step(self.set(id, &began, "elapsed"))],
        );
        let pace = StepKind::Pace(Box::new(Pace {
            rate,
            by: PacedBy::RunInLine,
            clock,
            batch: 1,
            ..Pace::default()
        }));
        first.into_iter().chain([pace, ended]).collect()
    }

    /// The variable that all users have for when the first of them came to an element, in seconds of the run.
    fn began(&self, id: ElementId) -> String {
        let name = self.names.hidden_of("began", id, 0);
        self.shared.borrow_mut().insert(name.clone());
        name
    }

    /// An expression that was made here; an obstacle if it is none, such as one that is too long.
    pub(super) fn expression(&self, id: ElementId, source: &str) -> Option<Expr> {
        let expression = Expr::parse(source, Span::default());
        expression.map_err(|error| self.obstacle(id, error.message)).ok()
    }
}

/// A delay as an expression.
fn source(delay: &Delay) -> String {
    match delay {
        Delay::Fixed(number) => number.to_string(),
        Delay::Uniform(low, high) => format!("(random_float() * {} + {low})", high - low),
        Delay::Each(source) => format!("({source})"),
    }
}
