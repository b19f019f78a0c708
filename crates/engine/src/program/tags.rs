//! Tags of rows: they are known before the run, so that a request looks up no more than its number.

use squall_plan::span::Spanned;
use squall_plan::template::Template;

use super::compile::Compiler;

impl Compiler<'_> {
    /// Adds tags to those of the rows at hand, in the place of others of the same name. Returns what there was
    /// before.
    pub(super) fn put_on(&mut self, own: &[(Spanned<String>, Template)]) -> Vec<(String, String)> {
        let before = self.tags.clone();
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
            self.tags.retain(|(known, _)| *known != name.value);
            self.tags.push((name.value.clone(), value));
        }
        self.tags.sort();
        before
    }
}
