//! The end of something, laid out: that of loops is a jump.

use squall_plan::model::StopScope;
use squall_plan::span::Span;

use crate::program::flow::Lowering;
use crate::program::op::Op;

pub(super) fn lay(flow: &mut Lowering<'_, '_>, scope: StopScope, span: Span) {
    let is_pass = scope == StopScope::Pass;
    if !is_pass && scope != StopScope::Loop {
        flow.push(Op::Stop(scope));
    } else if !flow.leave_loop(is_pass) {
        let help = "`stop: iteration` and `stop: user` end what is around all loops";
        flow.compiler.error(span, "there is no loop around this step".to_owned(), help);
    }
}
