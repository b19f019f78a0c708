//! Waits for a time, for a rate and for other users, laid out.

use squall_plan::model::{CriticalSection, Pace, PacedBy, Rendezvous, Think, Thinking};
use squall_plan::span::Span;

use crate::profile::nanos;
use crate::program::compiler::{Compiler, Section};
use crate::program::flow::Lowering;
use crate::program::op::{ExactOp, PaceClock, PaceOp, WaitOp};

pub(super) fn think<'p>(compiler: &mut Compiler<'p>, think: &'p Thinking) -> Option<WaitOp> {
    let template = match think {
        Thinking::Known(think) => return Some(WaitOp::Think(think.clone())),
        Thinking::OfUser(template) => template,
    };
    let bound = compiler.template(template)?;
    let Some(text) = bound.constant() else { return Some(WaitOp::ThinkOfUser(bound)) };
    match Think::parse(&text) {
        Ok(think) => Some(WaitOp::Think(think)),
        Err((message, help)) => {
            compiler.error(template.span(), message, help);
            None
        }
    }
}

pub(super) fn pace<'p>(flow: &mut Lowering<'_, 'p>, pace: &'p Pace, span: Span) {
    let Some(rate) = flow.compiler.formula(&pace.rate) else { return };
    let line_of = match pace.by {
        PacedBy::User => None,
        PacedBy::Scenario | PacedBy::Run => {
            flow.compiler.counts_active = true;
            None
        }
        PacedBy::ScenarioInLine => Some(Some(flow.compiler.scenario.clone())),
        PacedBy::RunInLine => Some(None),
    };
    let is_random = pace.exact_over.is_some_and(|over| !over.is_zero());
    if (is_random && line_of.is_none()) || (pace.batch > 1 && !is_random) {
        let message = "an exact number of passes is one of users in line".to_owned();
        let help = "`exact_over` needs a time above 0 and `by: scenario_in_line` or `by: run_in_line`; `batch` needs it";
        flow.compiler.error(span, message, help);
    }
    let exact = pace.exact_over.filter(|_| is_random);
    let exact = exact.map(|over| ExactOp { over: nanos(over), batch: pace.batch.max(1) });
    // A name that no plan can give: a clock of its own.
    let own = format!("step {}", flow.compiler.step);
    let name = pace.clock.clone().unwrap_or(own);
    let clock = match line_of {
        Some(scenario) => {
            let line = (scenario, name);
            PaceClock::Line(flow.compiler.lines.number(line))
        }
        None => match flow.clocks.get(&name) {
            Some(register) => PaceClock::User(*register),
            None => {
                let register = flow.register();
                flow.clocks.insert(name, register);
                PaceClock::User(register)
            }
        },
    };
    flow.push(WaitOp::Pace(Box::new(PaceOp { rate, by: pace.by, clock, exact })));
}

pub(super) fn critical_section<'p>(flow: &mut Lowering<'_, 'p>, section: &'p CriticalSection) {
    let Some(name) = flow.compiler.template(&section.name) else {
        return flow.steps(&section.steps);
    };
    flow.push(WaitOp::EnterSection(name));
    flow.in_section(&section.steps);
    flow.push(WaitOp::LeaveSection);
}

pub(super) fn rendezvous<'p>(flow: &mut Lowering<'_, 'p>, rendezvous: &'p Rendezvous, span: Span) {
    let compiler = &mut *flow.compiler;
    // A name that no plan can give: a place of its own.
    let own = format!("{} step {}", compiler.scenario, compiler.step);
    let name = rendezvous.name.clone().unwrap_or(own);
    let new = (compiler.places.len(), rendezvous);
    let (place, first) = *compiler.places.entry(name.clone()).or_insert(new);
    if first != rendezvous {
        let message = format!("`{name}` waits for other users elsewhere in the plan");
        let help = "steps with one name have the same `users` and `timeout`";
        compiler.error(span, message, help);
    }
    let alone = compiler.options.section != Section::Load;
    let users = if alone { 1 } else { rendezvous.users };
    flow.push(WaitOp::Rendezvous { place, users, timeout: rendezvous.timeout.map(nanos) });
}
