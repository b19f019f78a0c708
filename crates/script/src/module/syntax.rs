//! Why a module cannot be read, from what the parser says of it.

use oxc_allocator::Allocator;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::edits::Place;
use super::language::{Language, SyntaxError};

/// How many characters of a line are shown.
const SHOWN: usize = 80;

/// What is wrong, with the line in which it is.
pub(super) fn refused(text: &str, language: Language, found: &OxcDiagnostic) -> SyntaxError {
    let (at, length) = found
        .labels
        .first()
        .map_or((0, 0), |label| (label.offset() as usize, label.len() as usize));
    let place = Place::at(text, at);
    let mut message = match found.message.as_ref() {
        "Unexpected token" => format!("unexpected {}", token(text, at, length)),
        // The parser says which kind of token it found.
        other => match other.split_once(" but found `") {
            Some((expected, _)) => format!("{expected} but found {}", token(text, at, length)),
            None => other.to_owned(),
        },
    };
    let line = text.lines().nth(place.line - 1).unwrap_or_default().trim();
    if !line.is_empty() {
        let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(at, _)| at);
        let more = if end < line.len() { "..." } else { "" };
        message.push_str(&format!(", in `{}{more}`", &line[..end]));
    }
    let typed = (language == Language::JavaScript && is_typescript(text))
        .then(|| "this is TypeScript: give the file a name that ends in .ts".to_owned());
    let help = typed.or_else(|| found.help.as_ref().map(ToString::to_string));
    SyntaxError { message, help, place }
}

/// The token of which a parser says where it is.
fn token(text: &str, at: usize, length: usize) -> String {
    let own = text.get(at..at + length).and_then(|own| own.lines().next()).unwrap_or_default();
    if own.trim().is_empty() { "end of file".to_owned() } else { format!("`{own}`") }
}

fn is_typescript(text: &str) -> bool {
    let allocator = Allocator::default();
    Parser::new(&allocator, text, SourceType::ts()).parse().diagnostics.is_empty()
}
