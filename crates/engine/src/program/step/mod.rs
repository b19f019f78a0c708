//! How each kind of step is laid out as operations, a file for each or for some that are alike.

mod branches;
mod data;
mod exec;
mod group;
mod look;
mod loops;
mod metric;
mod request;
mod stop;
mod tcp;
mod together;
mod waits;
mod write;

use squall_plan::model::{Step, StepKind};

use crate::program::flow::{Lay, Lowering};

/// The table: a row for each kind of step.
impl Lay for Step {
    fn lay<'p>(&'p self, flow: &mut Lowering<'_, 'p>) {
        match &self.kind {
            StepKind::Request(own) => request::lay(flow, own),
            StepKind::Group(own) => group::lay(flow, own),
            StepKind::Think(own) => waits::think(flow, own),
            StepKind::Repeat(own) => loops::repeat(flow, own),
            StepKind::While(own) => loops::while_it_holds(flow, own),
            StepKind::If(own) => branches::on_condition(flow, own),
            StepKind::ForEach(own) => loops::for_each(flow, own),
            StepKind::Choose(own) => branches::choose(flow, own),
            StepKind::RoundRobin(own) => branches::round_robin(flow, own),
            StepKind::OncePerUser(own) => branches::once_per_user(flow, own),
            StepKind::Passes(own) => branches::passes(flow, own),
            StepKind::Shuffle(own) => branches::shuffle(flow, own),
            StepKind::Parallel(own) => together::parallel(flow, own),
            StepKind::CriticalSection(own) => together::critical_section(flow, own),
            StepKind::Pace(own) => waits::pace(flow, own, self.span),
            StepKind::Rendezvous(own) => together::rendezvous(flow, own, self.span),
            StepKind::Set(own) => data::set(flow, own),
            StepKind::NextRow(own) => data::next_row(flow, own),
            StepKind::ClearCookies(own) => data::clear_cookies(flow, own.as_deref()),
            StepKind::ClearCache(own) => data::clear_cache(flow, own.as_deref()),
            StepKind::SetCookie(own) => data::set_cookie(flow, own),
            StepKind::Log(own) => write::log(flow, own),
            StepKind::Stop(own) => stop::lay(flow, *own, self.span),
            StepKind::Metric(own) => metric::lay(flow, own),
            StepKind::Exec(own) => exec::lay(flow, own, self.span),
            StepKind::Tcp(own) => tcp::lay(flow, own),
            StepKind::Look(own) => look::lay(flow, own),
            StepKind::Write(own) => write::lay(flow, own),
        }
    }
}
