//! Stamps and times that are made up, and a receiver of TCP that is simulated, whose segments get lost.

use squall_base::random::Random;

use super::*;

const MS: u64 = 1_000_000;
const TICK: u64 = 4 * MS;
const NOW: u64 = 1_800_000_000_000 * MS;

fn inflow(out_of_order: u32, last_ms: u64) -> Option<Inflow> {
    Some(Inflow { out_of_order, last_ns: last_ms * MS, tick_ns: TICK })
}

#[test]
fn who_is_late_has_the_stamp_where_nothing_came_out_of_order() {
    let mut arrivals = Arrivals::default();
    // What came meanwhile makes no difference.
    let ago = arrivals.ago_ns(NOW - 20 * MS, NOW, || RECENT_NS, || inflow(0, 0));
    assert_eq!(ago, Some(20 * MS));
}

#[test]
fn a_recent_stamp_is_taken_without_asking() {
    let mut arrivals = Arrivals::default();
    let ago =
        arrivals.ago_ns(NOW - RECENT_NS + 1, NOW, || RECENT_NS, || panic!("nobody needs to know"));
    assert_eq!(ago, Some(RECENT_NS - 1));
    assert_eq!(arrivals.ago_ns(0, NOW, || RECENT_NS, || panic!("there is no stamp")), None);
}

#[test]
fn a_stamp_is_recent_if_it_is_from_behind_the_last_look_that_found_nothing() {
    let looks = Looks::default();
    // It waited, and was woken.
    looks.looked(1_000 * MS, 1_200 * MS);
    assert_eq!(looks.recent_ns(1_201 * MS), MS + RECENT_NS);
    // It was busy between two looks, of which the first had found nothing.
    looks.looked(1_203 * MS, 1_203 * MS + 10_000);
    assert_eq!(looks.recent_ns(1_204 * MS), 4 * MS + RECENT_NS);
    looks.looked(1_205 * MS, 1_205 * MS + 10_000);
    assert_eq!(looks.recent_ns(1_206 * MS), 3 * MS + RECENT_NS);
    looks.looked(1_207 * MS, 1_300 * MS);
    assert_eq!(looks.recent_ns(1_300 * MS), RECENT_NS);
}

#[test]
fn a_stamp_from_before_a_gap_was_closed_is_replaced() {
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 204 * MS, NOW, || RECENT_NS, || inflow(2, 0)), Some(0));
    // Of what was read behind it, of the same gap.
    assert_eq!(
        arrivals.ago_ns(NOW - 203 * MS, NOW + 7, || RECENT_NS, || panic!("it is recent")),
        Some(7)
    );
}

#[test]
fn who_is_late_behind_a_gap_is_told_to_within_two_ticks() {
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 204 * MS, NOW, || RECENT_NS, || inflow(2, 52)), Some(48 * MS));
}

/// The bytes before a gap are read late, and TCP knows of what has arrived behind it: the gap is no news when it is
/// closed.
#[test]
fn a_gap_that_was_known_before_is_seen_when_it_is_closed() {
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 20 * MS, NOW, || RECENT_NS, || inflow(1, 20)), Some(16 * MS));
    let later = NOW + 200 * MS;
    assert_eq!(arrivals.ago_ns(NOW - MS, later, || RECENT_NS, || inflow(1, 0)), Some(0));
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 5 * MS, NOW, || RECENT_NS, || inflow(3, 0)), Some(0));
    // A second gap behind the first one.
    let later = NOW + 3 * MS;
    assert_eq!(arrivals.ago_ns(NOW - 4 * MS, later, || RECENT_NS, || inflow(3, 4)), Some(0));
}

#[test]
fn a_gap_of_long_ago_moves_no_stamp_that_may_be_right() {
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 204 * MS, NOW, || RECENT_NS, || inflow(2, 0)), Some(0));
    let later = NOW + 1_000 * MS;
    for (late, last) in [(20, 20), (20, 24), (20, 17), (1, 0)] {
        let stamp = later - late * MS;
        let mut arrivals = Arrivals { ..arrivals };
        assert_eq!(
            arrivals.ago_ns(stamp, later, || RECENT_NS, || inflow(2, last)),
            Some(late * MS)
        );
    }
}

#[test]
fn a_clock_that_is_set_back_leaves_stamps_alone() {
    let mut arrivals = Arrivals::default();
    assert_eq!(arrivals.ago_ns(NOW - 1, NOW, || RECENT_NS, || None), Some(1));
    let earlier = NOW - 3_600_000 * MS;
    assert_eq!(arrivals.ago_ns(earlier - 9, earlier, || RECENT_NS, || None), Some(9));
    assert_eq!(arrivals.ago_ns(earlier + 1, earlier, || RECENT_NS, || None), None);
}

/// A segment at the receiver: its place in the stream, and when it arrived, lost ones after they were sent again.
#[derive(Clone, Copy)]
struct Segment {
    place: usize,
    arrived: u64,
}

/// The responses on a connection, one after the other: their segments, in the order in which they arrive.
fn response(
    random: &mut Random,
    from: u64,
    places: std::ops::Range<usize>,
    loss: usize,
) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = from;
    for place in places {
        at += random.below(200_000) as u64;
        let mut arrived = at;
        while random.below(1_000) < loss {
            let longest = [10, 400][random.below(2)];
            arrived += (1 + random.below(longest)) as u64 * MS;
        }
        segments.push(Segment { place, arrived });
    }
    segments.sort_by_key(|segment| segment.arrived);
    segments
}

/// What a simulated kernel knows at a moment of what has arrived on a connection.
#[derive(Default)]
struct Receiver {
    /// By place: when it arrived, and since when it can be read.
    came: Vec<Option<(u64, u64)>>,
    /// How many segments can be read.
    ready: usize,
    out_of_order: u32,
    last: u64,
}

impl Receiver {
    fn take(&mut self, segment: Segment) {
        self.came[segment.place] = Some((segment.arrived, segment.arrived));
        if segment.place != self.ready {
            self.out_of_order += 1;
            return;
        }
        while let Some(Some((_, since))) = self.came.get_mut(self.ready) {
            *since = segment.arrived;
            self.ready += 1;
        }
        self.last = segment.arrived;
    }

    fn inflow(&self, now: u64) -> Inflow {
        let last_ns = (now / TICK - self.last / TICK) * TICK;
        Inflow { out_of_order: self.out_of_order, last_ns, tick_ns: TICK }
    }
}

/// Responses over a connection that loses so many of 1,000 segments, read by a program that is busy for up to so long at a
/// time; for the end of each: when it could be read, and when the program says that it could.
fn tell(seed: u64, loss: usize, busy: u64) -> Vec<(u64, u64)> {
    const SEGMENTS: usize = 30;
    let mut random = Random::new(seed);
    let (mut kernel, mut arrivals) = (Receiver::default(), Arrivals::default());
    let (mut now, mut read, mut ends) = (NOW, 0, Vec::new());
    for number in 0..20 {
        let places = number * SEGMENTS..(number + 1) * SEGMENTS;
        let end = places.end;
        kernel.came.resize(end, None);
        let mut coming = response(&mut random, now, places, loss).into_iter().peekable();
        while read < end {
            // It waits for something to read, and then it is busy, or looks at once.
            while kernel.ready == read {
                let segment = coming.next().expect("all of it arrives");
                kernel.take(segment);
                now = now.max(segment.arrived);
            }
            now +=
                if random.below(3) == 0 { random.below(busy as usize + 1) as u64 } else { 20_000 };
            while let Some(segment) = coming.next_if(|segment| segment.arrived <= now) {
                kernel.take(segment);
            }
            read = kernel.ready.min(read + 1 + random.below(SEGMENTS));
            let (stamp, since) = kernel.came[read - 1].expect("it can be read");
            let ago = arrivals.ago_ns(stamp, now, || RECENT_NS, || Some(kernel.inflow(now)));
            if read == end {
                ends.push((since, now - ago.expect("a stamp")));
            }
        }
    }
    ends
}

#[test]
fn responses_end_when_they_could_be_read() {
    for seed in 0..2_000 {
        for (loss, busy) in [(0, 30 * MS), (5, 0), (20, 0), (50, 30 * MS)] {
            for (truth, said) in tell(seed, loss, busy) {
                let apart = said.abs_diff(truth);
                let allowed = match (loss, busy) {
                    (0, _) => 0,
                    // A response is read in some parts, one after the other.
                    (_, 0) => 2 * RECENT_NS,
                    _ => 2 * TICK,
                };
                assert!(apart <= allowed, "seed {seed}, loss {loss}, busy {busy}: {apart} ns");
            }
        }
    }
}
