//! The libraries that decompress, behind one kind of step.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::encoding::Encoding;

/// Binary logarithm of the largest window of DEFLATE (RFC 1951, section 2: 32 KiB).
const DEFLATE_WINDOW: u8 = 15;
/// Binary logarithm of the largest window of zstd in HTTP (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// Where in the compressed data the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamPlace {
    Within,
    /// It may end here, or begin once more (a second member of a gzip file, a second frame).
    Between,
    /// It has ended: what follows is not looked at.
    Ended,
}

/// What one step of a codec did.
pub(super) struct CodecStep {
    pub used: usize,
    pub made: usize,
    pub state: StreamPlace,
}

/// A decoder of one encoding.
pub(super) enum Codec {
    Gzip {
        inflate: Decompress,
        /// A member is complete: what follows is another one, or (as some servers send it) nothing.
        complete: bool,
    },
    /// The first byte tells with or without the frame of zlib.
    Deflate(Option<Decompress>),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Decoder<'static>),
}

impl Codec {
    pub(super) fn new(encoding: Encoding) -> Result<Codec, String> {
        Ok(match encoding {
            Encoding::Gzip => {
                Codec::Gzip { inflate: Decompress::new_gzip(DEFLATE_WINDOW), complete: false }
            }
            Encoding::Deflate => Codec::Deflate(None),
            Encoding::Brotli => {
                let alloc = StandardAlloc::default;
                Codec::Brotli(Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())))
            }
            Encoding::Zstd => {
                let mut decoder = Decoder::new().map_err(|error| error.to_string())?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW);
                decoder.set_parameter(window).map_err(|error| error.to_string())?;
                Codec::Zstd(decoder)
            }
        })
    }

    /// Takes from `input` and gives to `output` what it can.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<CodecStep, String> {
        match self {
            Codec::Gzip { inflate: gzip, complete } => {
                let begins = gzip.total_in() == 0 && !input.is_empty();
                if begins && input[0] != GZIP_MAGIC {
                    let nothing = CodecStep { used: 0, made: 0, state: StreamPlace::Ended };
                    return if *complete { Ok(nothing) } else { Err(NOT_COMPRESSED.to_owned()) };
                }
                let step = inflate(gzip, input, output)?;
                if step.state != StreamPlace::Ended {
                    return Ok(step);
                }
                (*gzip, *complete) = (Decompress::new_gzip(DEFLATE_WINDOW), true);
                Ok(CodecStep { state: StreamPlace::Between, ..step })
            }
            Codec::Deflate(inner) => {
                if inner.is_none() && input.is_empty() {
                    return Ok(CodecStep { used: 0, made: 0, state: StreamPlace::Within });
                }
                let inner = inner.get_or_insert_with(|| Decompress::new(has_zlib_frame(input[0])));
                inflate(inner, input, output)
            }
            Codec::Brotli(brotli) => unbrotli(brotli, input, output),
            Codec::Zstd(decoder) => {
                let status =
                    decoder.run_on_buffers(input, output).map_err(|error| error.to_string())?;
                let state =
                    if status.remaining == 0 { StreamPlace::Between } else { StreamPlace::Within };
                Ok(CodecStep { used: status.bytes_read, made: status.bytes_written, state })
            }
        }
    }
}

const NOT_COMPRESSED: &str = "the body is not compressed, though its head says so";
/// The first byte of gzip data (RFC 1952, section 2.3.1).
const GZIP_MAGIC: u8 = 0x1f;

/// Whether data that begins so has the frame of zlib: method 8 in the low bits, a window of at most
/// 32 KiB in the high ones (RFC 1950, section 2.2).
fn has_zlib_frame(first: u8) -> bool {
    first & 0x8f == 0x08
}

fn inflate(inner: &mut Decompress, input: &[u8], output: &mut [u8]) -> Result<CodecStep, String> {
    let (used, made) = (inner.total_in(), inner.total_out());
    let status = inner.decompress(input, output, FlushDecompress::None);
    let status = status.map_err(|error| error.to_string())?;
    Ok(CodecStep {
        used: (inner.total_in() - used) as usize,
        made: (inner.total_out() - made) as usize,
        state: if status == Status::StreamEnd { StreamPlace::Ended } else { StreamPlace::Within },
    })
}

fn unbrotli(
    brotli: &mut BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    input: &[u8],
    output: &mut [u8],
) -> Result<CodecStep, String> {
    let (mut left, mut used) = (input.len(), 0);
    let (mut room, mut made, mut total) = (output.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut left, &mut used, input, &mut room, &mut made, output, &mut total, brotli,
    );
    let state = match result {
        BrotliResult::ResultFailure => return Err("corrupt data".to_owned()),
        BrotliResult::ResultSuccess => StreamPlace::Ended,
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => StreamPlace::Within,
    };
    Ok(CodecStep { used, made, state })
}
