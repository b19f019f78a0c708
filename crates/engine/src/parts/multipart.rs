//! Bodies that are read while they are sent: files, and forms of several parts (RFC 7578).

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use squall_wire::BodySource;

/// A part of a form.
pub(crate) struct Part {
    pub name: String,
    pub content: Content,
    pub content_type: Option<String>,
    /// What `Content-Transfer-Encoding` says.
    pub transfer_encoding: Option<Box<str>>,
}

/// What a part holds.
pub(crate) enum Content {
    Text(Vec<u8>),
    File { file: OpenFile, filename: Option<String> },
}

/// A file to send. One that grows meanwhile is sent as long as it was when it was opened.
pub(crate) struct OpenFile {
    file: File,
    length: u64,
    path: PathBuf,
}

impl OpenFile {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be opened, or is none; the error names it.
    pub(crate) fn open(path: &Path) -> io::Result<OpenFile> {
        File::open(path)
            .and_then(|file| OpenFile::of(file, path))
            .map_err(|error| of_file(path, &error))
    }

    /// A file that is open, and the path by which messages name it.
    ///
    /// # Errors
    /// It is no plain file.
    pub(crate) fn of(file: File, path: &Path) -> io::Result<OpenFile> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("expected a file, found a directory or a device"));
        }
        Ok(OpenFile { file, length: metadata.len(), path: path.to_owned() })
    }
}

/// Pieces in memory and files, one after the other.
pub(crate) struct Pieces {
    pieces: VecDeque<BodySegment>,
    length: u64,
}

enum BodySegment {
    Bytes(io::Cursor<Vec<u8>>),
    /// The file, as far as it is still to be sent, and its path.
    File(io::Take<File>, PathBuf),
}

/// An error of a file that a request sends, with its name.
pub(super) fn of_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Pieces {
    /// A file as it is.
    pub(crate) fn file(file: OpenFile) -> Pieces {
        let mut pieces = Pieces { pieces: VecDeque::new(), length: 0 };
        pieces.push_file(file);
        pieces
    }

    /// A form, whose parts a boundary tells apart.
    pub(crate) fn form(parts: Vec<Part>, boundary: &str) -> Pieces {
        let mut pieces = Pieces { pieces: VecDeque::new(), length: 0 };
        for part in parts {
            let mut head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
                quoted(&part.name)
            );
            let mut content_type = part.content_type;
            if let Content::File { file, filename } = &part.content {
                let own = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
                let filename = filename.clone().or(own).unwrap_or_default();
                head.push_str(&format!("; filename=\"{}\"", quoted(&filename)));
                content_type = content_type.or_else(|| Some(guess(&filename).to_owned()));
            }
            if let Some(content_type) = content_type {
                head.push_str(&format!(
                    "\r\nContent-Type: {}",
                    content_type.replace(['\r', '\n'], " ")
                ));
            }
            if let Some(encoding) = part.transfer_encoding {
                let encoding = encoding.replace(['\r', '\n'], " ");
                head.push_str(&format!("\r\nContent-Transfer-Encoding: {encoding}"));
            }
            pieces.push(format!("{head}\r\n\r\n").into_bytes());
            match part.content {
                Content::Text(text) => pieces.push(text),
                Content::File { file, .. } => pieces.push_file(file),
            }
            pieces.push(b"\r\n".to_vec());
        }
        pieces.push(format!("--{boundary}--\r\n").into_bytes());
        pieces
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    fn push(&mut self, bytes: Vec<u8>) {
        self.length += bytes.len() as u64;
        self.pieces.push_back(BodySegment::Bytes(io::Cursor::new(bytes)));
    }

    fn push_file(&mut self, OpenFile { file, length, path }: OpenFile) {
        self.length += length;
        self.pieces.push_back(BodySegment::File(file.take(length), path));
    }
}

impl BodySource for Pieces {
    fn file(&mut self) -> Option<(&File, u64)> {
        while let Some(piece) = self.pieces.front() {
            let over = match piece {
                BodySegment::Bytes(bytes) => bytes.position() >= bytes.get_ref().len() as u64,
                BodySegment::File(file, _) => file.limit() == 0,
            };
            if !over {
                break;
            }
            self.pieces.pop_front();
        }
        match self.pieces.front() {
            Some(BodySegment::File(file, _)) => Some((file.get_ref(), file.limit())),
            _ => None,
        }
    }

    fn sent(&mut self, bytes: u64) {
        if let Some(BodySegment::File(file, _)) = self.pieces.front_mut() {
            file.set_limit(file.limit().saturating_sub(bytes));
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.pieces.front_mut() {
            let read = match piece {
                BodySegment::Bytes(bytes) => bytes.read(buffer)?,
                BodySegment::File(file, path) => {
                    let read = file.read(buffer).map_err(|error| of_file(path, &error))?;
                    if read == 0 && file.limit() > 0 {
                        let error = io::Error::other("the file became shorter while it was sent");
                        return Err(of_file(path, &error));
                    }
                    read
                }
            };
            if read > 0 {
                return Ok(read);
            }
            self.pieces.pop_front();
        }
        Ok(0)
    }
}

/// As browsers have it: quotes and line ends percent-encoded.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn guess(filename: &str) -> &'static str {
    let extension = filename.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("txt") => "text/plain",
        Some("csv") => "text/csv",
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("body.bin");
        let error = |path: &Path| OpenFile::open(path).err().expect("no file").to_string();
        assert!(error(&path).starts_with(&*path.to_string_lossy()));
        let found = error(folder.path());
        assert!(found.ends_with("expected a file, found a directory or a device"), "{found}");
        std::fs::write(&path, [0; 100]).expect("writable");
        let mut pieces = Pieces::file(OpenFile::open(&path).expect("a file"));
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(10))
            .expect("writable");
        assert_eq!(pieces.read(&mut [0; 64]).expect("what is left"), 10);
        let found = pieces.read(&mut [0; 64]).expect_err("too short").to_string();
        assert!(found.ends_with("body.bin: the file became shorter while it was sent"), "{found}");
    }

    #[test]
    fn a_form_is_as_long_as_it_says() {
        let path =
            std::env::temp_dir().join(format!("squall-multipart-{}.csv", std::process::id()));
        std::fs::write(&path, "a,b\n").expect("a temporary file");
        let parts = vec![
            Part {
                name: "no\"te".to_owned(),
                content: Content::Text(b"hi".to_vec()),
                content_type: None,
                transfer_encoding: Some("8bit".into()),
            },
            Part {
                name: "f".to_owned(),
                content: Content::File {
                    file: OpenFile::open(&path).expect("a file"),
                    filename: None,
                },
                content_type: None,
                transfer_encoding: None,
            },
        ];
        let mut form = Pieces::form(parts, "squall-5");
        let (mut all, mut buffer) = (Vec::new(), [0; 7]);
        loop {
            let read = form.read(&mut buffer).expect("readable");
            if read == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..read]);
        }
        std::fs::remove_file(&path).expect("it was there");
        assert_eq!(all.len() as u64, form.len());
        let text = String::from_utf8(all).expect("text");
        assert!(text.starts_with("--squall-5\r\nContent-Disposition: form-data; name=\"no%22te\"\r\nContent-Transfer-Encoding: 8bit\r\n\r\nhi\r\n--"));
        assert!(text.contains("Content-Type: text/csv\r\n\r\na,b\n\r\n--squall-5--\r\n"));
    }
}
