//! Decodes records on threads of its own while those before them are used, a few ahead; they come back in their order.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope, available_parallelism};

use squall_metrics::{DecodeError, Slice};
use zstd::bulk::Decompressor;

use super::record::{MAX_RECORD, Record, ZSTD};

/// Most threads: whoever uses the slices is no faster than so many.
const MAX_THREADS: usize = 3;
/// Records that each thread has at a time: the one that it decodes, and the next.
const RECORDS_OF_A_THREAD: usize = 2;
/// Most bytes of records, as they are on disk, that are ahead, but for one record that may have more: a slice takes some fifty
/// times as much memory, so that seconds of a thousand names are decoded one after the other.
const MOST_BYTES: usize = 128 << 10;

/// How the bytes of a record become a slice.
pub(super) type DecodeSlice = fn(&mut &[u8]) -> Result<Slice, DecodeError>;

/// What became of a record: a slice, or why it is none.
type Decoded = Result<Slice, String>;

/// Records that are being decoded. Each thread gets every n-th of them, so that their order is known.
pub(super) struct Ahead {
    threads: Vec<(Sender<Record>, Receiver<Decoded>)>,
    given: usize,
    /// How many bytes each of those has that were given and not taken.
    bytes: VecDeque<usize>,
}

impl Ahead {
    /// Begins the threads: as many as there are processors, which the system may refuse.
    pub(super) fn begin<'scope>(
        scope: &'scope Scope<'scope, '_>,
        decode: DecodeSlice,
    ) -> io::Result<Ahead> {
        let threads = available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let thread = |_| {
            let ((to, records), (slices, from)) = (mpsc::channel(), mpsc::channel());
            let body = move || decode_all(&records, &slices, decode);
            thread::Builder::new().name("decode".to_owned()).spawn_scoped(scope, body)?;
            Ok((to, from))
        };
        let threads = (0..threads).map(thread).collect::<io::Result<Vec<_>>>()?;
        Ok(Ahead { threads, given: 0, bytes: VecDeque::new() })
    }

    /// Whether another record may be given.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < self.threads.len() * RECORDS_OF_A_THREAD
            && self.bytes.iter().sum::<usize>() < MOST_BYTES
    }

    pub(super) fn give(&mut self, record: Record) {
        let (to, _) = &self.threads[self.given % self.threads.len()];
        self.bytes.push_back(record.bytes.len());
        // A thread that is gone has panicked, which the end of its scope passes on.
        let _ = to.send(record);
        self.given += 1;
    }

    /// Takes what became of the next record; `None`: all that were given were taken.
    pub(super) fn take(&mut self) -> Option<Decoded> {
        let next = self.given - self.bytes.len();
        self.bytes.pop_front()?;
        let (_, from) = &self.threads[next % self.threads.len()];
        from.recv().ok()
    }
}

/// Decodes records until no more come, or nobody wants them any more.
fn decode_all(records: &Receiver<Record>, slices: &Sender<Decoded>, decode: DecodeSlice) {
    let (mut decompressor, mut plain) = (Decompressor::default(), Vec::new());
    for Record { at, bytes } in records {
        let (encoding, packed) = bytes.split_first().unwrap_or((&0, &[]));
        let unpacked = match *encoding {
            ZSTD => decompress(&mut decompressor, packed, &mut plain),
            _ => Err("compressed as only later versions know".to_owned()),
        };
        let slice =
            unpacked.and_then(|()| decode(&mut &plain[..]).map_err(|wrong| wrong.to_string()));
        let slice = slice.map_err(|reason| format!("the record at byte {at}: {reason}"));
        if slices.send(slice).is_err() {
            return;
        }
    }
}

/// Decompresses a record into `plain`.
fn decompress(
    decompressor: &mut Decompressor,
    packed: &[u8],
    plain: &mut Vec<u8>,
) -> Result<(), String> {
    plain.clear();
    let length = Decompressor::upper_bound(packed).ok_or("it is incomplete")?;
    if length > MAX_RECORD {
        return Err("it is too long".to_owned());
    }
    // Memory is used only as it is written to, whatever the length says.
    plain.try_reserve(length).map_err(|error| error.to_string())?;
    decompressor.decompress_to_buffer(packed, plain).map_err(|error| error.to_string())?;
    Ok(())
}
