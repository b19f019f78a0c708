//! Regular expressions of `matches()` and `find_all()`: the syntax and the limits of the `regex` crate. Pure.

use regex_automata::meta::{self, BuildError};
use regex_automata::util::syntax;

/// The largest compiled size of a pattern, in bytes.
const SIZE_LIMIT: usize = 10 << 20;

/// A compiled regular expression. Cheap to clone: clones share what was compiled.
#[derive(Debug, Clone)]
pub struct Pattern(meta::Regex);

impl Pattern {
    /// Compiles a pattern, for bytes that need not be UTF-8.
    ///
    /// # Errors
    /// It is no regular expression, or compiles to more than 10 MiB.
    pub fn compile(source: &str) -> Result<Pattern, String> {
        meta::Regex::builder()
            .syntax(syntax::Config::new().utf8(false))
            .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)))
            .build(source)
            .map(Pattern)
            .map_err(|error| told(&error))
    }

    /// What it takes, in bytes, without what searches keep for themselves.
    pub fn memory(&self) -> usize {
        self.0.memory_usage()
    }

    /// Whether something in `bytes` matches.
    pub fn is_match(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }

    /// All that matches, each with its groups, the whole match first.
    pub(super) fn find_all<'b>(
        &self,
        bytes: &'b [u8],
    ) -> impl Iterator<Item = Vec<Option<&'b [u8]>>> {
        self.0.captures_iter(bytes).map(move |found| {
            found.iter().map(|group| group.and_then(|group| bytes.get(group.range()))).collect()
        })
    }
}

/// What is wrong with a pattern, in one line.
fn told(error: &BuildError) -> String {
    let (what, at) = match error.syntax_error() {
        Some(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start),
        Some(regex_syntax::Error::Translate(error)) => {
            (error.kind().to_string(), error.span().start)
        }
        _ if error.size_limit().is_some() => {
            return format!("the pattern is too large: compiled, more than {SIZE_LIMIT} bytes");
        }
        _ => return format!("the pattern cannot be compiled: {error}"),
    };
    format!("invalid pattern: {what}, at its character {}", at.column)
}
