//! What a module knows of itself: `import.meta`.

use oxc_ast::ast::{ImportMeta, Program};
use oxc_ast_visit::Visit;

use super::edits::Edits;

/// What makes it, at the beginning of a module that asks for it.
const META: &str = "const __meta = __import.meta(); ";

/// Puts a name where it stands, and returns what gives that its value; empty: the module does not ask for it.
pub(super) fn meta(program: &Program<'_>, edits: &mut Edits<'_>) -> &'static str {
    let mut found = Found { edits, is_used: false };
    found.visit_program(program);
    if found.is_used { META } else { "" }
}

struct Found<'e, 't> {
    edits: &'e mut Edits<'t>,
    is_used: bool,
}

impl Visit<'_> for Found<'_, '_> {
    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.edits.replace(it.span.start as usize, it.span.end as usize, "__meta");
        self.is_used = true;
    }
}
