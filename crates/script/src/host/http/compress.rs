//! Bodies that are sent compressed. It is done on the stack of whoever runs the user, as it needs more than a user has.

use std::io::Write;

use crate::http::{Encoding, HttpHead};

impl Encoding {
    fn apply(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let level = flate2::Compression::default();
        match self {
            Encoding::Gzip => {
                let mut own = flate2::write::GzEncoder::new(Vec::new(), level);
                own.write_all(body)?;
                own.finish()
            }
            Encoding::Deflate => {
                let mut own = flate2::write::ZlibEncoder::new(Vec::new(), level);
                own.write_all(body)?;
                own.finish()
            }
            Encoding::Brotli => {
                let mut own = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
                own.write_all(body)?;
                own.flush()?;
                Ok(own.into_inner())
            }
            Encoding::Zstd => zstd::encode_all(body, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

/// Applies the encodings that a request asks for. One that fails, for which there is no known way, leaves the body as it is,
/// without the header that says otherwise.
pub(crate) fn compress(head: &mut HttpHead, body: &mut Vec<u8>) {
    let asked = std::mem::take(&mut head.params.compression);
    let made = asked.iter().try_fold(None, |made: Option<Vec<u8>>, own| {
        own.apply(made.as_deref().unwrap_or(body)).map(Some)
    });
    match made {
        Ok(Some(made)) => *body = made,
        Ok(None) => {}
        Err(_) => head.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-encoding")),
    }
}
