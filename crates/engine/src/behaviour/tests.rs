//! What users do, on virtual time: each request fails before anything is sent, so that nothing needs a network.

mod scripted;
mod scripts;

use squall_metrics::RowKind;

use crate::testing::{Bench, FAILS, Handed, MS, S, program, scenario};

/// A scenario, run up to a time.
fn run(load: &str, steps: &str, more: &str, until: u64) -> Handed {
    let bench = Bench::new(scenario(load, steps, more));
    bench.run_to(until);
    bench.finish()
}

/// Seconds of the run, each with a count.
type Counts = Vec<(u32, u64)>;

/// How many iterations began, and how many ended, in the seconds that have any.
fn iterations(handed: &Handed) -> (Counts, Counts) {
    let of = |count: fn(&squall_metrics::Slice) -> u64| {
        let counts = handed.slices.iter().map(|slice| (slice.second, count(slice)));
        counts.filter(|(_, count)| *count > 0).collect()
    };
    (of(|slice| slice.counters.iterations_started), of(|slice| slice.counters.iterations_done))
}

/// One of two users fails in its second second, with another request right behind that.
#[test]
fn on_error_decides_what_follows_a_failure() {
    let after = "{get: '${bad}', name: after}";
    let steps = format!(
        "{{group: g, steps: [{{think: 1s}}, {{if: 'user == 0', then: [{FAILS}, {after}]}}, {{think: 1s}}]}}"
    );
    // Failures, what came behind them, iterations begun and done, groups that ended, failed and were cut off, and how
    // long what is in flight has when the end of the run is asked for.
    type Outcome = ([u64; 4], (u64, u64, u64), Option<u64>);
    let expected: [(&str, Outcome); 5] = [
        ("continue", ([2, 2, 4, 4], (4, 2, 0), None)),
        ("next_iteration", ([2, 0, 4, 4], (4, 2, 0), None)),
        ("stop_user", ([1, 0, 3, 2], (2, 0, 1), None)),
        ("stop_run", ([1, 0, 2, 0], (0, 0, 2), Some(30))),
        ("abort_run", ([1, 0, 2, 0], (0, 0, 2), Some(0))),
    ];
    for (on_error, outcome) in expected {
        let more = format!("on_error: {on_error}");
        let handed = run("users: 2, iterations: 2", &steps, &more, 20 * S);
        let counters = handed.totals.counters();
        let [bad, after] = ["bad", "after"].map(|name| handed.failed(name));
        let seen = [bad, after, counters.iterations_started, counters.iterations_done];
        let asked = handed.stop_asked.map(|graceful| graceful.as_secs());
        assert_eq!((seen, handed.spans(RowKind::Group, "g"), asked), outcome, "{on_error}");
    }
}

#[test]
fn an_iteration_that_an_error_ends_is_over_at_once() {
    let steps = format!("{{think: 1s}}, {FAILS}, {{think: 1h}}");
    let handed = run("users: 1, iterations: 3", &steps, "on_error: next_iteration", 10 * S);
    assert_eq!(iterations(&handed), (vec![(0, 1), (1, 1), (2, 1)], vec![(1, 1), (2, 1), (3, 1)]));
}

#[test]
fn an_iteration_begins_at_once_after_the_last_or_when_the_pacing_says_so() {
    let begun = |load| iterations(&run(load, "{think: 2500ms}", "on_error: continue", 30 * S)).0;
    assert_eq!(begun("users: 1, iterations: 3"), [(0, 1), (2, 1), (5, 1)]);
    // Who is late begins at once, and at its time again after that.
    assert_eq!(begun("users: 1, iterations: 3, pacing: 4s"), [(0, 1), (4, 1), (8, 1)]);
    assert_eq!(begun("users: 1, iterations: 3, pacing: 1s"), [(0, 1), (2, 1), (5, 1)]);
}

#[test]
fn the_end_of_the_run_cuts_off_groups_that_wait() {
    let bench = Bench::new(scenario(
        "users: 1, for: 1h",
        "{group: outer, steps: [{group: before, steps: [{think: 1s}]}, {group: inner, steps: [{think: 1m}]}]}",
        "on_error: continue",
    ));
    bench.run_to(3 * S);
    bench.worker.stop_run(std::time::Duration::ZERO);
    bench.run_to(4 * S);
    let handed = bench.finish();
    let groups = ["outer", "before", "inner"].map(|name| handed.spans(RowKind::Group, name));
    assert_eq!(groups, [(0, 0, 1), (1, 0, 0), (0, 0, 1)]);
    assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (0, 0, 1));
    let inner = handed.totals.of_kind(RowKind::Group).find(|(key, _)| key.name == "inner");
    let waited_us = inner.expect("a row").1.waited.max();
    assert!((1_990_000..=2_010_000).contains(&waited_us), "{waited_us}");
}

/// What a branch that fails does to the other one, which waits, and to what is around both.
#[test]
fn a_branch_that_fails_ends_the_others_only_where_on_error_says_so() {
    let steps = format!(
        "{{group: all, steps: [{{parallel: [{{group: good, steps: [{{think: 5s}}]}}, \
         {{group: worse, steps: [{{think: 1s}}, {FAILS}, {{think: 1s}}]}}]}}]}}"
    );
    let expected = [
        // All wait for the longest branch.
        ("continue", [(1, 1, 0), (1, 0, 0), (1, 1, 0)], (5, 1)),
        // All end at once, with the iteration.
        ("next_iteration", [(1, 1, 0), (1, 0, 0), (1, 1, 0)], (1, 1)),
        ("stop_user", [(0, 0, 1), (0, 0, 1), (0, 0, 1)], (0, 0)),
        ("stop_run", [(0, 0, 1), (0, 0, 1), (0, 0, 1)], (0, 0)),
    ];
    for (on_error, groups, done) in expected {
        let handed =
            run("users: 1, iterations: 1", &steps, &format!("on_error: {on_error}"), 20 * S);
        let seen = ["all", "good", "worse"].map(|name| handed.spans(RowKind::Group, name));
        assert_eq!(seen, groups, "{on_error}");
        let ended = iterations(&handed).1;
        assert_eq!(ended.first().copied().unwrap_or_default(), done, "{on_error}");
    }
}

#[test]
fn branches_are_begun_as_others_end() {
    let branch = |name: &str, seconds| format!("{{group: {name}, steps: [{{think: {seconds}s}}]}}");
    let branches = [branch("a", 1), branch("b", 5), branch("c", 1), branch("d", 1)].join(", ");
    let steps = format!("{{group: all, steps: [{{parallel: {{limit: 2, steps: [{branches}]}}}}]}}");
    let handed = run("users: 1, iterations: 1", &steps, "on_error: continue", 20 * S);
    for name in ["all", "a", "b", "c", "d"] {
        assert_eq!(handed.spans(RowKind::Group, name), (1, 0, 0), "{name}");
    }
    assert_eq!(iterations(&handed).1, [(5, 1)]);
}

#[test]
fn loops_in_branches_keep_their_own_count() {
    let repeat = |times, name: &str| {
        format!("{{repeat: {times}, steps: [{{group: {name}, steps: [{{think: 1s}}]}}]}}")
    };
    let steps = format!(
        "{{repeat: 2, steps: [{{parallel: {{limit: 1, steps: [{}, {}]}}}}]}}",
        repeat(3, "three"),
        repeat(2, "two")
    );
    let handed = run("users: 1, iterations: 1", &steps, "on_error: continue", 30 * S);
    let rows = ["three", "two"].map(|name| handed.spans(RowKind::Group, name).0);
    assert_eq!((rows, iterations(&handed).1), ([6, 4], vec![(10, 1)]));
}

/// A clock has one register, which its first step gets: in a branch, before it or in an earlier one.
#[test]
fn branches_go_by_a_clock_that_others_share() {
    let pace = "{pace: {rate: 0.5, clock: c}}";
    let expected = [
        (format!("{{parallel: [{pace}, {pace}]}}"), [(1, 1), (3, 1)]),
        (format!("{pace}, {{parallel: [{pace}, {{think: 1s}}]}}"), [(3, 1), (6, 1)]),
    ];
    for (steps, ended) in expected {
        let steps = format!("{{think: 1s}}, {steps}");
        let handed = run("users: 1, iterations: 2", &steps, "on_error: continue", 30 * S);
        assert_eq!(iterations(&handed).1, ended, "{steps}");
    }
}

/// The second iteration takes the second turn, though an error ended the first one in another branch.
#[test]
fn turns_in_a_branch_go_on_whatever_ended_it() {
    let one = |name: &str| format!("{{steps: [{{group: {name}, steps: [{{think: 100ms}}]}}]}}");
    let steps = format!(
        "{{parallel: [{{round_robin: [{}, {}]}}, {{group: bad, steps: [{{think: 1s}}, {FAILS}]}}]}}",
        one("a"),
        one("b")
    );
    let handed = run("users: 1, iterations: 2", &steps, "on_error: next_iteration", 30 * S);
    let groups = ["a", "b", "bad"].map(|name| handed.spans(RowKind::Group, name));
    assert_eq!(groups, [(1, 0, 0), (1, 0, 0), (2, 2, 0)]);
}

/// A user that waits for others, in a branch and by itself, goes when the run ends.
#[test]
fn who_waits_for_others_goes_when_the_run_ends() {
    for steps in [
        "{group: g, steps: [{rendezvous: {users: 2}}]}",
        "{parallel: [{group: g, steps: [{rendezvous: {users: 2}}]}, {think: 1h}]}",
        "{parallel: [{group: g, steps: [{think: 1h}]}, {think: 1h}]}",
    ] {
        let bench = Bench::new(scenario("users: 1, for: 2h", steps, "on_error: continue"));
        bench.run_to(2 * S);
        bench.worker.stop_run(std::time::Duration::ZERO);
        bench.run_to(2 * S + MS);
        assert!(bench.worker.roster.borrow().is_done(), "{steps}");
        let handed = bench.finish();
        assert_eq!(handed.spans(RowKind::Group, "g"), (0, 0, 1), "{steps}");
        assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (0, 0, 1), "{steps}");
    }
}

#[test]
fn who_meets_goes_on_at_the_same_time() {
    let bench = Bench::new(program(
        "scenarios:
  a: {load: {users: 1, iterations: 1}, steps: [{think: 1s}, {group: a, steps: [{rendezvous: {users: 2, name: x}}]}]}
  b: {load: {users: 1, iterations: 1}, steps: [{think: 3s}, {group: b, steps: [{rendezvous: {users: 2, name: x}}]}]}
  c:
    load: {users: 2, iterations: 1}
    steps: [{critical_section: s, steps: [{group: c, steps: [{think: 4s}]}]}]",
    ));
    bench.run_to(20 * S);
    let handed = bench.finish();
    let longest = |name: &str| {
        let row = handed.totals.of_kind(RowKind::Group).find(|(key, _)| key.name == name);
        row.map(|(_, stats)| (stats.count, (stats.latency.max() + 500_000) / 1_000_000))
    };
    assert_eq!(["a", "b", "c"].map(longest), [Some((1, 2)), Some((1, 0)), Some((2, 4))]);
    assert_eq!(iterations(&handed).1, [(3, 2), (4, 1), (8, 1)]);
}
