//! What the plan says in texts, rendered for a user: names, limits of time.

use squall_plan::template::BoundTemplate;

use super::failure::SampleFailure;
use super::frame::Frame;
use crate::parts::names;
use crate::program::{Limits, NameOp, RowOp, TimeoutsOp};
use crate::scope::UserScope;
use crate::scratch::Buffer;
use crate::worker::Worker;

/// The text of a template, in a buffer of the worker's.
pub(super) fn rendered<'w>(
    worker: &'w Worker,
    template: &BoundTemplate,
    scope: &UserScope<'_, '_>,
) -> Result<Buffer<'w>, SampleFailure> {
    let mut text = worker.buffers.take();
    template.render(scope, &mut text)?;
    Ok(text)
}

/// The name under which a sample is counted; `from_url` makes one of its URL.
pub(super) fn name(
    worker: &Worker,
    row: &RowOp,
    scope: &UserScope<'_, '_>,
    from_url: impl FnOnce() -> String,
) -> Result<u32, SampleFailure> {
    match &row.name {
        NameOp::Static(name) => Ok(*name),
        NameOp::Rendered(template) => {
            let text = rendered(worker, template, scope)?;
            Ok(worker.recorder.name(row.place, &names::limited(&String::from_utf8_lossy(&text))))
        }
        NameOp::FromUrl => Ok(worker.recorder.name(row.place, &names::limited(&from_url()))),
    }
}

/// The limits of a sample, where its user decides some of them.
pub(super) fn limits(
    frame: &Frame<'_>,
    limits: &Limits,
    timeouts: Option<&TimeoutsOp>,
) -> Result<Option<Box<Limits>>, SampleFailure> {
    let Some(timeouts) = timeouts else { return Ok(None) };
    let scope = UserScope::new(&frame.worker.program, frame.user);
    Ok(Some(Box::new(timeouts.of(*limits, &scope)?)))
}
