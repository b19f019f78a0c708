//! What JMeter's listeners are told of a sample: some columns of its row, and how many requests are in it.

use super::jtl::{
    BYTES, CODE, ELAPSED, FAILED, FAILURE, LABEL, MESSAGE, Row, SENT_BYTES, SUCCESS, TRANSACTION,
    group, request,
};
use super::sample::GroupPart;
use crate::cell::Cell;

/// A sample as JMeter's listeners know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListenedSample {
    pub name: String,
    /// How long it took, in ms.
    pub elapsed_ms: u64,
    pub has_failed: bool,
    /// Its code: mostly a status.
    pub code: String,
    /// What is said beside that.
    pub message: String,
    /// What the first of its assertions that failed says; empty: none did.
    pub failure: String,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Samples that are in it, itself among them, but for transactions around others.
    pub hits: u64,
    /// Whether it is a transaction beside its samples, whose hits and bytes are theirs.
    pub is_apart: bool,
    /// Users that were active in the last whole second.
    pub users: u64,
}

impl ListenedSample {
    pub fn of(part: &GroupPart<'_>) -> ListenedSample {
        let (row, users) = match part {
            GroupPart::Request(own) => (request(own), own.users.1),
            GroupPart::Group(own) => (group(own), own.users.1),
        };
        ListenedSample {
            name: text(&row, LABEL),
            elapsed_ms: count(&row, ELAPSED),
            has_failed: row.cells[SUCCESS] == FAILED,
            code: text(&row, CODE),
            message: text(&row, MESSAGE),
            failure: text(&row, FAILURE),
            bytes_in: count(&row, BYTES),
            bytes_out: count(&row, SENT_BYTES),
            hits: hits(&row),
            is_apart: is_transaction(&row) && row.parts.is_empty(),
            users,
        }
    }
}

fn is_transaction(row: &Row<'_>) -> bool {
    matches!(&row.cells[MESSAGE], Cell::Text(text) if text.starts_with(TRANSACTION))
}

/// As `SamplerMetric.addHits` of Apache JMeter 5.6.3 counts them.
fn hits(row: &Row<'_>) -> u64 {
    let own = !is_transaction(row) || row.parts.is_empty();
    u64::from(own) + row.parts.iter().map(hits).sum::<u64>()
}

fn text(row: &Row<'_>, column: usize) -> String {
    match &row.cells[column] {
        Cell::Text(text) => text.to_string(),
        Cell::Empty | Cell::Count(_) | Cell::Number(_) => String::new(),
    }
}

fn count(row: &Row<'_>, column: usize) -> u64 {
    match row.cells[column] {
        Cell::Count(count) => count,
        Cell::Empty | Cell::Number(_) | Cell::Text(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GroupSample, RequestSample, SamplePart};
    use super::*;

    #[test]
    fn hits_are_requests_with_their_parts_and_transactions_that_stand_apart() {
        let redirected = RequestSample {
            name: "r".into(),
            status: 500,
            latency_ns: 1_600_000,
            error: Some((squall_metrics::ErrorKind::Status, "".into())),
            parts: vec![SamplePart::default(), SamplePart::default()],
            ..RequestSample::default()
        };
        let part = GroupPart::Request(Box::new(redirected));
        let own = ListenedSample::of(&part);
        assert_eq!((own.hits, own.has_failed, own.elapsed_ms), (3, true, 2));
        assert_eq!((own.code.as_str(), own.message.as_str()), ("500", "Internal Server Error"));
        let group = |samples, parts| {
            GroupPart::Group(Box::new(GroupSample { samples, parts, ..GroupSample::default() }))
        };
        let whole = group((3, 1), Some(vec![part]));
        let apart = group((2, 0), None);
        let alone = group((0, 0), None);
        let seen = [&whole, &apart, &alone].map(|part| {
            let own = ListenedSample::of(part);
            (own.hits, own.is_apart)
        });
        assert_eq!(seen, [(3, false), (1, true), (1, false)]);
    }
}
