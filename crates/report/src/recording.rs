//! Everything recorded in a run, as a file that is written from the first second on and read back to
//! evaluate the run: `slices.bin` of its folder, or a file without a name where it has none.

mod ahead;
mod record;

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use squall_metrics::Slice;
use zstd::bulk::Compressor;

use ahead::{Ahead, DecodeSlice};
use record::{MAX_RECORD, Record, ZSTD};

/// The first bytes: name and version.
const MAGIC: &[u8; 8] = b"squall\x00\x03";
/// What is asked of the compressor: the level that is written and read fastest of those that pack well.
const LEVEL: i32 = 1;
/// Bytes of a record's length, and of these and how it is compressed.
const LENGTH: usize = 4;
const HEAD: usize = LENGTH + 1;
/// Bytes read at a time.
const READ_AT_ONCE: usize = 32 << 10;

/// The slices of a run: one record per worker and second.
pub struct Recording {
    file: File,
    /// Where the next record goes.
    end: u64,
    /// How many records could not be written.
    failed: u64,
    /// Why the first of them could not.
    error: Option<io::Error>,
    /// What compresses records, the record that was added last, and what that was before, for the sake of their memory.
    compressor: Compressor<'static>,
    record: Vec<u8>,
    plain: Vec<u8>,
}

impl Recording {
    /// Creates a file.
    ///
    /// # Errors
    /// It exists, or cannot be written.
    pub fn create(path: &Path) -> io::Result<Recording> {
        Recording::begin(OpenOptions::new().read(true).write(true).create_new(true).open(path)?)
    }

    /// Creates a file without a name in the system's folder for temporary files; it goes with the process.
    ///
    /// # Errors
    /// It cannot be created or written.
    pub fn unnamed() -> io::Result<Recording> {
        Recording::begin(tempfile::tempfile()?)
    }

    fn begin(mut file: File) -> io::Result<Recording> {
        file.write_all(MAGIC)?;
        Recording::at(file, MAGIC.len() as u64)
    }

    /// Opens one to be read.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path) -> io::Result<Recording> {
        let file = squall_plan::files::open(path)?;
        let end = file.metadata()?.len();
        Recording::at(file, end)
    }

    /// Of a file whose next record goes to `end`.
    fn at(file: File, end: u64) -> io::Result<Recording> {
        let compressor = Compressor::new(LEVEL)?;
        let (record, plain) = (Vec::new(), Vec::new());
        Ok(Recording { file, end, failed: 0, error: None, compressor, record, plain })
    }

    /// Adds a slice. One that cannot be written, for example to a full disk, is left out and counted: the
    /// run continues.
    pub fn append(&mut self, slice: &Slice) {
        match self.pack(slice).and_then(|()| self.write()) {
            Ok(()) => self.end += self.record.len() as u64,
            Err(error) => {
                self.failed += 1;
                self.error.get_or_insert(error);
                // What was written of it is overwritten by the next record if this fails too.
                let _ = self.file.set_len(self.end);
            }
        }
    }

    /// Makes the record of a slice: its length, how it is compressed, and the compressed slice.
    fn pack(&mut self, slice: &Slice) -> io::Result<()> {
        self.plain.clear();
        slice.encode(&mut self.plain);
        self.record.clear();
        self.record.reserve(HEAD + zstd::compress_bound(self.plain.len()));
        self.record.extend_from_slice(&[0, 0, 0, 0, ZSTD]);
        let mut packed = Cursor::new(&mut self.record);
        packed.set_position(HEAD as u64);
        self.compressor.compress_to_buffer(&self.plain, &mut packed)?;
        let length = (self.record.len() - LENGTH) as u32;
        self.record[..LENGTH].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&self.record)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How long it is, in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.end
    }

    /// Why the first slice that could not be written could not; `None`: all were.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// How many slices could not be written.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Reads all slices, in the order in which they were added; they are decoded on other threads, a few ahead.
    /// `Some`: the file ends with something else, which was left out, and why. A generator that was killed leaves an
    /// incomplete record at the end, which is nothing to mention.
    ///
    /// # Errors
    /// The file cannot be read, or is not a recording that this version can read.
    pub fn replay(&mut self, each: impl FnMut(&Slice)) -> io::Result<Option<String>> {
        self.read(Slice::decode, lent(each))
    }

    /// The same of slices that the caller may hold, a few of them at a time.
    ///
    /// # Errors
    /// As of [`Recording::replay`].
    pub(crate) fn replay_held(&mut self, each: impl FnMut(Slice)) -> io::Result<Option<String>> {
        self.read(Slice::decode, each)
    }

    /// The same of slices that have latencies and corrected latencies, and no other times of requests, groups and
    /// iterations.
    ///
    /// # Errors
    /// As of [`Recording::replay`].
    pub fn replay_latencies(&mut self, each: impl FnMut(&Slice)) -> io::Result<Option<String>> {
        self.read(Slice::decode_latencies, lent(each))
    }

    /// The same of slices that have what requests, groups and iterations counted, and none of their times.
    ///
    /// # Errors
    /// As of [`Recording::replay`].
    pub fn replay_counts(&mut self, each: impl FnMut(&Slice)) -> io::Result<Option<String>> {
        self.read(Slice::decode_counts, lent(each))
    }

    fn read(
        &mut self,
        decode: DecodeSlice,
        mut each: impl FnMut(Slice),
    ) -> io::Result<Option<String>> {
        let mut records = Records::begin(&mut self.file)?;
        std::thread::scope(|scope| {
            let mut ahead = Ahead::begin(scope, decode)?;
            loop {
                while ahead.has_room()
                    && let Some(record) = records.next()?
                {
                    ahead.give(record);
                }
                match ahead.take() {
                    Some(Ok(slice)) => each(slice),
                    Some(Err(reason)) => return Ok(Some(reason)),
                    None => return Ok(records.end_reason.take()),
                }
            }
        })
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut own = f.debug_struct("Recording");
        own.field("file", &self.file).field("end", &self.end).field("failed", &self.failed);
        own.finish_non_exhaustive()
    }
}

/// Who looks at slices as one who takes them.
fn lent(mut each: impl FnMut(&Slice)) -> impl FnMut(Slice) {
    move |slice| each(&slice)
}

/// The records of a file, one after the other.
struct Records<'f> {
    reader: BufReader<&'f File>,
    at: usize,
    is_over: bool,
    /// What the file ends with that is no record.
    end_reason: Option<String>,
}

impl Records<'_> {
    fn begin(file: &mut File) -> io::Result<Records<'_>> {
        file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(READ_AT_ONCE, &*file);
        let mut magic = [0; MAGIC.len()];
        match reader.read_exact(&mut magic).is_ok() && magic == *MAGIC {
            true => Ok(Records { reader, at: MAGIC.len(), is_over: false, end_reason: None }),
            false => Err(io::Error::other("this is not a squall run that this version can read")),
        }
    }

    /// The next one; `None`: there is no other that is whole.
    fn next(&mut self) -> io::Result<Option<Record>> {
        let mut length = [0; LENGTH];
        if self.is_over || filled(&mut self.reader, &mut length)? < length.len() {
            self.is_over = true;
            return Ok(None);
        }
        let (at, length) = (self.at, u32::from_le_bytes(length) as usize);
        if length > MAX_RECORD {
            self.is_over = true;
            self.end_reason = Some(format!("the record at byte {at} is too long"));
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // Memory grows with what is there, whatever the length says.
        (&mut self.reader).take(length as u64).read_to_end(&mut bytes)?;
        self.is_over = bytes.len() < length;
        self.at += LENGTH + length;
        Ok((!self.is_over).then_some(Record { at, bytes }))
    }
}

/// Fills a buffer, as far as there is something to read, and returns how far.
fn filled(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
