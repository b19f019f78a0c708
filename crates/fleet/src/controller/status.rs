//! What a fleet is doing, and the end of a run that is asked for from elsewhere.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::controller::front::stop_subject;
use crate::protocol::io::{Answer, Bytes, FleetTime, Input};
use crate::protocol::messages::{Assignment, Card, Change, Changes, Heartbeat, Leader, Order};
use crate::protocol::{codec, keys};
use crate::transport::{Client, Event};

/// How long hearts are listened to: each beats at least once a second.
const LISTEN: Duration = Duration::from_millis(1_300);
/// How long a controller is waited for.
const ANSWER: Duration = Duration::from_secs(3);

/// A fleet, as its server knows it.
#[derive(Debug, Default)]
pub struct FleetStatus {
    /// The nodes that have joined, by name.
    pub nodes: Vec<NodeStatus>,
    /// The runs of which something is stored.
    pub runs: Vec<RunStatus>,
}

/// A node.
#[derive(Debug)]
pub struct NodeStatus {
    /// What it said of itself when it joined.
    pub card: Card,
    /// What it says now; `None`: nothing was heard of it.
    pub heart: Option<Heartbeat>,
}

/// A run.
#[derive(Debug, Default)]
pub struct RunStatus {
    /// Its name.
    pub run: String,
    /// Into how many shards its load is cut; 0: that is not decided.
    pub shards: u32,
    /// When its load started, or will; `None`: that is not decided.
    pub start: Option<FleetTime>,
    /// The machine of its controller.
    pub controller: Option<String>,
    /// Its nodes, each with how many shards it was given last.
    pub nodes: Vec<(String, usize)>,
    /// Whether its end was asked for.
    pub is_stopping: bool,
    /// Whether it was released.
    pub is_released: bool,
}

/// What a fleet is doing.
///
/// # Errors
/// The server does not say, in a sentence.
pub fn fleet_status(client: &mut Client) -> Result<FleetStatus, String> {
    client.listen(keys::HEARTBEATS);
    let cards = client.keys(keys::CARDS)?;
    let mut cards: BTreeMap<String, Card> = cards
        .into_iter()
        .filter_map(|(_, _, value)| codec::read_json::<Card>(&value).ok())
        .map(|card| (card.node.clone(), card))
        .collect();
    let mut hearts: BTreeMap<String, Heartbeat> = BTreeMap::new();
    let until = Instant::now() + LISTEN;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        if let Some(Event::Input(Input::Heard { subject, payload })) = client.next(left)
            && let Some(node) = keys::heart_of(&subject)
            && let Ok(heart) = codec::read_json::<Heartbeat>(&payload)
        {
            hearts.insert(node.to_owned(), heart);
        }
    }
    // Another process of the name may have taken its place meanwhile.
    let heart = |card: &Card, hearts: &mut BTreeMap<String, Heartbeat>| {
        hearts.remove(&card.node).filter(|heart| heart.boot == card.boot)
    };
    let nodes = std::mem::take(&mut cards).into_values();
    let nodes = nodes.map(|card| NodeStatus { heart: heart(&card, &mut hearts), card }).collect();
    Ok(FleetStatus { nodes, runs: runs(client.keys("run.>")?) })
}

/// The runs, of all their keys and values.
fn runs(found: Vec<(String, u64, Bytes)>) -> Vec<RunStatus> {
    let mut runs: BTreeMap<String, RunStatus> = BTreeMap::new();
    for (key, _, value) in found {
        let mut words = key.split('.').skip(1);
        let (Some(name), Some(what)) = (words.next(), words.next()) else { continue };
        let run = runs.entry(name.to_owned()).or_default();
        name.clone_into(&mut run.run);
        match (what, words.next()) {
            ("order", _) => {
                run.shards = codec::read_json::<Order>(&value).map_or(0, |own| own.shards)
            }
            ("leader", _) => {
                run.controller = codec::read_json::<Leader>(&value).ok().map(|own| own.host)
            }
            ("changes", _) => {
                run.is_stopping = codec::read_json::<Changes>(&value).is_ok_and(|own| stops(&own))
            }
            ("release", _) => run.is_released = true,
            ("share", Some(node)) => {
                let Ok(own) = codec::read_json::<Assignment>(&value) else { continue };
                run.start = run.start.or(own.start);
                let shards = own.parts.last().map_or(0, |part| part.shards.len());
                run.nodes.push((node.to_owned(), shards));
            }
            _ => {}
        }
    }
    runs.into_values().collect()
}

fn stops(changes: &Changes) -> bool {
    changes.0.iter().any(|own| matches!(own, Change::Stop { .. } | Change::Done | Change::Abort))
}

/// Asks for the end of a run, in order: its controller passes that on. If none answers, the nodes are told themselves.
/// What came of it, in a sentence.
///
/// # Errors
/// There is no such run, or nobody can be told, in a sentence.
pub fn stop_run(client: &Client, run: &str, graceful: Duration) -> Result<String, String> {
    if !keys::is_name(run) {
        return Err(format!("`{run}` is not the name of a run: `squall fleet status` lists them"));
    }
    match client.get(&keys::order(run)) {
        Answer::Value(Some(_)) => {}
        Answer::Value(None) => {
            return Err(format!("there is no run `{run}`: `squall fleet status` lists them"));
        }
        other => return Err(told(other)),
    }
    if let Answer::Reply(_) = client.ask(&stop_subject(run), Bytes::default(), ANSWER) {
        return Ok(format!("{run} ends: its controller was told"));
    }
    let key = keys::changes(run);
    let (revision, mut changes) = match client.get(&key) {
        Answer::Value(Some((revision, value))) => {
            (revision, codec::read_json::<Changes>(&value).unwrap_or_default())
        }
        Answer::Value(None) => (0, Changes::default()),
        other => return Err(told(other)),
    };
    let graceful = u64::try_from(graceful.as_nanos()).unwrap_or(u64::MAX);
    changes.0.push(Change::Stop { graceful });
    match client.put(&key, codec::json(&changes), Some(revision)) {
        Answer::Stored(_) => Ok(format!(
            "{run} ends: its controller does not answer, and its nodes were told. What they have recorded is kept: `squall fleet resume` writes the result"
        )),
        Answer::Conflict => Err(format!("{run} was changed at the same time: try again")),
        other => Err(told(other)),
    }
}

/// Why the server did not do what it was asked for.
fn told(answer: Answer) -> String {
    match answer {
        Answer::Refused(why) => why,
        _ => "the server did not answer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::{Part, Why};

    #[test]
    fn runs_are_made_of_their_keys() {
        let json = |text: &str| Bytes::from(text.as_bytes());
        let shards = [0, 1, 2, 3].into();
        let (why, progress) = (Why::Given, String::new());
        let part = Part { epoch: 1, boot: 7, fences: 0, from: 0, why, shards, progress };
        let (leader, key) = (1, Vec::new());
        let share = Assignment {
            leader,
            boot: 7,
            number: 1,
            of: 1,
            key,
            start: Some(5),
            parts: vec![part],
        };
        let found = vec![
            (
                "run.a.changes".to_owned(),
                1,
                json(r#"[{"pause": {"from": 3}}, {"stop": {"graceful": 1}}]"#),
            ),
            ("run.a.leader".to_owned(), 1, json(r#"{"nonce": 1, "renewal": 2, "host": "h"}"#)),
            ("run.a.share.eu-1".to_owned(), 1, codec::json(&share)),
            ("run.b.order".to_owned(), 1, json("no order")),
            ("run".to_owned(), 1, json("")),
        ];
        let found = runs(found);
        let names: Vec<&str> = found.iter().map(|own| own.run.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let own = &found[0];
        assert_eq!((own.start, own.controller.as_deref()), (Some(5), Some("h")));
        assert_eq!(own.nodes, [("eu-1".to_owned(), 4)]);
        assert!(own.is_stopping && !own.is_released && !found[1].is_stopping);
    }
}
