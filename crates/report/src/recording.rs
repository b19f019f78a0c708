//! Everything recorded in a run, as a file that is written from the first second on and read back to
//! evaluate the run: `slices.bin` of its folder, or a file without a name where it has none.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use squall_metrics::Slice;

/// The first bytes: name and version.
const MAGIC: &[u8; 8] = b"squall\x00\x01";
/// Largest record, in bytes.
const MAX_RECORD: usize = 256 << 20;
/// Bytes read at a time.
const READ_AHEAD: usize = 32 << 10;

/// The slices of a run: one record per worker and second.
#[derive(Debug)]
pub struct Recording {
    file: File,
    /// Where the next record goes.
    end: u64,
    /// How many records could not be written.
    failed: u64,
    /// Why the first of them could not.
    error: Option<io::Error>,
    /// The last record, for the sake of its memory.
    record: Vec<u8>,
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
        Ok(Recording { file, end: MAGIC.len() as u64, failed: 0, error: None, record: Vec::new() })
    }

    /// Opens one to be read.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path) -> io::Result<Recording> {
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        Ok(Recording { file, end, failed: 0, error: None, record: Vec::new() })
    }

    /// Adds a slice. One that cannot be written, for example to a full disk, is left out and counted: the
    /// run continues.
    pub fn append(&mut self, slice: &Slice) {
        self.record.clear();
        self.record.extend_from_slice(&[0; 4]);
        slice.encode(&mut self.record);
        let length = (self.record.len() - 4) as u32;
        self.record[..4].copy_from_slice(&length.to_le_bytes());
        let written = self
            .file
            .seek(SeekFrom::Start(self.end))
            .and_then(|_| self.file.write_all(&self.record));
        match written {
            Ok(()) => self.end += self.record.len() as u64,
            Err(error) => {
                self.failed += 1;
                self.error.get_or_insert(error);
                // What was written of it is overwritten by the next record if this fails too.
                let _ = self.file.set_len(self.end);
            }
        }
    }

    /// Why the first slice that could not be written could not; `None`: all were.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// How many slices could not be written.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Reads all slices, in the order in which they were added. `Some`: the file ends with something else,
    /// which was left out, and why. A generator that was killed leaves an incomplete record at the end,
    /// which is nothing to mention.
    ///
    /// # Errors
    /// The file cannot be read, or is not a recording that this version can read.
    pub fn replay(&mut self, mut each: impl FnMut(&Slice)) -> io::Result<Option<String>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(READ_AHEAD, &self.file);
        let mut magic = [0; MAGIC.len()];
        let known = reader.read_exact(&mut magic).is_ok() && magic == *MAGIC;
        if !known {
            return Err(io::Error::other("this is not a squall run that this version can read"));
        }
        let mut at = MAGIC.len();
        loop {
            let mut length = [0; 4];
            if filled(&mut reader, &mut length)? < length.len() {
                return Ok(None);
            }
            let length = u32::from_le_bytes(length) as usize;
            if length > MAX_RECORD {
                return Ok(Some(format!("the record at byte {at} is too long")));
            }
            self.record.clear();
            // Memory grows with what is there, whatever the length says.
            (&mut reader).take(length as u64).read_to_end(&mut self.record)?;
            if self.record.len() < length {
                return Ok(None);
            }
            match Slice::decode(&mut self.record.as_slice()) {
                Ok(slice) => each(&slice),
                Err(error) => return Ok(Some(format!("the record at byte {at}: {error}"))),
            }
            at += 4 + length;
        }
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
