//! Counts what steps inherit: default headers, credentials, tags, the path of the target.

use squall_plan::model::Defaults;
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::compiler::Compiler;
use super::inherited::{MAX_INHERITED, WEIGHT};

impl Compiler<'_> {
    /// Whether steps inherit more than they may: that was said, and nothing more is made of it.
    pub(super) fn inherits_too_much(&self) -> bool {
        self.inherited.left == 0
    }

    /// Counts a header that a step inherits; `None` after an error was noted.
    pub(super) fn inherit_header(&mut self, (name, value): &(Template, Template)) -> Option<()> {
        let bytes = name.source().len() + value.source().len();
        self.inherit(WEIGHT + bytes, name.span())
    }

    /// Counts texts that a step inherits; `None` after an error was noted.
    pub(super) fn inherit_texts(&mut self, texts: &[&Template]) -> Option<()> {
        let bytes = texts.iter().map(|text| text.source().len()).sum();
        let span = texts.first().map(|text| text.span()).unwrap_or_default();
        self.inherit(bytes, span)
    }

    /// Counts the tags of a row; `None` after an error was noted.
    pub(super) fn inherit_tags(&mut self) -> Option<()> {
        let bytes = |(name, value): &(String, String)| WEIGHT + name.len() + value.len();
        let bytes = self.tags.iter().map(bytes).sum();
        self.inherit(bytes, self.inherited.tags)
    }

    /// Counts the plan's defaults for a scenario that has others beside them; `None` after an error was noted.
    pub(super) fn inherit_defaults(&mut self, plan: &Defaults) -> Option<()> {
        plan.headers.iter().try_for_each(|header| self.inherit_header(header))?;
        plan.tags.iter().try_for_each(|(name, value)| {
            self.inherit(WEIGHT + name.value.len() + value.source().len(), name.span)
        })
    }

    /// Notes where tags were put on, for an error.
    pub(super) fn note_tags(&mut self, span: Span) {
        self.inherited.tags = span;
    }

    /// Counts bytes that a step inherits from what stands at a place; `None` after an error was noted.
    pub(super) fn inherit(&mut self, bytes: usize, span: Span) -> Option<()> {
        if let Some(left) = self.inherited.left.checked_sub(bytes).filter(|left| *left > 0) {
            self.inherited.left = left;
            return Some(());
        }
        if self.inherited.left > 0 {
            self.inherited.left = 0;
            // What is left out has names that thresholds may be about.
            self.lacks_names = true;
            let most = MAX_INHERITED >> 20;
            let message = format!(
                "the default headers, tags and credentials of all steps come to more than {most} MiB"
            );
            let help = "each step counts with all that it has of them: have fewer in `defaults`, or fewer steps";
            self.error(span, message, help);
        }
        None
    }
}
