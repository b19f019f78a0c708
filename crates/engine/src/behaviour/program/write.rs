//! A text that a user writes to a file, while its worker waits: what plans write is short.

use std::fs::OpenOptions;
use std::io::{self, Write};

use squall_plan::expr::EvalError;

use super::interpreter::Interpreter;
use crate::program::WriteOp;

impl Interpreter<'_, '_> {
    /// Writes a text in one go, so that what several users add to a file does not mix.
    pub(super) fn write(&mut self, op: &WriteOp) {
        let mut text = Vec::new();
        let done = op.text.render(&self.scope(), &mut text).and_then(|()| {
            let failed =
                |error: io::Error| EvalError::new(format!("`{}`: {error}", op.file.display()));
            written(op, &text).map_err(failed)
        });
        self.or_log(done, "write", ());
    }
}

fn written(op: &WriteOp, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match op.append {
        true => options.append(true),
        false => options.write(true).truncate(true),
    };
    options.create(true).open(&op.file)?.write_all(text)
}
