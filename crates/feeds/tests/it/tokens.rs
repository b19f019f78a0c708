//! Tokens of the environment, for receivers whose URL has no user.

use std::process::Command;

use squall_feeds::FeedKind;

use crate::receivers::{Fault, Grpc, Http};
use crate::{assert_complete, of_run, run_with, totals_of_run};

/// The variables and what they hold, as docs/feeds.md names them.
const TOKENS: [(&str, &str); 3] = [
    ("SQUALL_INFLUXDB_TOKEN", "word-of-influxdb"),
    ("SQUALL_REMOTE_WRITE_TOKEN", "word-of-prometheus"),
    ("SQUALL_OTLP_TOKEN", "word-of-otlp"),
];
/// Set in a process that has them.
const HAS_TOKENS: &str = "SQUALL_TEST_HAS_TOKENS";

/// Tokens are those of the environment of a process, so that this runs in one of its own.
#[test]
fn a_token_authorizes_where_the_url_has_no_user() {
    if std::env::var_os(HAS_TOKENS).is_some() {
        return with_tokens();
    }
    let ran = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "tokens::a_token_authorizes_where_the_url_has_no_user", "--nocapture"])
        .envs(TOKENS)
        .env(HAS_TOKENS, "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn with_tokens() {
    std::thread::scope(|scope| {
        scope.spawn(influxdb);
        scope.spawn(|| {
            let receiver = Http::remote_write(Fault::None, 0);
            totals(FeedKind::RemoteWrite, &receiver, "authorization: Bearer word-of-prometheus");
        });
        scope.spawn(|| {
            let receiver = Http::otlp(Fault::None, 0);
            totals(FeedKind::Otlp, &receiver, "authorization: Bearer word-of-otlp");
        });
        scope.spawn(grpc);
        scope.spawn(a_user_of_the_url_comes_first);
    });
}

/// Over the path of InfluxDB 2, which knows tokens alone.
fn influxdb() {
    let receiver = Http::influxdb2(Fault::None, 0);
    let (run, report) = run_with(FeedKind::Influxdb, &receiver.url_without_user());
    assert_complete(&run, &report, &receiver.sums());
    assert_heads(&receiver, "POST /api/v2/write?org=o&bucket=b HTTP/1.1");
    assert_heads(&receiver, "authorization: Token word-of-influxdb");
}

fn totals(kind: FeedKind, receiver: &Http, wanted: &str) {
    let (run, report) = run_with(kind, &receiver.url_without_user());
    assert_eq!(receiver.sums(), totals_of_run(&run), "{report:?}");
    assert_heads(receiver, wanted);
}

fn grpc() {
    let receiver = Grpc::start(Fault::None, 0);
    let (run, report) = run_with(FeedKind::OtlpGrpc, &receiver.url_without_user());
    assert_eq!(receiver.sums(), totals_of_run(&run), "{report:?}");
    let heads = receiver.heads();
    let good = heads.iter().all(|head| head.ends_with(" Bearer word-of-otlp"));
    assert!(!heads.is_empty() && good, "{heads:?}");
}

fn a_user_of_the_url_comes_first() {
    let receiver = Http::influxdb(Fault::None, 0);
    let (run, _) = run_with(FeedKind::Influxdb, &receiver.url());
    assert_eq!(receiver.sums(), of_run(&run));
    assert_heads(&receiver, "authorization: Basic bWU6c2VjcmV0LXdvcmQ=");
}

/// Each request has this in its head.
fn assert_heads(receiver: &Http, wanted: &str) {
    let heads = receiver.heads();
    let good = heads.iter().all(|head| head.contains(wanted));
    assert!(!heads.is_empty() && good, "{heads:?}");
}
