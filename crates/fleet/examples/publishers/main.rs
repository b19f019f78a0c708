//! Many nodes that publish the record of a second every second, and who merges them. Run by `bench/fleet/publishers.py`.
//!
//! `publishers publish URL NODES SECONDS NAMES SAMPLES` has a connection for each node; they publish one after the other
//! within each second. `publishers merge URL NODES SECONDS` merges what comes as a controller does. Both print JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_base::random::Random;
use squall_fleet::protocol::io::{Answer, Input};
use squall_fleet::protocol::keys;
use squall_fleet::record::{Aside, Decoder, Merger, encode};
use squall_fleet::transport::{Connect, EVENTS_WAITING, Event, Nats, Room, Transport};
use squall_metrics::{Phases, RequestStats, RowKey, RowKind, Sample, Source};
use squall_runner::{Row, Second};
use tokio::sync::mpsc;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const RUN: &str = "bench";
/// Bytes before a record: when it was sent, and its second.
const HEAD: usize = 12;
/// Different records; nodes share them.
const RECORDS: u32 = 50;
/// From the last connection to the first second.
const BEFORE: Duration = Duration::from_secs(2);
/// How long the merger waits for what does not come: a thousand connections take a minute before the first second.
const PATIENCE: Duration = Duration::from_secs(180);

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// A record of so many names with so many requests each, whose bodies come with their heads.
fn record(node: u32, names: u32, samples: u32) -> Arc<[u8]> {
    let mut random = Random::new(u64::from(node) + 1);
    let row = |name: u32| {
        let mut stats = RequestStats::default();
        for _ in 0..samples {
            // A sum of four is nearly normal.
            let normal = (0..4).map(|_| random.below(1_000)).sum::<usize>() as f64 / 577.0 - 3.46;
            let first_byte = (1e6 * f64::from(5 + name % 60) * (0.5 * normal).exp()) as u64;
            let body = 1_000 + random.below(3_000) as u64;
            let mut phases = Phases::default();
            phases.add(4, first_byte);
            phases.add(5, body);
            let latency_ns = first_byte + body;
            let sizes = Sample { bytes_in: 1_234, bytes_out: 180, ..Sample::ok(0) };
            stats.record(&Sample { latency_ns, phases, ..sizes });
        }
        let key = RowKey::new(RowKind::Request, "shopper", &format!("GET /catalog/items/{name}"));
        Row { key: Arc::new(key), stats }
    };
    let rows = (0..names).map(row).collect();
    let second = Second { rows, ..Second::default() };
    encode(&second, &Aside::default())
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words[..] {
        ["publish", url, nodes, seconds, names, samples] => {
            let (names, samples) = (names.parse()?, samples.parse()?);
            let records = (0..RECORDS).map(|node| record(node, names, samples)).collect();
            runtime.block_on(publish(url, nodes.parse()?, seconds.parse()?, records))
        }
        ["merge", url, nodes, seconds] => {
            runtime.block_on(merge(url, nodes.parse()?, seconds.parse()?))
        }
        _ => Err("expected `publish URL NODES SECONDS NAMES SAMPLES` or `merge URL NODES SECONDS`"
            .into()),
    }
}

async fn connected(url: &str, name: &str) -> Outcome<(Nats, mpsc::Receiver<Event>)> {
    let (events, arrives) = mpsc::channel(EVENTS_WAITING);
    let nats = Nats::open(Connect::to(url, name), events).await.map_err(|own| own.to_string())?;
    Ok((nats, arrives))
}

async fn publish(url: &str, nodes: u32, seconds: u32, records: Vec<Arc<[u8]>>) -> Outcome<()> {
    let bytes = records.iter().map(|own| own.len()).sum::<usize>() / records.len();
    let mut clients = Vec::new();
    for node in 0..nodes {
        clients.push(connected(url, &format!("n{node}")).await?);
    }
    let start = Instant::now() + BEFORE;
    let mut publishers = Vec::new();
    for (node, client) in (0..).zip(&clients) {
        let record = records[node as usize % records.len()].clone();
        let first = start + Duration::from_secs(1) * node / nodes;
        publishers.push(tokio::spawn(publish_one(client.0.clone(), node, first, seconds, record)));
    }
    let mut waits = Vec::new();
    for publisher in publishers {
        waits.extend(publisher.await??);
    }
    waits.sort();
    println!(
        "{{\"bytes\":{bytes},\"acknowledged\":{},{}}}",
        waits.len(),
        percentiles("ack", &waits)
    );
    Ok(())
}

/// Publishes each second's record, and says how long each took to be acknowledged.
async fn publish_one(
    client: Nats,
    node: u32,
    first: Instant,
    seconds: u32,
    record: Arc<[u8]>,
) -> Outcome<Vec<Duration>> {
    let mut waits = Vec::new();
    let subject = keys::second(RUN, &format!("n{node}"));
    for second in 0..seconds {
        let at = first + Duration::from_secs(1) * second;
        tokio::time::sleep_until(at.into()).await;
        let mut payload = now_ns().to_le_bytes().to_vec();
        payload.extend(second.to_le_bytes());
        payload.extend_from_slice(&record);
        let sent = Instant::now();
        let id = format!("{node}/{second}");
        match client.publish(subject.clone(), id, payload.into()).await {
            Answer::Stored(_) => waits.push(sent.elapsed()),
            // It is counted as lost unless it arrives.
            Answer::Unknown => {}
            other => return Err(format!("node {node}, second {second}: {other:?}").into()),
        }
    }
    Ok(waits)
}

/// When a message was sent, its second and its record.
fn parts(payload: &[u8]) -> Option<(u64, u32, &[u8])> {
    let (head, record) = payload.split_first_chunk::<HEAD>()?;
    let (sent, second) = head.split_first_chunk::<8>()?;
    let second = second.first_chunk::<4>()?;
    Some((u64::from_le_bytes(*sent), u32::from_le_bytes(*second), record))
}

async fn merge(url: &str, nodes: u32, seconds: u32) -> Outcome<()> {
    let (client, mut arrives) = connected(url, "controller").await?;
    client.consume(RUN.to_owned(), Room::default());
    // The stream is there once something can be stored in it.
    let probe = keys::second(RUN, keys::MARK);
    while !matches!(
        client.publish(probe.clone(), "probe".to_owned(), [].into()).await,
        Answer::Stored(_)
    ) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("ready");
    let (mut merger, mut missing, mut ages) = (Merger::new(), BTreeMap::new(), Vec::new());
    let mut decoder = Decoder::default();
    let (mut merged, mut wholes, mut plain) = (0, Vec::new(), Vec::new());
    while merged < nodes * seconds {
        let Ok(Some(event)) = tokio::time::timeout(PATIENCE, arrives.recv()).await else {
            break;
        };
        let Event::Input(Input::Message { subject, payload, .. }) = event else { continue };
        let node = keys::node_of(RUN, &subject).unwrap_or_default();
        let Some((sent, second, record)) = parts(&payload) else { continue };
        merger.add(node, "", second, &decoder.decode(record)?);
        merged += 1;
        let (left, last) = missing.entry(second).or_insert((nodes, 0));
        (*left, *last) = (*left - 1, sent.max(*last));
        if let (0, last) = (*left, *last) {
            missing.remove(&second);
            let slices = [
                merger.take(second, Source::Worker(0)),
                merger.take_facts(second, Source::Monitor(0)),
            ];
            plain.clear();
            slices.iter().flatten().for_each(|slice| slice.encode(&mut plain));
            wholes.push(Duration::from_nanos(now_ns().saturating_sub(last)));
        }
        ages.push(Duration::from_nanos(now_ns().saturating_sub(sent)));
    }
    ages.sort();
    wholes.sort();
    println!(
        "{{\"merged\":{merged},\"lost\":{},\"whole_seconds\":{},\"slice_bytes\":{},{},{}}}",
        nodes * seconds - merged,
        wholes.len(),
        plain.len(),
        percentiles("age", &ages),
        percentiles("whole", &wholes)
    );
    Ok(())
}

/// Of sorted times, in ms.
fn percentiles(name: &str, sorted: &[Duration]) -> String {
    let at = |share: f64| {
        let last = sorted.len().saturating_sub(1);
        let time = sorted.get((share * last as f64) as usize);
        time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!(
        "\"{name}_p50_ms\":{:.2},\"{name}_p99_ms\":{:.2},\"{name}_max_ms\":{:.2}",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}
