//! What JMeter says of a run while it goes on: the lines of its summariser, and those around them. Requests are counted,
//! programs, and groups with nothing in them, which are what samplers that send nothing become (and transactions in which
//! nothing was sampled); other groups, which JMeter calls transactions, are not. A page that loads what it names is one sample with
//! all of that.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_metrics::{RequestStats, RowKey, RowKind};
use squall_report::Run;
use squall_runner::{Event, EventKind, Second, Sink, Start, Wanted};

use super::pages::{Pages, Place, place_of};
use crate::out;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    count: u64,
    errors: u64,
    /// Their times, in µs.
    sum_us: f64,
    /// The shortest and the longest, in µs.
    least_us: Option<u64>,
    most_us: u64,
    /// Seconds that they are of.
    seconds: f64,
}

impl Sum {
    fn add(&mut self, kind: RowKind, stats: &RequestStats) {
        // Those that came to nothing took their time, too.
        let all = [&stats.latency, &stats.failed_after, &stats.waited];
        // A request that was cut off or not sent is a sample that failed. A group that was cut off is none, and only such
        // groups have waited.
        let (all, lost) = match kind.is_request() {
            true => (all.as_slice(), stats.cut_off.saturating_add(stats.not_sent)),
            false => (&all[..2], 0),
        };
        let count = stats.count.saturating_add(lost);
        for times in all.iter().copied().filter(|times| !times.is_empty()) {
            self.note_times(Some(times.min()), times.max());
            self.sum_us += times.sum();
        }
        // What failed at once has none.
        if count > all.iter().map(|times| times.count()).sum::<u64>() {
            self.note_times(Some(0), 0);
        }
        self.count += count;
        self.errors += stats.errors.saturating_add(lost);
    }

    fn note_times(&mut self, least_us: Option<u64>, most_us: u64) {
        self.least_us = self.least_us.into_iter().chain(least_us).min();
        self.most_us = self.most_us.max(most_us);
    }

    fn merge(&mut self, other: &Sum) {
        self.note_times(other.least_us, other.most_us);
        self.count += other.count;
        self.errors += other.errors;
        self.sum_us += other.sum_us;
        self.seconds += other.seconds;
    }

    /// The line, as `Summariser.format` of Apache JMeter 5.6.3 writes it; `kind` is `+` or `=`.
    fn line(&self, kind: char) -> String {
        let ms = |us: f64| (us / 1e3) as u64;
        let whole = (self.seconds + 0.5) as u64;
        let time = format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
        let rate = match self.seconds > 0.0 {
            true => format!("{:6.1}", self.count as f64 / self.seconds),
            false => "******".to_owned(),
        };
        let of = |part: f64| if self.count == 0 { 0.0 } else { part / self.count as f64 };
        format!(
            "summary {kind} {:6} in {time} = {rate}/s Avg: {:5} Min: {:5} Max: {:5} Err: {:5} ({:.2}%)",
            self.count,
            ms(of(self.sum_us)),
            ms(self.least_us.unwrap_or(0) as f64),
            ms(self.most_us as f64),
            self.errors,
            100.0 * of(self.errors as f64),
        )
    }
}

/// Says what JMeter says.
#[derive(Debug)]
pub struct Summary {
    /// Seconds between two lines.
    every: u32,
    plan: String,
    all: Sum,
    /// Since the last line.
    since: Sum,
    /// Whether a line was written before.
    has_said: bool,
    /// Users that were active in the last second.
    users: u64,
    /// Users that have started, and that have finished, as far as seconds show that.
    counters: (u64, u64),
    /// Groups with something in them: their scenario and path.
    filled: BTreeSet<(String, Vec<String>)>,
    pages: Pages,
    /// Requests in a plan that has pages.
    requests: BTreeSet<Place>,
}

impl Summary {
    /// Of a plan, with a line each so many seconds (`summariser.interval`).
    pub fn new(plan: String, every: u32) -> Summary {
        Summary {
            every: every.max(1),
            plan,
            all: Sum::default(),
            since: Sum::default(),
            has_said: false,
            users: 0,
            counters: (0, 0),
            filled: BTreeSet::new(),
            pages: Pages::default(),
            requests: BTreeSet::new(),
        }
    }

    /// Notes a row, and the group around it. What is in a group ends before it does, and a page before all that it loads, so
    /// that both are known by then.
    fn note(&mut self, key: &RowKey) {
        if is_counted(key.place.kind) && !key.place.group.is_empty() {
            self.filled.insert((key.place.scenario.clone(), key.place.group.clone()));
        }
        if self.pages.are_there() && key.place.kind == RowKind::Request {
            self.requests.insert(place_of(key));
        }
    }

    /// Whether what a row counts is a sample to JMeter's summariser. Of a page that is its group, or its request where only
    /// the run knows its name.
    fn is_sample(&self, key: &RowKey) -> bool {
        let path = || key.place.group.iter().chain([&key.name]).cloned().collect();
        match key.place.kind {
            RowKind::Request => !self.pages.has(&place_of(key)),
            RowKind::Group if self.pages.has(&place_of(key)) => true,
            RowKind::Group => {
                !self.requests.contains(&place_of(key))
                    && !self.filled.contains(&(key.place.scenario.clone(), path()))
            }
            kind => is_counted(kind),
        }
    }

    /// The line of what has come since the last one, and from the second on that of the whole.
    fn say(&mut self) -> io::Result<()> {
        self.all.merge(&self.since);
        let (started, finished) = self.counters;
        let users = self.users;
        let line = self.since.line('+');
        let mut out = out::Printed;
        writeln!(out, "{line} Active: {users} Started: {started} Finished: {finished}")?;
        if self.has_said {
            writeln!(out, "{}", self.all.line('='))?;
        }
        (self.has_said, self.since) = (true, Sum::default());
        Ok(())
    }
}

/// Whether rows of a kind may be samples.
fn is_counted(kind: RowKind) -> bool {
    matches!(kind, RowKind::Request | RowKind::Program | RowKind::Group)
}

/// A moment, as JMeter writes it, in UTC; and in milliseconds since 1970.
fn moment() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis();
    let seconds = now / 1_000;
    let days = i64::try_from(seconds / 86_400).unwrap_or(0);
    let (year, month, day) = squall_base::calendar::date(days);
    let names =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = usize::try_from(month - 1).ok().and_then(|at| names.get(at)).unwrap_or(&"");
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year} {month} {day} {hour:02}:{minute:02}:{second:02} UTC ({now})")
}

impl Sink for Summary {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.pages = Pages::of(&start.plan);
        let mut out = out::Printed;
        writeln!(out, "Creating summariser <summary>")?;
        writeln!(out, "Created the tree successfully using {}", self.plan)?;
        writeln!(out, "Starting standalone test @ {}", moment())?;
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        second.rows.iter().for_each(|row| self.note(&row.key));
        for row in &second.rows {
            if self.is_sample(&row.key) {
                self.since.add(row.key.place.kind, &row.stats);
            }
        }
        self.since.seconds += 1.0;
        let users = second.load.users();
        // Those that are there were started; those that were there and are not any more have finished.
        self.counters.0 += users.saturating_sub(self.users);
        self.counters.1 += self.users.saturating_sub(users);
        self.users = users;
        match (second.second + 1).is_multiple_of(self.every) {
            true => self.say(),
            false => Ok(()),
        }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Warning(text) => out::message(text),
            EventKind::Aborted(abort) => out::message(&format!("{}\n", abort.text())),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, run: &Run) -> io::Result<()> {
        // The last second was not a whole one.
        let whole = self.all.seconds + self.since.seconds;
        if run.elapsed_s < whole {
            self.since.seconds = (self.since.seconds - (whole - run.elapsed_s)).max(0.001);
        }
        if self.has_said && self.since.count > 0 {
            self.say()?;
        } else {
            self.all.merge(&self.since);
            writeln!(out::Printed, "{}", self.all.line('='))?;
        }
        writeln!(out::Printed, "Tidying up ...    @ {}", moment())?;
        writeln!(out::Printed, "... end of run")
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{ErrorKind, Sample};

    use super::*;

    #[test]
    fn what_was_cut_off_or_not_sent_is_a_sample_that_failed() {
        let failed =
            |kind, us| Sample { complete: false, status: 0, error: Some(kind), ..Sample::ok(us) };
        let mut stats = RequestStats::default();
        stats.record(&Sample::ok(2_000));
        stats.record(&failed(ErrorKind::Interrupted, 6_000));
        let mut sum = Sum::default();
        sum.add(RowKind::Request, &stats);
        assert_eq!((sum.count, sum.errors), (2, 1));
        assert!(sum.most_us >= 5_900 && sum.least_us > Some(0), "{sum:?}");
        stats.record(&failed(ErrorKind::Variable, 0));
        let mut sum = Sum::default();
        sum.add(RowKind::Request, &stats);
        assert_eq!((sum.count, sum.errors, sum.least_us), (3, 2, Some(0)));
    }

    #[test]
    fn a_group_that_was_cut_off_is_no_sample() {
        let mut stats = RequestStats { count: 1, cut_off: 1, ..RequestStats::default() };
        stats.latency.record_ns(2_000_000);
        stats.waited.record_ns(60_000_000);
        let mut sum = Sum::default();
        sum.add(RowKind::Group, &stats);
        assert_eq!((sum.count, sum.errors), (1, 0));
        assert!(sum.most_us < 60_000 && sum.sum_us < 60e3, "{sum:?}");
    }

    #[test]
    fn lines_are_those_of_jmeter() {
        let sum = Sum {
            count: 18,
            errors: 6,
            sum_us: 18.0 * 38e3,
            least_us: Some(0),
            most_us: 148_000,
            seconds: 1.524,
        };
        let expected = "summary =     18 in 00:00:02 =   11.8/s Avg:    38 Min:     0 Max:   148 Err:     6 (33.33%)";
        assert_eq!(sum.line('='), expected);
        let none = "summary +      0 in 00:00:00 = ******/s Avg:     0 Min:     0 Max:     0 Err:     0 (0.00%)";
        assert_eq!(Sum::default().line('+'), none);
    }

    #[test]
    fn a_group_is_a_sample_where_nothing_is_in_it() {
        let mut summary = Summary::new("plan.jmx".to_owned(), 30);
        let key = |kind, group: &[&str], name| {
            let mut key = RowKey::new(kind, "users", name);
            key.place.group = group.iter().map(|name| (*name).to_owned()).collect();
            key
        };
        let keys = [
            key(RowKind::Request, &["all", "buy"], "pay"),
            key(RowKind::Group, &["all"], "buy"),
            key(RowKind::Group, &[], "all"),
            key(RowKind::Group, &["all"], "a Java Request"),
            key(RowKind::Group, &[], "buy"),
            key(RowKind::Program, &[], "ls"),
            key(RowKind::Iteration, &["alone"], "iteration"),
        ];
        keys.iter().for_each(|key| summary.note(key));
        let samples = keys.map(|key| summary.is_sample(&key));
        assert_eq!(samples, [true, false, false, true, true, true, false]);
    }

    #[test]
    fn a_page_with_what_it_loads_is_one_sample() {
        let text = "scenarios: {users: {load: {users: 1, for: 1s}, steps: [{get: /, name: home, resources: true}, \
            {get: /, name: 'user ${user}', resources: true}, {get: /, name: plain}]}}";
        let loaded = squall_runner::load_str("plan.yaml", text).expect("a plan");
        let mut summary = Summary::new("plan.jmx".to_owned(), 30);
        summary.pages = Pages::of(&loaded.plan);
        let keys = [
            RowKey::new(RowKind::Request, "users", "home"),
            RowKey::new(RowKind::Resource, "users", "home (image)"),
            RowKey::new(RowKind::Group, "users", "home"),
            RowKey::new(RowKind::Request, "users", "user 1"),
            RowKey::new(RowKind::Group, "users", "user 1"),
            RowKey::new(RowKind::Request, "users", "plain"),
            RowKey::new(RowKind::Group, "users", "a Java Request"),
        ];
        keys.iter().for_each(|key| summary.note(key));
        let samples = keys.map(|key| summary.is_sample(&key));
        assert_eq!(samples, [false, false, true, true, false, true, true]);
    }

    #[test]
    fn sums_are_merged() {
        let one = |least_us, most_us| Sum {
            count: 2,
            errors: 1,
            sum_us: 5.0,
            least_us: Some(least_us),
            most_us,
            seconds: 1.0,
        };
        let mut all = Sum::default();
        [one(3, 4), one(1, 9), Sum { seconds: 1.0, ..Sum::default() }]
            .iter()
            .for_each(|sum| all.merge(sum));
        assert_eq!((all.count, all.errors, all.least_us, all.most_us), (4, 2, Some(1), 9));
        assert_eq!((all.sum_us, all.seconds), (10.0, 3.0));
    }
}
