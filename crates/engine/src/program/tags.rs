//! Tags of rows: they are known before the run, so that a request looks up no more than its number.

use std::collections::BTreeMap;

use squall_plan::span::Spanned;
use squall_plan::template::Template;

use super::compiler::Compiler;

/// The tags that there were before others were put on; `None`: none were.
pub(super) type TagsBefore = Option<Vec<(String, String)>>;

impl Compiler<'_> {
    /// Adds tags to those of the rows at hand, in the place of others of the same name. Returns what there was
    /// before, for [`Compiler::take_off`].
    pub(super) fn put_on(&mut self, own: &[(Spanned<String>, Template)]) -> TagsBefore {
        if own.is_empty() || self.inherits_too_much() {
            return None;
        }
        let mut put = Vec::new();
        for (name, value) in own {
            let Some(bound) = self.template(value) else {
                self.lost_tags.insert(name.value.clone());
                continue;
            };
            let Some(value) = bound.constant() else {
                self.lost_tags.insert(name.value.clone());
                let message = match self.budget.exceeded() {
                    Some(bound) => format!(
                        "the tag `{}` cannot be evaluated before the run: the constants of the plan come to more than {bound}",
                        name.value
                    ),
                    None => format!("the tag `{}` must be known before the run", name.value),
                };
                let help = "each of its values is a row of the results: use variables of `vars`, --set or the \
                            environment; values of a user may be tags of a `metric` step";
                self.error(value.span(), message, help);
                continue;
            };
            self.note_tags(name.span);
            put.push((name.value.clone(), value));
        }
        let all: BTreeMap<String, String> = self.tags.iter().cloned().chain(put).collect();
        Some(std::mem::replace(&mut self.tags, all.into_iter().collect()))
    }

    /// Goes back to the tags before others were put on.
    pub(super) fn take_off(&mut self, before: TagsBefore) {
        if let Some(before) = before {
            self.tags = before;
        }
    }
}
