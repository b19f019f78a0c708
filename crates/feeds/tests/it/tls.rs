//! OpenTelemetry over gRPC with TLS: to a server whose certificate is trusted, and to servers that are not who they should be.

use std::process::Command;

use squall_feeds::FeedKind;

use crate::receivers::{Fault, Grpc, Identity};
use crate::{are_lost, assert_lost, run_with, totals_of_run};

/// Set in a process that trusts a certificate: the file of that and its key.
const TRUSTING: &str = "SQUALL_TEST_TRUSTING";

/// What is trusted is said by the environment of a process (`SSL_CERT_FILE`), so that this runs in one of its own.
#[test]
fn a_server_that_is_trusted_holds_what_the_run_counted() {
    if let Some(path) = std::env::var_os(TRUSTING) {
        let pem = std::fs::read_to_string(path).expect("a certificate and its key");
        return to_a_trusted_server(&Identity::of_pem(pem));
    }
    let (identity, folder) = (Identity::new(), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("trusted.pem"), &identity.certificate).expect("written");
    std::fs::write(path("key.pem"), &identity.pem).expect("written");
    let ran = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "tls::a_server_that_is_trusted_holds_what_the_run_counted",
            "--nocapture",
        ])
        .env("SSL_CERT_FILE", path("trusted.pem"))
        .env(TRUSTING, path("key.pem"))
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

fn to_a_trusted_server(identity: &Identity) {
    for fault in [Fault::None, Fault::TakesAndCloses] {
        let receiver = Grpc::start_tls(identity, "h2", fault, 1);
        let (run, report) = run_with(FeedKind::OtlpGrpc, &receiver.secure_url("localhost"));
        assert_eq!(receiver.sums(), totals_of_run(&run), "{fault:?}: {report:?}");
        assert_eq!(report.points_lost, 0, "{fault:?}: {report:?}");
        assert!(!report.name.contains("secret-word"), "{report:?}");
        let heads = receiver.heads();
        assert!(
            heads.len() >= 2
                && heads.iter().all(|head| head.ends_with("Basic bWU6c2VjcmV0LXdvcmQ="))
        );
    }
    // What is trusted is the name in the certificate, and no other of the same host.
    let receiver = Grpc::start_tls(identity, "h2", Fault::None, 0);
    let (run, report) = run_with(FeedKind::OtlpGrpc, &receiver.secure_url("127.0.0.1"));
    assert_lost(&run, &report, "certificate not valid for name \"127.0.0.1\"");
    assert!(receiver.heads().is_empty());
}

#[test]
fn a_certificate_that_is_not_trusted_costs_points_alone_and_is_said() {
    let receiver = Grpc::start_tls(&Identity::new(), "h2", Fault::None, 0);
    let (run, report) = run_with(FeedKind::OtlpGrpc, &receiver.secure_url("localhost"));
    assert_lost(&run, &report, "invalid peer certificate: UnknownIssuer");
    assert!(run.warnings.iter().any(|text| text.contains("UnknownIssuer")), "{:?}", run.warnings);
    assert!(receiver.heads().is_empty(), "nothing was said to it");
}

#[test]
fn a_server_without_tls_and_one_without_http2_cost_points_alone() {
    let without_tls = Grpc::start(Fault::None, 0);
    let without_http2 = Grpc::start_tls(&Identity::new(), "http/1.1", Fault::None, 0);
    let secure = without_http2.secure_url("127.0.0.1");
    let plain = format!("http://{}", secure.rsplit('@').next().expect("a server"));
    are_lost(&[
        (FeedKind::OtlpGrpc, without_tls.secure_url("127.0.0.1"), ""),
        (FeedKind::OtlpGrpc, without_http2.secure_url("localhost"), ""),
        (FeedKind::OtlpGrpc, plain, ""),
    ]);
    assert!(without_tls.heads().is_empty());
}
