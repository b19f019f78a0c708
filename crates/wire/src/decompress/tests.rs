use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::{Bounds, Decompressor, Encoding};
use crate::error::{Error, ErrorKind};

const ALL: [Encoding; 4] = [Encoding::Gzip, Encoding::Deflate, Encoding::Brotli, Encoding::Zstd];
const WIDE: Bounds = Bounds { bytes: u64::MAX, ratio: u64::MAX };

fn compressed(encoding: Encoding, bytes: &[u8]) -> Vec<u8> {
    match encoding {
        Encoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        Encoding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        Encoding::Brotli => {
            let mut out = Vec::new();
            brotli::CompressorWriter::new(&mut out, 4096, 5, 22).write_all(bytes).expect("memory");
            out
        }
        Encoding::Zstd => zstd::encode_all(bytes, 3).expect("memory"),
    }
}

/// Decompresses what comes in pieces; the bytes, even if it fails.
fn decompress(
    encoding: Encoding,
    bounds: Bounds,
    bytes: &[u8],
    size: usize,
) -> (Vec<u8>, Result<(), Error>) {
    let mut out = Vec::new();
    let mut run = || {
        let mut decompressor = Decompressor::new(encoding, bounds)?;
        for piece in bytes.chunks(size) {
            decompressor.push(piece, &mut |piece| {
                out.extend_from_slice(piece);
                Ok(())
            })?;
        }
        decompressor.finish()
    };
    let result = run();
    (out, result)
}

fn kind(result: Result<(), Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn pieces_may_have_any_size() {
    let text = b"hello hello hello ".repeat(5_000);
    for encoding in ALL {
        let compressed = compressed(encoding, &text);
        for size in [1, 3, 10, 1_000, compressed.len()] {
            let (out, result) = decompress(encoding, WIDE, &compressed, size);
            assert!(result.is_ok(), "{encoding:?} {size}");
            assert!(out == text, "{encoding:?} {size}");
        }
    }
}

#[test]
fn a_body_may_be_packed_in_several_members() {
    for encoding in [Encoding::Gzip, Encoding::Zstd] {
        let two = [compressed(encoding, b"one, "), compressed(encoding, b"two")].concat();
        for size in [1, two.len()] {
            let (out, result) = decompress(encoding, WIDE, &two, size);
            assert_eq!((out.as_slice(), result.is_ok()), (b"one, two".as_slice(), true));
        }
    }
    let padded = [compressed(Encoding::Gzip, b"one"), vec![0; 9]].concat();
    for size in [1, 100] {
        let (out, result) = decompress(Encoding::Gzip, WIDE, &padded, size);
        assert_eq!((out.as_slice(), result.is_ok()), (b"one".as_slice(), true), "padding");
    }
}

#[test]
fn deflate_comes_with_and_without_its_frame() {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"bare bare bare").expect("memory");
    let (out, result) = decompress(Encoding::Deflate, WIDE, &encoder.finish().expect("memory"), 2);
    assert_eq!((out.as_slice(), result.is_ok()), (b"bare bare bare".as_slice(), true));
}

#[test]
fn what_is_cut_or_no_packed_data_is_an_error() {
    let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    for encoding in ALL {
        let compressed = compressed(encoding, &text);
        let cut = decompress(encoding, WIDE, &compressed[..compressed.len() / 2], 999).1;
        assert_eq!(kind(cut), Some(ErrorKind::Decode), "{encoding:?}");
        let rubbish = decompress(encoding, WIDE, b"no compressed data at all", 100).1;
        assert_eq!(kind(rubbish), Some(ErrorKind::Decode), "{encoding:?}");
        assert!(
            decompress(encoding, WIDE, b"", 1).1.is_ok(),
            "{encoding:?}: nothing was compressed"
        );
    }
}

#[test]
fn bombs_are_bounded_by_size_and_by_ratio() {
    let zeros = vec![0; 50 << 20];
    for encoding in ALL {
        let bomb = compressed(encoding, &zeros);
        let small = Bounds { bytes: 1 << 20, ratio: u64::MAX };
        let (out, result) = decompress(encoding, small, &bomb, bomb.len());
        assert_eq!(kind(result), Some(ErrorKind::BodyTooLarge), "{encoding:?}");
        assert!(out.len() <= 1 << 20, "{encoding:?}");
        let flat = Bounds { bytes: u64::MAX, ratio: 200 };
        let (out, result) = decompress(encoding, flat, &bomb, 1_000);
        assert_eq!(kind(result), Some(ErrorKind::BodyTooLarge), "{encoding:?}");
        assert!(out.len() <= 2 << 20, "{encoding:?}: {}", out.len());
        // A megabyte is free, however well it is compressed.
        let text = &zeros[..1 << 20];
        assert!(decompress(encoding, flat, &compressed(encoding, text), 1_000).1.is_ok());
    }
}

/// RFC 8878, section 3.1.1.2: blocks that say "so many times this byte", 128 KiB in four bytes.
#[test]
fn zstd_made_for_the_purpose_is_bounded() {
    let block = [&((128u32 << 10) << 3 | 1 << 1).to_le_bytes()[..3], &[0]].concat();
    let bomb = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x58][..], &block.repeat(80_000)].concat();
    let (out, result) = decompress(Encoding::Zstd, Bounds { ratio: 200, ..WIDE }, &bomb, 10_000);
    assert_eq!(kind(result), Some(ErrorKind::BodyTooLarge));
    assert!(out.len() <= 3 << 20, "{}", out.len());
}

#[test]
fn names_of_encodings() {
    assert_eq!(Encoding::of(b"GZip"), Some(Encoding::Gzip));
    assert_eq!(Encoding::of(b"br"), Some(Encoding::Brotli));
    assert_eq!(Encoding::of(b"gzip, br"), None);
    assert_eq!(Encoding::of(b"identity"), None);
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..400), size in 1usize..50) {
        for encoding in ALL {
            let _ = decompress(encoding, Bounds { bytes: 1 << 20, ratio: 10 }, &bytes, size);
        }
    }
}
