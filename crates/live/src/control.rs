//! What a person may want of a run, from whichever view, and how it is done: through the run's [`Handle`].

use squall_base::units;
use squall_runner::Handle;

use crate::state::LoadState;

/// More or less of a load, by this share of it and at least by one.
const STEP: f64 = 0.1;

/// What a person wants of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// The end in order.
    Stop,
    /// The end at once.
    Abort,
    /// The load is paused.
    Pause,
    /// The load goes on.
    Resume,
    /// Another number of users of a load.
    Users { scenario: String, users: u64 },
    /// Another rate of a load.
    Rate { scenario: String, rate: f64 },
}

impl Command {
    /// A tenth more of a load, or a tenth less, of what is planned at a time (in s after the load's start, pauses left
    /// out). Users change by one at least.
    pub fn step(load: &LoadState, at_s: f64, more: bool) -> Command {
        let now = load.planned(at_s);
        let changed = now * if more { 1.0 + STEP } else { 1.0 - STEP };
        let scenario = load.scenario.clone();
        if !load.is_users() {
            return Command::Rate { scenario, rate: rounded(changed) };
        }
        let users = if more { changed.max(now + 1.0) } else { changed.min((now - 1.0).max(0.0)) };
        Command::Users { scenario, users: users.round() as u64 }
    }

    /// The level of a load that was typed: `200`, or `50/s` (`50` is the same).
    ///
    /// # Errors
    /// It is no such number, in words.
    pub fn level(load: &LoadState, typed: &str) -> Result<Command, String> {
        let (scenario, typed) = (load.scenario.clone(), typed.trim());
        if load.is_users() {
            let users = typed.parse().map_err(|_| wrong(typed, "a whole number of users"))?;
            return Ok(Command::Users { scenario, users });
        }
        let text = if typed.contains('/') { typed.to_owned() } else { format!("{typed}/s") };
        let rate = units::parse_rate(&text).map_err(|_| wrong(typed, "a rate, such as 50/s"))?;
        Ok(Command::Rate { scenario, rate })
    }

    /// Does it; what came of it, in words.
    ///
    /// # Errors
    /// It cannot be done now, in words.
    pub fn obey(&self, handle: &Handle) -> Result<String, String> {
        match self {
            Command::Stop => {
                handle.stop();
                Ok("stopping: requests in flight may finish (again: at once)".to_owned())
            }
            Command::Abort => {
                handle.abort();
                Ok("ending at once".to_owned())
            }
            Command::Pause => handle.pause().map(|()| "the load is paused".to_owned()),
            Command::Resume => handle.resume().map(|()| "the load goes on".to_owned()),
            Command::Users { scenario, users } => handle
                .set_users(scenario, *users)
                .map(|()| format!("{} from now on", units::counted(*users, "virtual user"))),
            Command::Rate { scenario, rate } => handle
                .set_rate(scenario, *rate)
                .map(|()| format!("{} from now on", units::rate(*rate))),
        }
    }
}

fn wrong(typed: &str, form: &str) -> String {
    format!("`{typed}` is not {form}")
}

/// A rate with three digits: what comes of several tenths is no number that a person wants to read.
fn rounded(rate: f64) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let digit = 10f64.powi(rate.log10().floor() as i32 - 2);
    let steps = (rate / digit).round();
    // A digit below one divides exactly only the other way around.
    if digit < 1.0 { steps / (1.0 / digit).round() } else { steps * digit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::mixed;

    #[test]
    fn rates_are_round_and_levels_are_what_the_load_takes() {
        assert_eq!((rounded(123.456), rounded(0.0), rounded(1.1)), (123.0, 0.0, 1.1));
        let state = mixed();
        let [buyer, guest] = [0, 1].map(|at: usize| &state.loads[at]);
        let rate = |rate| Ok(Command::Rate { scenario: "guest".to_owned(), rate });
        assert_eq!(Command::level(guest, " 50 "), rate(50.0));
        assert_eq!(Command::level(guest, "30/min"), rate(0.5));
        let refused = Command::level(buyer, "50/s").expect_err("no number of users");
        assert!(refused.contains("whole number"), "{refused}");
        assert!(Command::level(guest, "-1/s").is_err() && Command::level(buyer, "").is_err());
    }
}
