//! The memory that one extraction takes at its peak, counted by the allocator: hostile bodies of
//! the largest size that is read take a small multiple of their length.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use squall_extract::{ExtractError, Extractor, Found, MatchChoice, Spec};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: all calls go to the system's allocator unchanged; counting them touches no memory of
// theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // As if the block were copied: the old and the new one exist at the same time.
        grown(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BODY: usize = 16 << 20;

/// A body of [`BODY`] bytes at most: `piece` again and again between `head` and `tail`.
fn filled(head: &str, piece: &str, tail: &str) -> String {
    let count = (BODY - head.len() - tail.len()) / piece.len();
    format!("{head}{}{tail}", piece.repeat(count))
}

/// What an extraction gives, and the peak of memory while it runs, in lengths of the body.
fn peak(
    spec: &Spec,
    which: MatchChoice,
    body: &str,
) -> (Result<Found<'static>, ExtractError>, f64) {
    let extractor = Extractor::compile(spec).unwrap();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let found = extractor.find(body.as_bytes(), which, 1 << 63).map(Found::into_owned);
    (found, (PEAK.load(Relaxed) - before) as f64 / body.len() as f64)
}

/// One test, because all tests of a binary share the allocator.
#[test]
fn memory_is_a_small_multiple_of_the_body() {
    json();
    html();
    xml();
}

/// Searches markup and checks that a page is read, or refused because there is too much in it.
fn markup(bodies: &[String]) {
    for body in bodies {
        let (found, times) = peak(&Spec::XPath("//x"), MatchChoice::Last, body);
        let shown = body.get(..40).unwrap_or(body);
        if let Err(error) = &found {
            assert!(
                matches!(error, ExtractError::TooLarge { .. } | ExtractError::TooDeep { .. }),
                "{shown}: {error}"
            );
        }
        assert!(times <= 6.0, "{shown}: {times:.2}");
    }
}

fn numbered(piece: impl Fn(usize) -> String) -> String {
    let mut body = String::with_capacity(BODY);
    for number in 0.. {
        let piece = piece(number);
        if body.len() + piece.len() > BODY {
            break;
        }
        body.push_str(&piece);
    }
    body
}

fn html() {
    let deep = format!("{}{}", "<div>".repeat(400), "</div>".repeat(400));
    let many_attributes = format!("<p {}>x</p>", "a b c d e f g h ".repeat(10));
    markup(&[
        filled("", "<p>", ""),
        filled("", "<!---->", ""),
        filled("", &deep, ""),
        filled("", "<li>some text of an entry</li>", ""),
        filled("", "plain text of which there is much ", ""),
        filled("", "\0", ""),
        filled("<svg>", "\0", ""),
        filled("<p title='", "value ", "'>"),
        filled("", &many_attributes, ""),
        filled("<table>", "a<td>b</td>", ""),
        numbered(|number| format!("<p a{number:x}>")),
        numbered(|number| format!("<p a='{number}'>")),
    ]);
}

fn xml() {
    let xml = |piece: &str| filled("<?xml version='1.0'?><r>", piece, "</r>");
    markup(&[xml("<a/>"), xml("<a b='c'/>"), xml("<?a?>"), xml("text of which there is much ")]);
}

fn json() {
    let deep = format!("{}{},", "[".repeat(126), "]".repeat(126));
    for body in [
        filled("[", "1,", "1]"),
        filled("[", "[],", "1]"),
        filled("[", &deep, "1]"),
        filled("[", "{\"a\":1},", "1]"),
        filled("\"", "[", "\""),
    ] {
        for (path, which) in [("$..x", MatchChoice::Random), ("$[::-1].x", MatchChoice::First)] {
            let (found, times) = peak(&Spec::Json(path), which, &body);
            // Found or not, or too costly; never too long or no JSON.
            if let Err(error) = &found {
                assert!(matches!(error, ExtractError::TooCostly { .. }), "{error}");
            }
            assert!(times <= 4.02, "{path} {which:?} {:.12}: {times:.2}", body);
        }
    }
}
