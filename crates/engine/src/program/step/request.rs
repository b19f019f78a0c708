//! A request, laid out.

use squall_plan::model::Request;

use crate::program::flow::Lowering;
use crate::program::op::Op;

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, request: &'p Request) {
    let around = flow.compiler.put_on(&request.tags);
    match flow.compiler.request(request) {
        Some(op) => flow.push(Op::Request(Box::new(op))),
        None => flow.compiler.keep_request_name(request),
    }
    flow.compiler.take_off(around);
}
