//! The encodings that are known.

/// How a body is compressed (RFC 9110, section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 alone, as some servers send it.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878, with windows of at most 8 MiB (RFC 9659).
    Zstd,
}

impl Encoding {
    /// By its name in a Content-Encoding line; `None`: it is not known here.
    pub fn of(value: &[u8]) -> Option<Encoding> {
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Some(Encoding::Gzip),
            () if is("br") => Some(Encoding::Brotli),
            () if is("zstd") => Some(Encoding::Zstd),
            () if is("deflate") => Some(Encoding::Deflate),
            () => None,
        }
    }

    /// Its name in a Content-Encoding line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Deflate => "deflate",
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
        }
    }
}
