//! What becomes of a response's body while it is received: a hash of it, or a file. Constant memory.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use md5::{Digest as _, Md5};
use sha2::Sha256;
use squall_base::hex::hex;
use squall_metrics::ErrorKind;
use squall_plan::model::HashAlgorithm;
use squall_wire::BodySink;
use xxhash_rust::xxh3::Xxh3;

use super::failure::SampleFailure;
use super::rendered::rendered;
use crate::parts::confined_file;
use crate::program::CaptureOp;
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

/// Takes a body. Whoever looks at the response asks it for what it made of the body, while the exchange
/// still has it as a sink.
pub(super) struct Capture(RefCell<Into>);

enum Into {
    Md5(Md5),
    Sha256(Sha256),
    Xxh3(Box<Xxh3>),
    File(File, String),
}

impl Capture {
    /// For one response; `None`: nothing is captured.
    pub(super) fn start(
        worker: &Worker,
        user: &Core,
        op: Option<&CaptureOp>,
    ) -> Result<Option<Capture>, SampleFailure> {
        let Some(capture) = op else { return Ok(None) };
        let into = match capture {
            CaptureOp::Hash(HashAlgorithm::Md5) => Into::Md5(Md5::new()),
            CaptureOp::Hash(HashAlgorithm::Sha256) => Into::Sha256(Sha256::new()),
            CaptureOp::Hash(HashAlgorithm::Xxh3) => Into::Xxh3(Box::new(Xxh3::new())),
            CaptureOp::File { path, fixed } => {
                let text = rendered(worker, path, &UserScope::new(&worker.program, user))?;
                let path = String::from_utf8_lossy(&text).into_owned();
                let created = match fixed {
                    None => File::create(&path),
                    Some(fixed) => {
                        let (folder, name) = path.split_at(fixed.rfind('/').map_or(0, |at| at + 1));
                        let folder = if folder.is_empty() { "." } else { folder };
                        confined_file::create(Path::new(folder), name)
                    }
                };
                let file = created.map_err(|error| {
                    SampleFailure::new(ErrorKind::Render, format!("response_body: {path}: {error}"))
                })?;
                Into::File(file, path)
            }
        };
        Ok(Some(Capture(RefCell::new(into))))
    }

    /// The hash of what was received, in hexadecimal, or the path of the file.
    pub(super) fn finish(&self) -> String {
        match &*self.0.borrow() {
            Into::Md5(md5) => hex(&md5.clone().finalize()),
            Into::Sha256(sha256) => hex(&sha256.clone().finalize()),
            Into::Xxh3(xxh3) => format!("{:016x}", xxh3.digest()),
            Into::File(_, path) => path.clone(),
        }
    }
}

impl BodySink for &Capture {
    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match &mut *self.0.borrow_mut() {
            Into::Md5(md5) => md5.update(piece),
            Into::Sha256(sha256) => sha256.update(piece),
            Into::Xxh3(xxh3) => xxh3.update(piece),
            Into::File(file, _) => file.write_all(piece)?,
        }
        Ok(())
    }
}
