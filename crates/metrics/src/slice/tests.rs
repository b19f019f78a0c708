//! Tests of slices.

use super::*;
use crate::ErrorKind;
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

proptest! {
    #[test]
    fn encoding_loses_nothing(
        samples in prop::collection::vec((0u32..20, 1u64..1_000_000, 100u16..600), 0..100),
        dropped in any::<u64>(),
    ) {
        let mut slice = Slice::new(3, 7);
        slice.announce(NameId(0), NameKind::Request, "GET /ü");
        slice.counters.arrivals_dropped = dropped;
        let tags = vec![("to".to_owned(), "ü".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "stock", tags);
        slice.announce_metric(MetricId(2), &key);
        prop_assert_eq!(slice.record_metric(MetricId(2), key.kind, -1.5, dropped), Ok(()));
        for (name, latency, status) in samples {
            slice.record(NameId(name), &sample(latency, status));
        }
        let mut bytes = Vec::new();
        slice.encode(&mut bytes);
        let read = Slice::decode(&mut bytes.as_slice()).expect("what was encoded");
        prop_assert_eq!(read.rows().collect::<Vec<_>>(), slice.rows().collect::<Vec<_>>());
        prop_assert_eq!(read.metrics().collect::<Vec<_>>(), slice.metrics().collect::<Vec<_>>());
        prop_assert_eq!(&read.metric_keys, &slice.metric_keys);
        prop_assert_eq!((read.time_account, read.self_metrics), (slice.time_account, slice.self_metrics));
        prop_assert_eq!((read.counters, read.names, read.second, read.worker), (slice.counters, slice.names, 7, 3));
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
    slice.announce(NameId(0), NameKind::Request, "GET /");
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
    slice.announce(NameId(0), NameKind::Request, "GET /");
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
    later[4] = 2;
    assert!(Slice::decode(&mut later.as_slice()).is_err(), "a later form of the head");
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
