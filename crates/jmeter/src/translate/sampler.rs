//! Samplers that send nothing.

use std::time::Duration;

use squall_plan::model::{StepKind, Tags, Think, ThinkTime, Thinking};

use super::{Translator, step};
use crate::scope::Scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// A Debug Sampler: a sample of which nothing but its name is counted. What it shows of variables and properties
    /// only listeners would see.
    pub(super) fn debug_sample(&self, id: ElementId, held: &Scope) -> StepKind {
        let reader = self.read(id);
        reader.pass(&[
            "displayJMeterProperties",
            "displayJMeterVariables",
            "displaySystemProperties",
        ]);
        reader.finish();
        let looks = held.assertions.iter().chain(&held.post_processors);
        for other in looks.filter(|id| self.tree.element(**id).known().is_some()) {
            self.obstacle(id, format!("`{}`, which looks at it", self.tree.element(*other).name));
        }
        // A group has a step at least: one that takes no time.
        let nothing = StepKind::Think(Thinking::Known(Think::Fixed(Duration::ZERO)));
        let (name, steps) = (self.name(id), vec![step(nothing)]);
        StepKind::Group { name, tags: Tags::new(), think_time: ThinkTime::Included, steps }
    }
}
