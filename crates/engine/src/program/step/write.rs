//! Texts that are written, to a file or to the run's log.

use squall_plan::model::Write;
use squall_plan::template::Template;

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::{LogOp, Op, WriteOp};

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, write: &'p Write) {
    let op = compiled(flow.compiler, write);
    flow.ops.extend(op.map(|op| Op::Write(Box::new(op))));
}

/// `None` after an error was noted.
fn compiled<'p>(compiler: &mut Compiler<'p>, write: &'p Write) -> Option<WriteOp> {
    let Some(file) = compiler.template(&write.file)?.constant() else {
        let message = "the file of a write step is one that is known before the run";
        compiler.error(write.file.span(), message.to_owned(), "");
        return None;
    };
    let text = compiler.template(&write.text)?;
    Some(WriteOp { file: file.into(), text, append: write.append })
}

pub(super) fn log<'p>(flow: &mut Lowering<'_, 'p>, text: &'p Template) {
    let text = flow.compiler.template(text);
    flow.ops.extend(text.map(|text| Op::Log(LogOp(text))));
}
