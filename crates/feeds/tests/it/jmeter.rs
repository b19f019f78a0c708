//! Points under JMeter's names, to a receiver that keeps the lines that it is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use squall_feeds::JmeterFeed;
use squall_report::{FeedReport, Run};
use squall_runner::{
    Event, EventKind, FinishedRun, Handle, Options, Phase, Second, Sink, Start, Wanted, load_str,
    run,
};

use crate::receivers::closed_port;

/// Six requests that are good, six that are not, each in a group, and one of the teardown.
fn plan(feed: &str) -> String {
    format!(
        "
target: builtin
feeds: {feed}
teardown: [{{get: /, name: bye}}]
scenarios:
  a:
    load: {{users: 2, iterations: 3}}
    on_error: continue
    steps: [{{get: /, name: good}}, {{group: both, steps: [{{get: /status/500, name: bad}}]}}]
"
    )
}

/// Runs a plan with its first feed, and with further sinks behind it.
fn run_plan(text: &str, more: Vec<(String, Box<dyn Sink>)>, handle: &Handle) -> FinishedRun {
    let loaded = load_str("feeds", text).expect("a good plan");
    let tags = [("env".to_owned(), "ci".to_owned())].to_vec();
    let feed = JmeterFeed::of_plan(&loaded.plan.feeds[0], &tags).expect("JMeter's points");
    let mut sinks: Vec<(String, Box<dyn Sink>)> = vec![("feed".to_owned(), Box::new(feed))];
    sinks.extend(more);
    let options = Options { workers: Some(2), ..Options::default() };
    run(&loaded, &options, sinks, handle).expect("a run")
}

/// Runs the plan, and says what became of its feed.
fn run_with(feed: &str) -> (Arc<Run>, FeedReport) {
    let outcome = run_plan(&plan(feed), Vec::new(), &Handle::default());
    assert_eq!(outcome.run.totals.all().count, 12, "the load is as without a feed");
    assert!(outcome.run.incomplete.is_empty(), "{:?}", outcome.run.incomplete);
    let report = outcome.run.feeds[0].clone();
    (outcome.run, report)
}

/// What a receiver was sent: heads of requests, and lines.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<(Vec<String>, Vec<String>)>>);

impl Sent {
    fn note(&self, head: String, body: &str) {
        let mut sent = self.0.lock().expect("no panic");
        sent.0.push(head);
        sent.1.extend(body.lines().map(str::to_owned));
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no panic").1.clone()
    }

    /// The sum of a field of InfluxDB's, over the lines that begin so.
    fn sum(&self, begin: &str, field: &str) -> f64 {
        let lines = self.lines();
        let own = lines.iter().filter(|line| line.starts_with(begin));
        let fields = own.flat_map(|line| line.rsplit(' ').nth(1).unwrap_or("").split(','));
        let values =
            fields.filter_map(|own| own.split_once('=')).filter(|(name, _)| *name == field);
        values.map(|(_, value)| value.parse::<f64>().expect("a number")).sum()
    }
}

/// Listens, and lets each connection be read.
fn listen(sent: &Sent, each: fn(TcpStream, &Sent)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let sent = sent.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sent = sent.clone();
            std::thread::spawn(move || each(stream, &sent));
        }
    });
    address
}

fn http(mut stream: TcpStream, sent: &Sent) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line == "\r\n" => break,
                Ok(_) => {}
            }
            if let Some(own) = line.to_lowercase().strip_prefix("content-length:") {
                length = own.trim().parse().expect("a length");
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        sent.note(head, std::str::from_utf8(&body).expect("text"));
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("somebody reads");
    }
}

/// Text until its end.
fn text(mut stream: TcpStream, sent: &Sent) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    sent.note(String::new(), &text);
}

#[test]
fn influxdb_gets_what_jmeter_would_send() {
    let sent = Sent::default();
    let address = listen(&sent, http);
    let feed = format!(
        "[{{influxdb: 'http://{address}/api/v2/write?org=o&bucket=b', token: hidden-word, \
         jmeter_points: {{names: '', percentiles: [90], application: shop, title: nightly}}}}]"
    );
    let (_, report) = run_with(&feed);
    let lines = sent.lines();
    assert_eq!((report.points_lost, report.points_sent), (0, lines.len() as u64), "{report:?}");
    let heads = sent.0.lock().expect("no panic").0.clone();
    let is_good = |head: &String| {
        head.starts_with("POST /api/v2/write?org=o&bucket=b ")
            && head.to_lowercase().contains("authorization: token hidden-word\r\n")
    };
    assert!(heads.len() >= 2 && heads.iter().all(is_good), "{heads:?}");
    let begin = |name: &str, word: &str| {
        format!("jmeter,application=shop,transaction={name},statut={word},env=ci ")
    };
    // The seven good requests, six bad ones, and the groups around these, whose hits are those of the requests.
    let all = begin("all", "all");
    let of_all = ["count", "countError", "hit"].map(|field| sent.sum(&all, field));
    assert_eq!(of_all, [19.0, 12.0, 13.0], "{lines:#?}");
    for (name, word, count) in [
        ("good", "all", 6.0),
        ("good", "ok", 6.0),
        ("bad", "ko", 6.0),
        ("both", "ko", 6.0),
        ("bye", "ok", 1.0),
    ] {
        let begin = begin(name, word);
        assert_eq!((sent.sum(&begin, "count"), sent.sum(&begin, "hit")), (count, count), "{begin}");
        assert!(lines.iter().any(|line| line.starts_with(&begin) && line.contains(",pct90.0=")));
    }
    let error = "jmeter,application=shop,transaction=bad,responseCode=500,responseMessage=Internal\\ Server\\ Error,env=ci ";
    assert_eq!(sent.sum(error, "count"), 6.0, "{lines:#?}");
    let internal = "jmeter,application=shop,transaction=internal,env=ci ";
    let of_threads: Vec<&String> = lines.iter().filter(|line| line.starts_with(internal)).collect();
    assert!(of_threads[0].contains(" minAT=0,maxAT=0,meanAT=0,startedT=0,endedT=0 "));
    let last = of_threads.last().expect("a line");
    assert!(last.contains(",startedT=3,endedT=3 "), "the one of the teardown too: {last}");
    let events: Vec<&String> = lines.iter().filter(|line| line.starts_with("events,")).collect();
    let of_event = |word| {
        format!("events,application=shop,title=ApacheJMeter,env=ci text=\"nightly {word}\" ")
    };
    assert!(events.len() == 2 && events[0].starts_with(&of_event("started")), "{events:?}");
    assert!(events[1].starts_with(&of_event("ended")), "{events:?}");
}

#[test]
fn graphite_gets_what_jmeter_would_send() {
    let sent = Sent::default();
    let address = listen(&sent, text);
    let (_, report) = run_with(&format!(
        "[{{graphite: '{address}', jmeter_paths: {{names: '^g', prefix: p.}}}}]"
    ));
    let lines = sent.lines();
    assert_eq!((report.points_lost, report.points_sent), (0, lines.len() as u64), "{report:?}");
    let sum = |path: &str| {
        let own = lines.iter().filter_map(|line| line.strip_prefix(path)?.split(' ').nth(1));
        own.map(|value| value.parse::<u64>().expect("a number")).sum::<u64>()
    };
    let sums = ["all.a.count", "all.ok.count", "all.ko.count", "all.h.count", "good.a.count"];
    let sums = sums.map(|path| sum(&format!("p.{path};env=ci")));
    assert_eq!(sums, [19, 7, 12, 13, 6], "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("bad")), "{lines:#?}");
    // It keeps one value for a series and a second.
    let mut counts: Vec<&String> =
        lines.iter().filter(|line| line.contains("test.startedT")).collect();
    let all = counts.len();
    counts.dedup_by_key(|line| line.rsplit(' ').next().map(str::to_owned));
    assert_eq!(counts.len(), all, "{counts:?}");
}

#[test]
fn a_receiver_that_is_down_costs_points_alone() {
    let feed = format!(
        "[{{influxdb: 'http://me:hidden-word@{}/write?db=x', jmeter_points: {{}}}}]",
        closed_port()
    );
    let (run, report) = run_with(&feed);
    assert!(report.points_sent == 0 && report.points_lost > 3, "{report:?}");
    assert!(report.error.as_ref().is_some_and(|error| error.contains("refused")), "{report:?}");
    assert!(
        run.warnings.iter().any(|text| text.contains("points were lost")),
        "{:?}",
        run.warnings
    );
    assert!(!report.name.contains("hidden-word"), "{report:?}");
}

/// Listeners of one scenario know the users of all, as those of JMeter do.
#[test]
fn users_are_those_of_the_whole_run() {
    let sent = Sent::default();
    let address = listen(&sent, http);
    let plan = format!(
        "
target: builtin
feeds: [{{influxdb: 'http://{address}/write?db=x', jmeter_points: {{names: '', scenarios: [b]}}}}]
setup: [{{get: /}}]
scenarios:
  a: {{number: 1, load: {{users: 3, iterations: 2}}, steps: [{{get: /}}]}}
  b: {{number: 1, load: {{users: 2, iterations: 2}}, steps: [{{get: /, name: own}}]}}
"
    );
    run_plan(&plan, Vec::new(), &Handle::default());
    assert_eq!(sent.sum("jmeter,transaction=all,statut=all,env=ci ", "count"), 4.0);
    let lines = sent.lines();
    let last = lines.iter().rfind(|line| line.starts_with("jmeter,transaction=internal,env=ci "));
    let last = last.expect("a line");
    assert!(last.contains(",startedT=6,endedT=6 "), "{last}");
}

/// Aborts the run when its load begins, and keeps what its result says of feeds.
struct Aborts(Handle, Arc<Mutex<Vec<FeedReport>>>);

impl Sink for Aborts {
    fn start(&mut self, _: &Start) -> std::io::Result<Wanted> {
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> std::io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        if matches!(event.kind, EventKind::PhaseBegan(Phase::Load)) {
            self.0.abort();
        }
        Ok(())
    }

    fn finish(&mut self, run: &Run) -> std::io::Result<()> {
        self.1.lock().expect("no panic").clone_from(&run.feeds);
        Ok(())
    }
}

#[test]
fn an_account_is_whole_though_the_teardown_is_not_run() {
    let sent = Sent::default();
    let address = listen(&sent, http);
    let plan = format!(
        "
target: builtin
feeds: [{{influxdb: 'http://{address}/write?db=x', jmeter_points: {{title: t}}}}]
teardown: [{{get: /}}]
scenarios: {{a: {{load: {{users: 1, for: 1h}}, steps: [{{get: /delay/3600000}}]}}}}
"
    );
    let (handle, kept) = (Handle::default(), Arc::default());
    let aborts = Aborts(handle.clone(), Arc::clone(&kept));
    run_plan(&plan, vec![("aborts".to_owned(), Box::new(aborts))], &handle);
    let lines = sent.lines();
    assert!(lines.iter().any(|line| line.contains("text=\"t ended\"")), "{lines:?}");
    let report = &kept.lock().expect("no panic")[0];
    assert_eq!((report.points_sent, report.points_lost), (lines.len() as u64, 0), "{report:?}");
}
