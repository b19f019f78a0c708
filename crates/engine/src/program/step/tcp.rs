//! Bytes over TCP, laid out.

use squall_metrics::RowKind;
use squall_plan::model::Tcp;

use crate::program::flow::Lowering;
use crate::program::op::Op;

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, tcp: &'p Tcp) {
    let around = flow.compiler.put_on(&tcp.tags);
    match flow.compiler.tcp(tcp) {
        Some(op) => flow.push(Op::Tcp(Box::new(op))),
        None => flow.compiler.keep_name(RowKind::Request, tcp.name.as_ref()),
    }
    flow.compiler.take_off(around);
}
