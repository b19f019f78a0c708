//! The six executors of scenarios. Pure.

use std::time::Duration;

use super::layers::Layers;
use super::value::{At, OptionError};

/// How long iterations may take altogether where a scenario has a number of them and does not say.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// How long users that a ramp takes away may go on with their iteration, unless a scenario says otherwise.
pub(super) const GRACEFUL_RAMP_DOWN: Duration = Duration::from_secs(30);

/// Keys of all scenarios.
pub(super) const OF_ALL: [&str; 6] =
    ["executor", "startTime", "gracefulStop", "exec", "env", "tags"];

/// How a scenario's iterations begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Executor {
    /// So many users for so long.
    ConstantVus { users: u64, duration: Duration },
    /// A number of users that changes.
    RampingVus { start: u64, stages: Vec<Stage>, graceful_ramp_down: Duration },
    /// Iterations of all users together, for so long at most.
    SharedIterations { users: u64, iterations: u64, max_duration: Duration },
    /// Iterations of each user, for so long at most.
    PerVuIterations { users: u64, iterations: u64, max_duration: Duration },
    /// Iterations that begin at a rate, whatever users do.
    ConstantArrivalRate { rate: Rate, duration: Duration, max_users: u64 },
    /// Iterations that begin at a rate that changes.
    RampingArrivalRate { start: Rate, stages: Vec<Stage>, max_users: u64 },
}

/// A straight line to a target. Without a length it is a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    pub duration: Duration,
    /// Users, or iterations in a unit of time, at its end.
    pub target: u64,
}

/// Iterations in a unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub iterations: u64,
    /// Above 0.
    pub unit: Duration,
}

impl Rate {
    /// Iterations per second.
    pub fn per_second(self) -> f64 {
        self.iterations as f64 / self.unit.as_secs_f64()
    }
}

/// The names of executors, and the keys of each.
pub(super) const EXECUTORS: [(&str, &[&str]); 6] = [
    ("constant-vus", &["vus", "duration"]),
    ("ramping-vus", &["startVUs", "stages", "gracefulRampDown"]),
    ("shared-iterations", &["vus", "iterations", "maxDuration"]),
    ("per-vu-iterations", &["vus", "iterations", "maxDuration"]),
    ("constant-arrival-rate", &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]),
    ("ramping-arrival-rate", &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"]),
];

/// The executor of a scenario.
pub(super) fn read(at: &At<'_>) -> Result<Executor, OptionError> {
    let kind = at
        .key("executor")
        .ok_or_else(|| at.refused("`executor` is missing: add one, such as \"constant-vus\""))?;
    if kind.value == "externally-controlled" {
        return Err(kind.refused(
            "k6 2 has no executor `externally-controlled` any more, and squall has none",
        ));
    }
    let words = EXECUTORS.map(|own| (own.0, own));
    let (name, own) = kind.word(&words)?;
    at.only(&[OF_ALL.as_slice(), own].concat())?;
    let scenario = Of(at);
    Ok(match name {
        "constant-vus" => Executor::ConstantVus {
            users: scenario.count_or("vus", 1, 1)?,
            duration: scenario.needed("duration")?.length()?,
        },
        "ramping-vus" => Executor::RampingVus {
            start: scenario.count_or("startVUs", 0, 1)?,
            stages: stages(&scenario.needed("stages")?)?,
            graceful_ramp_down: scenario.time_or("gracefulRampDown", GRACEFUL_RAMP_DOWN)?,
        },
        "shared-iterations" => {
            let users = scenario.count_or("vus", 1, 1)?;
            let iterations = scenario.count_or("iterations", 1, 1)?;
            if iterations < users {
                let text = format!(
                    "{iterations} iterations are not enough for {users} users: each makes at least one"
                );
                return Err(at.refused(text));
            }
            Executor::SharedIterations { users, iterations, max_duration: scenario.max_duration()? }
        }
        "per-vu-iterations" => Executor::PerVuIterations {
            users: scenario.count_or("vus", 1, 1)?,
            iterations: scenario.count_or("iterations", 1, 1)?,
            max_duration: scenario.max_duration()?,
        },
        "constant-arrival-rate" => Executor::ConstantArrivalRate {
            rate: Rate { iterations: scenario.needed("rate")?.count(1)?, unit: scenario.unit()? },
            duration: scenario.needed("duration")?.length()?,
            max_users: scenario.max_users()?,
        },
        _ => Executor::RampingArrivalRate {
            start: Rate {
                iterations: scenario.count_or("startRate", 0, 0)?,
                unit: scenario.unit()?,
            },
            stages: stages(&scenario.needed("stages")?)?,
            max_users: scenario.max_users()?,
        },
    })
}

/// A scenario that is read.
struct Of<'a, 'v>(&'a At<'v>);

impl<'v> Of<'_, 'v> {
    fn needed(&self, key: &str) -> Result<At<'v>, OptionError> {
        self.0
            .key(key)
            .ok_or_else(|| self.0.refused(format!("`{key}` is missing: this executor needs it")))
    }

    fn count_or(&self, key: &str, least: u64, default: u64) -> Result<u64, OptionError> {
        Ok(self.0.key(key).map(|own| own.count(least)).transpose()?.unwrap_or(default))
    }

    fn time_or(&self, key: &str, default: Duration) -> Result<Duration, OptionError> {
        Ok(self.0.key(key).map(|own| own.time()).transpose()?.unwrap_or(default))
    }

    fn max_duration(&self) -> Result<Duration, OptionError> {
        Ok(self.0.key("maxDuration").map(|own| own.length()).transpose()?.unwrap_or(MAX_DURATION))
    }

    fn unit(&self) -> Result<Duration, OptionError> {
        let Some(own) = self.0.key("timeUnit") else { return Ok(Duration::from_secs(1)) };
        let unit = own.time()?;
        if unit.is_zero() { Err(own.expected("a time above 0")) } else { Ok(unit) }
    }

    /// The most users of arrivals: all are there from the beginning, as they cost little until they are needed.
    fn max_users(&self) -> Result<u64, OptionError> {
        let least = self.needed("preAllocatedVUs")?.count(0)?;
        let Some(own) = self.0.key("maxVUs") else {
            return match least {
                0 => Err(self.0.refused("`preAllocatedVUs` is 0: add `maxVUs`, or raise it")),
                _ => Ok(least),
            };
        };
        let most = own.count(1)?;
        match most < least {
            true => Err(own.expected(&format!("at least `preAllocatedVUs`, which is {least}"))),
            false => Ok(most),
        }
    }
}

fn stages(list: &At<'_>) -> Result<Vec<Stage>, OptionError> {
    let one = |at: &At<'_>| {
        at.only(&["duration", "target"])?;
        let of = Of(at);
        let (duration, target) = (of.needed("duration")?.time()?, of.needed("target")?.count(0)?);
        Ok(Stage { duration, target })
    };
    let all: Vec<Stage> = list.list()?.iter().map(one).collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err(list.expected("at least one stage"));
    }
    match all.iter().all(|own| own.duration.is_zero()) {
        true => Err(list.refused("all stages have a length of 0: give at least one a `duration`")),
        false => Ok(all),
    }
}

/// What the short forms stand for.
pub(super) fn of_short_forms(layers: &Layers) -> Result<Executor, OptionError> {
    let given = layers.read("vus", |own| own.count(0))?;
    let users = given.unwrap_or(1);
    if let Some(stages) = layers.read("stages", stages)? {
        return Ok(Executor::RampingVus {
            start: users,
            stages,
            graceful_ramp_down: GRACEFUL_RAMP_DOWN,
        });
    }
    let users = match layers.get("vus") {
        Some(own) if users == 0 => return Err(own.expected("a whole number from 1 on")),
        _ => users,
    };
    let duration = layers.read("duration", At::length)?;
    let iterations = layers.get("iterations");
    match (iterations, duration) {
        (None, Some(duration)) => Ok(Executor::ConstantVus { users, duration }),
        (given, duration) => {
            let iterations = given.as_ref().map(|own| own.count(1)).transpose()?.unwrap_or(users);
            if let Some(own) = given.filter(|_| iterations < users) {
                let text =
                    format!("at least as many as there are users (`vus`), which are {users}");
                return Err(own.expected(&text));
            }
            let max_duration = duration.unwrap_or(MAX_DURATION);
            Ok(Executor::SharedIterations { users, iterations, max_duration })
        }
    }
}
