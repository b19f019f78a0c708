//! Sections of a record, compressed each by itself.

use squall_metrics::codec::{get, get_bytes, get_text, put, put_bytes};
use squall_metrics::{DecodeError, ErrorKind};
use zstd::bulk::{Compressor, Decompressor};

/// What is asked of the compressor.
const LEVEL: i32 = 1;
/// The first bytes of everything that is compressed so; sections go without.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// Most bytes of a record, decompressed.
pub(super) const MAX_PLAIN: usize = 16 << 20;

const TRUNCATED: DecodeError = DecodeError("the record is truncated");

/// Takes the kind of an error: its label.
pub(super) fn get_kind(bytes: &mut &[u8]) -> Result<ErrorKind, DecodeError> {
    ErrorKind::from_label(&get_text(bytes)?).ok_or(DecodeError("unknown kind of error"))
}

/// Compresses sections.
pub(super) struct Packer {
    compressor: Option<Compressor<'static>>,
}

impl Packer {
    pub(super) fn new() -> Packer {
        // Without memory for it, sections are left as they are.
        let compressor = Compressor::new(LEVEL).ok().and_then(|mut own| {
            own.include_contentsize(false).ok()?;
            own.include_checksum(false).ok()?;
            Some(own)
        });
        Packer { compressor }
    }

    /// Appends a section: its length, that of what it is compressed to (0: it is not), and that.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, plain: &[u8]) {
        let packed = self.compressor.as_mut().and_then(|own| own.compress(plain).ok());
        let packed = packed.as_ref().and_then(|packed| packed.strip_prefix(&MAGIC));
        match packed.filter(|packed| packed.len() < plain.len()) {
            Some(packed) => {
                put(out, plain.len() as u64);
                put_bytes(out, packed);
            }
            None => Packer::put_as_is(out, plain),
        }
    }

    /// Appends a section of bytes that nothing compresses.
    pub(super) fn put_as_is(out: &mut Vec<u8>, bytes: &[u8]) {
        put(out, bytes.len() as u64);
        if !bytes.is_empty() {
            put(out, 0);
            out.extend_from_slice(bytes);
        }
    }
}

/// Takes a section as it stands, compressed or not.
pub(super) fn section<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], DecodeError> {
    let all = *bytes;
    let length = usize::try_from(get(bytes)?).map_err(|_| TRUNCATED)?;
    if length > 0 && get_bytes(bytes)?.is_empty() {
        *bytes = bytes.get(length..).ok_or(TRUNCATED)?;
    }
    Ok(&all[..all.len() - bytes.len()])
}

/// Decompresses sections.
pub(super) struct Unpacker {
    decompressor: Decompressor<'static>,
    /// Bytes that may still come.
    left: usize,
}

impl Unpacker {
    pub(super) fn new() -> Result<Unpacker, DecodeError> {
        let failed = |_| DecodeError("there is no memory to decompress a record");
        let decompressor = Decompressor::new().map_err(failed)?;
        Ok(Unpacker { decompressor, left: MAX_PLAIN })
    }

    /// Takes a section.
    pub(super) fn take(&mut self, bytes: &mut &[u8]) -> Result<Vec<u8>, DecodeError> {
        let length = usize::try_from(get(bytes)?).unwrap_or(usize::MAX);
        self.left = self.left.checked_sub(length).ok_or(DecodeError("the record is too long"))?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let packed = get_bytes(bytes)?;
        if packed.is_empty() {
            let (own, rest) = bytes.split_at_checked(length).ok_or(TRUNCATED)?;
            *bytes = rest;
            return Ok(own.to_vec());
        }
        // Memory is used only as it is written to, whatever the length says.
        let plain = self.decompressor.decompress(&[&MAGIC, packed].concat(), length);
        let plain = plain.map_err(|_| DecodeError("a record's section cannot be decompressed"))?;
        match plain.len() == length {
            true => Ok(plain),
            false => Err(DecodeError("a record's section is not as long as it says")),
        }
    }
}
