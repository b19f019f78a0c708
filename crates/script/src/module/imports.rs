//! Imports: each becomes a call at the beginning of the module, and what it binds is read where it is used, so that a module
//! sees what another one changes later, and modules may import each other.

use std::collections::HashMap;

use oxc_ast::ast::{
    IdentifierReference, ImportDeclarationSpecifier, ModuleExportName, ObjectProperty, Program,
    PropertyKind, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::symbol::SymbolId;

use super::edits::{Edits, Place};
use super::language::Language;

/// The modules that are imported, each once.
#[derive(Debug, Default)]
pub(super) struct Sources(pub Vec<(String, Place)>);

impl Sources {
    /// The number of a module.
    pub fn number(&mut self, text: &str, source: &str, span: Span) -> usize {
        let known = self.0.iter().position(|(own, _)| own == source);
        known.unwrap_or_else(|| {
            self.0.push((source.to_owned(), Place::at(text, span.start as usize)));
            self.0.len() - 1
        })
    }
}

/// What names that are imported stand for.
pub(super) type Bindings = HashMap<SymbolId, String>;

/// Takes the imports out, and returns what calls them.
pub(super) fn imports(
    program: &Program<'_>,
    scoping: &Scoping,
    language: Language,
    sources: &mut Sources,
    edits: &mut Edits<'_>,
) -> (String, Bindings) {
    let (mut head, mut bindings) = (String::new(), Bindings::new());
    for statement in &program.body {
        let Statement::ImportDeclaration(own) = statement else { continue };
        edits.blank_statement(own.span.start as usize, own.span.end as usize);
        if own.import_kind.is_type() {
            continue;
        }
        let is_used = |specifier: &&ImportDeclarationSpecifier<'_>| {
            if let ImportDeclarationSpecifier::ImportSpecifier(own) = specifier
                && own.import_kind.is_type()
            {
                return false;
            }
            let symbol = specifier.local().symbol_id();
            let mut used = scoping.get_resolved_references(symbol);
            language == Language::JavaScript || used.any(|own| own.flags().is_value())
        };
        let all = own.specifiers.as_ref().map_or(&[][..], |all| all.as_slice());
        let used: Vec<_> = all.iter().filter(is_used).collect();
        // What is imported for its types alone is not imported.
        if used.is_empty() && !all.is_empty() && language == Language::TypeScript {
            continue;
        }
        let source = own.source.value.as_str();
        let number = sources.number(edits.text(), source, own.source.span);
        head.push_str(&format!("const __m{number}_{} = __import({number}); ", own.span.start));
        let module = format!("__m{number}_{}", own.span.start);
        for specifier in used {
            let name = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(own) => member(&own.imported),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => ".default".to_owned(),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => String::new(),
            };
            bindings.insert(specifier.local().symbol_id(), format!("{module}{name}"));
        }
    }
    (head, bindings)
}

/// The access to what a module exports by a name.
pub(super) fn member(name: &ModuleExportName<'_>) -> String {
    format!("[{:?}]", name.name().as_str())
}

/// Puts what was imported where its names stand.
pub(super) fn resolve(
    program: &Program<'_>,
    scoping: &Scoping,
    bindings: &Bindings,
    edits: &mut Edits<'_>,
) {
    if !bindings.is_empty() {
        Resolve { scoping, bindings, edits }.visit_program(program);
    }
}

struct Resolve<'e, 's, 't> {
    scoping: &'s Scoping,
    bindings: &'s Bindings,
    edits: &'e mut Edits<'t>,
}

impl Resolve<'_, '_, '_> {
    fn binding(&self, own: &IdentifierReference<'_>) -> Option<&str> {
        let reference = self.scoping.get_reference(own.reference_id.get()?);
        self.bindings.get(&reference.symbol_id()?).map(String::as_str)
    }
}

impl<'a> Visit<'a> for Resolve<'_, '_, '_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(stands_for) = self.binding(it) {
            // As it is called it has no `this`.
            let text = format!("(0,{stands_for})");
            self.edits.replace(it.span.start as usize, it.span.end as usize, &text);
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        let is_short = it.shorthand && it.kind == PropertyKind::Init;
        if is_short
            && let oxc_ast::ast::Expression::Identifier(own) = &it.value
            && let Some(stands_for) = self.binding(own)
        {
            let span = it.span();
            let text = format!("{}:(0,{stands_for})", own.name);
            self.edits.replace(span.start as usize, span.end as usize, &text);
            return;
        }
        walk::walk_object_property(self, it);
    }

    /// `export { imported }` is not an expression: `exports` knows what it stands for.
    fn visit_export_named_declaration(&mut self, _: &oxc_ast::ast::ExportNamedDeclaration<'a>) {}
}
