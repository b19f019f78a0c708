//! The codings of a body (RFC 9110, section 8.4): which were applied, and undoing them in order.

use super::decompressor::{Bounds, Decompressor, FREE};
use super::encoding::Encoding;
use crate::error::Error;

/// Most codings of a body; more of them are no known ones.
const MAX_CODINGS: usize = 4;

/// The codings that a head names, in the order in which they were applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Codings {
    known: [Option<Encoding>; MAX_CODINGS],
    /// Whether there is one that is not known here, or too many.
    is_unknown: bool,
}

impl Codings {
    /// Adds what a Content-Encoding line names.
    pub fn add(&mut self, line: &[u8]) {
        for name in line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is = |own: &str| name.eq_ignore_ascii_case(own.as_bytes());
            // `none` is no coding, but some servers say so.
            if name.is_empty() || is("identity") || is("none") {
                continue;
            }
            let place = self.known.iter_mut().find(|place| place.is_none());
            match (place, Encoding::of(name)) {
                (Some(place), Some(encoding)) => *place = Some(encoding),
                _ => self.is_unknown = true,
            }
        }
    }

    /// Whether the body is as it is.
    pub fn is_empty(&self) -> bool {
        self.known[0].is_none() && !self.is_unknown
    }
}

/// Undoes the codings of a body, the one that was applied last first.
#[derive(Debug)]
pub struct Undo {
    stages: Vec<Decompressor>,
    bounds: Bounds,
    /// Bytes that came, and that were made of them by all stages together.
    came: u64,
    made: u64,
}

impl Undo {
    /// For one body. `lines`: the values of its Content-Encoding lines, for the message.
    ///
    /// # Errors
    /// One of the codings is not known, or there is no memory for it.
    pub fn new(codings: &Codings, bounds: Bounds, lines: &str) -> Result<Undo, Error> {
        if codings.is_unknown {
            let known = "squall undoes gzip, deflate, br and zstd";
            return Err(Error::decode(format!("unknown Content-Encoding `{lines}`: {known}")));
        }
        let stages = codings.known.iter().rev().flatten();
        let stages = stages.map(|encoding| Decompressor::new(*encoding, bounds));
        Ok(Undo { stages: stages.collect::<Result<_, _>>()?, bounds, came: 0, made: 0 })
    }

    /// Undoes a piece; what comes out goes to `emit`.
    ///
    /// # Errors
    /// As [`Decompressor::push`]; the bounds hold for each coding, and for all of them together.
    pub fn push(
        &mut self,
        piece: &[u8],
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Undo { stages, bounds, came, made } = self;
        *came += piece.len() as u64;
        push(stages, piece, &mut |piece| {
            *made += piece.len() as u64;
            if *made > FREE && *made / bounds.ratio > *came {
                return Err(Error::ratio_too_large(bounds.ratio));
            }
            emit(piece)
        })
    }

    /// The body is complete: so must be what was compressed in it.
    ///
    /// # Errors
    /// It ended too early.
    pub fn finish(&self) -> Result<(), Error> {
        self.stages.iter().try_for_each(Decompressor::finish)
    }
}

fn push(
    stages: &mut [Decompressor],
    piece: &[u8],
    emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    match stages.split_first_mut() {
        Some((first, rest)) => first.push(piece, &mut |piece| push(rest, piece, emit)),
        None => emit(piece),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 64 << 20, ratio: 200 };

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(text).expect("memory");
        out.finish().expect("memory")
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(text).expect("memory");
        out.finish().expect("memory")
    }

    fn codings(lines: &[&str]) -> Codings {
        let mut codings = Codings::default();
        lines.iter().for_each(|line| codings.add(line.as_bytes()));
        codings
    }

    /// What is made of a body, given in pieces of a size.
    fn undone(lines: &[&str], body: &[u8], size: usize) -> Result<Vec<u8>, String> {
        let mut undo = Undo::new(&codings(lines), BOUNDS, &lines.join(", "))
            .map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        for piece in body.chunks(size) {
            let emitted = undo.push(piece, &mut |piece| {
                out.extend_from_slice(piece);
                Ok(())
            });
            emitted.map_err(|error| error.to_string())?;
        }
        undo.finish().map_err(|error| error.to_string())?;
        Ok(out)
    }

    #[test]
    fn several_codings_are_undone_from_the_last_to_the_first() {
        let text = b"hello world, hello world, hello world".repeat(100);
        let body = gzip(&deflate(&text));
        for size in [1, 7, body.len()] {
            for lines in
                [&["deflate, gzip"][..], &["deflate", "GZIP"], &["deflate,identity,, gzip"]]
            {
                assert_eq!(undone(lines, &body, size).as_deref(), Ok(&*text), "{lines:?} {size}");
            }
        }
        assert!(undone(&["gzip, deflate"], &body, 9).is_err(), "in the wrong order");
        assert_eq!(undone(&["identity"], &text, 9), Ok(text.clone()));
        assert!(codings(&["identity", "none"]).is_empty() && !codings(&["x"]).is_empty());
        let cut = &body[..body.len() - 9];
        assert!(undone(&["deflate, gzip"], cut, 9).expect_err("cut").contains("too early"));
    }

    #[test]
    fn an_unknown_coding_is_said() {
        let error = undone(&["gzip, foo"], b"", 1).expect_err("unknown");
        assert!(error.contains("unknown Content-Encoding `gzip, foo`"), "{error}");
        let many = ["gzip, gzip, gzip, gzip, gzip"];
        assert!(undone(&many, b"", 1).expect_err("too many").contains("unknown"));
    }

    /// A bomb within a bomb: each layer alone stays within the ratio.
    #[test]
    fn the_ratio_holds_for_all_codings_together() {
        let inner = gzip(&[0; 8 << 20]);
        let padded: Vec<u8> = (0..60).flat_map(|_| inner.clone()).collect();
        let body = gzip(&padded);
        let error = undone(&["gzip, gzip"], &body, 1 << 10).expect_err("a bomb");
        assert!(error.contains("200"), "{error}");
    }
}
