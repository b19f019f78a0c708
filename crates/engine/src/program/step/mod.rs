//! How each kind of step is laid out as operations, a file for each or for some that are alike.

mod data;
mod exec;
mod flow;
mod group;
mod metric;
mod request;
mod script;
mod tcp;
mod waits;

use squall_plan::model::{Step, StepKind};

use crate::program::flow::{Lay, Lowering};
use crate::program::op::DataOp;

/// The table: a row for each kind of step.
impl Lay for Step {
    fn lay<'p>(&'p self, flow: &mut Lowering<'_, 'p>) {
        match &self.kind {
            StepKind::Request(own) => request::lay(flow, own),
            StepKind::Group(own) => group::lay(flow, own),
            StepKind::Think(own) => flow.op(|compiler| waits::think(compiler, own)),
            StepKind::Repeat(own) => flow::repeat(flow, own),
            StepKind::While(own) => flow::while_it_holds(flow, own),
            StepKind::If(own) => flow::on_condition(flow, own),
            StepKind::ForEach(own) => flow::for_each(flow, own),
            StepKind::Choose(own) => flow::choose(flow, own),
            StepKind::RoundRobin(own) => flow::round_robin(flow, own),
            StepKind::OncePerUser(own) => flow::once_per_user(flow, own),
            StepKind::Passes(own) => flow::passes(flow, own),
            StepKind::Shuffle(own) => flow::shuffle(flow, own),
            StepKind::Parallel(own) => flow::parallel(flow, own),
            StepKind::CriticalSection(own) => waits::critical_section(flow, own),
            StepKind::Pace(own) => waits::pace(flow, own, self.span),
            StepKind::Rendezvous(own) => waits::rendezvous(flow, own, self.span),
            StepKind::Set(own) => data::set(flow, own),
            StepKind::NextRow(own) => {
                flow.op(|compiler| compiler.feed_of_step(own).map(DataOp::NextRow))
            }
            StepKind::ClearCookies(own) => {
                let jar = own.as_deref().map(|jar| flow.compiler.stores.jar(Some(jar)));
                flow.push(DataOp::ClearCookies(jar));
            }
            StepKind::ClearCache(own) => {
                let cache = own.as_deref().map(|cache| flow.compiler.stores.cache(Some(cache)));
                flow.push(DataOp::ClearCache(cache));
            }
            StepKind::SetCookie(own) => flow.op(|compiler| data::set_cookie(compiler, own)),
            StepKind::Log(own) => flow.op(|compiler| compiler.template(own).map(DataOp::Log)),
            StepKind::Stop(own) => flow::stop(flow, *own, self.span),
            StepKind::Metric(own) => metric::lay(flow, own),
            StepKind::Exec(own) => exec::lay(flow, own, self.span),
            StepKind::Tcp(own) => tcp::lay(flow, own),
            StepKind::Look(own) => flow.op(|compiler| request::look(compiler, own)),
            StepKind::Write(own) => flow.op(|compiler| data::write(compiler, own)),
            StepKind::Script(own) => script::lay(flow, own),
        }
    }
}
