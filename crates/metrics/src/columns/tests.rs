//! Tests of rows as columns.

use proptest::prelude::*;

use super::*;
use crate::request_stats::{Phases, Sample};

/// Latency, in ns, what of it is the body's, the delay before it, and a status.
type Drawn = (u64, u64, Option<u64>, u16);

fn drawn() -> impl Strategy<Value = Vec<Vec<Drawn>>> {
    let latency = prop_oneof![0u64..3_000_000, 0u64..3_600_000_000_000];
    let one = (latency, 0u64..5_000_000, prop::option::of(0u64..9_000_000), 198u16..210);
    prop::collection::vec(prop::collection::vec(one, 0..60), 0..6)
}

fn sample((latency_ns, body, delay, status): Drawn) -> Sample {
    let mut phases = Phases::default();
    let body = body.min(latency_ns);
    phases.add(4, latency_ns - body);
    phases.add(5, body);
    let error = match status {
        198 => Some(ErrorKind::TimeoutBody),
        199 => Some(ErrorKind::Interrupted),
        201 => Some(ErrorKind::Check),
        202 => Some(ErrorKind::Reset),
        _ => None,
    };
    Sample {
        latency_ns,
        corrected_latency_ns: delay.map(|delay| latency_ns + delay),
        complete: error.is_none_or(|kind| kind == ErrorKind::Check),
        status: if status < 200 { 0 } else { status },
        error,
        bytes_in: latency_ns % 1_000,
        bytes_out: 7,
        retries: u64::from(status == 203),
        phases,
    }
}

fn recorded(rows: Vec<Vec<Drawn>>) -> Vec<RequestStats> {
    let row = |samples: Vec<Drawn>| {
        let mut row = RequestStats::default();
        samples.into_iter().for_each(|own| row.record(&sample(own)));
        row
    };
    rows.into_iter().map(row).collect()
}

fn read(columns: &Columns) -> Result<Vec<RequestStats>, crate::DecodeError> {
    let read = ColumnRows::decode(columns.0.each_ref().map(Vec::as_slice))?;
    let row = |row: usize| {
        let mut stats = RequestStats::default();
        read.merge_into(row, &mut stats);
        stats
    };
    Ok((0..read.len()).map(row).collect())
}

proptest! {
    #[test]
    fn nothing_is_lost(rows in drawn()) {
        let rows = recorded(rows);
        let columns = Columns::of(&rows.iter().collect::<Vec<_>>());
        prop_assert_eq!(read(&columns), Ok(rows));
    }

    /// Values that are often the same, of which buckets are written with their counts.
    #[test]
    fn nothing_is_lost_of_many_that_are_alike(
        rows in prop::collection::vec(prop::collection::vec((0u64..40, 1u64..2_000), 1..30), 1..5),
    ) {
        let row = |values: Vec<(u64, u64)>| {
            let mut row = RequestStats::default();
            for (value, count) in values {
                row.count += count;
                row.latency.record_n(value * value * 50, count);
                row.phases[4].record_n((value * value * 50).saturating_sub(value), count);
                row.phases[2].record_n(value % 3, count);
            }
            row
        };
        let rows: Vec<RequestStats> = rows.into_iter().map(row).collect();
        let columns = Columns::of(&rows.iter().collect::<Vec<_>>());
        prop_assert_eq!(read(&columns), Ok(rows));
    }

    /// Requests that were late by nothing, or hardly anything: the corrected latency beside the other.
    #[test]
    fn nothing_is_lost_of_a_latency_that_is_hardly_corrected(
        rows in prop::collection::vec(
            prop::collection::vec((0u64..90_000_000, 0u64..60_000), 1..80), 1..5,
        ),
        late in prop::sample::select(vec![0u64, 1, 40]),
    ) {
        let row = |samples: &Vec<(u64, u64)>| {
            let mut row = RequestStats::default();
            for (latency, delay) in samples {
                row.record(&sample((*latency, 0, Some(delay * late), 200)));
            }
            row
        };
        let rows: Vec<RequestStats> = rows.iter().map(row).collect();
        let columns = Columns::of(&rows.iter().collect::<Vec<_>>());
        prop_assert_eq!(read(&columns), Ok(rows));
        if late == 0 {
            prop_assert!(columns.0[DIFFERENCES].iter().all(|byte| *byte == 0), "nothing differs");
        }
    }

    /// Cut anywhere or with other bytes in it, it is refused or is something else, and nothing panics.
    #[test]
    fn what_is_damaged_does_no_harm(
        rows in drawn(), column in 0..COLUMNS, at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let rows = recorded(rows);
        let mut columns = Columns::of(&rows.iter().collect::<Vec<_>>());
        if let Some(last) = columns.0[column].len().checked_sub(1) {
            let at = at.index(last + 1);
            columns.0[column][at] = byte;
            let _ = read(&columns);
            columns.0[column].truncate(at);
            prop_assert!(read(&columns).is_err());
        }
    }

    #[test]
    fn anything_does_no_harm(bytes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), COLUMNS)) {
        let columns = Columns(std::array::from_fn(|at| bytes[at].clone()));
        let _ = read(&columns);
    }
}
