use super::*;
use proptest::prelude::*;

/// What a response came to: status, body, bytes used, whether it is complete and may be followed.
#[derive(Debug, PartialEq)]
struct Read {
    status: u16,
    body: Vec<u8>,
    used: usize,
    keep_alive: bool,
}

/// Feeds a response in pieces of these sizes (the last one repeats), then closes.
fn read(bytes: &[u8], sizes: &[usize], no_body: bool) -> Result<Option<Read>, Malformed> {
    let (mut parser, mut body, mut held, mut used) =
        (ResponseParser::new(no_body), Vec::new(), Vec::new(), 0);
    let mut at: usize = 0;
    for n in 0.. {
        let size = sizes.get(n).or(sizes.last()).copied().unwrap_or(usize::MAX).max(1);
        let piece = &bytes[at..bytes.len().min(at.saturating_add(size))];
        if piece.is_empty() || parser.is_done() {
            break;
        }
        at += piece.len();
        held.extend_from_slice(piece);
        loop {
            let step = parser.feed(&held, &mut |part| body.extend_from_slice(part))?;
            let taken = match step {
                Parsed::NeedHead => break,
                Parsed::Head { end, .. } => end,
                Parsed::Body(taken) | Parsed::Done(taken) => taken,
            };
            used += taken;
            held.drain(..taken);
            if parser.is_done() || taken == 0 || held.is_empty() {
                break;
            }
        }
    }
    if !parser.is_done() && !parser.closed() {
        return Ok(None);
    }
    let head = parser.head().copied();
    Ok(head.map(|head| Read { status: head.status, body, used, keep_alive: head.keep_alive }))
}

fn whole(text: &str) -> Result<Option<(u16, String, bool)>, Malformed> {
    let read = read(text.as_bytes(), &[], false)?;
    Ok(read.map(|read| {
        (read.status, String::from_utf8_lossy(&read.body).into_owned(), read.keep_alive)
    }))
}

#[test]
fn trailers_are_kept_however_they_are_cut() {
    const TEXT: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-b:2\n\r\nrest";
    for size in 1..=TEXT.len() {
        let (mut parser, mut held) = (ResponseParser::new(false), Vec::new());
        for piece in TEXT.chunks(size) {
            held.extend_from_slice(piece);
            while let Parsed::Head { end: taken, .. }
            | Parsed::Body(taken @ 1..)
            | Parsed::Done(taken @ 1..) = parser.feed(&held, &mut |_| ()).expect("a response")
            {
                held.drain(..taken);
            }
        }
        assert!(parser.is_done(), "{size}");
        assert_eq!(parser.trailers(), b"X-Sum: 1\r\nX-b:2\n", "{size}");
        assert_eq!(held, b"rest", "{size}");
    }
    let mut none = ResponseParser::new(false);
    let head = none.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &mut |_| ());
    assert!(matches!(head, Ok(Parsed::Head { .. })));
    assert_eq!(none.feed(b"1\r\na\r\n0\r\n\r\n", &mut |_| ()), Ok(Parsed::Done(11)));
    assert_eq!(none.trailers(), b"");
}

#[test]
fn responses_of_every_framing() {
    let good = |text: &str, status, body: &str, keep| {
        assert_eq!(whole(text), Ok(Some((status, body.to_owned(), keep))), "{text}");
    };
    good("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true);
    good("HTTP/1.1 200\r\ncontent-length:2, 2\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true);
    good("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", false);
    good("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", 200, "", true);
    good("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", 200, "", false);
    good("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end", false);
    good(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x=y\r\n yo\r\n0\r\nT: v\r\n\r\n",
        200,
        "hi yo",
        true,
    );
    good("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", 204, "", true);
    good("HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", 304, "", true);
    good("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 200, "x", true);
    good("HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi", 200, "hi", true);
    good("HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true);
    good("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true);
    let head = read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", &[], true);
    assert_eq!(head.map(|read| read.map(|read| read.body)), Ok(Some(Vec::new())));
}

#[test]
fn what_is_no_response_is_an_error() {
    for text in [
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\rx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a\rb\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 101 Switch\r\n\r\n",
    ] {
        assert!(whole(text).is_err(), "{text:?}");
    }
    assert!(whole(&"HTTP/1.1 100 C\r\n\r\n".repeat(40)).is_err(), "too many interim responses");
    assert!(
        whole(&format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(2_000))).is_err(),
        "too many lines"
    );
    assert!(
        whole(&format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(300 << 10))).is_err(),
        "too large a head"
    );
}

#[test]
fn what_ends_too_early_is_not_complete() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\nA: b",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
    ] {
        assert_eq!(whole(text), Ok(None), "{text:?}");
    }
}

/// A head byte by byte is looked at once, and so are interim ones before it.
#[test]
fn a_head_in_pieces_costs_what_a_whole_one_does() {
    let large = format!("HTTP/1.1 200 OK\r\nA: {}\r\n", "b".repeat(255 << 10));
    let lines = format!("HTTP/1.1 200 OK\r\n{}", "Name: some value of a line\r\n".repeat(900));
    let interim = "HTTP/1.1 103 Hints\r\nLink: </style.css>\r\n\r\n".repeat(32) + "HTTP/1.1 2";
    for head in [large, lines, interim] {
        let mut parser = ResponseParser::new(false);
        let mut looked_at = 0;
        for end in 1..=head.len() {
            let before = parser.looked_at();
            let step = parser.feed(&head.as_bytes()[..end], &mut |_| ());
            assert_eq!(step, Ok(Parsed::NeedHead));
            looked_at += parser.looked_at().saturating_sub(before);
        }
        assert!(looked_at <= head.len(), "{looked_at} of {}", head.len());
    }
}

#[test]
fn folded_headers_are_put_together() {
    let head = b"HTTP/1.1 200 OK\r\nA: one\r\n two\n\tthree\r\nB: x\r\n\r\n";
    let unfolded = unfold(head);
    assert_eq!(unfolded.len(), head.len());
    let headers: Vec<_> = lines(&unfolded).collect();
    assert_eq!(headers, [(b"A".as_slice(), b"one   two \tthree".as_slice()), (b"B", b"x")]);
}

#[test]
fn bytes_after_a_response_are_not_part_of_it() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1";
    let read = read(text, &[], false).expect("a response").expect("complete");
    assert_eq!((read.used, read.body.as_slice()), (40, b"hi".as_slice()));
}

/// Pieces of responses, to be put together at random.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&str> = vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 404 No\r\n",
        "HTTP/1.1 100 C\r\n\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 0\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "X: y\r\n",
        "\r\n",
        "\n",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "a\r\n0123456789\r\n",
        "hello",
        "\0",
        ":",
        "3;e=1\r\nabc\r\n",
        "0\r\nT: x\r\n\r\n",
    ];
    prop::collection::vec(prop::sample::select(words), 1..12)
        .prop_map(|words| words.concat().into_bytes())
}

proptest! {
    /// However a response is cut, it means the same.
    #[test]
    fn cuts_do_not_matter(bytes in pieces(), sizes in prop::collection::vec(1usize..20, 1..30), no_body in any::<bool>()) {
        let at_once = read(&bytes, &[], no_body);
        prop_assert_eq!(&read(&bytes, &sizes, no_body), &at_once);
        prop_assert_eq!(&read(&bytes, &[1], no_body), &at_once);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1usize..50) {
        let _ = read(&bytes, &[size], false);
        let _ = read(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &bytes].concat(), &[size], false);
    }
}
