//! `squall fleet status`, `stop` and `logs`: what a fleet is doing, as its server knows it, from any machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use squall_base::units::{bytes, count, counted};
use squall_fleet::controller::{FleetStatus, NodeStatus, RunStatus, fleet_status, stop_run};
use squall_fleet::protocol::codec::{self, Stored};
use squall_fleet::protocol::io::Input;
use squall_fleet::protocol::keys;
use squall_fleet::protocol::messages::{Card, Phase};
use squall_fleet::record;
use squall_fleet::transport::{Client, Event};

use crate::args::Server;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::generator::{CONTROLLER, connection};
use crate::out;

/// How long requests in flight may take at the end of a run that is stopped from elsewhere.
const GRACEFUL: Duration = Duration::from_secs(5);
/// After so long without a message nothing more of a log is waited for: nodes send one each second.
const QUIET: Duration = Duration::from_millis(2_500);
/// Nanoseconds of a second, and of a millisecond.
const SECOND: f64 = 1e9;
const MILLISECOND: f64 = 1e6;

/// Lists the nodes and the runs.
pub fn status(server: &Server, as_json: bool) -> CommandResult {
    let mut client = client(server)?;
    let seen = fleet_status(&mut client).map_err(CommandError::incomplete)?;
    match as_json {
        true => out::print(&format!("{:#}\n", document(&seen))),
        false => out::print(&describe(&seen, now())),
    }
    Ok(Exit::Ok)
}

/// Asks for the end of a run.
pub fn stop(server: &Server, run: Option<&str>) -> CommandResult {
    let mut client = client(server)?;
    let run = named(&mut client, run)?;
    let told = stop_run(&client, &run, GRACEFUL).map_err(CommandError::incomplete)?;
    out::print(&format!("{told}\n"));
    Ok(Exit::Ok)
}

/// Prints what the nodes of a run have logged so far, and what they log until nothing more comes.
pub fn logs(server: &Server, run: Option<&str>) -> CommandResult {
    let mut client = client(server)?;
    let run = named(&mut client, run)?;
    if !client.runs().map_err(CommandError::incomplete)?.contains(&run) {
        let text =
            format!("there is no run `{run}` at this server: `squall fleet status` lists them");
        return Err(CommandError::bad_input(text));
    }
    client.consume(&run);
    while let Some(event) = client.next(QUIET) {
        match event {
            Event::Input(Input::Message { subject, payload, .. }) => {
                lines(&run, &subject, &payload).iter().for_each(|line| out::print(line));
            }
            Event::Input(_) => {}
            Event::Log(text) => out::message(&format!("squall: {text}\n")),
        }
    }
    Ok(Exit::Ok)
}

/// The lines of a stored message, each with its node and second. What cannot be read has none: others may write to a server.
fn lines(run: &str, subject: &str, payload: &[u8]) -> Vec<String> {
    let Some(node) = keys::node_of(run, subject).filter(|node| keys::is_name(node)) else {
        return Vec::new();
    };
    match codec::decode(payload) {
        Ok(Stored::Record(numbered)) => {
            let log = record::decode(&numbered.second.record).map(|own| own.aside.log);
            let lines = log.unwrap_or_default().into_iter();
            lines
                .map(|line| {
                    let text = squall_base::escape_control(&line.text);
                    format!("{node}  {:>4} s  {text}\n", line.second)
                })
                .collect()
        }
        Ok(Stored::Sign(sign)) => sign
            .failures
            .iter()
            .map(|why| format!("{node}  failed: {}\n", squall_base::escape_control(why)))
            .collect(),
        Ok(Stored::Gone { .. } | Stored::Mark { .. }) | Err(_) => Vec::new(),
    }
}

/// A server, connected.
pub fn client(server: &Server) -> Result<Client, CommandError> {
    let connect = connection::connect(server, CONTROLLER)?;
    Client::open(connect).map_err(CommandError::incomplete)
}

/// The nodes that are there: those whose hearts beat.
pub fn nodes(server: &Server) -> Result<Vec<Card>, CommandError> {
    let seen = fleet_status(&mut client(server)?).map_err(CommandError::incomplete)?;
    Ok(seen.nodes.into_iter().filter(|node| node.heart.is_some()).map(|node| node.card).collect())
}

/// The run that was named, or the only one that goes on.
fn named(client: &mut Client, run: Option<&str>) -> Result<String, CommandError> {
    if let Some(run) = run {
        return Ok(run.to_owned());
    }
    let seen = fleet_status(client).map_err(CommandError::incomplete)?;
    let going: Vec<&str> =
        seen.runs.iter().filter(|run| !run.is_released).map(|run| run.run.as_str()).collect();
    match going.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(CommandError::bad_input("no run goes on at this server")),
        several => {
            let text = format!("several runs go on: say which: {}", several.join(", "));
            Err(CommandError::bad_input(text))
        }
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// How far a node is, in a word.
fn phase(node: &NodeStatus) -> &'static str {
    let Some(heart) = &node.heart else { return "silent" };
    match heart.phase {
        Phase::Idle => "waits",
        Phase::Called => "prepares",
        Phase::Ready => "ready",
        Phase::Refused => "refuses",
        Phase::Running => "runs",
        Phase::Fenced => "stopped: was cut off",
        Phase::Leaving => "leaves",
        Phase::Ended => "done",
        Phase::Released => "let go",
        Phase::Left => "has left",
    }
}

/// By how much a node's clock is ahead of the controller's, in words; `None`: it is not known.
fn clock(node: &NodeStatus) -> Option<String> {
    let heart = node.heart.as_ref().filter(|heart| heart.time != 0)?;
    let (offset, error) = (-(heart.offset as f64), heart.error as f64 / MILLISECOND);
    Some(match offset.abs() >= SECOND {
        true => format!("{:+.1} s ±{error:.2} ms", offset / SECOND),
        false => format!("{:+.2} ms ±{error:.2} ms", offset / MILLISECOND),
    })
}

/// A fleet in words, at a time in seconds since 1970.
fn describe(seen: &FleetStatus, now: f64) -> String {
    if seen.nodes.is_empty() && seen.runs.is_empty() {
        return "no node has joined: start some with `squall node --nats URL --allow-hosts HOST`\n"
            .to_owned();
    }
    let head =
        ["node", "zone", "weight", "cores", "memory", "version", "clock", "state", "run", "shards"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(seen.nodes.iter().map(row));
    let mut text = table(&rows);
    for run in &seen.runs {
        text += &format!("\n{}", run_in_words(run, now));
    }
    if !seen.runs.is_empty() {
        text.push('\n');
    }
    text
}

fn row(node: &NodeStatus) -> Vec<String> {
    let (card, heart) = (&node.card, node.heart.as_ref());
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    vec![
        card.node.clone(),
        dash(&card.zone),
        card.weight.to_string(),
        card.cores.to_string(),
        bytes(card.memory_bytes),
        // The version, without the commit.
        card.version.split_whitespace().next().unwrap_or("-").to_owned(),
        clock(node).unwrap_or_else(|| "-".to_owned()),
        phase(node).to_owned(),
        heart.map_or_else(|| "-".to_owned(), |heart| dash(&heart.run)),
        heart.map_or_else(|| "-".to_owned(), |heart| count(u64::from(heart.shards))),
    ]
}

fn run_in_words(run: &RunStatus, now: f64) -> String {
    let nodes = counted(run.nodes.len() as u64, "node");
    let state = match (run.is_released, run.is_stopping, run.start) {
        (true, _, _) => "is over".to_owned(),
        (_, true, _) => "ends".to_owned(),
        (_, _, None) => "prepares".to_owned(),
        (_, _, Some(start)) => {
            format!("since {:.0} s", (now - start as f64 / SECOND).max(0.0))
        }
    };
    let controller =
        run.controller.as_ref().map_or(String::new(), |host| format!(", controller on {host}"));
    format!(
        "run {}: {state}, {nodes}, {} shards{controller}",
        run.run,
        count(u64::from(run.shards))
    )
}

/// Rows with their columns below each other.
fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(column, cell)| format!("{cell:width$}", width = width(column).unwrap_or(0)))
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A fleet as JSON.
fn document(seen: &FleetStatus) -> Value {
    let nodes: Vec<Value> = seen
        .nodes
        .iter()
        .map(|node| {
            let heart = node.heart.as_ref();
            let known = heart.filter(|heart| heart.time != 0);
            json!({
                "node": node.card.node, "zone": node.card.zone, "weight": node.card.weight,
                "host": node.card.host, "version": node.card.version, "cores": node.card.cores,
                "memory_bytes": node.card.memory_bytes, "open_files": node.card.open_files,
                "ports": node.card.ports, "requests_per_core": node.card.calibration,
                "allows": node.card.allows,
                "state": heart.map(|heart| heart.phase),
                "run": heart.map(|heart| heart.run.as_str()).filter(|run| !run.is_empty()),
                "shards": heart.map(|heart| heart.shards),
                "clock_offset_s": known.map(|heart| -(heart.offset as f64) / SECOND),
                "clock_error_s": known.map(|heart| heart.error as f64 / SECOND),
            })
        })
        .collect();
    let runs: Vec<Value> = seen
        .runs
        .iter()
        .map(|run| {
            let nodes =
                run.nodes.iter().map(|(node, shards)| json!({"node": node, "shards": shards}));
            json!({
                "run": run.run, "shards": run.shards, "controller": run.controller,
                "start_unix": run.start.map(|start| start as f64 / SECOND),
                "nodes": nodes.collect::<Vec<_>>(),
                "is_stopping": run.is_stopping, "is_released": run.is_released,
            })
        })
        .collect();
    json!({"nodes": nodes, "runs": runs})
}

#[cfg(test)]
mod tests {
    use squall_fleet::protocol::messages::Heartbeat;

    use super::*;

    fn node(name: &str, heart: Option<Heartbeat>) -> NodeStatus {
        let card = Card {
            node: name.to_owned(),
            version: "0.1.0 (abc)".to_owned(),
            cores: 4,
            memory_bytes: 8 << 30,
            weight: 2.0,
            ..Card::default()
        };
        NodeStatus { card, heart }
    }

    #[test]
    fn a_fleet_is_a_table_and_a_line_for_each_run() {
        let heart = Heartbeat {
            run: "shop-1".to_owned(),
            phase: Phase::Running,
            shards: 16,
            time: 1,
            offset: -3_200_000_000,
            error: 21_000,
            ..Heartbeat::default()
        };
        let run = RunStatus {
            run: "shop-1".to_owned(),
            shards: 32,
            start: Some(100_000_000_000),
            controller: Some("desk".to_owned()),
            nodes: vec![("a".to_owned(), 16), ("b".to_owned(), 16)],
            ..RunStatus::default()
        };
        let seen =
            FleetStatus { nodes: vec![node("a", Some(heart)), node("b", None)], runs: vec![run] };
        let text = describe(&seen, 142.0);
        let expected = "\
node  zone  weight  cores  memory   version  clock            state   run     shards
a     -     2       4      8.0 GiB  0.1.0    +3.2 s ±0.02 ms  runs    shop-1  16
b     -     2       4      8.0 GiB  0.1.0    -                silent  -       -

run shop-1: since 42 s, 2 nodes, 32 shards, controller on desk
";
        assert_eq!(text, expected);
        let json = document(&seen);
        assert_eq!(json["nodes"][0]["clock_offset_s"], 3.2);
        assert_eq!(json["nodes"][1]["state"], Value::Null);
        assert_eq!(json["runs"][0]["nodes"][1]["shards"], 16);
    }

    #[test]
    fn an_empty_fleet_says_what_to_do() {
        assert!(describe(&FleetStatus::default(), 0.0).contains("squall node --nats URL"));
    }
}
