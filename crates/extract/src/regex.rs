//! Matches of a regular expression in bytes. The syntax is that of the `regex` crate; searching
//! takes linear time and, once warm, allocates nothing.

use regex_automata::Input;
use regex_automata::meta::{self, BuildError};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;

use crate::CompileError;

/// The largest compiled size of a pattern, in bytes.
const SIZE_LIMIT: usize = 10 << 20;

/// Slots kept on the stack: two for each group up to number 15.
const STACK_SLOTS: usize = 32;

/// A compiled regular expression and the group that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: meta::Regex,
    group: usize,
}

impl Pattern {
    /// Compiles `pattern`. Without a group, the first one is meant if the pattern has any, else
    /// the whole match.
    pub(crate) fn compile(pattern: &str, group: Option<u32>) -> Result<Self, CompileError> {
        let regex = meta::Regex::builder()
            .syntax(syntax::Config::new().utf8(false))
            .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)))
            .build(pattern)
            .map_err(|error| compile_error(&error))?;
        let groups = regex.captures_len() - 1;
        let group = group.map_or(groups.min(1), |group| group as usize);
        if group > groups {
            let message = match groups {
                0 => format!("there is no group {group}: the pattern has no groups"),
                _ => format!("there is no group {group}: the pattern has {groups}"),
            };
            return Err(CompileError::new(message)
                .help("a group is a part of the pattern in round brackets; 0 is the whole match"));
        }
        Ok(Pattern { regex, group })
    }

    /// The wanted group of each match. Matches in which the group takes no part are left out.
    pub(crate) fn matches<'p, 'b>(&'p self, body: &'b [u8]) -> Matches<'p, 'b> {
        Matches { pattern: self, body, searcher: Searcher::new(Input::new(body)) }
    }
}

fn compile_error(error: &BuildError) -> CompileError {
    let Some(error) = error.syntax_error() else {
        let message = match error.size_limit() {
            Some(limit) => format!("the pattern is too large: compiled, more than {limit} bytes"),
            None => format!("the pattern cannot be compiled: {error}"),
        };
        return CompileError::new(message)
            .help("use smaller repetition counts, or (?-u) where Unicode classes are not needed");
    };
    match error {
        regex_syntax::Error::Parse(e) => {
            CompileError::new(e.kind().to_string()).at(e.span().start.offset)
        }
        regex_syntax::Error::Translate(e) => {
            CompileError::new(e.kind().to_string()).at(e.span().start.offset)
        }
        _ => CompileError::new(error.to_string()),
    }
}

/// The matches of a pattern in a body, without overlap.
#[derive(Clone)]
pub(crate) struct Matches<'p, 'b> {
    pattern: &'p Pattern,
    body: &'b [u8],
    searcher: Searcher<'b>,
}

impl<'b> Iterator for Matches<'_, 'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let Pattern { regex, group } = self.pattern;
        if *group == 0 {
            let found = self.searcher.advance(|input| Ok(regex.search(input)))?;
            return self.body.get(found.range());
        }
        let (mut stack, mut heap);
        let slots: &mut [Option<NonMaxUsize>] = if 2 * group + 2 <= STACK_SLOTS {
            stack = [None; STACK_SLOTS];
            &mut stack[..2 * group + 2]
        } else {
            heap = vec![None; 2 * group + 2];
            &mut heap
        };
        loop {
            self.searcher.advance(|input| {
                slots.fill(None);
                Ok(search(regex, input, slots))
            })?;
            if let (Some(start), Some(end)) = (slots[2 * group], slots[2 * group + 1]) {
                return self.body.get(start.get()..end.get());
            }
        }
    }
}

/// Finds the next match and where its groups are.
fn search(
    regex: &meta::Regex,
    input: &Input<'_>,
    slots: &mut [Option<NonMaxUsize>],
) -> Option<regex_automata::Match> {
    let pattern = regex.search_slots(input, slots)?;
    let (start, end) = (slots[0]?.get(), slots[1]?.get());
    Some(regex_automata::Match::new(pattern, start..end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all<'b>(pattern: &str, group: Option<u32>, body: &'b [u8]) -> Vec<&'b [u8]> {
        Pattern::compile(pattern, group).unwrap().matches(body).collect()
    }

    #[test]
    fn finds_groups() {
        let body = b"id=7&id=&id=42;";
        for (pattern, group, expected) in [
            (r"id=(\d*)", None, vec!["7", "", "42"]),
            (r"id=(\d+)", Some(0), vec!["id=7", "id=42"]),
            (r"id=\d+", None, vec!["id=7", "id=42"]),
            (r"(id)=(\d+)", Some(2), vec!["7", "42"]),
            (r"(?P<key>id)=(?P<value>\d+)", Some(1), vec!["id", "id"]),
            // The group takes no part in the second match.
            (r"id=(?:(\d+)|&)", None, vec!["7", "42"]),
            (r"x*", None, vec![""; 16]),
            (r"nothing", None, vec![]),
        ] {
            let expected: Vec<&[u8]> = expected.iter().map(|s| s.as_bytes()).collect();
            assert_eq!(all(pattern, group, body), expected, "{pattern} {group:?}");
        }
    }

    #[test]
    fn finds_a_group_beyond_the_stack_slots() {
        let pattern = "(.)".repeat(40);
        let body: Vec<u8> = (b'0'..b'0' + 40).collect();
        assert_eq!(all(&pattern, Some(40), &body), [&[b'0' + 39][..]]);
    }

    #[test]
    fn works_on_bytes_that_are_not_text() {
        assert_eq!(all(r"(?-u)\xFF(.)\xFE", None, b"a\xFF\x80\xFEb"), [b"\x80"]);
        assert_eq!(all("k=(.)", None, b"\xFF\xFFk=v\xFF"), [b"v"]);
    }

    #[test]
    fn bad_patterns_say_where() {
        for (pattern, offset) in [("a(b", 1), ("a[z-a]", 2), ("é**(", 4), (r"\p{Foo}", 0)] {
            let error = Pattern::compile(pattern, None).unwrap_err();
            assert_eq!(error.offset, Some(offset), "{pattern}: {error}");
        }
        let error = Pattern::compile("(a)", Some(2)).unwrap_err();
        assert!(error.message.contains("no group 2"), "{error}");
        let error = Pattern::compile(r"\w{1000}{1000}", None).unwrap_err();
        assert!(error.message.contains("too large"), "{error}");
    }

    proptest! {
        #[test]
        fn whole_matches_and_a_group_around_them_agree(body in "[ab,]{0,40}") {
            for pattern in ["a*", "b+", "a|,", "", "(?:ab)*"] {
                let grouped = format!("({pattern})");
                prop_assert_eq!(
                    all(pattern, Some(0), body.as_bytes()),
                    all(&grouped, Some(1), body.as_bytes())
                );
            }
        }
    }
}
