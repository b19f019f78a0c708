//! Imports: each becomes a call at the beginning of the module, and what it binds is read where it is used, so that a module
//! sees what another one changes later, and modules may import each other.

use std::collections::{HashMap, HashSet};

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
        let (start, end) = (own.span.start as usize, own.span.end as usize);
        if own.import_kind.is_type() {
            edits.blank_statement(start, end);
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
            edits.blank_statement(start, end);
            continue;
        }
        let source = own.source.value.as_str();
        let number = sources.number(edits.text(), source, own.source.span);
        head.push_str(&format!("const __m{number}_{} = __import({number}); ", own.span.start));
        let module = format!("__m{number}_{}", own.span.start);
        let mut names = Vec::new();
        for specifier in used {
            let name = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(own) => Some(own.imported.name()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default".into()),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
            };
            let read = name.as_ref().map_or(String::new(), |name| format!("[{:?}]", name.as_str()));
            bindings.insert(specifier.local().symbol_id(), format!("{module}{read}"));
            names.extend(name.map(|name| format!("{:?}", name.as_str())));
        }
        // Where the import stands, its names are looked for.
        match names.is_empty() {
            true => edits.blank_statement(start, end),
            false => edits.replace(
                start,
                end,
                &format!(";__import({number}, {source:?}, [{}]);", names.join(", ")),
            ),
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
        Resolve { scoping, bindings, edits, begins: HashSet::new() }.visit_program(program);
    }
}

struct Resolve<'e, 's, 't> {
    scoping: &'s Scoping,
    bindings: &'s Bindings,
    edits: &'e mut Edits<'t>,
    /// Where the statements of lists begin.
    begins: HashSet<u32>,
}

impl Resolve<'_, '_, '_> {
    fn binding(&self, own: &IdentifierReference<'_>) -> Option<&str> {
        let reference = self.scoping.get_reference(own.reference_id.get()?);
        self.bindings.get(&reference.symbol_id()?).map(String::as_str)
    }
}

impl<'a> Visit<'a> for Resolve<'_, '_, '_> {
    fn visit_statements(&mut self, it: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        let expressions = it.iter().filter(|own| matches!(own, Statement::ExpressionStatement(_)));
        self.begins.extend(expressions.map(|own| own.span().start));
        walk::walk_statements(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(stands_for) = self.binding(it) {
            // As it is called it has no `this`. A line that ends without a semicolon would call what the next one begins with.
            let ends = if self.begins.contains(&it.span.start) { ";" } else { "" };
            let text = format!("{ends}(0,{stands_for})");
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
