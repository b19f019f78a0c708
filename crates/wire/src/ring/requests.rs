//! The numbers by which requests to the kernel are told apart.

/// What a completion is of: the lowest byte of the number that the kernel gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Receive = 1,
    Send,
    Connect,
    PollIn,
    PollOut,
    Cancel,
    Timer,
    Moved,
    Wake,
}

/// The number that names a request: its kind, its slot, and for a send the place of its bytes.
pub(super) fn number(kind: Kind, slot: u32, place: u32) -> u64 {
    kind as u64 | u64::from(slot) << 8 | u64::from(place) << 40
}

pub(super) fn parts(number: u64) -> (Option<Kind>, u32, u32) {
    const KINDS: [Kind; 9] = [
        Kind::Receive,
        Kind::Send,
        Kind::Connect,
        Kind::PollIn,
        Kind::PollOut,
        Kind::Cancel,
        Kind::Timer,
        Kind::Moved,
        Kind::Wake,
    ];
    let kind = KINDS.into_iter().find(|kind| *kind as u64 == number & 0xff);
    (kind, (number >> 8) as u32, (number >> 40) as u32)
}
