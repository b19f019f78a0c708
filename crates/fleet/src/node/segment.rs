//! A file of the spool: messages one after the other, each with its number, its length and a digest.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::protocol::io::Bytes;

/// Most bytes of a message.
pub(super) const MAX_MESSAGE: u32 = 64 << 20;
/// Number, length and digest of a message.
pub(super) const HEAD: usize = 8 + 4 + 8;

/// A file that is only appended to.
#[derive(Debug)]
pub(super) struct Segment {
    file: File,
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Where each message begins, and its length.
    pub messages: BTreeMap<u64, (u64, u32)>,
    /// Whether the last message could not be written as a whole.
    pub is_torn: bool,
}

impl Segment {
    /// A new file.
    pub fn new(path: PathBuf) -> io::Result<Segment> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Segment { file, path, bytes: 0, messages: BTreeMap::new(), is_torn: false })
    }

    /// Reads one that another process has left, up to its torn end if it has one.
    pub fn read(path: PathBuf) -> io::Result<Segment> {
        let mut file = OpenOptions::new().read(true).open(&path)?;
        let bytes = file.metadata()?.len();
        let (mut at, mut messages) = (0, BTreeMap::new());
        let mut reader = io::BufReader::new(&mut file);
        while let Some((number, length)) = next(&mut reader)? {
            messages.insert(number, (at, length));
            at += HEAD as u64 + u64::from(length);
        }
        Ok(Segment { file, path, bytes, messages, is_torn: true })
    }

    /// Appends a message of this length.
    pub fn append(&mut self, number: u64, length: u32, payload: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(HEAD + payload.len());
        message.extend_from_slice(&number.to_le_bytes());
        message.extend_from_slice(&length.to_le_bytes());
        message.extend_from_slice(&digest(number, payload));
        message.extend_from_slice(payload);
        self.is_torn = true;
        self.file.write_all(&message)?;
        self.is_torn = false;
        self.messages.insert(number, (self.bytes, length));
        self.bytes += message.len() as u64;
        Ok(())
    }

    /// Reads one.
    pub fn message(&self, number: u64) -> Option<Bytes> {
        let (at, length) = *self.messages.get(&number)?;
        let mut payload = vec![0; length as usize];
        self.file.read_exact_at(&mut payload, at + HEAD as u64).ok()?;
        Some(payload.into())
    }
}

/// The next message of a file: its number and length; `None`: there is none that is whole.
fn next(reader: &mut impl io::Read) -> io::Result<Option<(u64, u32)>> {
    let mut head = [0; HEAD];
    if !is_read(reader, &mut head)? {
        return Ok(None);
    }
    let mut number = [0; 8];
    let mut length = [0; 4];
    number.copy_from_slice(&head[..8]);
    length.copy_from_slice(&head[8..12]);
    let (number, length) = (u64::from_le_bytes(number), u32::from_le_bytes(length));
    if length > MAX_MESSAGE {
        return Ok(None);
    }
    let mut payload = Vec::new();
    reader.take(u64::from(length)).read_to_end(&mut payload)?;
    let is_whole = payload.len() == length as usize && digest(number, &payload) == head[12..];
    Ok(is_whole.then_some((number, length)))
}

/// Reads as many bytes as fit; `false`: there are not so many.
fn is_read(reader: &mut impl io::Read, into: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells a message from what a torn end looks like.
fn digest(number: u64, payload: &[u8]) -> [u8; 8] {
    let mut hash = Sha256::new();
    hash.update(number.to_le_bytes());
    hash.update(payload);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    first
}
