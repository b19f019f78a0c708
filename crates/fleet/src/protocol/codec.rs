//! Messages as bytes. What comes from elsewhere is bounded, and refused in a sentence if it is not what it should be.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use squall_engine::Progress;

use super::messages::{Second, Sign};
use super::ranges;
use super::units::Bytes;

/// Most bytes of a message in JSON.
pub const CONTROL_BYTES: usize = 4 << 20;
/// Most bytes of a stored message.
pub const STORED_BYTES: usize = 8 << 20;
/// Most letters of a sentence that comes from elsewhere, and most sentences.
const SENTENCE: usize = 2_000;
const SENTENCES: usize = 100;
/// The latest second of a run: 31 days.
pub const LAST_SECOND: u32 = 31 * 86_400;

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

fn unreadable<T>(why: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(why.into()))
}

/// A message as JSON.
pub fn json<T: Serialize>(message: &T) -> Bytes {
    // Messages are made of texts, numbers and lists: nothing in them can fail to be written.
    serde_json::to_vec(message).unwrap_or_default().into()
}

/// Reads a message from JSON.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    if bytes.len() > CONTROL_BYTES {
        return unreadable(format!(
            "a message of {} bytes; at most {CONTROL_BYTES} are read",
            bytes.len()
        ));
    }
    serde_json::from_slice(bytes)
        .or_else(|error| unreadable(format!("not the expected JSON: {error}")))
}

/// What is stored in the stream of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// What a node recorded in a second.
    Record(Numbered),
    /// A message that was asked for again is there no more.
    Gone { boot: u64, number: u64 },
    /// What a node says of itself.
    Sign(Sign),
    /// A controller's mark: what was stored before it has been read.
    Mark { nonce: u64, serial: u64 },
}

/// A second, with what tells it from the others of its node.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// The process.
    pub boot: u64,
    /// Its number among the messages of the process.
    pub number: u64,
    /// The part of its share under which the node drove it.
    pub epoch: u32,
    /// How far users are with counted iterations at its end, as far as that has changed: whoever has the record knows it.
    pub progress: Progress,
    /// What was recorded.
    pub second: Second,
}

const RECORD: u8 = 1;
const GONE: u8 = 2;
const MARK: u8 = 3;
const SIGN: u8 = b'{';

/// A message for the stream.
pub fn encode(message: &Stored) -> Bytes {
    let mut to = Vec::new();
    match message {
        Stored::Sign(sign) => return json(sign),
        Stored::Gone { boot, number } => {
            to.push(GONE);
            put(&mut to, *boot);
            put(&mut to, *number);
        }
        Stored::Mark { nonce, serial } => {
            to.push(MARK);
            put(&mut to, *nonce);
            put(&mut to, *serial);
        }
        Stored::Record(numbered) => {
            let second = &numbered.second;
            to.reserve(64 + second.record.len());
            to.push(RECORD);
            put(&mut to, numbered.boot);
            put(&mut to, numbered.number);
            put(&mut to, numbered.epoch.into());
            put(&mut to, second.second.into());
            put(&mut to, second.late.into());
            put(&mut to, second.is_whole.into());
            let ranges = ranges::of_shards(&second.shards);
            put(&mut to, ranges.len() as u64);
            let mut last = 0;
            for (first, end) in ranges {
                put(&mut to, u64::from(first - last));
                put(&mut to, u64::from(end - first));
                last = end;
            }
            put_progress(&mut to, &numbered.progress);
            to.extend_from_slice(&second.record);
        }
    }
    to.into()
}

/// Reads a message of the stream.
pub fn decode(bytes: &[u8]) -> Result<Stored, Unreadable> {
    if bytes.len() > STORED_BYTES {
        return unreadable(format!(
            "a message of {} bytes; at most {STORED_BYTES} are read",
            bytes.len()
        ));
    }
    let mut from = Reader(bytes.get(1..).unwrap_or_default());
    match bytes.first() {
        Some(&SIGN) => read_sign(bytes),
        Some(&GONE) => Ok(Stored::Gone { boot: from.number()?, number: from.number()? }),
        Some(&MARK) => Ok(Stored::Mark { nonce: from.number()?, serial: from.number()? }),
        Some(&RECORD) => read_record(from),
        Some(other) => {
            unreadable(format!("a message of kind {other}, which this version does not know"))
        }
        None => unreadable("an empty message"),
    }
}

fn read_sign(bytes: &[u8]) -> Result<Stored, Unreadable> {
    let mut sign: Sign = read_json(bytes)?;
    let bounded = sign.holds.len() <= 64 && sign.former.len() <= 64 && sign.fenced <= LAST_SECOND;
    if !bounded || sign.holds.iter().any(|hold| hold.1 > LAST_SECOND) {
        return unreadable("a sign with more parts or former processes than a node has");
    }
    sign.failures.truncate(SENTENCES);
    for sentence in sign.failures.iter_mut().chain([&mut sign.refused]) {
        shorten(sentence);
    }
    Ok(Stored::Sign(sign))
}

/// Cuts a sentence that is too long.
pub fn shorten(sentence: &mut String) {
    if sentence.len() > SENTENCE {
        let end = (0..=SENTENCE).rev().find(|&at| sentence.is_char_boundary(at)).unwrap_or(0);
        sentence.truncate(end);
    }
}

fn read_record(mut from: Reader<'_>) -> Result<Stored, Unreadable> {
    let boot = from.number()?;
    let number = from.number()?;
    let epoch = from.small(u32::MAX)?;
    let second = from.small(LAST_SECOND)?;
    let late = from.small(u32::MAX)?;
    let is_whole = from.small(1)? == 1;
    let pieces = from.small(ranges::SHARDS)?;
    // Each piece takes two bytes at least, so that a short message cannot ask for much.
    if pieces as usize * 2 > from.0.len() {
        return unreadable("a record that is cut off");
    }
    let mut list = Vec::with_capacity(pieces as usize);
    let mut last = 0u32;
    for _ in 0..pieces {
        let first = last.saturating_add(from.small(ranges::SHARDS)?);
        last = first.saturating_add(from.small(ranges::SHARDS)?);
        list.push((first, last));
    }
    let Some(shards) = ranges::shards_of(list.into_iter()) else {
        return unreadable("a record of shards that do not ascend");
    };
    let progress = from.progress()?;
    let record = Bytes::from(from.0);
    Ok(Stored::Record(Numbered {
        boot,
        number,
        epoch,
        progress,
        second: Second { second, shards, is_whole, late, record },
    }))
}

/// A progress in letters, for what is written as JSON.
pub fn progress_text(progress: &Progress) -> String {
    let mut bytes = Vec::new();
    if !progress.is_empty() {
        put_progress(&mut bytes, progress);
    }
    STANDARD.encode(bytes)
}

/// Reads what [`progress_text`] wrote.
pub fn read_progress(text: &str) -> Result<Progress, Unreadable> {
    if text.is_empty() {
        return Ok(Progress::default());
    }
    match STANDARD.decode(text) {
        Ok(bytes) => Reader(&bytes).progress(),
        Err(error) => unreadable(format!("a progress that is not in base64: {error}")),
    }
}

/// Numbers that follow each other are told by their distance.
fn put_progress(to: &mut Vec<u8>, progress: &Progress) {
    for all in [&progress.users, &progress.totals] {
        put(to, all.len() as u64);
        let mut last = (0, 0);
        for (&(load, number), &begun) in all {
            let base = if load == last.0 { last.1 } else { 0 };
            put(to, u64::from(load - last.0));
            put(to, number - base);
            put(to, begun);
            last = (load, number);
        }
    }
}

fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Bytes that are read from the front.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    /// A number in 7 bits a byte.
    fn number(&mut self) -> Result<u64, Unreadable> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.0.split_first() else {
                return unreadable("a message that is cut off");
            };
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        unreadable("a number that is too large")
    }

    fn progress(&mut self) -> Result<Progress, Unreadable> {
        Ok(Progress { users: self.begun()?, totals: self.begun()? })
    }

    fn begun(&mut self) -> Result<BTreeMap<(u16, u64), u64>, Unreadable> {
        let count = self.number()?;
        let (mut all, mut last) = (BTreeMap::new(), (0u16, 0u64));
        // Each takes three bytes at least: a short message makes no long list.
        for _ in 0..count {
            let load = self.number()?;
            let Some(load) = u16::try_from(load).ok().and_then(|more| last.0.checked_add(more))
            else {
                return unreadable("a load with a number that is too large");
            };
            let base = if load == last.0 { last.1 } else { 0 };
            let Some(number) = base.checked_add(self.number()?) else {
                return unreadable("a number that is too large");
            };
            all.insert((load, number), self.number()?);
            last = (load, number);
        }
        Ok(all)
    }

    fn small(&mut self, most: u32) -> Result<u32, Unreadable> {
        match u32::try_from(self.number()?) {
            Ok(number) if number <= most => Ok(number),
            _ => unreadable("a number that is too large"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::messages::Phase;

    fn record(shards: &[u32]) -> Stored {
        let second = Second {
            second: 86_400,
            shards: shards.into(),
            is_whole: true,
            late: 2,
            record: Bytes::from(&b"abc"[..]),
        };
        let progress = progress();
        Stored::Record(Numbered { boot: u64::MAX, number: 300, epoch: 7, progress, second })
    }

    fn progress() -> Progress {
        Progress {
            users: BTreeMap::from([((0, 3), 7), ((0, 9), 1), ((2, 1), u64::MAX)]),
            totals: BTreeMap::from([((1, u64::MAX), 4)]),
        }
    }

    #[test]
    fn a_progress_is_written_in_letters() {
        for progress in [progress(), Progress::default()] {
            assert_eq!(read_progress(&progress_text(&progress)).unwrap(), progress);
        }
        assert!(read_progress("ä").is_err() && read_progress("Zm9v").is_err());
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let sign = Sign {
            boot: 7,
            phase: Phase::Fenced,
            holds: vec![(1, 5)],
            former: vec![(3, 9)],
            ..Sign::default()
        };
        let messages = [
            record(&[0, 1, 2, 9]),
            record(&[]),
            record(&[ranges::SHARDS - 1]),
            Stored::Gone { boot: 1, number: 128 },
            Stored::Mark { nonce: 5, serial: 6 },
            Stored::Sign(sign),
        ];
        for message in messages {
            assert_eq!(decode(&encode(&message)).unwrap(), message);
        }
    }

    #[test]
    fn a_record_that_is_cut_off_in_its_head_is_refused() {
        let Stored::Record(numbered) = record(&[3, 5, 7]) else { unreachable!() };
        let whole = encode(&Stored::Record(Numbered {
            second: Second { record: keys_nothing(), ..numbered.second },
            ..numbered
        }));
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "{length}");
        }
    }

    fn keys_nothing() -> Bytes {
        crate::protocol::keys::nothing()
    }

    #[test]
    fn a_long_sentence_is_cut_between_letters() {
        let mut sentence = "ä".repeat(SENTENCE);
        shorten(&mut sentence);
        assert_eq!(sentence.len(), SENTENCE);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0u8..4) {
            let mut bytes = bytes;
            if let (Some(first), true) = (bytes.first_mut(), kind > 0) {
                *first = kind;
            }
            if let Ok(message) = decode(&bytes) {
                prop_assert_eq!(decode(&encode(&message)).unwrap(), message);
            }
        }
    }
}
