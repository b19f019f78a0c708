//! Tests of histograms, against HdrHistogram.

use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram: Histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

fn reference(values: &[u64]) -> hdrhistogram::Histogram<u64> {
    let mut histogram =
        hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, 3).expect("good bounds");
    values.iter().for_each(|value| histogram.record(*value).expect("in range"));
    histogram
}

#[test]
fn an_empty_one_costs_little_and_says_nothing() {
    let empty: Histogram = Histogram::new();
    assert_eq!((empty.heap_bytes(), empty.percentile(99.0), empty.mean()), (0, 0, 0.0));
    assert!(size_of::<Histogram>() <= 64);
}

#[test]
fn what_is_above_an_hour_counts_as_an_hour() {
    assert_eq!(of(&[u64::MAX]).max(), HIGHEST);
}

#[test]
fn counters_do_not_overflow() {
    let mut histogram: Histogram = Histogram::new();
    histogram.record_n(5, u64::from(u32::MAX));
    histogram.record_n(5, 10);
    histogram.record_n(7, 1 << 40);
    assert_eq!(
        histogram.touched().map(|(_, count)| count).collect::<Vec<_>>(),
        [u64::from(u32::MAX) + 10, 1 << 40]
    );
    let mut bytes = Vec::new();
    histogram.encode(&mut bytes);
    assert_eq!(Histogram::decode(&mut bytes.as_slice()).expect("what was encoded"), histogram);
}

#[test]
fn mean_and_deviation() {
    let histogram = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((histogram.mean(), histogram.sd()), (5.0, 2.0));
}

#[test]
fn a_mean_keeps_fractions_of_a_microsecond() {
    let mut histogram: Histogram = Histogram::new();
    [10_250, 10_500, 11_500].into_iter().for_each(|ns| histogram.record_ns(ns));
    assert_eq!((histogram.mean(), histogram.min(), histogram.max()), (10.75, 10, 11));
    histogram.record_ns(u64::MAX);
    assert_eq!((histogram.max(), histogram.sum()), (HIGHEST, HIGHEST as f64 + 32.25));
}

#[test]
fn a_mean_is_no_more_than_the_largest_value() {
    let mut histogram: Histogram = Histogram::new();
    [10_400, 10_500, 10_900].into_iter().for_each(|ns| histogram.record_ns(ns));
    assert_eq!((histogram.mean(), histogram.min(), histogram.max()), (10.0, 10, 10));
    assert_eq!(histogram.sd(), 0.0, "less than what buckets tell apart");
}

proptest! {
    #[test]
    fn buckets_hold_what_they_should(value in 0..HIGHEST) {
        let (low, width) = bucket_at::<FINE>(index_of::<FINE>(value));
        prop_assert!(low <= value && value < low + width && width * 1_000 <= value.max(1_000));
        let (low, width) = bucket_at::<COARSE>(index_of::<COARSE>(value));
        prop_assert!(low <= value && value < low + width && width * 100 <= value.max(100));
    }

    #[test]
    fn percentiles_are_hdrhistograms(
        values in prop::collection::vec(prop_oneof![1u64..5_000, 1u64..HIGHEST], 1..200),
        p in 0f64..=100.0,
    ) {
        let (ours, theirs) = (of(&values), reference(&values));
        prop_assert_eq!(ours.count(), theirs.len());
        // Ours ends at the largest value, theirs at the end of its bucket.
        prop_assert_eq!(ours.percentile(p), theirs.value_at_percentile(p).min(ours.max()));
        let several = [0.0, p, p, 100.0];
        prop_assert_eq!(ours.percentiles(several), several.map(|p| ours.percentile(p)));
    }

    #[test]
    fn merging_is_as_recording_all(
        a in prop::collection::vec(0..HIGHEST, 0..100),
        b in prop::collection::vec(0..HIGHEST, 0..100),
    ) {
        let (mut ab, mut ba) = (of(&a), of(&b));
        ab.merge(&of(&b));
        ba.merge(&of(&a));
        let all = of(&[a, b].concat());
        prop_assert_eq!(&ab, &all);
        prop_assert_eq!(&ba, &all);
    }

    #[test]
    fn a_packed_one_says_the_same_and_takes_more(
        a in prop::collection::vec(0..HIGHEST, 0..2_000),
        b in prop::collection::vec(0..HIGHEST, 0..100),
    ) {
        let mut packed = of(&a);
        packed.compact();
        prop_assert!(packed.heap_bytes() <= 6 * a.len());
        prop_assert_eq!(&packed, &of(&a));
        packed.merge(&of(&b));
        prop_assert_eq!(&packed, &of(&[a, b].concat()));
        packed.compact();
        packed.clear();
        prop_assert_eq!((packed.heap_bytes(), packed.count()), (0, 0));
    }

    #[test]
    fn merging_what_is_packed_is_as_recording_all(
        a in prop::collection::vec(0..3_000u64, 0..700),
        b in prop::collection::vec(
            (prop_oneof![0..3_000u64, 0..HIGHEST], prop_oneof![8 => 1u64..3, 1 => 65_000u64..70_000]),
            0..100,
        ),
    ) {
        let (mut own, mut other, mut all) = (of(&a), Histogram::new(), of(&a));
        for (value, count) in b {
            other.record_n(value, count);
            all.record_n(value, count);
        }
        other.compact();
        own.merge(&other);
        prop_assert_eq!(own, all);
    }

    /// Lists that only others are added to grow beyond those that values are added to.
    #[test]
    fn merging_many_is_as_recording_all(
        parts in prop::collection::vec(
            (prop::collection::vec(0..20_000u64, 0..900), any::<bool>()), 1..8,
        ),
        later in prop::collection::vec(0..20_000u64, 0..10),
    ) {
        let (mut own, mut all) = (Histogram::new(), Vec::new());
        for (values, is_packed) in parts {
            let mut part = of(&values);
            if is_packed {
                part.compact();
            }
            own.merge(&part);
            all.extend(values);
            prop_assert_eq!(&own, &of(&all));
        }
        later.iter().for_each(|value| own.record(*value));
        all.extend(later);
        prop_assert_eq!(own, of(&all));
    }

    #[test]
    fn encoding_loses_nothing(values in prop::collection::vec(0..HIGHEST, 0..2_000)) {
        let histogram = of(&values);
        let mut bytes = Vec::new();
        histogram.encode(&mut bytes);
        let mut rest = bytes.as_slice();
        prop_assert_eq!(Histogram::decode(&mut rest).expect("what was encoded"), histogram);
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn decoding_anything_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Histogram::<FINE>::decode(&mut bytes.as_slice());
    }

    #[test]
    fn a_cleared_one_is_as_new(values in prop::collection::vec(0..HIGHEST, 1..50)) {
        let mut histogram = of(&values);
        histogram.clear();
        prop_assert_eq!(&histogram, &Histogram::new());
        histogram.record(3);
        prop_assert_eq!(histogram, of(&[3]));
    }
}
