//! What performs samples.

use super::failure::SampleFailure;
use super::frame::Frame;
use super::resources::Found;
use super::sampled::SampleHead;

/// Performs one kind of sample.
pub(crate) trait Sampler<'p> {
    /// How it counts.
    fn head(&self) -> SampleHead<'p>;

    /// Performs it within a frame, which is shown the reply. Gives the resources that the reply names.
    ///
    /// # Errors
    /// There was no reply.
    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure>;
}
