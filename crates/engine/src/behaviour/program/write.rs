//! A text that a user writes to a file, while its worker waits: what plans write is short.

use std::fs::OpenOptions;
use std::io::{self, Write};

use squall_plan::expr::EvalError;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::program::WriteOp;
use crate::user::Cursor;

/// Writes a text in one go, so that what several users add to a file does not mix.
impl Run for WriteOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let mut text = Vec::new();
        let done = self.text.render(&user.scope(), &mut text).and_then(|()| {
            let failed =
                |error: io::Error| EvalError::new(format!("`{}`: {error}", self.file.display()));
            written(self, &text).map_err(failed)
        });
        user.or_log(done, "write", ());
        None
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
