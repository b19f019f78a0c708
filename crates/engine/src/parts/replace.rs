//! A file in which markers are replaced while it is sent, and which may be unpacked on the way, in
//! constant memory whatever its size. It is read through once, before the run, and each marker counted:
//! so the length of what is sent is known for any values.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use flate2::read::MultiGzDecoder;
use squall_wire::BodySource;

use super::multipart::of_file;

/// Bytes of the file that are looked at together.
const BUFFER: usize = 256 << 10;

/// A file and how often its markers occur in it.
#[derive(Debug)]
pub(crate) struct Markers {
    path: PathBuf,
    /// Whether it is packed with gzip and sent unpacked.
    unpack: bool,
    /// Bytes of the file.
    stored: u64,
    finder: AhoCorasick,
    markers: Vec<String>,
    longest: usize,
    counts: Vec<u64>,
    /// Bytes of what is in it, unpacked.
    length: u64,
}

impl Markers {
    /// Counts the markers, none of which is empty. Where two begin at the same place the longer counts.
    ///
    /// # Errors
    /// The file cannot be read, or is not packed though it should be.
    pub(crate) fn scan(path: &Path, unpack: bool, markers: Vec<String>) -> io::Result<Markers> {
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&markers)
            .map_err(io::Error::other)?;
        let longest = markers.iter().map(String::len).max().unwrap_or(1);
        let mut found = Markers {
            path: path.to_owned(),
            unpack,
            stored: File::open(path)?.metadata()?.len(),
            finder,
            counts: vec![0; markers.len()],
            markers,
            longest,
            length: 0,
        };
        let (mut counts, mut length) = (found.counts.clone(), 0);
        let mut source = Cut::open(&found)?;
        loop {
            match source.next(&found)? {
                Some(FilePart::Plain(bytes)) => {
                    let plain = bytes.len();
                    length += plain as u64;
                    source.advance(plain);
                }
                Some(FilePart::Marker(which)) => {
                    length += found.markers[which].len() as u64;
                    counts[which] += 1;
                }
                None => break,
            }
        }
        (found.counts, found.length) = (counts, length);
        Ok(found)
    }

    /// Bytes of what is in the file, with these values in the place of its markers.
    pub(crate) fn length(&self, values: &[Vec<u8>]) -> u64 {
        let parts = self.markers.iter().zip(values).zip(&self.counts);
        parts.fold(self.length, |length, ((marker, value), count)| {
            length + count * value.len() as u64 - count * marker.len() as u64
        })
    }
}

/// What comes next of a file.
enum FilePart<'a> {
    /// Bytes as they are; more may follow.
    Plain(&'a [u8]),
    Marker(usize),
}

/// A file, cut at its markers.
struct Cut {
    source: Box<dyn Read>,
    buffer: Box<[u8]>,
    /// What lies in the buffer and was not given out.
    at: usize,
    end: usize,
    /// Up to here there is no marker.
    safe: usize,
    /// The marker that begins there: where it ends, and which it is.
    marker: Option<(usize, usize)>,
    /// The file is at its end.
    whole: bool,
}

impl Cut {
    fn open(markers: &Markers) -> io::Result<Cut> {
        let file = File::open(&markers.path)?;
        if file.metadata()?.len() != markers.stored {
            return Err(io::Error::other("the file has changed since the run began"));
        }
        // A buffer is larger than twice the longest marker, so that it always goes on.
        let size = BUFFER.max(4 * markers.longest);
        Ok(Cut {
            source: match markers.unpack {
                true => Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(BUFFER, file))),
                false => Box::new(file),
            },
            buffer: vec![0; size].into(),
            at: 0,
            end: 0,
            safe: 0,
            marker: None,
            whole: false,
        })
    }

    /// What comes next; plain bytes stay until [`Cut::advance`] is told that they were taken.
    fn next(&mut self, markers: &Markers) -> io::Result<Option<FilePart<'_>>> {
        loop {
            if self.at < self.safe {
                return Ok(Some(FilePart::Plain(&self.buffer[self.at..self.safe])));
            }
            if let Some((end, which)) = self.marker.take() {
                (self.at, self.safe) = (end, end);
                self.search(markers);
                return Ok(Some(FilePart::Marker(which)));
            }
            if self.whole && self.at == self.end {
                return Ok(None);
            }
            self.fill()?;
            self.search(markers);
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Reads on behind what is left.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.end, self.at, self.safe) = (self.end - self.at, 0, 0);
        let read = self.source.read(&mut self.buffer[self.end..])?;
        self.end += read;
        self.whole = read == 0;
        Ok(())
    }

    /// Looks for the next marker. One that could still become a longer one is not yet one.
    fn search(&mut self, markers: &Markers) {
        let left = &self.buffer[self.at..self.end];
        let certain = |start: usize| self.whole || start + markers.longest <= left.len();
        let found = markers.finder.find(left).filter(|found| certain(found.start()));
        self.safe = match &found {
            Some(found) => self.at + found.start(),
            None if self.whole => self.end,
            None => (self.end + 1).saturating_sub(markers.longest).max(self.at),
        };
        self.marker = found.map(|found| (self.at + found.end(), found.pattern().as_usize()));
    }
}

/// The file with values in the place of its markers.
pub(crate) struct Replaced {
    markers: Arc<Markers>,
    values: Vec<Vec<u8>>,
    cut: Cut,
    /// The value that is being sent, and from where.
    value: Option<(usize, usize)>,
    /// Bytes that were promised and not yet given.
    left: u64,
}

impl Replaced {
    /// # Errors
    /// The file cannot be read, or is not as it was.
    pub(crate) fn open(markers: Arc<Markers>, values: Vec<Vec<u8>>) -> io::Result<Replaced> {
        let cut = Cut::open(&markers).map_err(|error| of_file(&markers.path, &error))?;
        let left = markers.length(&values);
        Ok(Replaced { markers, values, cut, value: None, left })
    }

    /// Bytes in all, or still to come.
    pub(crate) fn len(&self) -> u64 {
        self.left
    }
}

impl BodySource for Replaced {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill(buffer).map_err(|error| of_file(&self.markers.path, &error))
    }
}

impl Replaced {
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let copied = if let Some((which, from)) = self.value {
                let rest = &self.values[which][from..];
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                self.value = (length < rest.len()).then_some((which, from + length));
                length
            } else {
                match self.cut.next(&self.markers)? {
                    Some(FilePart::Plain(bytes)) => {
                        let length = bytes.len().min(buffer.len());
                        buffer[..length].copy_from_slice(&bytes[..length]);
                        self.cut.advance(length);
                        length
                    }
                    Some(FilePart::Marker(which)) => {
                        self.value = Some((which, 0));
                        continue;
                    }
                    None if self.left == 0 => return Ok(0),
                    None => {
                        return Err(io::Error::other("the file has changed since the run began"));
                    }
                }
            };
            self.left = self
                .left
                .checked_sub(copied as u64)
                .ok_or_else(|| io::Error::other("the file has changed since the run began"))?;
            if copied > 0 {
                return Ok(copied);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn all(mut source: Replaced, piece: usize) -> Vec<u8> {
        let (promised, mut out, mut buffer) = (source.len(), Vec::new(), vec![0; piece]);
        loop {
            let read = source.read(&mut buffer).expect("readable");
            if read == 0 {
                break;
            }
            out.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(out.len() as u64, promised);
        out
    }

    fn sent(stored: &[u8], unpack: bool, pairs: &[(&str, &str)], piece: usize) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), stored).expect("writable");
        let names = pairs.iter().map(|(marker, _)| (*marker).to_owned()).collect();
        let markers = Arc::new(Markers::scan(file.path(), unpack, names).expect("readable"));
        let values = pairs.iter().map(|(_, value)| value.as_bytes().to_vec()).collect();
        all(Replaced::open(markers, values).expect("readable"), piece)
    }

    fn replaced(text: &[u8], pairs: &[(&str, &str)], piece: usize) -> Vec<u8> {
        sent(text, false, pairs, piece)
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn a_packed_file_is_unpacked_on_the_way() {
        let text = b"hello @NAME@! ".repeat(40_000);
        assert!(sent(&packed(&text), true, &[], 10_000) == text);
        let expected = String::from_utf8_lossy(&text).replace("@NAME@", "you");
        assert!(sent(&packed(&text), true, &[("@NAME@", "you")], 999) == expected.as_bytes());
    }

    #[test]
    fn what_is_not_packed_or_cut_is_an_error() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let scan = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).expect("writable");
            Markers::scan(file.path(), true, Vec::new())
        };
        assert!(scan(b"plain").is_err());
        assert!(scan(&packed(b"some text")[..20]).is_err());
        assert!(scan(&packed(b"some text")).is_ok());
    }

    #[test]
    fn the_longer_of_two_markers_counts() {
        let pairs = [("@A@", "1"), ("@A@@", "22"), ("xx", "")];
        assert_eq!(replaced(b"a@A@b@A@@xxxc@A", &pairs, 2), b"a1b22xc@A");
        assert_eq!(replaced(b"", &pairs, 2), b"");
        assert_eq!(replaced(b"@A@", &pairs, 1), b"1");
    }

    #[test]
    fn markers_lie_across_buffers() {
        let mut text = vec![b'.'; 3 * BUFFER];
        for at in [0, BUFFER - 3, 2 * BUFFER - 1, 3 * BUFFER - 6] {
            text[at..at + 6].copy_from_slice(b"@NAME@");
        }
        let expected = String::from_utf8_lossy(&text).replace("@NAME@", "a longer name");
        assert!(replaced(&text, &[("@NAME@", "a longer name")], 64 << 10) == expected.as_bytes());
    }

    #[test]
    fn a_file_that_has_changed_is_an_error() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), b"a@A@b").expect("writable");
        let markers =
            Arc::new(Markers::scan(file.path(), false, vec!["@A@".to_owned()]).expect("readable"));
        std::fs::write(file.path(), b"a@A@bc").expect("writable");
        let error = Replaced::open(markers.clone(), vec![vec![]]).err().expect("another length");
        assert!(error.to_string().starts_with(&*file.path().to_string_lossy()), "{error}");
        std::fs::write(file.path(), b"a@B@b").expect("writable");
        let mut source = Replaced::open(markers, vec![vec![]]).expect("as long as before");
        let mut buffer = [0; 100];
        let error = source.read(&mut buffer).expect_err("more than was promised");
        assert!(error.to_string().starts_with(&*file.path().to_string_lossy()), "{error}");
    }

    proptest! {
        /// The same as replacing in memory, where markers do not overlap.
        #[test]
        fn as_in_memory(
            text in "[ab@M]{0,200}",
            value in "[a-z@]{0,5}",
            piece in 1usize..20,
        ) {
            let expected = text.replace("@M@", &value);
            prop_assert_eq!(replaced(text.as_bytes(), &[("@M@", &value)], piece), expected.as_bytes());
        }
    }
}
