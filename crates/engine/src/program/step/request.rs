//! What is judged as a response, laid out: requests, and texts.

use squall_plan::model::{Look, Request};

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::LookOp;

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, request: &'p Request) {
    let around = flow.compiler.put_on(&request.tags);
    match flow.compiler.request(request) {
        Some(op) => flow.push(Box::new(op)),
        None => flow.compiler.keep_request_name(request),
    }
    flow.compiler.take_off(around);
}

pub(super) fn look<'p>(compiler: &mut Compiler<'p>, look: &'p Look) -> Option<Box<LookOp>> {
    let post = compiler.post(&look.extract, &look.check)?;
    let reason = compiler.template_if_any(&look.reason)?;
    let sent = compiler.template_if_any(&look.sent)?;
    let (text, status) = (compiler.template(&look.text)?, compiler.formula(&look.status)?);
    Some(Box::new(LookOp { text, status, reason, sent, post }))
}
