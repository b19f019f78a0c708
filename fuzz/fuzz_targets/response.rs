//! Any bytes as the answer of a server, whole and cut in two: the same meaning, and no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_wire::{Answer, Step};

/// Reads an answer from pieces; how it ended, and its body.
fn read(pieces: [&[u8]; 2]) -> Option<(bool, Vec<u8>)> {
    let (mut answer, mut body, mut held) = (Answer::new(false), Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        loop {
            let taken = match answer.feed(&held, &mut |part| body.extend_from_slice(part)).ok()? {
                Step::NeedHead => break,
                Step::Head { end, .. } => end,
                Step::Body(taken) | Step::Done(taken) => taken,
            };
            held.drain(..taken);
            if answer.is_done() || taken == 0 || held.is_empty() {
                break;
            }
        }
    }
    Some((answer.is_done() || answer.closed(), body))
}

fuzz_target!(|input: (u16, &[u8])| {
    let (cut, bytes) = input;
    let cut = usize::from(cut).min(bytes.len());
    let whole = read([bytes, &[]]);
    if whole.is_some() {
        assert_eq!(read([&bytes[..cut], &bytes[cut..]]), whole);
    }
});
