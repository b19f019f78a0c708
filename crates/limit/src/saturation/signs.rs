//! What says that something was full without a bound of its own: what waits, what overflows, and what stays the same while
//! the load rises.

use squall_base::units::{count, counted, percent};

use super::rules::{RANK_OF_OTHER_SIGNS, RANK_OF_POOLS, RANK_OF_QUEUES, amount};
use super::series::{Point, Series};
use super::{Finding, Seen, first_that, rises};

/// What waits is at least so many, and this many times what it was at the lowest level.
const LEAST_WAITING: f64 = 1.0;
const WAITING_ROSE: f64 = 3.0;
/// In use are this many of the limit at least, if all are, and so much of each other at all levels, if they are always as many.
const ALL: f64 = 0.95;
/// Threads that wait for a core or a disk for so many seconds a second wait noticeably.
const NOTICEABLE_WAIT_S: f64 = 0.5;
/// A disk is busy from this share of the time on, and waited for from this one on.
const BUSY: f64 = 0.7;
const WAITED_FOR: f64 = 0.6;
/// CPU time of a program that does one thing at a time, in cores.
const ONE_AT_A_TIME: (f64, f64) = (0.9, 1.05);

impl Seen<'_> {
    /// All of them.
    pub(super) fn signs(&self) -> Vec<Finding> {
        let look = |own| {
            let first = [self.waiting(own), self.overflows(own), self.waits(own)];
            first.into_iter().chain([self.one_at_a_time(own), self.disk(own)])
        };
        self.all.iter().flat_map(look).flatten().collect()
    }

    /// What a pool, or locks of a database, make wait.
    fn waiting(&self, own: &Series) -> Option<Finding> {
        let is_of_locks = own.of.name == "waiting";
        if !is_of_locks && own.waits_for().is_none() {
            return None;
        }
        let lowest = own.lowest().map_or(0.0, |point| point.mean);
        let waits = |point: &Point| point.mean >= LEAST_WAITING.max(WAITING_ROSE * lowest);
        let first = first_that(own, waits)?;
        if !rises(own, |point| point.mean, first) {
            return None;
        }
        let in_use = own.in_use(self.all);
        let there = in_use.and_then(|own| own.at(first.load));
        let number = |value: f64| count(value.max(0.0).round() as u64);
        let (at, waited) = (self.at(first), number(first.mean));
        let before = self.before(own, first, |point| format!("{} waited", number(point.mean)));
        let monitor = &own.of.monitor;
        let what = own.waits_for().unwrap_or_default().trim_end_matches('_');
        let (is_certain, text) = match (in_use, there.map(|point| (point, point.bound))) {
            _ if is_of_locks => {
                (false, format!("{waited} connections of {monitor} waited for locks {at}{before}"))
            }
            (_, Some((point, Some(bound)))) if point.mean >= ALL * bound => (
                own.points.len() >= super::LEAST_LEVELS,
                format!(
                    "all {} of {what} of {monitor} were in use, and {waited} waited {at}{before}",
                    number(bound)
                ),
            ),
            (_, Some((point, Some(bound)))) => (
                false,
                format!(
                    "{waited} waited for {what} of {monitor} {at}, although only {} of {} were in use{before}",
                    number(point.mean),
                    number(bound)
                ),
            ),
            (Some(used), Some((point, None))) if is_flat(used, first) => (
                false,
                format!(
                    "{} of {what} of {monitor} were in use {at} and never more, and {waited} waited{before}: that looks like all there are",
                    number(point.mean)
                ),
            ),
            _ => (
                false,
                format!(
                    "{waited} waited for {what} of {monitor} {at}{before}: what they wait for is not measured"
                ),
            ),
        };
        let order = (is_certain, RANK_OF_POOLS);
        let found = self.finding(own, order, first, text, |point| point.mean);
        Some(Finding { covers: in_use.map(|used| used.of.name.clone()), ..found })
    }

    /// Connections that came while a listen queue was full.
    fn overflows(&self, own: &Series) -> Option<Finding> {
        if own.of.name != "listen_overflows" {
            return None;
        }
        let number = |point: &Point| (point.mean * point.seconds).round();
        let first = first_that(own, |point| number(point) >= 1.0)?;
        if !rises(own, |point| point.mean, first) {
            return None;
        }
        let times = |point: &Point| counted(number(point) as u64, "time");
        let before = self.before(own, first, |point| times(point));
        let text = format!(
            "a listen queue of {} overflowed {} {}{before}",
            own.of.monitor,
            times(first),
            self.at(first)
        );
        let is_certain = own.points.len() >= super::LEAST_LEVELS;
        Some(self.finding(own, (is_certain, RANK_OF_QUEUES), first, text, |point| point.mean))
    }

    /// Threads that wait for a core or a disk.
    fn waits(&self, own: &Series) -> Option<Finding> {
        let what = match own.of.name.as_str() {
            "run_queue_wait" => "a core",
            "io_wait" => "disks",
            _ => return None,
        };
        let first = first_that(own, |point| point.mean >= NOTICEABLE_WAIT_S)?;
        let rose = own.lowest().is_some_and(|point| WAITING_ROSE * point.mean <= first.mean);
        if !rose || !rises(own, |point| point.mean, first) {
            return None;
        }
        let seconds = |point: &Point| format!("{:.1} s", point.mean);
        let before = self.before(own, first, |point| seconds(point));
        let text = format!(
            "threads of {} waited for {what} {} a second {}{before}",
            own.of.monitor,
            seconds(first),
            self.at(first)
        );
        Some(self.finding(own, (false, RANK_OF_OTHER_SIGNS), first, text, |point| point.mean))
    }

    /// A disk that works on several requests at a time may take more although it is always busy, and less although it is not
    /// always: it is full if tasks wait for it as well.
    fn disk(&self, own: &Series) -> Option<Finding> {
        if own.of.name != "disk_busy" {
            return None;
        }
        let pressure = |point: &Point| {
            let is_its = |other: &&Series| {
                other.of.monitor == own.of.monitor && other.of.name == "pressure_io"
            };
            self.all.iter().find(is_its)?.at(point.load).map(|own| own.mean)
        };
        let waited = |point: &Point| pressure(point).unwrap_or(0.0);
        let is_full = |point: &Point| point.mean >= BUSY && waited(point) >= WAITED_FOR;
        let first = first_that(own, is_full)?;
        if !rises(own, |point| point.mean, first) || !rises(own, waited, first) {
            return None;
        }
        let disk: Vec<&str> = own.of.tags.iter().map(|(_, value)| value.as_str()).collect();
        let words = |point: &Point| {
            format!("{} and {} of the time", percent(point.mean), percent(waited(point)))
        };
        let before = self.before(own, first, |point| words(point));
        let text = format!(
            "disk {} of {} was busy, and tasks waited for disks: {} {}{before}",
            disk.join(", "),
            own.of.monitor,
            words(first),
            self.at(first)
        );
        let is_certain = own.points.len() >= super::LEAST_LEVELS;
        Some(self.finding(own, (is_certain, RANK_OF_POOLS + 1), first, text, |point| point.mean))
    }

    /// A program that may use several cores, and stays at one.
    fn one_at_a_time(&self, own: &Series) -> Option<Finding> {
        let (least, most) = ONE_AT_A_TIME;
        let may_more = |point: &Point| point.bound.is_some_and(|bound| bound >= 1.5);
        let is_one = |point: &Point| may_more(point) && (least..=most).contains(&point.mean);
        if own.of.name != "cpu" || own.broken().count() < 2 || !own.broken().all(is_one) {
            return None;
        }
        let first = own.broken().next()?;
        if !rises(own, |point| point.mean, first) {
            return None;
        }
        let value = amount(&own.of.name, first.mean, first.bound, true);
        let before = self.before(own, first, |point| amount(&own.of.name, point.mean, None, true));
        let text = format!(
            "CPU of {} stayed at {value} from {} on{before}: as of a program that does one thing at a time",
            own.of.monitor,
            self.at(first).trim_start_matches("at ")
        );
        Some(self.finding(own, (false, RANK_OF_POOLS), first, text, |point| point.mean))
    }
}

/// Whether a value is as high as it ever is from this level on.
fn is_flat(own: &Series, first: &Point) -> bool {
    let most = own.points.iter().map(|point| point.mean).fold(0.0, f64::max);
    let mut above = own.broken().filter(|point| point.load >= first.load);
    most > 0.0 && above.all(|point| point.mean >= ALL * most)
}
