//! A program to run, laid out.

use squall_metrics::RowKind;
use squall_plan::model::Exec;
use squall_plan::span::Span;

use crate::program::flow::Lowering;
use crate::program::op::Op;

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, exec: &'p Exec, span: Span) {
    match flow.compiler.exec(exec, span) {
        Some(op) => flow.push(Op::Exec(Box::new(op))),
        // One without a name of its own has that of its program by now.
        None if exec.name.is_none() => {}
        None => flow.compiler.keep_name(RowKind::Program, exec.name.as_ref()),
    }
}
