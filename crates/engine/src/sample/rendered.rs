//! Templates of the plan, rendered for a user.

use squall_metrics::PlaceId;
use squall_plan::template::BoundTemplate;

use super::failure::SampleFailure;
use crate::parts::names;
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

/// The name that a template gives, of a row at a place.
pub(super) fn rendered_name(
    worker: &Worker,
    template: &BoundTemplate,
    place: PlaceId,
    scope: &UserScope<'_, '_>,
) -> Result<u32, SampleFailure> {
    let text = rendered(worker, template, scope)?;
    Ok(worker.recorder.name(place, &names::limited(&String::from_utf8_lossy(&text))))
}
