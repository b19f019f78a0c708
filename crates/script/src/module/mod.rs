//! A module's text, made into one that users of a realm can share: a function that is called once for each user, so that
//! what stands at its top level is the user's own. Types are blanked, imports and exports become calls; nothing else
//! changes, so that every line stays where its author wrote it.

mod commonjs;
mod edits;
mod enums;
mod exports;
mod imports;
mod language;
mod meta;
mod places;
mod scan;
mod syntax;
#[cfg(test)]
mod tests;
mod types;

use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;

use edits::Edits;
pub use edits::Place;
pub use language::{Language, SyntaxError};
pub use places::{Places, frame};
pub use scan::Offence;

/// A module, ready for a realm.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// An expression: a function of `(import, export, env)`. `import` gets the number of a module in [`Module::imports`] and
    /// returns its exports, `import.meta` makes its `import.meta`; `export` gets an object of functions, each of which returns what it exports by its name.
    pub text: String,
    /// What its author wrote.
    pub source: Arc<str>,
    /// Where what stands in `text` was written.
    pub places: Places,
    /// What it imports, as it is written, with the place of the import.
    pub imports: Vec<(String, Place)>,
    /// What keeps users from sharing a realm.
    pub offences: Vec<Offence>,
    /// Whether its top level waits, so that the function is async.
    pub is_async: bool,
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// It is not the language that it should be, or has something of TypeScript that is more than types.
    pub fn read(source: &str, language: Language) -> Result<Module, SyntaxError> {
        let allocator = Allocator::default();
        let kind = match language {
            Language::JavaScript => SourceType::mjs(),
            Language::TypeScript => SourceType::ts(),
        };
        let parsed = Parser::new(&allocator, source, kind).parse();
        if let Some(found) = parsed.diagnostics.iter().next() {
            return Err(syntax::refused(source, language, found));
        }
        let program = parsed.program;
        let semantic =
            SemanticBuilder::new_compiler().with_check_syntax_error(true).build(&program);
        if let Some(found) = semantic.diagnostics.iter().next() {
            return Err(syntax::refused(source, language, found));
        }
        let scoping = semantic.semantic.scoping();
        let mut edits = Edits::new(source);
        let mut types = types::Types::new(&mut edits);
        types.visit_program(&program);
        types.finish()?;
        let scanned = scan::scan(&program, scoping, source);
        let mut sources = imports::Sources::default();
        let (mut head, bindings) =
            imports::imports(&program, scoping, language, &mut sources, &mut edits);
        let exported = exports::exports(&program, scoping, &bindings, &mut sources, &mut edits);
        head.push_str(&exported);
        head.push_str(meta::meta(&program, &mut edits));
        let is_module = !head.is_empty();
        let around = commonjs::commonjs(&program, scoping, is_module, &mut sources, &mut edits);
        head.push_str(&around.head);
        imports::resolve(&program, scoping, &bindings, &mut edits);
        let word = if scanned.is_async { "async function" } else { "function" };
        let head = format!("({word} (__import, __export, __ENV) {{ \"use strict\"; {head}");
        let (body, mut places) = edits.apply();
        places.after(head.chars().count());
        let text = format!("{head}{body}\n{}}})", around.tail);
        Ok(Module {
            text,
            source: source.into(),
            places,
            imports: sources.0,
            offences: scanned.offences,
            is_async: scanned.is_async,
        })
    }
}
