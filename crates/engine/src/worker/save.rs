//! What becomes of an answer's body while it comes: a digest of it, or a file. Constant memory.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};

use md5::{Digest as _, Md5};
use sha2::Sha256;
use squall_measure::ErrorKind;
use squall_plan::model::HashAlgorithm;
use squall_wire::BodySink;
use xxhash_rust::xxh3::Xxh3;

use super::Worker;
use super::account::Failure;
use super::hop::rendered;
use crate::program::{CaptureOp, RequestOp};
use crate::scope::UserScope;
use crate::user::User;

/// Takes a body. Whoever judges the answer asks it for what it made of the body, while the exchange
/// still has it as a sink.
pub(super) struct Saver(RefCell<State>);

enum State {
    Md5(Md5),
    Sha256(Sha256),
    Xxh3(Box<Xxh3>),
    File(File, String),
}

impl Saver {
    /// For one answer; `None`: nothing is saved.
    pub(super) fn start(
        worker: &Worker,
        user: &User,
        op: &RequestOp,
    ) -> Result<Option<Saver>, Failure> {
        let Some(capture) = &op.capture else { return Ok(None) };
        let state = match capture {
            CaptureOp::Hash(HashAlgorithm::Md5) => State::Md5(Md5::new()),
            CaptureOp::Hash(HashAlgorithm::Sha256) => State::Sha256(Sha256::new()),
            CaptureOp::Hash(HashAlgorithm::Xxh3) => State::Xxh3(Box::new(Xxh3::new())),
            CaptureOp::File(path) => {
                let scope = UserScope { program: &worker.program, user, answer: None };
                let text = rendered(path, &scope)?;
                let path = String::from_utf8_lossy(&text).into_owned();
                let file = File::create(&path).map_err(|error| {
                    Failure::new(ErrorKind::Render, format!("response_body: {path}: {error}"))
                })?;
                State::File(file, path)
            }
        };
        Ok(Some(Saver(RefCell::new(state))))
    }

    /// The digest of what has come, in hexadecimal, or the path of the file.
    pub(super) fn finish(&self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match &*self.0.borrow() {
            State::Md5(md5) => hex(&md5.clone().finalize()),
            State::Sha256(sha256) => hex(&sha256.clone().finalize()),
            State::Xxh3(xxh3) => format!("{:016x}", xxh3.digest()),
            State::File(_, path) => path.clone(),
        }
    }
}

impl BodySink for &Saver {
    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match &mut *self.0.borrow_mut() {
            State::Md5(md5) => md5.update(piece),
            State::Sha256(sha256) => sha256.update(piece),
            State::Xxh3(xxh3) => xxh3.update(piece),
            State::File(file, _) => file.write_all(piece)?,
        }
        Ok(())
    }
}
