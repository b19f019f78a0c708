//! Types are blanked. What is more than a type (enums, parameters that are properties) becomes the code that it stands for;
//! what would need more than that is refused.

use oxc_ast::ast::{ArrowFunctionExpression, BindingPattern, Declaration, TSThisParameter};
use oxc_ast::ast::{
    Class, ClassElement, ExportDefaultDeclarationKind, Expression, FormalParameter, Function,
    MethodDefinition, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType, Statement,
    TSAsExpression, TSEnumDeclaration, TSInstantiationExpression, TSNonNullExpression,
    TSSatisfiesExpression, TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::edits::{Edits, Place};
use super::enums;
use super::language::SyntaxError;

pub(super) struct Types<'e, 't> {
    edits: &'e mut Edits<'t>,
    refused: Option<SyntaxError>,
}

impl<'e, 't> Types<'e, 't> {
    pub fn new(edits: &'e mut Edits<'t>) -> Self {
        Types { edits, refused: None }
    }

    /// # Errors
    /// Something is more than a type.
    pub fn finish(self) -> Result<(), SyntaxError> {
        self.refused.map_or(Ok(()), Err)
    }

    fn blank(&mut self, span: Span) {
        self.edits.blank(span.start as usize, span.end as usize);
    }

    fn blank_statement(&mut self, span: Span) {
        self.edits.blank_statement(span.start as usize, span.end as usize);
    }

    fn refuse(&mut self, span: Span, what: &str) {
        let place = Place::at(self.edits.text(), span.start as usize);
        self.refused.get_or_insert_with(|| SyntaxError {
            message: format!("{what} are more than types: squall only takes types out"),
            help: Some("write it in JavaScript, or build the script first (esbuild, tsc)".into()),
            place,
        });
    }

    /// The first place of a character from `from` on, outside of comments.
    fn find(&self, from: u32, character: char, end: u32) -> Option<u32> {
        let text = &self.edits.text()[from as usize..end as usize];
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let skipped = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            } else if next == character {
                return u32::try_from(text.len() - rest.len()).ok().map(|at| from + at);
            } else {
                next.len_utf8()
            };
            rest = &rest[skipped..];
        }
        None
    }

    /// Blanks a character that stands between two places, such as the `?` of what is optional.
    fn blank_between(&mut self, from: u32, character: char, end: u32) {
        if let Some(at) = self.find(from, character, end) {
            self.blank(Span::new(at, at + 1));
        }
    }

    /// Blanks words that stand before a name.
    fn blank_words(&mut self, span: Span, words: &[&str]) {
        let text = &self.edits.text()[span.start as usize..span.end as usize];
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let mut at = 0;
        while let Some(start) = text[at..].find(is_name).map(|found| at + found) {
            let end = text[start..].find(|c| !is_name(c)).map_or(text.len(), |found| start + found);
            if words.contains(&&text[start..end]) {
                let from = span.start as usize;
                self.edits.blank(from + start, from + end);
            }
            at = end;
        }
    }

    /// Whether a declaration is about types alone.
    fn is_type(declaration: &Declaration<'_>) -> bool {
        match declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSGlobalDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_) => true,
            Declaration::VariableDeclaration(own) => own.declare,
            Declaration::FunctionDeclaration(own) => own.declare || own.body.is_none(),
            Declaration::ClassDeclaration(own) => own.declare,
            Declaration::TSEnumDeclaration(own) => own.declare,
            Declaration::TSNamespaceDeclaration(own) => own.declare,
            Declaration::TSImportEqualsDeclaration(own) => own.import_kind.is_type(),
        }
    }
}

impl<'a> Visit<'a> for Types<'_, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let is_type = match it {
            Statement::ExportDeclaration(own) => Self::is_type(&own.declaration),
            Statement::ExportDefaultDeclaration(own) => match &own.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(own) => own.body.is_none(),
                _ => false,
            },
            Statement::TSNamespaceExportDeclaration(_) => true,
            _ => it.as_declaration().is_some_and(Self::is_type),
        };
        if is_type {
            return self.blank_statement(it.span());
        }
        match it {
            Statement::TSExportAssignment(_) => self.refuse(it.span(), "`export =` assignments"),
            Statement::TSNamespaceDeclaration(_) => self.refuse(it.span(), "namespaces"),
            Statement::TSImportEqualsDeclaration(_) => {
                self.refuse(it.span(), "`import =` declarations");
            }
            _ => walk::walk_statement(self, it),
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        enums::write(it, self.edits);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(Span::new(it.expression.span().end, it.span.end));
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(Span::new(it.expression.span().end, it.span.end));
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.blank(Span::new(it.span.start, it.expression.span().start));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(Span::new(it.expression.span().end, it.span.end));
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.type_arguments.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let text = self.edits.text();
        let comma = text[it.span.end as usize..].trim_start().starts_with(',');
        let end = if comma { self.find(it.span.end, ',', text.len() as u32) } else { None };
        self.blank(Span::new(it.span.start, end.map_or(it.span.end, |at| at + 1)));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        walk::walk_arrow_function_expression(self, it);
        // No line may end between the parameters and the arrow.
        if let Some(own) = &it.return_type {
            let (from, to) = (own.span.start as usize, own.span.end as usize);
            let ends = self.edits.text()[from..to].matches('\n').count();
            let arrow = self.edits.text()[to..].find("=>").map(|at| to + at + 2);
            if let Some(arrow) = arrow.filter(|_| ends > 0) {
                self.edits.changed_last_blank(from, to);
                self.edits.insert(arrow, &"\n".repeat(ends));
            }
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.body.is_some() {
            walk::walk_function(self, it, flags);
        }
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if !it.decorators.is_empty() {
            return self.refuse(it.span, "decorators");
        }
        let name = it.pattern.span();
        if it.accessibility.is_some() || it.readonly || it.r#override {
            let words = ["public", "private", "protected", "readonly", "override"];
            self.blank_words(Span::new(it.span.start, name.start), &words);
        }
        if it.optional {
            let end = it.type_annotation.as_ref().map_or(it.span.end, |own| own.span.start);
            self.blank_between(name.end, '?', end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            let end = it.type_annotation.as_ref().map_or(it.span.end, |own| own.span.start);
            self.blank_between(it.id.span().end, '!', end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if !it.decorators.is_empty() {
            return self.refuse(it.span, "decorators");
        }
        if it.r#abstract {
            let end = it.id.as_ref().map_or(it.body.span.start, |own| own.span.start);
            self.blank_words(Span::new(it.span.start, end), &["abstract"]);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = &self.edits.text()[..first.span().start as usize];
            if let Some(word) = before.rfind("implements") {
                self.edits.blank(word, last.span().end as usize);
            }
        }
        if let Some(own) = &it.type_parameters {
            self.blank(own.span);
        }
        if let Some(own) = &it.heritage {
            self.visit_expression(&own.expression);
            if let Some(own) = &own.type_arguments {
                self.blank(own.span);
            }
        }
        self.visit_class_body(&it.body);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(own) => self.blank_statement(own.span),
            _ => walk::walk_class_element(self, it),
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if !it.decorators.is_empty() {
            return self.refuse(it.span, "decorators");
        }
        let is_abstract = it.r#type == MethodDefinitionType::TSAbstractMethodDefinition;
        if is_abstract || it.value.body.is_none() {
            return self.blank_statement(it.span);
        }
        let words = ["public", "private", "protected", "override"];
        self.blank_words(Span::new(it.span.start, it.key.span().start), &words);
        if it.optional {
            self.blank_between(it.key.span().end, '?', it.value.span.start + 1);
        }
        self.properties_of_parameters(it);
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if !it.decorators.is_empty() {
            return self.refuse(it.span, "decorators");
        }
        let is_abstract = it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition;
        if is_abstract || it.declare {
            return self.blank_statement(it.span);
        }
        let words = ["public", "private", "protected", "override", "readonly"];
        self.blank_words(Span::new(it.span.start, it.key.span().start), &words);
        let end = it.type_annotation.as_ref().map(|own| own.span.start);
        let end = end.or(it.value.as_ref().map(|own| own.span().start)).unwrap_or(it.span.end);
        if it.optional {
            self.blank_between(it.key.span().end, '?', end);
        }
        if it.definite {
            self.blank_between(it.key.span().end, '!', end);
        }
        walk::walk_property_definition(self, it);
    }
}

impl Types<'_, '_> {
    /// Parameters of a constructor that are properties as well: they are set where its body begins, or after `super()`.
    fn properties_of_parameters(&mut self, it: &MethodDefinition<'_>) {
        let is_property = |own: &&FormalParameter<'_>| own.accessibility.is_some() || own.readonly;
        let names =
            it.value.params.items.iter().filter(is_property).filter_map(|own| match &own.pattern {
                BindingPattern::BindingIdentifier(name) => Some(name.name.as_str()),
                BindingPattern::AssignmentPattern(own) => match &own.left {
                    BindingPattern::BindingIdentifier(name) => Some(name.name.as_str()),
                    _ => None,
                },
                _ => None,
            });
        let set: String = names.map(|name| format!(" this.{name} = {name};")).collect();
        let Some(body) = it.value.body.as_ref().filter(|_| !set.is_empty()) else { return };
        let is_super = |own: &&Statement<'_>| match own {
            Statement::ExpressionStatement(own) => match &own.expression {
                Expression::CallExpression(call) => matches!(call.callee, Expression::Super(_)),
                _ => false,
            },
            _ => false,
        };
        let at =
            body.statements.iter().find(is_super).map_or(body.span.start + 1, |own| own.span().end);
        self.edits.insert(at as usize, &format!(";{set}"));
    }
}
