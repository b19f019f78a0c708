//! What a run came to in all, as a file: `totals.bin` of its folder, written at its end. All of it follows from
//! `slices.bin`, which takes most of the time of a report; where it is missing, damaged or of another `slices.bin`, that is
//! added up again.

use std::io::{self, Write};
use std::path::Path;

use squall_analysis::{Summary, Totals};
use squall_metrics::Slice;
use squall_plan::files;
use zstd::bulk::{Compressor, Decompressor};

use crate::output::replace_file;

const NAME: &str = "totals.bin";
/// The first bytes: name, which file of a run it is, and version.
const MAGIC: &[u8; 8] = b"squall\x01\x01";
/// Largest file unpacked, in bytes.
const MAX_BYTES: usize = 256 << 20;
/// How it is compressed: see the records of `slices.bin`.
const LEVEL: i32 = 1;

/// Writes the totals of a run whose `slices.bin` is so long, if they are all known.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write(folder: &Path, totals: &Totals, recorded: u64) -> io::Result<()> {
    let Some(summary) = totals.summary() else { return Ok(()) };
    let mut plain = Vec::new();
    let mut put = |number: u64| plain.extend_from_slice(&number.to_le_bytes());
    put(recorded);
    put(summary.refused);
    put(u64::from(summary.resolution));
    put(summary.slices.len() as u64);
    summary.slices.iter().for_each(|count| put(u64::from(*count)));
    put(summary.sources.len() as u64);
    summary.all.encode(&mut plain);
    summary.sources.iter().for_each(|own| own.encode(&mut plain));
    // With a thousand names it takes as much memory as what follows.
    drop(summary);
    let mut compressor = Compressor::new(LEVEL)?;
    // Nothing else would show that a byte of it is another than was written.
    compressor.include_checksum(true)?;
    let packed = compressor.compress(&plain)?;
    replace_file(&folder.join(NAME), |mut file| {
        file.write_all(MAGIC)?;
        file.write_all(&packed)
    })
}

/// Reads the totals of a run whose `slices.bin` is so long; `None`: they have to be added up.
pub(crate) fn read(folder: &Path, recorded: u64) -> Option<Totals> {
    let bytes = files::bytes(&folder.join(NAME), MAX_BYTES as u64).ok()?;
    let packed = bytes.strip_prefix(MAGIC)?;
    let length = Decompressor::upper_bound(packed).filter(|own| *own <= MAX_BYTES)?;
    let plain = Decompressor::new().ok()?.decompress(packed, length).ok()?;
    let summary = summary(&mut &plain[..], recorded)?;
    Some(Totals::from(&summary))
}

/// Reads what [`write()`] put before it was compressed.
fn summary(bytes: &mut &[u8], recorded: u64) -> Option<Summary> {
    if take(bytes)? != recorded {
        return None;
    }
    let (refused, resolution) = (take(bytes)?, u32::try_from(take(bytes)?).ok()?);
    let mut slices = Vec::new();
    for _ in 0..take(bytes)? {
        slices.push(u32::try_from(take(bytes)?).ok()?);
    }
    let sources = take(bytes)?;
    let mut slice = || Slice::decode(bytes).ok();
    let all = slice()?;
    // As many as there are, whatever the number says.
    let sources = (0..sources).map(|_| slice()).collect::<Option<_>>()?;
    Some(Summary { all, sources, resolution, slices, refused })
}

/// Any bytes, not compressed, as the totals of a run whose `slices.bin` has as many bytes as their first number says. For the fuzzer.
pub(crate) fn fuzz(bytes: &[u8]) {
    let recorded = bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    if let Some(summary) = summary(&mut &*bytes, recorded) {
        // What can be read can be added up and taken apart again.
        let again = Totals::from(&summary).summary();
        assert!(again.is_none_or(|again| again.refused == summary.refused));
    }
}

/// Takes a number of eight bytes.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use squall_metrics::{NameId, RowKey, RowKind, Sample};

    use super::*;

    fn totals() -> Totals {
        let mut totals = Totals::new();
        for second in 0..3 {
            let mut slice = Slice::new(5, second);
            slice.announce(NameId(1), RowKey::new(RowKind::Request, "s", "a"));
            (1..50).for_each(|n| slice.record(NameId(1), &Sample::ok(n * 1_000)));
            totals.add(&slice);
        }
        totals
    }

    /// Cut anywhere, with any byte changed, or of another recording, it is not there.
    #[test]
    fn what_is_damaged_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(NAME);
        assert!(read(folder.path(), 7).is_none());
        write(folder.path(), &totals(), 7).expect("writable");
        assert_eq!(read(folder.path(), 7).map(|own| own.all()), Some(totals().all()));
        assert!(read(folder.path(), 8).is_none(), "of another recording");
        let whole = fs::read(&file).expect("a file");
        for at in 0..whole.len() {
            fs::write(&file, &whole[..at]).expect("writable");
            assert!(read(folder.path(), 7).is_none(), "cut at {at}");
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            fs::write(&file, &changed).expect("writable");
            let read = read(folder.path(), 7).map(|own| own.all());
            assert!(read.is_none_or(|own| own == totals().all()), "changed at {at}");
        }
    }

    /// What is still without a name may get one from a slice that comes later.
    #[test]
    fn what_is_not_known_whole_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut slice = Slice::new(5, 0);
        slice.record(NameId(1), &Sample::ok(1));
        let mut totals = Totals::new();
        totals.add(&slice);
        write(folder.path(), &totals, 7).expect("nothing to write");
        assert!(!folder.path().join(NAME).exists());
    }
}
