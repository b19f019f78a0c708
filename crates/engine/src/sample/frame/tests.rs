//! What a frame makes of made-up responses, as it is recorded.

use squall_metrics::ErrorKind;
use squall_wire::{ConnectTimes, Phase, Times};

use super::Frame;
use crate::sample::failure::SampleFailure;
use crate::sample::reply::Beside;
use crate::sample::sampled::{SampleHead, Sampled};
use crate::sample::testing::{Bench, NOW, after, response};
use crate::user::Strand;

fn bench() -> Bench {
    Bench::with("[{get: /, name: page}]", "")
}

fn head(bench: &Bench) -> SampleHead<'_> {
    let op = bench.request();
    SampleHead::of(&op.policy.row, &op.call.method, true)
}

/// Takes a sample as `perform` does, and closes it.
fn sample(
    bench: &Bench,
    head: SampleHead<'_>,
    perform: impl FnOnce(&mut Frame<'_>) -> Result<(), SampleFailure>,
) -> Sampled {
    let in_flight = bench.worker.in_flight.enter();
    let mut strand = Strand::default();
    strand.due = NOW.ready;
    let mut frame = Frame::new(&bench.worker, bench.core(), &in_flight, &mut strand, NOW);
    frame.name = head.name;
    let result = perform(&mut frame);
    let sampled = frame.close(head, &mut strand, result.map(|()| None));
    assert_eq!(strand.due, sampled.end.ready, "what comes next is due when this has ended");
    sampled
}

fn late(phase: Phase) -> Result<(), SampleFailure> {
    Err(SampleFailure::timeout(phase))
}

#[test]
fn a_response_is_recorded_with_its_status_its_bytes_and_its_latency() {
    let bench = bench();
    let sampled = sample(&bench, head(&bench), |frame| {
        let received = frame
            .received(&response(201, "HTTP/1.1 201 Created\r\n\r\n", "body"), &after(5_000_000));
        received.or_else(late)
    });
    assert!(!sampled.failed && sampled.end.ready == 5_001_100);
    let recorded = bench.finish();
    let (name, row) = recorded.only();
    assert_eq!((name.as_str(), row.count, row.errors), ("page", 1, 0));
    assert_eq!(row.status, [(201, 1)]);
    assert_eq!((row.bytes_in, row.bytes_out), (28, 100));
    assert_eq!(row.latency.max(), 5_000, "from 1,100 ns to 5 ms after that, in µs");
}

#[test]
fn what_has_no_name_yet_fails_under_its_kind() {
    let bench = Bench::with("[{set: {u: ''}}, {get: '${u}'}]", "");
    let sampled =
        sample(&bench, head(&bench), |_| Err(SampleFailure::new(ErrorKind::Render, "no URL")));
    assert!(sampled.failed);
    let recorded = bench.finish();
    let (name, row) = recorded.only();
    assert_eq!((name.as_str(), row.count, row.not_sent), ("GET (no URL)", 0, 1));
}

#[test]
fn what_does_not_count_is_in_no_row() {
    let bench = Bench::with("[{get: /, counted: false}]", "");
    let sampled = sample(&bench, head(&bench), |_| Err(SampleFailure::timeout(Phase::Body)));
    assert!(sampled.failed, "its user hears of it all the same");
    assert_eq!(bench.finish().slice().requests().count(), 0);
}

#[test]
fn what_squall_cuts_off_is_no_error() {
    let bench = bench();
    sample(&bench, head(&bench), |_| Err(SampleFailure::interrupted()));
    let recorded = bench.finish();
    let (_, row) = recorded.only();
    assert_eq!((row.count, row.errors, row.cut_off), (0, 0, 1));
    assert!(recorded.log.is_empty(), "and nothing is said of it");
}

#[test]
fn a_sample_is_in_flight_from_when_it_has_its_place() {
    let bench = bench();
    sample(&bench, head(&bench), |frame| {
        frame.enter();
        frame.enter();
        Ok(())
    });
    let load = bench.finish().slice().load.clone();
    assert_eq!((load.in_flight.most, load.in_flight.at_end), (1, 0));
    let bench = self::bench();
    sample(&bench, head(&bench), |_| Err(SampleFailure::interrupted()));
    assert_eq!(bench.finish().slice().load.in_flight.most, 0, "it had waited for a pool");
}

#[test]
fn an_exchange_that_came_to_nothing_costs_what_it_sent() {
    let bench = bench();
    sample(&bench, head(&bench), |frame| {
        let hello = response(200, "", "hello");
        frame.received(&hello, &after(10)).or_else(late)?;
        frame.begin_again(true);
        frame.came_to_nothing();
        frame.answered(503);
        Err(SampleFailure::new(ErrorKind::ClosedEarly, ""))
    });
    let recorded = bench.finish();
    let (_, row) = recorded.only();
    assert_eq!((row.bytes_in, row.bytes_out, row.retries), (5, 100, 1));
    assert_eq!(row.status, [(503, 1)], "the status that had come");
    assert_eq!(row.latency.count(), 0, "without a complete response there is no latency");
    assert_eq!(recorded.slice().counters.stale_retries, 1);
}

#[test]
fn only_what_the_kernel_stamped_can_be_late() {
    let bench = bench();
    for (delay_ns, first, end, late) in [
        (Some(1), 1_300, 1_400, None),
        (Some(1), 2_001, 2_001, Some(Phase::FirstByte)),
        (Some(1), 2_000, 3_001, Some(Phase::Body)),
        (None, 9_000, 9_000, None),
    ] {
        sample(&bench, head(&bench), |frame| {
            frame.set_deadlines(1_000, 2_000);
            let times = Times { first_byte_ns: first, end_ns: end, delay_ns, ..after(0) };
            let received = frame.received(&response(200, "", ""), &times);
            assert_eq!(received.err(), late, "{delay_ns:?}, {first}, {end}");
            Ok(())
        });
    }
}

#[test]
fn an_error_is_written_down_with_its_response_and_its_place() {
    let bench = bench();
    sample(&bench, head(&bench), |frame| {
        let body = response(500, "HTTP/1.1 500 No\r\n\r\n", "oops");
        frame.received(&body, &after(10)).or_else(late)?;
        frame.fail(ErrorKind::Status, String::new);
        frame.fail(ErrorKind::Check, || unreachable!("the first error counts"));
        frame.keep_excerpt(&body);
        let result = Ok(());
        frame.explain(&result, || "GET http://a.test/".to_owned());
        result
    });
    let recorded = bench.finish();
    let [line] = recorded.log.as_slice() else { panic!("{:?}", recorded.log) };
    assert_eq!(line, "page: status: status 500, 4 bytes, GET http://a.test/");
    let example = &recorded.examples[0];
    assert_eq!((example.status, example.excerpt.as_str()), (500, "oops"));
}

#[test]
fn what_was_seen_of_a_reply_that_then_came_to_nothing_is_forgotten() {
    let bench = bench();
    sample(&bench, head(&bench), |frame| {
        let body = response(500, "", "oops");
        frame.received(&body, &after(10)).or_else(late)?;
        frame.fail(ErrorKind::Status, String::new);
        frame.keep_excerpt(&body);
        late(Phase::Body)
    });
    let recorded = bench.finish();
    assert_eq!(recorded.only().1.error_kinds, [(ErrorKind::TimeoutBody, 1)]);
    let example = &recorded.examples[0];
    assert_eq!((example.kind, example.excerpt.as_str()), (ErrorKind::TimeoutBody, ""));
}

#[test]
fn a_load_with_a_schedule_has_corrected_latencies_of_what_is_scheduled() {
    for (load, is_scheduled, corrected) in [
        ("users: 1, for: 1s", true, 0),
        ("rate: 5/s, for: 1s", true, 1),
        ("rate: 5/s, for: 1s", false, 0),
    ] {
        let bench = Bench::one_of(1, load, "[{get: /}]", "");
        let head = SampleHead { is_scheduled, ..head(&bench) };
        sample(&bench, head, |frame| {
            frame.received(&response(200, "", ""), &after(10)).or_else(late)
        });
        let recorded = bench.finish();
        assert_eq!(recorded.only().1.corrected_latency.count(), corrected, "{load}");
    }
}

#[test]
fn a_connection_that_squall_saw_late_is_its_own_delay() {
    let bench = bench();
    sample(&bench, head(&bench), |frame| {
        let times = ConnectTimes {
            begin_ns: 1_000,
            connect_ns: Some(40),
            delay_ns: 25,
            ..ConnectTimes::default()
        };
        frame.connected(&times, 1_065);
        frame.received(&response(200, "", ""), &after(10)).or_else(late)
    });
    let recorded = bench.finish();
    assert_eq!(recorded.slice().self_metrics.connect_delay.count(), 1);
    assert_eq!(recorded.only().1.phases.iter().filter(|phase| phase.count() > 0).count(), 3);
}

#[test]
fn extracts_and_checks_see_no_more_of_a_body_than_is_kept() {
    let steps = "[{get: /, extract: {word: {regex: '[a-z]+$'}}, check: 'body_bytes == 8'}]";
    let bench = Bench::with(steps, "");
    for (kept, word) in [(u64::MAX, "abcdefgh"), (3, "abc")] {
        let sampled = sample(&bench, head(&bench), |frame| {
            let response = response(200, "", "abcdefgh");
            frame.received(&response, &after(10)).or_else(late)?;
            let beside = Beside { kept, ..Beside::default() };
            frame.with_reply(&response, beside, |frame, reply| {
                frame.process(reply, &bench.request().policy.post, Vec::new())
            });
            Ok(())
        });
        assert!(!sampled.failed, "the length is that of the whole body");
        assert_eq!(bench.variable("word").as_deref(), Some(word));
    }
}
