//! Tests of records and their merging.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use squall_analysis::Totals;
use squall_base::random::Random;
use squall_engine::{ErrorExample, Exchange, ExchangeCopy, LogLine, SeenGroup};
use squall_metrics::{
    CheckCounts, Counters, ErrorKind, Level, MetricKey, MetricKind, MetricStats, Phases,
    RequestStats, RowKey, RowKind, Sample, ScenarioLoad, TimeAccount, UserState,
};
use squall_plan::secrets::Secrets;
use squall_runner::{Row, Second};

use super::*;
use crate::seal::RunKey;

const NS: u64 = 1_000_000_000;
const WORKERS: u32 = 37;
const SECONDS: u32 = 3;

fn key(kind: RowKind, name: &str) -> Arc<RowKey> {
    Arc::new(RowKey::new(kind, "shopper", name))
}

/// A request that a worker makes in a second, always the same one.
fn sample(random: &mut Random) -> Sample {
    let latency_ns = 1_000_000 + random.next_u64() % 90_000_000;
    let mut phases = Phases::default();
    phases.add(4, latency_ns - latency_ns / 9);
    phases.add(5, latency_ns / 9);
    let error = (random.below(10) == 0).then_some(ErrorKind::Status);
    let status = if error.is_some() { 503 } else { 200 };
    let corrected_latency_ns = Some(latency_ns + random.next_u64() % 50_000);
    let bytes_in = random.next_u64() % 5_000;
    Sample { latency_ns, corrected_latency_ns, status, error, bytes_in, phases, ..Sample::ok(0) }
}

/// What some of the workers record in a second, merged as a node does.
fn second(number: u32, workers: &[u32]) -> Second {
    let mut rows: BTreeMap<Arc<RowKey>, RequestStats> = BTreeMap::new();
    let (mut checks, mut metrics) = (CheckCounts::default(), BTreeMap::new());
    let mut second = Second { second: number, ..Second::default() };
    let mut load = ScenarioLoad::default();
    for worker in workers {
        let mut random = Random::of(7, u64::from(*worker), u64::from(number), 0);
        let mut slice = Slice::new(*worker, number);
        for _ in 0..60 {
            // Later seconds have names that earlier ones have not, in no order.
            let name = format!("GET /{}", random.below(7 + 5 * number as usize));
            let own = rows.entry(key(RowKind::Request, &name)).or_default();
            own.record(&sample(&mut random));
            slice.self_metrics.send_delay.record_ns(random.next_u64() % 900_000);
        }
        let group = rows.entry(key(RowKind::Group, "checkout")).or_default();
        group.count += 2;
        group.latency.record_n(1_000 + u64::from(*worker), 2);
        checks.merge(&CheckCounts { passed: 3, failed: u64::from(*worker) % 2, warned: 0 });
        for (kind, name, value) in [
            (MetricKind::Counter, "bought", random.below(100) as f64 / 7.0),
            (MetricKind::Trend, "basket", random.below(1_000) as f64 / 3.0),
            (MetricKind::Gauge, "stock", random.below(1_000) as f64 / 3.0),
        ] {
            let own = MetricKey::new(kind, "shopper", name, Vec::new());
            let stats: &mut MetricStats = metrics.entry(Arc::new(own)).or_default();
            // Nodes have clocks of their own, and at most one of them is later than all others.
            let at = u64::from(number) * NS + u64::from(*worker);
            let mut one = MetricStats::default();
            one.record(kind, value, at).expect("a value");
            stats.merge(&one);
        }
        slice.self_metrics.cpu_ns = u64::from(*worker) * 1_000;
        second.self_metrics.merge(&slice.self_metrics);
        slice.counters = Counters { users_active: 2, iterations_started: 9, ..Counters::default() };
        second.counters.merge(&slice.counters);
        let in_flight = Level { most: 3, at_end: u64::from(*worker) };
        second.load.in_flight.add_worker(in_flight);
        load.add_worker(&ScenarioLoad { users: 2, in_flight, ..ScenarioLoad::default() });
        slice.time_account = TimeAccount::finished(2, NS - u64::from(*worker));
        // The highest number has finished before the last second.
        if number + 1 < SECONDS || *worker + 1 < WORKERS {
            second.slices.push(slice);
        }
    }
    second.load.scenarios.insert("shopper".to_owned(), load);
    second.rows = rows.into_iter().map(|(key, stats)| Row { key, stats }).collect();
    second.checks = vec![(key(RowKind::Check, "status is 200"), checks)];
    second.metrics = metrics.into_iter().collect();
    second
}

/// The slices of all seconds of so many nodes, whose records come in another order each second.
fn merged(nodes: u32) -> Vec<Slice> {
    let mut merger = Merger::new();
    let slice = |number| {
        let mut order: Vec<u32> = (0..nodes).collect();
        order.rotate_left((number * 5 % nodes) as usize);
        for node in order {
            let workers: Vec<u32> = (0..WORKERS).filter(|own| own % nodes == node).collect();
            let record = decode(&encode(&second(number, &workers), &Aside::default()));
            merger.add(&format!("n{node}"), "eu", number, &record.expect("a record"));
        }
        merger.take(number, Source::Worker(0)).expect("a slice")
    };
    (0..SECONDS).map(slice).collect()
}

/// Of all that is written of a run at its end, and of every second of it.
fn written(slices: &[Slice]) -> Vec<u8> {
    let mut totals = Totals::new();
    let mut out = Vec::new();
    for slice in slices {
        slice.encode(&mut out);
        assert!(totals.add(slice));
    }
    let summary = totals.summary().expect("all names are known");
    summary.all.encode(&mut out);
    summary.sources.iter().for_each(|own| own.encode(&mut out));
    out
}

#[test]
fn the_same_requests_through_any_number_of_nodes_come_to_the_same_bytes() {
    let one = merged(1);
    let mut all = RequestStats::default();
    for number in 0..SECONDS {
        let second = second(number, &(0..WORKERS).collect::<Vec<_>>());
        second.rows.iter().for_each(|row| all.merge(&row.stats));
    }
    let mut sum = RequestStats::default();
    one.iter().flat_map(Slice::rows).for_each(|(_, row)| sum.merge(row));
    assert_eq!((sum.count, &sum), (u64::from(WORKERS * SECONDS) * 62, &all));
    for nodes in [4, WORKERS] {
        assert!(written(&merged(nodes)) == written(&one), "{nodes} nodes");
    }
}

#[test]
fn users_that_have_finished_are_accounted_for() {
    for nodes in [1, WORKERS] {
        for slice in merged(nodes) {
            let own = &slice.time_account;
            let all = u64::from(2 * WORKERS);
            assert_eq!((own.users, own.covered_ns), (all, NS), "second {}", slice.second);
            assert_eq!(own.time(UserState::Finished), (all * NS) as i64);
        }
    }
}

#[test]
fn the_busiest_worker_is_one_of_a_node() {
    let slices = merged(4);
    let busiest = slices.iter().map(|slice| slice.self_metrics.busiest_ns());
    assert_eq!(busiest.collect::<Vec<_>>(), [36_000; 3]);
}

fn run_key() -> RunKey {
    RunKey::from_bytes(&[7; 32]).expect("32 bytes")
}

/// A record as who has the run's key reads it.
fn opened(aside: &Aside) -> Record {
    let record = encode(&second(1, &[0]), aside);
    Decoder::of_run(run_key()).decode(&record).expect("a record")
}

fn record(workers: &[u32], aside: &Aside) -> Record {
    decode(&encode(&second(1, workers), aside)).expect("a record")
}

#[test]
fn what_is_late_is_a_slice_of_another_source_with_all_its_names() {
    let mut merger = Merger::with_rows([(*key(RowKind::Request, "GET /9")).clone()], 1_000);
    merger.add("a", "", 1, &record(&[0], &Aside::default()));
    let first = merger.take(1, Source::Worker(0)).expect("a slice");
    assert!(merger.take(1, Source::Worker(0)).is_none(), "nothing more has come");
    merger.add("b", "", 1, &record(&[1], &Aside::default()));
    let late = merger.take(1, Source::Worker(1)).expect("a slice");
    assert_eq!(late.rows().map(|(_, row)| row.count).sum::<u64>(), 62);
    let known: Vec<_> = late.names.iter().map(|(id, _)| *id).collect();
    assert!(late.rows().all(|(id, _)| known.contains(&id)));
    let number = |slice: &Slice, name: &str| {
        slice.names.iter().find(|(_, key)| key.name == name).map(|(id, _)| id.0)
    };
    assert_eq!(number(&first, "GET /9").or(number(&late, "GET /9")), Some(0), "the plan's order");
}

#[test]
fn names_beyond_the_limit_count_as_other() {
    let mut merger = Merger::with_rows([], 5);
    merger.add("a", "", 1, &record(&[0, 1], &Aside::default()));
    let slice = merger.take(1, Source::Worker(0)).expect("a slice");
    let others = slice.names.iter().filter(|(_, key)| key.name == squall_metrics::OTHER).count();
    assert!(others > 0 && slice.names.len() <= 5 + RowKind::ALL.len(), "{:?}", slice.names);
    assert_eq!(slice.rows().map(|(_, row)| row.count).sum::<u64>(), 2 * 62);
}

#[test]
fn a_node_has_facts_of_its_own() {
    let mut own = second(1, &[0, 1]);
    for (name, share) in [("squall_cpu", 0.25), ("host_cpu", 0.5)] {
        let mut stats = MetricStats::default();
        stats.record(MetricKind::Gauge, share, NS).expect("a value");
        let key = MetricKey::new(MetricKind::Gauge, "", name, Vec::new());
        own.metrics.push((Arc::new(key), stats));
    }
    let record = decode(&encode(&own, &Aside::default())).expect("a record");
    let mut merger = Merger::new();
    for node in 0..MAX_NODES_WITH_FACTS + 9 {
        merger.add(&format!("n{node}"), "eu", 1, &record);
    }
    let slice = merger.take(1, Source::Worker(0)).expect("a slice");
    assert!(slice.metric_keys.iter().all(|(_, key)| !key.is_of_monitor()));
    let facts = merger.take_facts(1, Source::Monitor(0)).expect("facts");
    assert!(facts.metric_keys.len() <= squall_metrics::MAX_METRICS);
    let of = |label: &str| {
        let (id, _) = facts.metric_keys.iter().find(|(_, key)| key.label() == label)?;
        facts.metrics().find(|(own, _)| own == id).map(|(_, stats)| stats.clone())
    };
    let requests = |label| of(label).map(|stats| stats.sum());
    assert_eq!(requests("node_requests{node=n7,zone=eu}"), Some(120.0));
    assert_eq!(requests("node_requests{node=other,zone=eu}"), Some(9.0 * 120.0));
    assert_eq!(requests("zone_requests{zone=eu}"), Some(109.0 * 120.0));
    let latency = of("node_latency{node=n7,zone=eu}").expect("a trend").trend;
    let requests = own.rows.iter().filter(|row| row.key.place.kind.is_request());
    let mut all = squall_metrics::Histogram::new();
    requests.for_each(|row| all.merge(&row.stats.latency));
    assert_eq!(latency, all);
    let share = |label| of(label).and_then(|stats| stats.gauge()).map(|gauge| gauge.last);
    assert_eq!(share("node_cpu{node=n7,zone=eu}"), Some(0.25));
    assert_eq!(share("node_host_cpu{node=n7,zone=eu}"), Some(0.5));
    assert_eq!(share("node_users{node=n7,zone=eu}"), Some(4.0));
}

#[test]
fn a_recording_holds_the_facts_of_any_nodes_and_zones() {
    let record = decode(&encode(&second(1, &[0]), &Aside::default())).expect("a record");
    let mut merger = Merger::new();
    for node in 0..1_000 {
        let zone = if node % 3 == 0 { String::new() } else { format!("z{}", node % 300) };
        merger.add(&format!("n{node}"), &zone, 1, &record);
    }
    let facts = merger.take_facts(1, Source::Monitor(0)).expect("facts");
    assert!(facts.metric_keys.len() <= squall_metrics::MAX_METRICS);
    let mut bytes = Vec::new();
    facts.encode(&mut bytes);
    let read = squall_metrics::Slice::decode(&mut &bytes[..]).expect("it can be read again");
    let requests = |name: &str| {
        let ids: HashSet<_> = read
            .metric_keys
            .iter()
            .filter(|(_, key)| key.name == name)
            .map(|(id, _)| *id)
            .collect();
        read.metrics().filter(|(id, _)| ids.contains(id)).map(|(_, stats)| stats.sum()).sum::<f64>()
    };
    let of_all = 1_000.0
        * record
            .rows()
            .filter(|(_, key)| key.place.kind.is_request())
            .map(|(row, _)| record.rows.counts(row).0 as f64)
            .sum::<f64>();
    assert!(of_all > 0.0);
    assert_eq!(requests("node_requests"), of_all, "nobody is left out");
    assert_eq!(requests("zone_requests"), of_all * 0.666);
}

fn line() -> LogLine {
    let example = ErrorExample {
        scenario: "shopper".to_owned(),
        name: "GET /".to_owned(),
        kind: ErrorKind::Status,
        status: 503,
        number: 4,
        excerpt: "over\u{fc}".to_owned(),
    };
    let text = "status 503".to_owned();
    LogLine { worker: 3, second: 7, text, is_failure: true, example: Some(example) }
}

fn exchange(secret: &str) -> Exchange {
    let mut secrets = Secrets::default();
    secrets.add(secret);
    let hop = ExchangeCopy {
        url: format!("http://h/?key={secret}"),
        request: format!("GET / HTTP/1.1\r\nX-Key: {secret}\r\n\r\n").into_bytes(),
        request_bytes: 90,
        is_answered: true,
        status: 200,
        times_us: [1, 2, 3],
        bytes: (5, 6),
        head: b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        body: format!("you are {secret}").into_bytes(),
        body_bytes: 5_000,
        ..ExchangeCopy::default()
    };
    Exchange {
        at_us: 1_234,
        worker: 2,
        scenario: "shopper".to_owned(),
        step: "3.1".to_owned(),
        name: format!("GET {secret}"),
        secrets: Arc::new(secrets),
        hops: vec![hop],
        status: -3,
        part_of: Some(5),
        error: Some((ErrorKind::Check, format!("not {secret}"))),
        checks: vec![
            ("status == 200".to_owned(), false, Ok(true)),
            ("body".to_owned(), true, Err(format!("no {secret}"))),
        ],
        ..Exchange::default()
    }
}

#[test]
fn what_goes_along_comes_out_without_secrets() {
    const SECRET: &str = "SeCrEtVaLuE99";
    let mut aside = Aside::of_run(run_key());
    aside.log(&line());
    aside.exchange(&exchange(SECRET));
    let group = SeenGroup { at_us: 9, one_sample: Some(5), is_page: true, ..SeenGroup::default() };
    aside.group(&group);
    let record = opened(&aside).of_node(3);
    assert!(!format!("{:?}", record.aside).contains(SECRET));
    assert_eq!(record.aside.log, [line()]);
    let [own] = record.exchanges() else { panic!("one exchange") };
    let sent = exchange(SECRET);
    assert_eq!((own.at_us, own.worker, &own.step, own.status), (1_234, 2, &sent.step, -3));
    assert_eq!((own.name.as_str(), own.hops.len()), ("GET ***", 1));
    assert_eq!((own.hops[0].body.as_slice(), own.hops[0].body_bytes), (&b"you are ***"[..], 5_000));
    assert_eq!(own.error, Some((ErrorKind::Check, "not ***".to_owned())));
    assert_eq!(own.checks[0], sent.checks[0]);
    assert_eq!(
        own.part_of, record.aside.groups[0].one_sample,
        "the parts of a group stay its parts"
    );
    assert_ne!(own.part_of, Some(5));
    assert!(record.aside.groups[0].is_page);
    assert_eq!(record.aside.left_out, LeftOut::default());
}

/// The server and whoever reads it see neither what requests had in them nor what came back; who has the run's key does.
#[test]
fn what_requests_had_in_them_is_encrypted() {
    let mut aside = Aside::of_run(run_key());
    aside.log(&line());
    aside.exchange(&exchange("SeCrEtVaLuE99"));
    aside.group(&SeenGroup { name: "checkout of ann".to_owned(), ..SeenGroup::default() });
    let bytes = encode(&second(1, &[0]), &aside);
    let mut seen = bytes.to_vec();
    seen.extend(message::plain_sections(&bytes).expect("a record"));
    let holds = |text: &str| seen.windows(text.len()).any(|own| own == text.as_bytes());
    for text in ["you are", "HTTP/1.1", "X-Key", "http://h/", "over\u{fc}", "checkout of ann"] {
        assert!(!holds(text), "{text}");
    }
    assert!(holds("status 503"), "`squall fleet logs` shows lines without the key");
    let shut = decode(&bytes).expect("it is a record without the key, too");
    assert_eq!((shut.exchanges().len(), shut.aside.groups.len()), (0, 0));
    assert_eq!(shut.aside.log, [LogLine { example: None, ..line() }]);
    let [own] = &opened(&aside).aside.exchanges[..] else { panic!("one exchange") };
    assert_eq!(own.hops[0].body, b"you are ***");
}

/// What was measured in a second does not go with what somebody has damaged beside it.
#[test]
fn copies_that_are_damaged_are_left_out_and_counted() {
    let mut aside = Aside::of_run(run_key());
    aside.log(&line());
    for secret in ["one", "two"] {
        aside.exchange(&exchange(secret));
    }
    aside.group(&SeenGroup::default());
    let bytes = encode(&second(1, &[0]), &aside);
    let mut damaged = bytes.to_vec();
    *damaged.last_mut().expect("a record") ^= 1;
    let other = RunKey::from_bytes(&[8; 32]).expect("a key");
    for (bytes, key) in [(&damaged[..], run_key()), (&bytes[..], other)] {
        let record = Decoder::of_run(key).decode(bytes).expect("the second is there");
        assert_eq!(record.aside.left_out, LeftOut { log: 0, exchanges: 2, groups: 1 });
        assert_eq!((record.exchanges().len(), record.aside.groups.len()), (0, 0));
        assert_eq!(record.aside.log, [LogLine { example: None, ..line() }]);
        let whole = Decoder::of_run(run_key()).decode(&encode(&second(1, &[0]), &Aside::default()));
        let whole: Vec<RowKey> =
            whole.expect("a record").rows().map(|(_, key)| key.clone()).collect();
        assert!(record.rows().map(|(_, key)| key).eq(whole.iter()) && !whole.is_empty());
    }
}

/// A test or a tool that has no run has no copies.
#[test]
fn without_a_key_nothing_of_requests_goes_along() {
    let mut aside = Aside::default();
    aside.log(&line());
    aside.exchange(&exchange("SeCrEtVaLuE99"));
    aside.group(&SeenGroup::default());
    let record = opened(&aside);
    assert_eq!(record.aside.log, [LogLine { example: None, ..line() }]);
    assert_eq!(record.aside.left_out, LeftOut { log: 0, exchanges: 1, groups: 1 });
}

#[test]
fn what_does_not_fit_is_counted() {
    let mut aside = Aside::of_run(run_key());
    let mut large = exchange("SeCrEtVaLuE99");
    large.hops[0].body = vec![b'x'; 100_000];
    for _ in 0..20 {
        aside.exchange(&large);
    }
    for _ in 0..5_000 {
        aside.log(&line());
        aside.group(&SeenGroup::default());
    }
    let record = opened(&aside);
    let SeenAside { log, exchanges, groups, left_out, .. } = &record.aside;
    assert_eq!(exchanges.len() as u64 + left_out.exchanges, 20);
    assert_eq!(log.len() as u64 + left_out.log, 5_000);
    assert_eq!(groups.len() as u64 + left_out.groups, 5_000);
    assert!(exchanges.len() >= 4 && left_out.exchanges > 0 && left_out.log > 0);
}

proptest! {
    /// Cut anywhere it is refused; with another byte anywhere it is refused or something else.
    #[test]
    fn what_is_damaged_does_no_harm(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut aside = Aside::of_run(run_key());
        aside.log(&line());
        aside.exchange(&exchange("SeCrEtVaLuE99"));
        let mut bytes = encode(&second(0, &[0]), &aside).to_vec();
        let at = at.index(bytes.len());
        prop_assert!(decode(&bytes[..at]).is_err());
        bytes[at] = byte;
        fuzz(&bytes);
    }

    #[test]
    fn anything_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz(&bytes);
    }
}

/// Names that are known already are those that would have been read, also between records with others.
#[test]
fn a_decoder_reads_what_another_reads() {
    let mut decoder = Decoder::default();
    for (number, worker) in (0..3).chain([1, 0, 2]).flat_map(|number| [(number, 0), (number, 1)]) {
        let bytes = encode(&second(number, &[worker]), &Aside::default());
        let (known, read) = (decoder.decode(&bytes).expect("a record"), decode(&bytes));
        let read = read.expect("a record");
        assert_eq!(known.names, read.names);
        assert_eq!(format!("{:?}", known.rows), format!("{:?}", read.rows));
    }
    let again = encode(&second(1, &[1]), &Aside::default());
    let [one, other] = [(); 2].map(|()| decoder.decode(&again).expect("a record"));
    assert!(Arc::ptr_eq(&one.names, &other.names));
}

/// Names that resemble each other are a few bytes each.
#[test]
fn names_take_little() {
    let row = |number| Row {
        key: key(RowKind::Request, &format!("GET /catalog/items/{number}")),
        stats: RequestStats::default(),
    };
    let second = Second { rows: (0..200).map(row).collect(), ..Second::default() };
    let sections = section_bytes(&encode(&second, &Aside::default())).expect("a record");
    let (name, _, bytes) = sections[0];
    assert!(name == "names" && bytes < 400, "{name}: {bytes} bytes");
}

/// A corrected latency beside the other costs something only where requests were late.
#[test]
fn a_latency_that_is_not_corrected_takes_little() {
    let bytes = |delay: Option<u64>| {
        let mut random = Random::of(3, 1, 4, 1);
        let row = |number| {
            let mut stats = RequestStats::default();
            for _ in 0..50 {
                let own = sample(&mut random);
                let corrected_latency_ns = delay.map(|delay| own.latency_ns + delay);
                stats.record(&Sample { corrected_latency_ns, ..own });
            }
            Row { key: key(RowKind::Request, &format!("GET /{number}")), stats }
        };
        let second = Second { rows: (0..200).map(row).collect(), ..Second::default() };
        encode(&second, &Aside::default()).len()
    };
    let (without, in_time, late) = (bytes(None), bytes(Some(0)), bytes(Some(20_000)));
    assert!(in_time < without + 250, "{without} bytes, and {in_time} with both");
    assert!(late > in_time, "{in_time} bytes, and {late} where requests were late");
}
