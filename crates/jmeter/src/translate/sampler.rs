//! Samplers that send nothing.

use std::time::Duration;

use squall_plan::model::{Step, StepKind, Tags, Think, Thinking};
use squall_plan::span::Span;

use super::Translator;
use crate::scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// A Debug Sampler: a sample of which nothing but its name is counted. What it shows of variables and properties
    /// only listeners would see.
    pub(super) fn debug_sample(&self, id: ElementId) -> Vec<StepKind> {
        let reader = self.read(id);
        reader.pass(&[
            "displayJMeterProperties",
            "displayJMeterVariables",
            "displaySystemProperties",
        ]);
        reader.finish();
        let held = scope::of_sampler(self.tree, id);
        let looks = held.assertions.iter().chain(&held.post_processors);
        for other in looks.filter(|id| self.tree.element(**id).known().is_some()) {
            self.obstacle(id, format!("`{}`, which looks at it", self.tree.element(*other).name));
        }
        let mut steps = self.before_sampler(&held);
        steps.extend(held.timers.iter().filter_map(|timer| self.timer(*timer)));
        let name = self.name(id);
        // A group has a step at least: one that takes no time.
        let nothing = StepKind::Think(Thinking::Known(Think::Fixed(Duration::ZERO)));
        let inner = vec![Step { kind: nothing, span: Span::default() }];
        steps.push(StepKind::Group { name, tags: Tags::new(), steps: inner });
        steps
    }
}
