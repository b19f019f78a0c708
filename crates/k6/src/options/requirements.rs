//! What a test takes at most: time, and virtual users. Pure.

use std::time::Duration;

use super::executor::Executor;
use super::load::Scenario;

/// What a test takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// From its start until the last iteration has to be over.
    pub duration: Duration,
    /// Virtual users at a time: all that the scenarios have which go on at that time.
    pub max_users: u64,
}

/// What a test with these scenarios takes at most.
pub fn requirements(scenarios: &[Scenario]) -> Requirements {
    let end = |own: &Scenario| own.start_time + own.executor.length() + own.graceful_stop;
    let users_at = |at: Duration| -> u64 {
        let going = scenarios.iter().filter(|own| own.start_time <= at && at < end(own));
        going.fold(0, |sum, own| sum.saturating_add(own.executor.max_users()))
    };
    // There are most when one of them has begun.
    let starts = scenarios.iter().map(|own| users_at(own.start_time));
    Requirements {
        duration: scenarios.iter().map(end).max().unwrap_or_default(),
        max_users: starts.max().unwrap_or(0),
    }
}

/// A time as k6 prints it, such as 1m30.5s.
pub fn print_time(time: Duration) -> String {
    let whole = time.as_secs();
    let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
    let seconds = match time.subsec_nanos() {
        0 => seconds.to_string(),
        nanos => {
            let fraction = format!("{nanos:09}");
            format!("{seconds}.{}", fraction.trim_end_matches('0'))
        }
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

impl Executor {
    /// How long its iterations begin at most.
    fn length(&self) -> Duration {
        match self {
            Executor::ConstantVus { duration, .. }
            | Executor::ConstantArrivalRate { duration, .. } => *duration,
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerVuIterations { max_duration, .. } => *max_duration,
            Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                stages.iter().map(|own| own.duration).sum()
            }
        }
    }

    /// Most users that it has at a time.
    fn max_users(&self) -> u64 {
        match self {
            Executor::ConstantVus { users, .. }
            | Executor::SharedIterations { users, .. }
            | Executor::PerVuIterations { users, .. } => *users,
            Executor::ConstantArrivalRate { max_users, .. }
            | Executor::RampingArrivalRate { max_users, .. } => *max_users,
            Executor::RampingVus { start, stages, .. } => {
                stages.iter().map(|own| own.target).fold(*start, u64::max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::layers::Layers;
    use crate::options::load;
    use crate::options::value::Source;

    fn of(options: &serde_json::Value) -> Requirements {
        let mut layers = Layers::default();
        layers.add_map(&Source::Script, options).expect("options");
        requirements(&load::scenarios(&layers, &mut Vec::new()).expect("scenarios"))
    }

    #[test]
    fn a_test_takes_what_its_scenarios_take_at_the_same_time() {
        let found = of(&json!({"vus": 5, "duration": "1m"}));
        assert_eq!(found, Requirements { duration: Duration::from_secs(90), max_users: 5 });
        let found = of(&json!({"iterations": 3, "vus": 2}));
        assert_eq!(found, Requirements { duration: Duration::from_secs(630), max_users: 2 });
        let found = of(&json!({"scenarios": {
            "a": {"executor": "ramping-vus", "startVUs": 1, "stages": [{"duration": "10s", "target": 7}], "gracefulStop": "0s"},
            "b": {"executor": "constant-arrival-rate", "rate": 1, "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 4, "startTime": "10s"},
            "c": {"executor": "per-vu-iterations", "vus": 1, "maxDuration": "5s", "startTime": "2s"},
        }}));
        assert_eq!(found, Requirements { duration: Duration::from_secs(50), max_users: 8 });
    }

    #[test]
    fn times_are_printed_as_k6_does() {
        for (ms, shown) in
            [(0, "0s"), (90_500, "1m30.5s"), (630_000, "10m30s"), (3_600_000, "1h0m0s")]
        {
            assert_eq!(print_time(Duration::from_millis(ms)), shown);
        }
    }
}
