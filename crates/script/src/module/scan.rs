//! Whether users can share a realm: not if a script writes to globals or to what is built in, or calls `eval`. What this
//! misses is found when it happens, since the shared realm is frozen. So `Function` is no reason, without which few large
//! libraries are: what it makes can change nothing that is shared.

use oxc_ast::ast::ArrowFunctionExpression;
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, AwaitExpression, CallExpression, Expression,
    ForOfStatement, Function, IdentifierReference, Program, SimpleAssignmentTarget,
    UnaryExpression, UnaryOperator, UpdateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::edits::Place;

/// Something that keeps users from sharing a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offence {
    /// What it does, in words that follow "it".
    pub what: &'static str,
    pub place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub offences: Vec<Offence>,
    /// Whether its top level has `await`.
    pub is_async: bool,
}

pub(super) fn scan(program: &Program<'_>, scoping: &Scoping, text: &str) -> Scanned {
    let mut own = Scan { scoping, text, depth: 0, scanned: Scanned::default() };
    own.visit_program(program);
    own.scanned.offences.sort_by_key(|own| own.place);
    own.scanned.offences.dedup();
    own.scanned
}

const WRITES_GLOBALS: &str = "writes to a global";
const WRITES_BUILT_IN: &str = "changes a built-in object";
const MAKES_CODE: &str = "makes code from a text";

struct Scan<'s> {
    scoping: &'s Scoping,
    text: &'s str,
    /// Functions around what is visited.
    depth: u32,
    scanned: Scanned,
}

impl Scan<'_> {
    fn found(&mut self, what: &'static str, span: Span) {
        let place = Place::at(self.text, span.start as usize);
        self.scanned.offences.push(Offence { what, place });
    }

    fn is_global(&self, own: &IdentifierReference<'_>) -> bool {
        own.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).symbol_id().is_none())
    }

    /// The name of a global that an expression is.
    fn global<'a>(&self, own: &Expression<'a>) -> Option<&'a str> {
        match own.without_parentheses() {
            Expression::Identifier(own) if self.is_global(own) => Some(own.name.as_str()),
            _ => None,
        }
    }

    /// What it means that something is written to a property of this.
    fn object(&self, object: &Expression<'_>) -> Option<&'static str> {
        match self.global(object) {
            Some("globalThis" | "global" | "window" | "self") => return Some(WRITES_GLOBALS),
            Some("exports" | "module" | "__ENV") | None => {}
            Some(_) => return Some(WRITES_BUILT_IN),
        }
        let member = object.without_parentheses().as_member_expression()?;
        let is_built_in = self.global(member.object()).is_some_and(|own| !own.starts_with("__"));
        (is_built_in && member.static_property_name() == Some("prototype"))
            .then_some(WRITES_BUILT_IN)
    }

    fn written(&mut self, target: &SimpleAssignmentTarget<'_>) {
        let span = target.span();
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(own) => {
                if self.is_global(own) {
                    self.found(WRITES_GLOBALS, span);
                }
            }
            _ => {
                if let Some(member) = target.as_member_expression()
                    && let Some(what) = self.object(member.object())
                {
                    self.found(what, span);
                }
            }
        }
    }
}

impl<'a> Visit<'a> for Scan<'_> {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        walk::walk_assignment_expression(self, it);
    }

    fn visit_assignment_target(&mut self, it: &AssignmentTarget<'a>) {
        if let Some(simple) = it.as_simple_assignment_target() {
            self.written(simple);
        }
        walk::walk_assignment_target(self, it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        self.written(&it.argument);
        walk::walk_update_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete
            && let Some(member) = it.argument.as_member_expression()
            && let Some(what) = self.object(member.object())
        {
            self.found(what, it.span);
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        match self.global(&it.callee) {
            Some("eval") => self.found(MAKES_CODE, it.span),
            _ => {
                let first = it.arguments.first().and_then(|own| own.as_expression());
                if let Some(member) = it.callee.without_parentheses().as_member_expression()
                    && let Some("Object" | "Reflect") = self.global(member.object())
                    && let Some(
                        "assign" | "defineProperty" | "defineProperties" | "setPrototypeOf" | "set",
                    ) = member.static_property_name()
                    && let Some(what) = first.and_then(|own| self.object(own))
                {
                    self.found(what, it.span);
                }
            }
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.depth += 1;
        walk::walk_function(self, it, flags);
        self.depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.depth -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.scanned.is_async |= self.depth == 0;
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.scanned.is_async |= it.r#await && self.depth == 0;
        walk::walk_for_of_statement(self, it);
    }
}
