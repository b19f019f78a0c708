//! Makes seconds that strictly ascend of those that the runner tells, of which one may come again with what a late worker
//! had: receivers keep one value for a series and a time, so that a second one would take the place of the first. What
//! comes late counts in the next second. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use squall_metrics::{CheckCounts, Counters, MetricKey, MetricStats, RequestStats, RowKey};
use squall_runner::Second;

/// The name of the only counter that is a level.
pub const USERS: &str = "users_active";

/// When a second of the load began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Its number, from 0, from the start of the load.
    pub second: u32,
    /// In seconds since 1970 (UTC).
    pub unix_s: f64,
}

/// A second as it is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SentSecond {
    /// Its number, from 0, from the start of the load; greater than that of any before.
    pub second: u32,
    /// What was recorded in each row.
    pub rows: BTreeMap<Arc<RowKey>, RequestStats>,
    /// What checks came to.
    pub checks: BTreeMap<Arc<RowKey>, CheckCounts>,
    /// What the plan recorded itself.
    pub metrics: BTreeMap<Arc<MetricKey>, MetricStats>,
    /// What is counted besides requests.
    pub counters: Counters,
}

/// Brings seconds into order.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The second that follows the last one that was sent.
    next: u32,
    /// What came after its second was sent.
    late: Option<SentSecond>,
}

impl Timeline {
    /// The second to be sent now that this one has come, if any.
    pub fn take(&mut self, second: &Second) -> Option<SentSecond> {
        let mut own = SentSecond { second: second.second, ..SentSecond::default() };
        for row in &second.rows {
            own.rows.entry(row.key.clone()).or_default().merge(&row.stats);
        }
        for (key, counts) in &second.checks {
            own.checks.entry(key.clone()).or_default().merge(counts);
        }
        own.metrics.extend(second.metrics.iter().cloned());
        own.counters = second.counters;
        if second.second < self.next {
            match &mut self.late {
                Some(late) => late.merge(&own),
                late => *late = Some(own),
            }
            return None;
        }
        if let Some(late) = self.late.take() {
            let users = own.counters.users_active;
            own.merge(&late);
            // Users of a second that is past are no users of this one.
            own.counters.users_active = users;
        }
        self.next = second.second + 1;
        Some(own)
    }

    /// What is left when no second comes any more.
    pub fn rest(&mut self) -> Option<SentSecond> {
        let mut late = self.late.take()?;
        (late.second, late.counters.users_active) = (self.next, 0);
        self.next += 1;
        Some(late)
    }
}

impl SentSecond {
    /// Takes a later second in: what is counted adds up, levels are those of the later one.
    pub fn go_on(&mut self, later: &SentSecond) {
        self.merge(later);
        self.second = later.second;
        self.counters.users_active = later.counters.users_active;
    }

    fn merge(&mut self, other: &SentSecond) {
        for (key, stats) in &other.rows {
            self.rows.entry(key.clone()).or_default().merge(stats);
        }
        for (key, counts) in &other.checks {
            self.checks.entry(key.clone()).or_default().merge(counts);
        }
        for (key, stats) in &other.metrics {
            self.metrics.entry(key.clone()).or_default().merge(stats);
        }
        self.counters.merge(&other.counters);
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{RowKind, Sample};
    use squall_runner::Row;

    use super::*;

    fn second(number: u32, requests: u64, users_active: u64) -> Second {
        let mut stats = RequestStats::default();
        (0..requests).for_each(|_| stats.record(&Sample::ok(100)));
        Second {
            second: number,
            rows: vec![Row { key: Arc::new(RowKey::new(RowKind::Request, "s", "a")), stats }],
            counters: Counters { users_active, iterations_done: requests, ..Counters::default() },
            ..Second::default()
        }
    }

    /// Number, requests, users and iterations of a second that is sent.
    fn shown(sent: Option<SentSecond>) -> Option<(u32, u64, u64, u64)> {
        let sent = sent?;
        let count = sent.rows.values().map(|stats| stats.count).sum();
        Some((sent.second, count, sent.counters.users_active, sent.counters.iterations_done))
    }

    #[test]
    fn what_comes_late_counts_in_the_next_second_or_at_the_end() {
        let mut timeline = Timeline::default();
        assert_eq!(shown(timeline.take(&second(0, 3, 5))), Some((0, 3, 5, 3)));
        assert_eq!(shown(timeline.take(&second(2, 4, 5))), Some((2, 4, 5, 4)), "gaps stay gaps");
        assert_eq!(shown(timeline.take(&second(0, 1, 9))), None);
        assert_eq!(shown(timeline.take(&second(1, 1, 9))), None);
        assert_eq!(shown(timeline.take(&second(3, 2, 4))), Some((3, 4, 4, 4)));
        assert_eq!(shown(timeline.rest()), None);
        assert_eq!(shown(timeline.take(&second(3, 7, 9))), None);
        assert_eq!(shown(timeline.rest()), Some((4, 7, 0, 7)));
        assert_eq!(shown(timeline.rest()), None);
    }
}
