//! The schedules of plug-ins' thread groups as stages of users.

use std::collections::BTreeMap;
use std::time::Duration;

use squall_plan::model::{Closed, Stage};

use super::Translator;
use super::reader::Reader;
use crate::properties::PropertyValue;
use crate::tree::ElementId;

/// When a thread is there, in milliseconds of its group's time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Life {
    from: u64,
    to: u64,
}

/// Threads whose schedule is looked at one by one.
const THREADS_LIMIT: u64 = 20_000;

impl Translator<'_> {
    /// A row of a schedule of rates: the one at its beginning, the one at its end, and the time between. `None` after an
    /// obstacle was noted.
    pub(super) fn rates_of_row(&self, id: ElementId, row: &PropertyValue) -> Option<[f64; 3]> {
        let numbers: Option<Vec<f64>> = match row {
            PropertyValue::List(fields) => {
                fields.iter().map(|field| self.rate(id, &field.value)).collect()
            }
            _ => None,
        };
        let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
        if numbers.is_none() {
            self.obstacle(id, "a row of its schedule");
        }
        numbers
    }

    /// A number of such a row.
    fn rate(&self, id: ElementId, value: &PropertyValue) -> Option<f64> {
        let PropertyValue::Text(text) = value else { return None };
        let known = self.constant(text).map_err(|what| self.obstacle(id, what)).ok()?;
        known.trim().parse().ok().filter(|number: &f64| (0.0..=1e9).contains(number))
    }

    /// An Ultimate Thread Group: rows of so many threads each, which start, stay and end.
    pub(super) fn ultimate(&self, id: ElementId, reader: &Reader<'_>) -> Closed {
        let iterations = self.loops(id, reader);
        let mut lives = Vec::new();
        for row in reader.list("ultimatethreadgroupdata") {
            let PropertyValue::List(fields) = &row.value else { continue };
            let numbers: Option<Vec<u64>> =
                fields.iter().map(|field| self.seconds(id, &field.value)).collect();
            let Some([threads, delay, rise, hold, fall]) = numbers.as_deref() else {
                self.obstacle(id, "a row of its schedule");
                continue;
            };
            if *threads > THREADS_LIMIT {
                self.obstacle(id, format!("more than {THREADS_LIMIT} threads in a row"));
                continue;
            }
            let all_there = delay + rise + hold;
            lives.extend((1..=*threads).rev().map(|left| Life {
                from: 1000 * delay + 1000 * rise * left / threads,
                to: 1000 * all_there + 1000 * fall * left / threads,
            }));
        }
        self.scheduled(id, lives, iterations)
    }

    /// A Stepping Thread Group: threads that start and end some at a time.
    pub(super) fn stepping(&self, id: ElementId, reader: &Reader<'_>) -> Closed {
        let iterations = self.loops(id, reader);
        let number = |name| self.natural(reader, name, 0).min(1_000_000);
        let threads = number("ThreadGroup.num_threads").min(THREADS_LIMIT);
        let or_all = |count| if count == 0 { threads.max(1) } else { count };
        let delay = number("Threads initial delay");
        let (step, out) = (or_all(number("Start users count")), or_all(number("Stop users count")));
        let (period, out_period) = (number("Start users period"), number("Stop users period"));
        let (hold, rise) = (number("flighttime"), number("rampUp"));
        let first = match number("Start users count burst").min(threads) {
            0 => step,
            burst => burst,
        };
        let steps = 1 + threads.saturating_sub(first).div_ceil(step);
        let all_there = 1000 * (delay + (period + rise) * (steps - 1) + rise + hold);
        let lives = (0..threads).map(|thread| {
            let (bucket, place, of) = match thread.checked_sub(first) {
                None => (0, thread, first),
                Some(later) => (1 + later / step, later % step, step),
            };
            Life {
                from: 1000 * (delay + bucket * (period + rise)) + 1000 * rise / of * place,
                to: all_there + 1000 * out_period * (thread / out),
            }
        });
        let lives = lives.collect();
        self.scheduled(id, lives, iterations)
    }

    /// A Concurrency Thread Group: a number of threads that rises, evenly or in steps, and is held.
    pub(super) fn concurrency(&self, id: ElementId, reader: &Reader<'_>) -> Closed {
        let unit = match reader.constant("Unit").as_deref() {
            Some("S") => 1.0,
            _ => 60.0,
        };
        let time = |name: &str| {
            let text = reader.constant(name).unwrap_or_default();
            let number = if text.trim().is_empty() { Ok(0.0) } else { text.trim().parse::<f64>() };
            let seconds = number.ok().map(|number| number * unit);
            let seconds = seconds.filter(|seconds| (0.0..=1e9).contains(seconds));
            if seconds.is_none() {
                self.obstacle(id, format!("`{text}` as {name}"));
            }
            Duration::from_secs_f64(seconds.unwrap_or(0.0))
        };
        let (rise, hold) = (time("RampUp"), time("Hold"));
        let (target, steps) =
            (self.natural(reader, "TargetLevel", 0), self.natural(reader, "Steps", 0).min(1_000));
        reader.given("Iterations", "threads that end by themselves");
        reader.given("LogFilename", "a log of its threads");
        // Its own loop is never looked at.
        reader.pass(&["ThreadGroup.main_controller"]);
        let mut stages = Vec::new();
        for step in 1..=steps {
            let level = (target * step).div_ceil(steps) as f64;
            stages.push(Stage { level, over: Duration::ZERO });
            stages.push(Stage { level, over: rise / steps as u32 });
        }
        if steps == 0 {
            stages.push(Stage { level: target as f64, over: rise });
        }
        stages.push(Stage { level: target as f64, over: hold });
        if target == 0 || (rise + hold).is_zero() {
            return Closed { users: Some(0), ..Closed::default() };
        }
        Closed { stages, ..Closed::default() }
    }

    /// A load of threads that are there for some time each.
    fn scheduled(&self, id: ElementId, lives: Vec<Life>, iterations: Option<u64>) -> Closed {
        let (users, stages) = stages(&lives);
        if iterations.is_some() {
            self.obstacle(id, "a schedule for threads that end by themselves");
        }
        if stages.is_empty() {
            return Closed { users: Some(0), ..Closed::default() };
        }
        Closed { users: Some(users), stages, ..Closed::default() }
    }

    /// A whole number in a row of a schedule.
    fn seconds(&self, id: ElementId, value: &PropertyValue) -> Option<u64> {
        let PropertyValue::Text(text) = value else { return None };
        let known = self.constant(text).map_err(|what| self.obstacle(id, what)).ok()?;
        known.trim().parse().ok().filter(|number| *number <= 1_000_000_000)
    }
}

/// How many threads there are over time: at first, and then in stages. Where they come or go one after the other at the
/// same distance, that is one stage.
fn stages(lives: &[Life]) -> (u64, Vec<Stage>) {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for life in lives.iter().filter(|life| life.from < life.to) {
        *changes.entry(life.from).or_default() += 1;
        *changes.entry(life.to).or_default() -= 1;
    }
    let mut there = 0;
    let counts: Vec<(u64, u64)> = changes
        .into_iter()
        .map(|(time, change)| {
            there += change;
            (time, there.max(0) as u64)
        })
        .collect();
    let mut stages: Vec<Stage> = Vec::new();
    let mut push = |level: u64, ms: u64| {
        stages.push(Stage { level: level as f64, over: super::milliseconds(ms) });
    };
    let at_once = counts.first().filter(|(time, _)| *time == 0);
    let (mut now, mut level) = (0, at_once.map_or(0, |(_, count)| *count));
    let first = level;
    let mut index = counts.iter().position(|(time, _)| *time > 0).unwrap_or(counts.len());
    while index < counts.len() {
        let (at, count) = counts[index];
        let run = steady(&counts[index..], level);
        let distance = counts.get(index + 1).map_or(0, |(next, _)| next - at);
        if run > 2 && count > level {
            // A rising stage has its first user at its beginning, ...
            push(level, at - now);
            let (last, top) = counts[index + run - 1];
            push(top, last + distance - at);
            (now, level) = (last + distance, top);
        } else if run > 2 && distance <= at - now {
            // ... a falling one loses it at its first step.
            push(level, at - distance - now);
            let (last, bottom) = counts[index + run - 1];
            push(bottom, last - (at - distance));
            (now, level) = (last, bottom);
        } else {
            push(level, at.saturating_sub(now));
            push(count, 0);
            (now, level) = (now.max(at), count);
            index += 1;
            continue;
        }
        index += run;
    }
    stages.retain({
        let mut before = first as f64;
        move |stage| {
            let says_something = !stage.over.is_zero() || stage.level != before;
            before = stage.level;
            says_something
        }
    });
    (first, stages)
}

/// How many of the changes, from the first on, are by as much and at about the same distance as the first.
fn steady(counts: &[(u64, u64)], before: u64) -> usize {
    let [(first, level), (second, _), ..] = counts else { return counts.len() };
    let (change, distance) = (*level as i64 - before as i64, second - first);
    let mut run = 1;
    let mut last = (*first, *level);
    for (time, level) in &counts[1..] {
        let is_same = *level as i64 - last.1 as i64 == change
            && (time - last.0).abs_diff(distance) <= 1
            && change.abs() == 1;
        // What comes next has to leave room for the stage's last step.
        if !is_same {
            break;
        }
        last = (*time, *level);
        run += 1;
    }
    let next = counts.get(run).map_or(u64::MAX, |(time, _)| *time);
    if change > 0 && next < last.0 + distance { run - 1 } else { run }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(lives: &[Life]) -> (u64, Vec<(u64, u64)>) {
        let (users, stages) = stages(lives);
        (users, stages.iter().map(|s| (s.level as u64, s.over.as_millis() as u64)).collect())
    }

    #[test]
    fn threads_one_after_the_other_are_one_stage() {
        // Four threads over 40 s after 10 s, there for 60 s, gone over 20 s: the first starts after a fourth of the time.
        let lives: Vec<Life> = (1..=4)
            .map(|left| Life { from: 10_000 + 10_000 * left, to: 110_000 + 5_000 * left })
            .collect();
        let expected = [(0, 20_000), (4, 40_000), (4, 50_000), (0, 20_000)];
        assert_eq!(said(&lives), (0, expected.to_vec()));
        let at_once = [Life { from: 0, to: 5_000 }, Life { from: 0, to: 5_000 }];
        assert_eq!(said(&at_once), (2, vec![(2, 5_000), (0, 0)]));
        assert_eq!(said(&[]), (0, vec![]));
    }

    /// How many there are at a time, as squall takes stages: on the way up from the moment at which the line reaches
    /// a number, on the way down until it has left it.
    fn users_at(users: u64, stages: &[Stage], time: u64) -> u64 {
        let (mut begins, mut low) = (0, users);
        for stage in stages {
            let (length, high) = (stage.over.as_millis() as u64, stage.level as u64);
            if time < begins + length {
                return match high.checked_sub(low) {
                    Some(0) => low,
                    Some(rise) => low + rise * (time - begins) / length + 1,
                    None => low - (low - high) * (time - begins) / length,
                };
            }
            (begins, low) = (begins + length, high);
        }
        low
    }

    proptest! {
        /// But for the rounding of a step's distance, the stages have the threads that there are.
        #[test]
        fn stages_have_the_threads_that_there_are(
            rows in prop::collection::vec((1u64..6, 0u64..20, 0u64..20, 0u64..20, 0u64..20), 1..4),
        ) {
            let mut lives = Vec::new();
            for (threads, delay, rise, hold, fall) in rows {
                // Distances without a remainder.
                let (rise, fall) = (rise * threads, fall * threads);
                lives.extend((1..=threads).map(|left| Life {
                    from: 1000 * delay + 1000 * rise * left / threads,
                    to: 1000 * (delay + rise + hold) + 1000 * fall * left / threads,
                }));
            }
            let (users, stages) = stages(&lives);
            for time in (0..400_000).step_by(500) {
                let there = lives.iter().filter(|life| life.from <= time && time < life.to).count();
                prop_assert_eq!(users_at(users, &stages, time), there as u64, "{} {:?} {:?}", time, lives, stages);
            }
        }
    }
}
