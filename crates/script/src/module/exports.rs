//! Exports: the module says once, at its beginning, how each is read. So it does not matter whether it has a value yet.

use std::fmt::Write as _;

use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, ModuleExportName, Program, Statement,
};
use oxc_semantic::Scoping;
use oxc_span::GetSpan;

use super::edits::Edits;
use super::imports::{Bindings, Sources, member};

/// Makes exports plain declarations, and returns the call that tells of them.
pub(super) fn exports(
    program: &Program<'_>,
    scoping: &Scoping,
    bindings: &Bindings,
    sources: &mut Sources,
    edits: &mut Edits<'_>,
) -> String {
    let mut own = Exports { named: String::new(), head: String::new(), scoping, bindings };
    for statement in &program.body {
        own.statement(statement, sources, edits);
    }
    let Exports { named, mut head, .. } = own;
    if !named.is_empty() {
        let _ = write!(head, "__export({{ {named}}}); ");
    }
    head
}

struct Exports<'s> {
    /// `name: () => what, `
    named: String,
    /// What imports for an export.
    head: String,
    scoping: &'s Scoping,
    bindings: &'s Bindings,
}

impl Exports<'_> {
    fn name(&mut self, name: &str, value: &str) {
        let _ = write!(self.named, "{name:?}: () => {value}, ");
    }

    fn statement(
        &mut self,
        statement: &Statement<'_>,
        sources: &mut Sources,
        edits: &mut Edits<'_>,
    ) {
        match statement {
            Statement::ExportDeclaration(own) => {
                let at = own.declaration.span().start as usize;
                for name in declared(&own.declaration) {
                    self.name(&name, &name);
                }
                if !matches!(
                    own.declaration,
                    Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_)
                ) {
                    edits.blank(own.span.start as usize, at);
                }
            }
            Statement::ExportDefaultDeclaration(own) => self.default(own, edits),
            Statement::ExportNamedDeclaration(own) => {
                edits.blank_statement(own.span.start as usize, own.span.end as usize);
                let names = own.specifiers.iter().filter(|each| !each.export_kind.is_type());
                for each in names.filter(|_| !own.export_kind.is_type()) {
                    if let Some(value) = self.local(&each.local) {
                        self.name(each.exported.name().as_str(), &value);
                    }
                }
            }
            Statement::ExportFromDeclaration(own) => {
                edits.blank_statement(own.span.start as usize, own.span.end as usize);
                if own.export_kind.is_type() {
                    return;
                }
                let source = own.source.value.as_str();
                let number = sources.number(edits.text(), source, own.source.span);
                let module = format!("__e{number}_{}", own.span.start);
                let _ = write!(self.head, "const {module} = __import({number}); ");
                for each in own.specifiers.iter().filter(|each| !each.export_kind.is_type()) {
                    let value = format!("{module}{}", member(&each.local));
                    self.name(each.exported.name().as_str(), &value);
                }
            }
            Statement::ExportAllDeclaration(own) => {
                edits.blank_statement(own.span.start as usize, own.span.end as usize);
                if own.export_kind.is_type() {
                    return;
                }
                let source = own.source.value.as_str();
                let number = sources.number(edits.text(), source, own.source.span);
                match &own.exported {
                    Some(name) => {
                        let module = format!("__e{number}_{}", own.span.start);
                        let _ = write!(self.head, "const {module} = __import({number}); ");
                        self.name(name.name().as_str(), &module);
                    }
                    None => {
                        let _ = write!(self.head, "__export.all(__import({number})); ");
                    }
                }
            }
            _ => {}
        }
    }

    /// What a name of `export { name }` is read as; `None`: it is a type.
    fn local(&self, name: &ModuleExportName<'_>) -> Option<String> {
        let ModuleExportName::IdentifierReference(own) = name else {
            return Some(name.name().to_string());
        };
        let reference = self.scoping.get_reference(own.reference_id.get()?);
        let symbol = reference.symbol_id()?;
        if !self.scoping.symbol_flags(symbol).is_value()
            && !self.scoping.symbol_flags(symbol).is_import()
        {
            return None;
        }
        Some(self.bindings.get(&symbol).cloned().unwrap_or_else(|| own.name.to_string()))
    }

    fn default(&mut self, own: &oxc_ast::ast::ExportDefaultDeclaration<'_>, edits: &mut Edits<'_>) {
        let (start, at) = (own.span.start as usize, own.declaration.span().start as usize);
        let name = match &own.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(own) if own.body.is_none() => return,
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => return,
            ExportDefaultDeclarationKind::FunctionDeclaration(own) => own.id.as_ref(),
            ExportDefaultDeclarationKind::ClassDeclaration(own) => own.id.as_ref(),
            _ => None,
        };
        match name {
            Some(name) => {
                self.name("default", name.name.as_str());
                edits.blank(start, at);
            }
            None => {
                self.name("default", "__default");
                // A function that has no name is called `default`.
                edits.replace(start, at, "let __default = { default: ");
                edits.insert(own.declaration.span().end as usize, " }.default;");
            }
        }
    }
}

/// The names that a declaration declares.
fn declared(declaration: &Declaration<'_>) -> Vec<String> {
    match declaration {
        Declaration::VariableDeclaration(own) if !own.declare => {
            let mut names = Vec::new();
            own.declarations.iter().for_each(|each| bound(&each.id, &mut names));
            names
        }
        Declaration::FunctionDeclaration(own) if own.body.is_some() => {
            own.id.iter().map(|name| name.name.to_string()).collect()
        }
        Declaration::ClassDeclaration(own) if !own.declare => {
            own.id.iter().map(|name| name.name.to_string()).collect()
        }
        Declaration::TSEnumDeclaration(own) if !own.declare => vec![own.id.name.to_string()],
        _ => Vec::new(),
    }
}

/// The names that a pattern binds.
fn bound(pattern: &BindingPattern<'_>, names: &mut Vec<String>) {
    names.extend(pattern.get_binding_identifiers().iter().map(|own| own.name.to_string()));
}
