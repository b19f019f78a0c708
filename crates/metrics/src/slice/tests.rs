//! Tests of slices.

use super::*;
use crate::ErrorKind;
use crate::codec;
use crate::load::{Level, ScenarioLoad};
use crate::names::MAX_NUMBERS;
use crate::request_stats::Phases;
use proptest::prelude::*;

fn sample(latency_us: u64, status: u16) -> Sample {
    let mut phases = Phases::default();
    phases.add(3, latency_us * 900);
    phases.add(4, latency_us * 100);
    Sample {
        status,
        error: (status >= 400).then_some(ErrorKind::Status),
        bytes_in: 1_000,
        bytes_out: 100,
        phases,
        ..Sample::ok(latency_us)
    }
}

fn key(name: &str) -> RowKey {
    let mut key = RowKey::new(RowKind::Resource, "buyer", name);
    key.place.group.push("checkout".to_owned());
    key
}

proptest! {
    #[test]
    fn encoding_loses_nothing(
        samples in prop::collection::vec((0u32..20, 1u64..1_000_000, 100u16..600), 0..100),
        dropped in any::<u64>(),
    ) {
        let mut slice = Slice::new(3, 7);
        slice.announce(NameId(0), key("GET /ü"));
        slice.record_check(NameId(5), CheckResult::Warned);
        slice.counters.arrivals_dropped = dropped;
        let in_flight = Level { most: dropped, at_end: 3 };
        let load = ScenarioLoad { users: 7, in_flight, iterations_started: dropped, arrivals_dropped: 1 };
        slice.load = Load { in_flight, scenarios: vec![(NameId(9), load)] };
        let tags = vec![("to".to_owned(), "ü".to_owned())];
        let metric = MetricKey::new(MetricKind::Gauge, "buyer", "stock", tags);
        slice.announce_metric(MetricId(2), &metric);
        prop_assert_eq!(slice.record_metric(MetricId(2), metric.kind, -1.5, dropped), Ok(()));
        for (name, latency, status) in samples {
            slice.record(NameId(name), &sample(latency, status));
        }
        let mut bytes = Vec::new();
        slice.encode(&mut bytes);
        let read = Slice::decode(&mut bytes.as_slice()).expect("what was encoded");
        prop_assert_eq!(read.rows().collect::<Vec<_>>(), slice.rows().collect::<Vec<_>>());
        prop_assert_eq!(read.metrics().collect::<Vec<_>>(), slice.metrics().collect::<Vec<_>>());
        prop_assert_eq!(read.checks().collect::<Vec<_>>(), slice.checks().collect::<Vec<_>>());
        prop_assert_eq!((&read.metric_keys, &read.load), (&slice.metric_keys, &slice.load));
        prop_assert_eq!((read.time_account, read.self_metrics), (slice.time_account, slice.self_metrics));
        prop_assert_eq!((read.counters, read.names, read.second, read.source), (slice.counters, slice.names, 7, Source::Worker(3)));
        // Cut anywhere, it is an error and no panic.
        for length in 0..bytes.len() {
            prop_assert!(Slice::decode(&mut &bytes[..length]).is_err());
        }
    }

    #[test]
    fn decoding_anything_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Slice::decode(&mut bytes.as_slice());
    }
}

/// What is read from a file may be anything: its numbers saturate.
#[test]
fn counts_that_add_up_to_too_much_do_not_overflow() {
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), key("GET /"));
    for value in [10, 20] {
        slice.requests.row(NameId(0)).latency.record_n(value, u64::MAX / 2);
    }
    slice.requests.row(NameId(0)).count = u64::MAX;
    let mut bytes = Vec::new();
    slice.encode(&mut bytes);
    let first = Slice::decode(&mut bytes.as_slice()).expect("a slice");
    let (_, row) = first.rows().next().expect("a row");
    let mut sum = row.clone();
    sum.merge(row);
    assert_eq!(sum.count, u64::MAX);
    let latency = sum.latency;
    assert_eq!(latency.count(), u64::MAX);
    assert!((10..=20).contains(&latency.percentile(100.0)));
    assert!(latency.count_above(5) >= u64::MAX - 4);
}

#[test]
fn what_a_later_version_adds_is_skipped() {
    let mut slice = Slice::new(3, 7);
    slice.announce(NameId(0), key("GET /"));
    slice.record(NameId(0), &sample(500, 200));
    let mut bytes = Vec::new();
    slice.encode(&mut bytes);
    // The head is the magic bytes, then one byte each: version, worker, second, sections.
    let (head, sections) = bytes.split_at(8);
    let mut later = head.to_vec();
    later[7] += 1;
    codec::put(&mut later, 9_999);
    codec::put_block(&mut later, |out| out.extend_from_slice(b"what is this"));
    later.extend_from_slice(sections);
    let read = Slice::decode(&mut later.as_slice()).expect("a slice");
    assert_eq!(read.rows().collect::<Vec<_>>(), slice.rows().collect::<Vec<_>>());
    later[4] += 1;
    assert!(Slice::decode(&mut later.as_slice()).is_err(), "a later form of the head");
}

/// What was written before failures had their times is read, and has none; sums of squares are skipped.
#[test]
fn an_earlier_row_has_no_failures_with_times() {
    let mut row = RequestStats::default();
    row.record(&sample(500, 200));
    let mut bytes = Vec::new();
    // Count, no errors, none cut off, bytes; no kind of error and one status; one latency.
    for number in [1, 0, 0, 1_000, 100, 0, 1, 200, 1] {
        codec::put(&mut bytes, number);
    }
    row.latency.encode(&mut bytes);
    // A sum of squares before the only bucket, which has two bytes.
    let bucket = bytes.len() - 2;
    bytes.splice(bucket..bucket, [0x40; 8]);
    // No corrected latency, and nothing waited for; no phases.
    bytes.extend_from_slice(&[0; 4]);
    let mut read = RequestStats::default();
    read.decode(&mut bytes.as_slice(), 1).expect("a row");
    let phases = Default::default();
    assert_eq!(read, RequestStats { phases, ..row });
}

/// What was written before a section was there is read, and has nothing of it.
#[test]
fn an_earlier_record_has_no_load() {
    let mut slice = Slice::new(3, 7);
    slice.announce(NameId(0), key("GET /"));
    slice.record(NameId(0), &sample(500, 200));
    slice.counters.users_active = 4;
    let encoded = |slice: &Slice| {
        let mut bytes = Vec::new();
        slice.encode(&mut bytes);
        bytes
    };
    let earlier = encoded(&slice);
    let in_flight = Level { most: 5, at_end: 2 };
    slice.load = Load { in_flight, scenarios: vec![(NameId(0), ScenarioLoad::default())] };
    assert!(encoded(&slice).len() > earlier.len(), "a section of its own");
    let read = Slice::decode(&mut earlier.as_slice()).expect("a slice");
    assert_eq!((read.load, read.counters.users_active), (Load::default(), 4));
    assert_eq!(Slice::decode(&mut encoded(&slice).as_slice()).expect("a slice").load, slice.load);
}

/// The largest that a few bytes can claim to be: many buckets, a high number of a name.
#[test]
fn decoding_takes_no_more_memory_than_the_input_justifies() {
    let mut slice = Slice::new(0, 0);
    for name in (0..4_000).step_by(400) {
        for octave in 0..20 {
            slice.requests.row(NameId(name)).latency.record_n(3 << octave, 1 << 40);
        }
        slice.requests.row(NameId(name)).count = 20;
    }
    slice.requests.touched = (0..4_000).step_by(400).collect();
    let mut bytes = Vec::new();
    slice.encode(&mut bytes);
    let read = Slice::decode(&mut bytes.as_slice()).expect("a slice");
    assert_eq!(read.rows().count(), 10);
    let constant = 4_000 * size_of::<usize>() * 2;
    assert!(
        read.heap_bytes() <= constant + 8 * bytes.len(),
        "{} {}",
        read.heap_bytes(),
        bytes.len()
    );
}

#[test]
fn a_slice_may_have_as_many_names_as_a_run_and_no_more() {
    for (number, good) in [(1_326, true), (MAX_NUMBERS - 1, true), (MAX_NUMBERS, false)] {
        let mut slice = Slice::new(0, 0);
        slice.record(NameId(number), &sample(5, 200));
        let mut bytes = Vec::new();
        slice.encode(&mut bytes);
        assert_eq!(Slice::decode(&mut bytes.as_slice()).is_ok(), good, "{number}");
    }
}
