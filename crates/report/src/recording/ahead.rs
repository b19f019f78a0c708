//! Decodes records on threads of its own while those before them are used, a few ahead; they come back in their order.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope, available_parallelism};

use flate2::{Decompress, FlushDecompress, Status};
use squall_metrics::{DecodeError, Slice};

use super::{DEFLATE, MAX_RECORD, Record};

/// Most threads: whoever uses the slices is no faster than so many.
const MAX_THREADS: usize = 3;
/// Records that each thread has at a time: the one that it decodes, and the next.
const RECORDS_OF_A_THREAD: usize = 2;

/// How the bytes of a record become a slice.
pub(super) type DecodeSlice = fn(&mut &[u8]) -> Result<Slice, DecodeError>;

/// What became of a record: a slice, or why it is none.
type Decoded = Result<Slice, String>;

/// Records that are being decoded. Each thread gets every n-th of them, so that their order is known.
pub(super) struct Ahead {
    threads: Vec<(Sender<Record>, Receiver<Decoded>)>,
    given: usize,
    taken: usize,
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
        Ok(Ahead { threads, given: 0, taken: 0 })
    }

    /// Whether another record may be given.
    pub(super) fn has_room(&self) -> bool {
        self.given - self.taken < self.threads.len() * RECORDS_OF_A_THREAD
    }

    /// Gives a record.
    pub(super) fn give(&mut self, record: Record) {
        let (to, _) = &self.threads[self.given % self.threads.len()];
        // A thread that is gone has panicked, which the end of its scope passes on.
        let _ = to.send(record);
        self.given += 1;
    }

    /// Takes what became of the next record; `None`: all that were given were taken.
    pub(super) fn take(&mut self) -> Option<Decoded> {
        if self.taken == self.given {
            return None;
        }
        let (_, from) = &self.threads[self.taken % self.threads.len()];
        self.taken += 1;
        from.recv().ok()
    }
}

/// Decodes records until no more come, or nobody wants them any more.
fn decode_all(records: &Receiver<Record>, slices: &Sender<Decoded>, decode: DecodeSlice) {
    let (mut inflater, mut plain) = (Decompress::new(false), Vec::new());
    for Record { at, bytes } in records {
        let (encoding, packed) = bytes.split_first().unwrap_or((&0, &[]));
        let inflated = match *encoding {
            DEFLATE => inflate(&mut inflater, packed, &mut plain),
            _ => Err("compressed as only later versions know".to_owned()),
        };
        let slice =
            inflated.and_then(|()| decode(&mut &plain[..]).map_err(|wrong| wrong.to_string()));
        let slice = slice.map_err(|reason| format!("the record at byte {at}: {reason}"));
        if slices.send(slice).is_err() {
            return;
        }
    }
}

/// Inflates a record into `plain`.
fn inflate(inflater: &mut Decompress, packed: &[u8], plain: &mut Vec<u8>) -> Result<(), String> {
    inflater.reset(false);
    plain.clear();
    loop {
        if plain.len() == plain.capacity() {
            plain.reserve(packed.len().max(1 << 10));
        }
        // No more has been read than there is.
        let rest = &packed[inflater.total_in() as usize..];
        let status = inflater.decompress_vec(rest, plain, FlushDecompress::Finish);
        match status.map_err(|wrong| wrong.to_string())? {
            Status::StreamEnd => return Ok(()),
            _ if plain.len() > MAX_RECORD => return Err("it is too long".to_owned()),
            // There was room, so that it lacks its end.
            _ if plain.len() < plain.capacity() => return Err("it is incomplete".to_owned()),
            _ => {}
        }
    }
}
