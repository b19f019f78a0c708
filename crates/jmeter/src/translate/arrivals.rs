//! Thread groups whose threads arrive at a rate: their schedules as open workloads.

use std::time::Duration;

use squall_plan::model::{Arrivals, Open, Stage};

use super::Translator;
use super::reader::Reader;
use crate::tree::ElementId;

/// Most threads at a time, where JMeter has no limit.
const MOST_THREADS: u64 = 20_000;

impl Translator<'_> {
    /// An Open Model Thread Group: a schedule in a language of its own.
    pub(super) fn open_model(&self, id: ElementId, reader: &Reader<'_>) -> Open {
        let schedule = reader.constant("OpenModelThreadGroup.schedule").unwrap_or_default();
        // Which numbers are drawn follows from the run's seed.
        reader.pass(&["OpenModelThreadGroup.random_seed"]);
        // Its own loop is never looked at.
        reader.pass(&["ThreadGroup.main_controller"]);
        parsed(&schedule).unwrap_or_else(|what| {
            self.obstacle(id, format!("{what} in its schedule"));
            Open::default()
        })
    }

    /// A Free-Form Arrivals Thread Group: rows of a rate at first, a rate at the end and the time between, each a straight
    /// line.
    pub(super) fn free_form(&self, id: ElementId, reader: &Reader<'_>) -> Open {
        let unit = if reader.constant("Unit").as_deref() == Some("S") { 1.0 } else { 60.0 };
        let rows = reader.list("Schedule");
        let most = reader.number("ConcurrencyLimit", 0).unwrap_or_default();
        reader.given("Iterations", "threads that end by themselves");
        reader.given("LogFilename", "a log of its threads");
        // What it has of its relatives, and never looks at.
        reader.pass(&["ThreadGroup.main_controller"]);
        reader.pass(&["TargetLevel", "RampUp", "Steps", "Hold"]);
        let mut stages = Vec::new();
        for row in rows {
            let Some([from, to, over]) = self.rates_of_row(id, &row.value) else {
                return Open::default();
            };
            stages.push(Stage { level: from / unit, over: Duration::ZERO });
            stages.push(Stage { level: to / unit, over: Duration::from_secs_f64(over * unit) });
        }
        if stages.iter().all(|stage| stage.level == 0.0 || stage.over.is_zero()) {
            self.obstacle(id, "a schedule without threads");
        }
        let max_users = u64::try_from(most).ok().filter(|most| *most > 0).unwrap_or(MOST_THREADS);
        Open { stages, arrivals: Arrivals::Even, max_users, ..Open::default() }
    }

    /// An Arrivals Thread Group: a rate that rises in steps, and is held.
    pub(super) fn arrivals(&self, id: ElementId, reader: &Reader<'_>) -> Open {
        let unit = if reader.constant("Unit").as_deref() == Some("S") { 1.0 } else { 60.0 };
        let number = |name: &str| {
            let text = reader.constant(name).unwrap_or_default();
            let number = if text.trim().is_empty() { Ok(0.0) } else { text.trim().parse::<f64>() };
            let number = number.ok().filter(|number| (0.0..=1e9).contains(number));
            if number.is_none() {
                self.obstacle(id, format!("`{text}` as {name}"));
            }
            number.unwrap_or(0.0)
        };
        let time = |name: &str| Duration::from_secs_f64(number(name) * unit);
        let (rise, hold) = (time("RampUp"), time("Hold"));
        let (target, steps) = (number("TargetLevel") / unit, number("Steps").min(1_000.0) as u32);
        let most = number("ConcurrencyLimit") as u64;
        reader.given("Iterations", "threads that end by themselves");
        reader.given("LogFilename", "a log of its threads");
        reader.pass(&["ThreadGroup.main_controller"]);
        let stages = rising(target, rise, steps, hold);
        if stages.iter().all(|stage| stage.level == 0.0 || stage.over.is_zero()) {
            self.obstacle(id, "a schedule without threads");
        }
        let max_users = if most == 0 { MOST_THREADS } else { most };
        Open { stages, arrivals: Arrivals::Even, max_users, ..Open::default() }
    }
}

/// A rate that rises in steps, and is held. Without steps nobody arrives before it is held, as in the plug-in.
fn rising(target: f64, rise: Duration, steps: u32, hold: Duration) -> Vec<Stage> {
    let level_of = |step: u32| target * f64::from(step) / f64::from(steps);
    let mut stages = match steps {
        0 => vec![Stage { level: 0.0, over: rise }, Stage { level: target, over: Duration::ZERO }],
        _ => Vec::new(),
    };
    for level in (1..=steps).map(level_of) {
        stages.push(Stage { level, over: Duration::ZERO });
        stages.push(Stage { level, over: rise / steps });
    }
    stages.push(Stage { level: target, over: hold });
    stages
}

/// The schedule of an Open Model Thread Group: `rate(10/min) random_arrivals(5 min) rate(20/min) pause(10 s)`. Between two
/// rates it is a straight line.
///
/// # Errors
/// What of it is not known, or has no equal.
fn parsed(text: &str) -> Result<Open, String> {
    let mut stages: Vec<Stage> = Vec::new();
    let (mut rate, mut kind) = (0.0, None);
    // How long a stage is whose end the next rate says.
    let mut open: Option<Duration> = None;
    for (name, argument) in calls(&without_comments(text))? {
        if name == "rate" {
            let to = per_second(&argument).ok_or_else(|| format!("`{argument}` as a rate"))?;
            stages.push(Stage { level: to, over: open.take().unwrap_or_default() });
            rate = to;
            continue;
        }
        if let Some(over) = open.take() {
            stages.push(Stage { level: rate, over });
        }
        let time = seconds(&argument).ok_or_else(|| format!("`{argument}` as a time"))?;
        match name.as_str() {
            "random_arrivals" | "even_arrivals" => {
                let own = if name == "even_arrivals" { Arrivals::Even } else { Arrivals::Poisson };
                if kind.is_some_and(|kind| kind != own) {
                    return Err("arrivals that are even, and others that are not,".to_owned());
                }
                (kind, open) = (Some(own), Some(time));
            }
            "pause" => {
                stages.push(Stage { level: 0.0, over: Duration::ZERO });
                stages.push(Stage { level: 0.0, over: time });
                stages.push(Stage { level: rate, over: Duration::ZERO });
            }
            _ => return Err(format!("`{name}`")),
        }
    }
    if let Some(over) = open {
        stages.push(Stage { level: rate, over });
    }
    // What is after the last of them lets nobody arrive.
    while stages.last().is_some_and(|stage| stage.over.is_zero()) {
        stages.pop();
    }
    let arrivals = kind.ok_or("no arrivals")?;
    Ok(Open { stages, arrivals, max_users: MOST_THREADS, ..Open::default() })
}

/// A text without its comments.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('/') {
        out.push_str(before);
        let end = match behind.chars().next() {
            Some('/') => "\n",
            Some('*') => "*/",
            _ => {
                out.push('/');
                rest = behind;
                continue;
            }
        };
        out.push(' ');
        rest = behind.split_once(end).map_or("", |(_, behind)| behind);
    }
    out + rest
}

/// What stands there as `name(argument)`, one after the other.
fn calls(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let call = rest.split_once('(').and_then(|(name, inner)| {
            let (argument, behind) = inner.split_once(')')?;
            Some((name.trim().to_owned(), argument.trim().to_owned(), behind))
        });
        let Some((name, argument, behind)) = call else { return Err(format!("`{rest}`")) };
        found.push((name, argument));
        rest = behind.trim();
    }
    Ok(found)
}

/// A rate such as `10/min`, by the second.
fn per_second(text: &str) -> Option<f64> {
    let (count, unit) = match text.split_once('/') {
        Some((count, unit)) => (count, unit.trim()),
        // Nothing is nothing in any time.
        None => (text, "s"),
    };
    let count: f64 = count.trim().parse().ok()?;
    if !text.contains('/') && count != 0.0 {
        return None;
    }
    Some(count / unit_seconds(unit)?).filter(|rate| (0.0..=1e6).contains(rate))
}

/// A time such as `1 min 30 s`.
fn seconds(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, behind) = rest.split_at(rest.find(|c| !is_number(c))?);
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, left) = behind.split_at(end);
        total += number.parse::<f64>().ok()? * unit_seconds(unit)?;
        rest = left.trim_start();
    }
    let is_some = !text.trim().is_empty() && total <= 1e9;
    is_some.then(|| Duration::from_secs_f64(total))
}

/// A unit of time in seconds.
fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(text: &str) -> Result<Vec<(f64, f64)>, String> {
        let open = parsed(text)?;
        Ok(open.stages.iter().map(|stage| (stage.level, stage.over.as_secs_f64())).collect())
    }

    #[test]
    fn schedules_are_lines_between_rates() {
        for (text, expected) in [
            ("rate(60/min) random_arrivals(5 min)", vec![(1.0, 0.0), (1.0, 300.0)]),
            ("rate(0) even_arrivals(1.5 h) rate(2/s)", vec![(0.0, 0.0), (2.0, 5_400.0)]),
            (
                "rate(1/sec) random_arrivals(10 s) pause(2 s) rate(3/s) // faster\n random_arrivals(1 min 30 s) /* end */",
                vec![
                    (1.0, 0.0),
                    (1.0, 10.0),
                    (0.0, 0.0),
                    (0.0, 2.0),
                    (1.0, 0.0),
                    (3.0, 0.0),
                    (3.0, 90.0),
                ],
            ),
        ] {
            assert_eq!(stages(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_rate_rises_in_steps_or_all_at_once() {
        let second = Duration::from_secs(1);
        let of = |steps| {
            let stages = rising(8.0, 2 * second, steps, second).into_iter();
            stages.map(|stage| (stage.level, stage.over.as_secs())).collect::<Vec<_>>()
        };
        assert_eq!(of(2), [(4.0, 0), (4.0, 1), (8.0, 0), (8.0, 1), (8.0, 1)]);
        assert_eq!(of(0), [(0.0, 2), (8.0, 0), (8.0, 1)]);
    }

    #[test]
    fn comments_are_left_out() {
        for (text, expected) in [
            ("1/s // a /* b\n2/s", "1/s  2/s"),
            ("a /* // */ b /* c", "a   b  "),
            ("a / b //", "a / b  "),
        ] {
            assert_eq!(without_comments(text), expected, "{text}");
        }
        // Each is looked at once, whatever follows: a long text of them takes no time.
        assert_eq!(without_comments(&"//\n".repeat(1_000_000)).trim(), "");
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for (text, expected) in [
            ("", "no arrivals"),
            ("rate(5)", "`5` as a rate"),
            ("rate(1/s) random_arrivals(5)", "`5` as a time"),
            (
                "rate(1/s) random_arrivals(1 s) even_arrivals(1 s)",
                "arrivals that are even, and others that are not,",
            ),
            ("rate(1/s) wait(1 s)", "`wait`"),
            ("rate 1", "`rate 1`"),
        ] {
            assert_eq!(stages(text), Err(expected.to_owned()), "{text}");
        }
    }
}
