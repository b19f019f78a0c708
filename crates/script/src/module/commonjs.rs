//! Modules as Node.js began with: `require("a")`, `module.exports` and `exports`.

use oxc_ast::ast::{CallExpression, Expression, IdentifierReference, Program};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};

use super::edits::Edits;
use super::imports::Sources;

/// What stands before and behind the text of such a module; both are empty where it has nothing of this.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub head: String,
    pub tail: String,
}

/// What a module that is required stands for: what it has set as `module.exports`, or else all that it exports.
const REQUIRE: &str = "const __require = (number) => { const own = __import(number); \
     return \"module.exports\" in own ? own[\"module.exports\"] : own; }; ";

/// Makes calls of `require` imports. `is_module`: it has imports or exports in words of the language, and then no
/// `module.exports`.
pub(super) fn commonjs(
    program: &Program<'_>,
    scoping: &Scoping,
    is_module: bool,
    sources: &mut Sources,
    edits: &mut Edits<'_>,
) -> Around {
    let mut found = Found { scoping, requires: Vec::new(), module: false, exports: false };
    found.visit_program(program);
    let mut around = Around::default();
    if !found.requires.is_empty() {
        around.head.push_str(REQUIRE);
    }
    for (call, source, at) in found.requires {
        let number = sources.number(edits.text(), &source, at);
        edits.replace(call.start as usize, call.end as usize, &format!("__require({number})"));
    }
    if is_module || !(found.module || found.exports) {
        return around;
    }
    around.head.push_str("const __module = { exports: {} }; ");
    if found.module {
        around.head.push_str("const module = __module; ");
    }
    if found.exports {
        around.head.push_str("let exports = __module.exports; ");
    }
    around.head.push_str(
        "__export({ \"module.exports\": () => __module.exports, \
         default: () => __module.exports?.default ?? __module.exports }); ",
    );
    around.tail.push_str("__export.all(Object(__module.exports));\n");
    around
}

struct Found<'s> {
    scoping: &'s Scoping,
    /// The span of the call, the name of the module, and where that stands.
    requires: Vec<(Span, String, Span)>,
    /// Whether `module` and `exports` are read or set.
    module: bool,
    exports: bool,
}

impl Found<'_> {
    fn is_global(&self, own: &IdentifierReference<'_>) -> bool {
        own.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).symbol_id().is_none())
    }
}

impl<'a> Visit<'a> for Found<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        match it.name.as_str() {
            "module" => self.module |= self.is_global(it),
            "exports" => self.exports |= self.is_global(it),
            _ => {}
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::Identifier(callee) = &it.callee
            && callee.name == "require"
            && self.is_global(callee)
            && let [argument] = it.arguments.as_slice()
            && let Some(Expression::StringLiteral(source)) = argument.as_expression()
        {
            self.requires.push((it.span(), source.value.to_string(), source.span));
            return;
        }
        walk::walk_call_expression(self, it);
    }
}
