//! Bytes to and from servers of this process, with each I/O backend.

use super::*;
use crate::exchange::tests::{Act, open, server, with_each_backend};
use crate::{ErrorKind, Origin, Scheme};

/// What came, and how many bytes came and went.
type Came = (Vec<u8>, u64, u64);

async fn exchange(
    client: &Client,
    connection: &mut Connection,
    bytes: &[u8],
    end: BytesEnd,
    ends_with_close: bool,
) -> Result<Came, Error> {
    let expect = Expect {
        keep: 100,
        sink: None,
        max_body: 1_000,
        max_decompression_ratio: 1,
        decompress: false,
        throttle: None,
    };
    let out = BytesOut { bytes, end, ends_with_close };
    let done = |got: &Response<'_>, times: Times| {
        assert!(times.sent_ns <= times.first_byte_ns && times.first_byte_ns <= times.end_ns);
        (got.body.to_vec(), got.bytes_in, got.bytes_out)
    };
    connection.exchange_bytes(client, out, expect, &Progress::default(), done).await
}

/// As [`server`], where no HTTP is spoken.
fn plain(acts: Vec<Act>) -> (Origin, impl Sized) {
    let (origin, go, told) = server(acts);
    (Origin { scheme: Scheme::Tcp, ..origin }, (go, told))
}

#[test]
fn what_comes_ends_as_the_caller_says() {
    with_each_backend(|client| async move {
        let acts = vec![
            Act::Read,
            Act::Write(b"a\nb\n"),
            Act::Read,
            Act::Write(b"abcdef"),
            Act::Read,
            Act::Write(b"\x00\x03xyz"),
            Act::Read,
            Act::Write(b"rest"),
            Act::Close,
        ];
        let (origin, _server) = plain(acts);
        let mut connection = open(&client, &origin).await;
        let connection = &mut connection;
        for (end, came, bytes) in [
            (BytesEnd::Byte(b'\n'), "a\nb\n", 4),
            (BytesEnd::Length(4), "abcd", 4),
            // What was left of the one before is the beginning.
            (BytesEnd::Length(2), "ef", 2),
            (BytesEnd::Prefixed(2), "xyz", 5),
            (BytesEnd::Close, "rest", 4),
        ] {
            // What is there already is not asked for.
            let out: &[u8] = if came == "ef" { b"" } else { b"?" };
            let got = exchange(&client, connection, out, end, false).await.expect(came);
            assert_eq!(got, (came.into(), bytes, out.len() as u64));
            assert_eq!(connection.reusable(), end != BytesEnd::Close, "{end:?}");
        }
    });
}

#[test]
fn a_server_that_closes_early_is_an_error_unless_that_is_an_end_too() {
    with_each_backend(|client| async move {
        for (written, reason) in [(&b"half"[..], "within"), (b"", "before any byte")] {
            for ends_with_close in [false, true] {
                let acts = vec![Act::Read, Act::Write(written), Act::Close];
                let (origin, _server) = plain(acts);
                let mut connection = open(&client, &origin).await;
                let end = BytesEnd::Byte(b'\n');
                let got = exchange(&client, &mut connection, b"?", end, ends_with_close).await;
                assert!(!connection.reusable());
                if ends_with_close {
                    let came = written.len() as u64;
                    assert_eq!(got.expect("an end"), (written.to_vec(), came, 1));
                    continue;
                }
                let error = got.expect_err("it is too early");
                assert_eq!(error.kind(), ErrorKind::ClosedEarly);
                assert!(error.to_string().contains(reason) && !error.is_stale(), "{error}");
            }
        }
    });
}

#[test]
fn no_more_comes_than_may() {
    with_each_backend(|client| async move {
        for (written, end) in [
            (&b"\x7f\xff"[..], BytesEnd::Prefixed(2)),
            (&[b'x'; 1_001][..], BytesEnd::Byte(b'\n')),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff", BytesEnd::Prefixed(8)),
        ] {
            let written: &'static [u8] = written;
            let (origin, _server) = plain(vec![Act::Read, Act::Write(written)]);
            let mut connection = open(&client, &origin).await;
            let error = exchange(&client, &mut connection, b"?", end, false).await;
            assert_eq!(error.expect_err("too much").kind(), ErrorKind::BodyTooLarge);
        }
    });
}

#[test]
fn nothing_may_be_sent_and_nothing_may_be_awaited() {
    with_each_backend(|client| async move {
        let (origin, _server) = plain(vec![Act::Write(b"hello\n"), Act::Read]);
        let mut connection = open(&client, &origin).await;
        let connection = &mut connection;
        let end = BytesEnd::Byte(b'\n');
        let got = exchange(&client, connection, b"", end, false).await.expect("a greeting");
        assert_eq!(got, (b"hello\n".to_vec(), 6, 0));
        let got = exchange(&client, connection, b"bye", BytesEnd::Length(0), false).await;
        assert_eq!(got.expect("it is sent"), (Vec::new(), 0, 3));
        assert!(connection.reusable());
    });
}
