//! Other numbers in place of a plan's loads. Pure.

use std::borrow::Cow;
use std::time::Duration;

use squall_base::units::print_duration;
use squall_plan::model::{Closed, End, Load, Plan, Stage};
use squall_plan::yaml::Loaded;

use crate::error::Error;
use crate::plans;

/// What takes the place of the plan's own loads; `None`: as the plan says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LoadOverrides {
    /// Virtual users of all closed workloads together, which share them as the plan's numbers have it, each at least
    /// one. Open workloads keep theirs.
    pub users: Option<u64>,
    /// Arrivals per second of all open workloads together, which share them likewise.
    pub rate: Option<f64>,
    /// Over how long each load rises.
    pub ramp: Option<Duration>,
    /// Iterations of each load, of all its users together.
    pub iterations: Option<u64>,
    /// Length of each load.
    pub length: Option<Duration>,
}

impl LoadOverrides {
    /// A plan with these in place.
    ///
    /// # Errors
    /// The plan has no load that it could be for, in a sentence.
    pub(crate) fn applied<'a>(&self, loaded: &'a Loaded) -> Result<Cow<'a, Loaded>, Error> {
        if *self == LoadOverrides::default() {
            return Ok(Cow::Borrowed(loaded));
        }
        let mut loaded = loaded.clone();
        self.apply(&mut loaded.plan)?;
        Ok(Cow::Owned(loaded))
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), Error> {
        let mut loads = plans::loads(plan);
        if let Some(users) = self.users {
            set_users(&mut loads, users)?;
        }
        if let Some(rate) = self.rate {
            set_rate(&mut loads, rate)?;
        }
        for load in loads {
            if self.iterations.is_some() || self.length.is_some() {
                set_end(load, self.iterations, self.length);
            }
            if let Some(ramp) = self.ramp {
                set_ramp(load, ramp, self.length.is_some())?;
            }
        }
        Ok(())
    }
}

/// Shares users over the closed loads: at the peak of each at least one, and of all together as many as asked for.
fn set_users(loads: &mut [&mut Load], users: u64) -> Result<(), Error> {
    let mut closed: Vec<&mut Closed> = loads
        .iter_mut()
        .filter_map(|load| match load {
            Load::Closed(closed) => Some(closed),
            Load::Open(_) => None,
        })
        .collect();
    if closed.is_empty() {
        let text =
            "--users: the plan has no load with users; arrivals per second are given with --rate";
        return Err(Error::input(text));
    }
    let peaks: Vec<f64> = closed
        .iter()
        .map(|load| peak(&load.stages, load.users.map(|users| users as f64)))
        .collect();
    let Some(shares) = shares(users, &peaks) else {
        let text = format!(
            "--users {users}: the plan has {}, and each needs at least one",
            match closed.len() {
                1 => "a load with users".to_owned(),
                number => format!("{number} loads with users"),
            }
        );
        return Err(Error::input(text));
    };
    for ((load, share), peak) in closed.iter_mut().zip(shares).zip(peaks) {
        let factor = share as f64 / peak;
        load.users = load.users.map(|own| ((own as f64 * factor).round() as u64).max(1));
        for stage in &mut load.stages {
            stage.level = (stage.level * factor).round();
        }
    }
    Ok(())
}

/// Whole numbers in proportion to weights, each at least 1, that add up to `total`; what is left over after rounding
/// down goes to those with the largest remainders. `None`: there are more weights than that.
fn shares(total: u64, weights: &[f64]) -> Option<Vec<u64>> {
    let spare = total.checked_sub(weights.len() as u64)?;
    let sum: f64 = weights.iter().sum();
    // What each is to have beyond its first one.
    let wanted: Vec<f64> =
        weights.iter().map(|weight| (total as f64 * weight / sum - 1.0).max(0.0)).collect();
    let all: f64 = wanted.iter().sum();
    let exact: Vec<f64> =
        wanted.iter().map(|own| if all > 0.0 { own * spare as f64 / all } else { 0.0 }).collect();
    let mut shares: Vec<u64> = exact.iter().map(|own| own.floor() as u64 + 1).collect();
    let left = total.saturating_sub(shares.iter().sum()) as usize;
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    for at in order.into_iter().cycle().take(left) {
        shares[at] += 1;
    }
    Some(shares)
}

/// Shares a rate over the open loads.
fn set_rate(loads: &mut [&mut Load], rate: f64) -> Result<(), Error> {
    let total: f64 = loads
        .iter()
        .map(|load| match load {
            Load::Open(open) => peak(&open.stages, open.rate),
            Load::Closed(_) => 0.0,
        })
        .sum();
    if total <= 0.0 {
        return Err(Error::input("--rate: the plan has no load with a rate of arrivals"));
    }
    for load in loads {
        if let Load::Open(open) = load {
            open.rate = open.rate.map(|own| own * rate / total);
            for stage in &mut open.stages {
                stage.level *= rate / total;
            }
        }
    }
    Ok(())
}

/// The highest level of a load; 1 where it says none.
fn peak(stages: &[Stage], own: Option<f64>) -> f64 {
    let highest = stages.iter().map(|stage| stage.level).chain(own).reduce(f64::max);
    highest.filter(|level| *level > 0.0).unwrap_or(1.0)
}

/// Puts other ends in place of all that the load has.
fn set_end(load: &mut Load, total: Option<u64>, length: Option<Duration>) {
    match load {
        Load::Closed(closed) => {
            (closed.duration, closed.total_iterations) = (length, total);
            (closed.iterations, closed.end) = (None, End::Each);
        }
        Load::Open(open) => (open.duration, open.total_iterations) = (length, total),
    }
}

/// Puts another ramp in place of a load's own. `is_ended`: its length is not that of the plan either.
fn set_ramp(load: &mut Load, ramp: Duration, is_ended: bool) -> Result<(), Error> {
    let (own, stages, length) = match load {
        Load::Closed(closed) => (&mut closed.ramp, &closed.stages, closed.duration),
        Load::Open(open) => (&mut open.ramp, &open.stages, open.duration),
    };
    if !stages.is_empty() {
        return Err(Error::input(
            "--ramp: the plan has a load with stages, which say how it rises",
        ));
    }
    if let Some(length) = length.filter(|length| *length < ramp) {
        let [ramp, length] = [ramp, length].map(print_duration);
        return Err(Error::input(match is_ended {
            true => format!("--ramp {ramp} is longer than --for {length}"),
            false => format!(
                "--ramp {ramp}: the plan has a load that is shorter, of {length}: add --for"
            ),
        }));
    }
    *own = ramp;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "target: builtin
scenarios:
  many: {load: {users: 30, iterations: 1}, steps: [{get: /}]}
  few: {load: {users: 10, for: 1h}, steps: [{get: /}]}
  open: {load: {rate: 30/s, for: 1m, max_users: 5}, steps: [{get: /}]}
";

    fn loads(text: &str, overrides: LoadOverrides) -> Result<Vec<Load>, Error> {
        let loaded = crate::load_str("p", text).expect("a plan");
        let mut changed = overrides.applied(&loaded)?.into_owned();
        Ok(plans::loads(&mut changed.plan).into_iter().map(|load| load.clone()).collect())
    }

    #[test]
    fn users_and_rates_keep_their_proportions() {
        let overrides =
            LoadOverrides { users: Some(8), rate: Some(90.0), ..LoadOverrides::default() };
        let all = loads(TWO, overrides).expect("loads");
        let numbers: Vec<(Option<u64>, Option<f64>)> = all
            .iter()
            .map(|load| match load {
                Load::Closed(closed) => (closed.users, None),
                Load::Open(open) => (Some(open.max_users), open.rate),
            })
            .collect();
        assert_eq!(numbers, [(Some(6), None), (Some(2), None), (Some(5), Some(90.0))]);
        let closed =
            "target: builtin\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}\n";
        let error = loads(closed, overrides).expect_err("nothing arrives");
        assert!(error.text.contains("no load with a rate"), "{error}");
    }

    #[test]
    fn users_are_those_of_loads_with_users() {
        let users = |text, users| {
            loads(text, LoadOverrides { users: Some(users), ..LoadOverrides::default() })
        };
        let error = |text, number| users(text, number).expect_err("a refusal").text;
        assert!(error(TWO, 1).contains("--users 1: the plan has 2 loads"), "{}", error(TWO, 1));
        assert!(error(TWO, 0).contains("at least one"));
        assert!(users(TWO, 2).is_ok());
        let open = "target: builtin
scenarios: {a: {load: {rate: 1/s, for: 1s, max_users: 9}, steps: [{get: /}]}}
";
        assert!(error(open, 5).contains("no load with users"), "{}", error(open, 5));
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(10, &[1.0, 1.0, 1.0]), Some(vec![4, 3, 3]));
        assert_eq!(shares(2, &[30.0, 10.0]), Some(vec![1, 1]));
        assert_eq!(shares(40, &[30.0, 10.0]), Some(vec![30, 10]));
        assert_eq!(shares(4, &[100.0, 1.0, 1.0]), Some(vec![2, 1, 1]));
        assert_eq!(shares(1, &[5.0, 5.0]), None);
        for total in 3..500 {
            let shares = shares(total, &[97.0, 2.0, 11.0]).expect("enough");
            assert_eq!(shares.iter().sum::<u64>(), total, "{shares:?}");
            assert!(shares.iter().all(|own| *own > 0), "{shares:?}");
        }
    }

    #[test]
    fn ends_take_the_place_of_all_others() {
        let minute = Some(Duration::from_secs(60));
        let overrides = LoadOverrides { length: minute, ..LoadOverrides::default() };
        let all = loads(TWO, overrides).expect("loads");
        let Load::Closed(many) = &all[0] else { panic!("{all:?}") };
        assert_eq!((many.iterations, many.duration), (None, minute));
        let overrides = LoadOverrides { iterations: Some(7), ..LoadOverrides::default() };
        let all = loads(TWO, overrides).expect("loads");
        let (Load::Closed(few), Load::Open(open)) = (&all[1], &all[2]) else { panic!("{all:?}") };
        assert_eq!((few.total_iterations, few.duration), (Some(7), None));
        assert_eq!((open.total_iterations, open.duration), (Some(7), None));
    }

    #[test]
    fn a_ramp_fits_into_its_load() {
        let ramp = |text, seconds, length| {
            let (ramp, length) = (Some(Duration::from_secs(seconds)), length);
            loads(text, LoadOverrides { ramp, length, ..LoadOverrides::default() })
        };
        assert!(ramp(TWO, 30, None).is_ok());
        let error = |seconds, length| ramp(TWO, seconds, length).expect_err("too long").text;
        let shorter = "--ramp 1m30s: the plan has a load that is shorter, of 1m: add --for";
        assert_eq!(error(90, None), shorter);
        let second = Some(Duration::from_secs(1));
        assert_eq!(error(2, second), "--ramp 2s is longer than --for 1s");
        assert!(ramp(TWO, 90, Some(Duration::from_secs(100))).is_ok());
        let stages = "target: builtin\nscenarios: {a: {load: {stages: [{users: 1, over: 1s}]}, steps: [{get: /}]}}\n";
        assert!(ramp(stages, 1, None).is_err());
    }
}
