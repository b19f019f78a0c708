//! A text that is looked at as a response is, compiled.

use squall_plan::model::Look;

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::{LookOp, Op};

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, look: &'p Look) {
    let op = compiled(flow.compiler, look);
    flow.ops.extend(op.map(|op| Op::Look(Box::new(op))));
}

/// `None` after an error was noted.
fn compiled<'p>(compiler: &mut Compiler<'p>, look: &'p Look) -> Option<LookOp> {
    let post = compiler.post(&look.extract, &look.check)?;
    let reason = compiler.template_if_any(&look.reason)?;
    let sent = compiler.template_if_any(&look.sent)?;
    let (text, status) = (compiler.template(&look.text)?, compiler.formula(&look.status)?);
    Some(LookOp { text, status, reason, sent, post })
}
