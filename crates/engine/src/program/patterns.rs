//! The patterns of a plan: what is equal is compiled once, and all together are bounded. Pure.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use squall_extract::{CompileError, Extractor, Spec};
use squall_plan::expr::{BindError, Pattern};

/// What all patterns of a section may take compiled, in bytes.
const MAX_PATTERNS: usize = 64 << 20;

/// The patterns that have been compiled, by what they were compiled from.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    extractors: HashMap<String, Arc<Extractor>>,
    expressions: HashMap<String, Pattern>,
    /// What they take, in bytes. Once that is too much, nothing more is compiled.
    taken: usize,
}

impl Patterns {
    pub(super) fn extractor(&mut self, spec: &Spec<'_>) -> Result<Arc<Extractor>, CompileError> {
        match self.extractors.entry(format!("{spec:?}")) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(new) => {
                let too_large = || CompileError {
                    message: too_large(),
                    offset: None,
                    help: Some(HELP.to_owned()),
                };
                take(&mut self.taken, 0).ok_or_else(too_large)?;
                let extractor =
                    Arc::new(Extractor::compile(spec).map_err(|error| named(error, spec))?);
                take(&mut self.taken, extractor.memory()).ok_or_else(too_large)?;
                Ok(new.insert(extractor).clone())
            }
        }
    }

    /// The pattern of a `matches()`.
    pub(super) fn expression(&mut self, source: &str) -> Result<Pattern, BindError> {
        if let Some(known) = self.expressions.get(source) {
            return Ok(known.clone());
        }
        let too_large = || BindError::new(too_large()).with_help(HELP);
        take(&mut self.taken, 0).ok_or_else(too_large)?;
        let pattern = Pattern::compile(source).map_err(BindError::new)?;
        take(&mut self.taken, pattern.memory()).ok_or_else(too_large)?;
        self.expressions.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

/// An error that says which kind of pattern it is about: one plan has several.
fn named(error: CompileError, spec: &Spec<'_>) -> CompileError {
    let kind = match spec {
        Spec::Regex { .. } => "regular expression",
        Spec::Json(_) => "JSONPath",
        Spec::Css { .. } => "CSS selector",
        Spec::XPath(_) => "XPath",
        _ => return error,
    };
    CompileError { message: format!("invalid {kind}: {}", error.message), ..error }
}

/// Counts so many bytes more; `None` if all are too many now.
fn take(taken: &mut usize, bytes: usize) -> Option<()> {
    *taken += bytes;
    (*taken <= MAX_PATTERNS).then_some(())
}

/// What to do about patterns that are too large.
const HELP: &str = "use smaller repetition counts, or (?-u) where Unicode classes are not needed";

fn too_large() -> String {
    let most = MAX_PATTERNS >> 20;
    format!(
        "the patterns of the plan are too large: those up to this one take more than {most} MiB compiled"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(n: usize) -> String {
        format!(r"{n}\w{{150}}")
    }

    #[test]
    fn an_error_names_the_kind_of_pattern() {
        for (spec, begin) in [
            (Spec::Regex { pattern: "(", group: None }, "invalid regular expression: unclosed"),
            (Spec::Css { selector: "a[", attr: None }, "invalid CSS selector: expected a name"),
            (Spec::XPath("//["), "invalid XPath: expected a name"),
            (Spec::Json("$$"), "invalid JSONPath: expected `.`"),
        ] {
            let error = Patterns::default().extractor(&spec).expect_err(begin);
            assert!(error.message.starts_with(begin), "{error}");
        }
    }

    #[test]
    fn equal_patterns_are_compiled_once_and_all_are_bounded() {
        let mut patterns = Patterns::default();
        let one = large(1);
        let spec = Spec::Regex { pattern: &one, group: None };
        let first = patterns.extractor(&spec).expect("one fits");
        let size = first.memory();
        assert!(size > 1 << 20, "{size}");
        for _ in 0..1_000 {
            assert!(Arc::ptr_eq(&first, &patterns.extractor(&spec).expect("it is known")));
        }
        assert_eq!(patterns.taken, size);
        let refused = (2..100).find_map(|n| {
            let pattern = large(n);
            let spec = Spec::Regex { pattern: &pattern, group: None };
            patterns.extractor(&spec).err()
        });
        let error = refused.expect("all together do not fit");
        assert!(error.message.contains("take more than 64 MiB compiled"), "{error}");
        assert!(patterns.extractor(&spec).is_ok(), "what is known is no more");
        assert!(patterns.expression("[a-z]").is_err(), "expressions and extractors have one bound");
        assert!(Patterns::default().expression("[a-z]").is_ok());
        assert!(Patterns::default().expression("[a-").is_err());
    }
}
