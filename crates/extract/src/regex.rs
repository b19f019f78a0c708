//! Matches of a regular expression in bytes. The syntax is that of the `regex` crate. One search
//! takes linear time, but many may each look to the end of the body to find a match at its start:
//! the bytes that all searches of one extraction look at are bounded.

mod counted;

use std::sync::{Arc, OnceLock};

use regex_automata::meta::{self, BuildError};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, Match};

use crate::error::{CompileError, ExtractError};
use counted::{CountedRegex, SIZE_LIMIT, Search};

/// Slots kept on the stack: two for each group up to number 15.
const STACK_SLOTS: usize = 32;

/// A compiled regular expression and the group that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: meta::Regex,
    group: usize,
    /// The same pattern for searches that count what they look at. Made when it is first needed;
    /// `None` if it cannot be made.
    counted: Arc<OnceLock<Option<CountedRegex>>>,
    source: Arc<str>,
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
        Ok(Pattern { regex, group, counted: Arc::default(), source: pattern.into() })
    }

    /// What it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.regex.memory_usage()
    }

    /// The wanted group of each match. Matches in which the group takes no part are left out.
    pub(crate) fn matches<'p, 'b>(&'p self, body: &'b [u8]) -> Matches<'p, 'b> {
        Matches {
            pattern: self,
            body,
            searcher: Searcher::new(Input::new(body)),
            left: Budget::new(body.len()),
            counted: None,
            found: 0,
            scanned: 0,
        }
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

/// What the searches of one extraction may look at, in bytes.
#[derive(Clone, Copy)]
struct Budget {
    /// As long as all searches together cannot have looked at more than this even if each of them
    /// went to the end, nothing is counted: the fastest engine does them all.
    uncounted: u64,
    /// What the counted searches that follow may look at, some nanoseconds a byte.
    counted: u64,
    /// The same if the pattern does not allow to count: each search is taken to go to the end.
    assumed: u64,
}

impl Budget {
    fn new(body_bytes: usize) -> Self {
        let bytes = body_bytes as u64;
        Budget {
            uncounted: (2 << 20) + bytes,
            counted: (4 << 20) + 16 * bytes,
            assumed: (32 << 20) + 16 * bytes,
        }
    }
}

/// The matches of a pattern in a body, without overlap. Ends with an error when the searches have
/// looked at too much.
#[derive(Clone)]
pub(crate) struct Matches<'p, 'b> {
    pattern: &'p Pattern,
    body: &'b [u8],
    searcher: Searcher<'b>,
    left: Budget,
    counted: Option<Box<Search<'p>>>,
    found: usize,
    scanned: u64,
}

impl<'b> Iterator for Matches<'_, 'b> {
    type Item = Result<&'b [u8], ExtractError>;

    fn next(&mut self) -> Option<Result<&'b [u8], ExtractError>> {
        loop {
            let found = match self.next_match() {
                Ok(found) => found?,
                Err(OverBudget) => return Some(Err(self.over_budget())),
            };
            self.found += 1;
            // The group may take no part in a match.
            if let Some(group) = found {
                return self.body.get(group).map(Ok);
            }
        }
    }
}

/// The searches have looked at more than they may.
struct OverBudget;

type Groups = Option<std::ops::Range<usize>>;

impl Matches<'_, '_> {
    /// The wanted group of the next match.
    fn next_match(&mut self) -> Result<Option<Groups>, OverBudget> {
        let Pattern { regex, group, .. } = self.pattern;
        let remaining =
            (self.body.len() - self.searcher.input().start().min(self.body.len())) as u64;
        let Some(left) = self.left.uncounted.checked_sub(remaining) else {
            return self.next_counted(remaining);
        };
        self.left.uncounted = left;
        self.scanned += remaining;
        if *group == 0 {
            return Ok(self
                .searcher
                .advance(|input| Ok(regex.search(input)))
                .map(|m| Some(m.range())));
        }
        let mut slots = Slots::new(*group);
        let found = self.searcher.advance(|input| Ok(slots.search(regex, input)));
        Ok(found.map(|_| slots.group(*group)))
    }

    /// The same, by a search that counts the bytes it looks at where the pattern allows it.
    fn next_counted(&mut self, remaining: u64) -> Result<Option<Groups>, OverBudget> {
        let Pattern { regex, group, counted, source } = self.pattern;
        let counting = match &mut self.counted {
            Some(counting) => counting,
            empty => {
                let counted = counted.get_or_init(|| CountedRegex::new(source)).as_ref();
                empty.insert(Box::new(Search::new(counted)))
            }
        };
        let mut over = false;
        let found = self.searcher.advance(|input| {
            if let Some(search) = counting.find(input, self.left.counted) {
                self.left.counted = self.left.counted.saturating_sub(search.scanned);
                self.scanned += search.scanned;
                over = self.left.counted == 0;
                return Ok(search.found);
            }
            self.scanned += remaining;
            match self.left.assumed.checked_sub(remaining) {
                Some(left) => {
                    self.left.assumed = left;
                    Ok(regex.search(input))
                }
                None => {
                    over = true;
                    Ok(None)
                }
            }
        });
        match found {
            _ if over => Err(OverBudget),
            None => Ok(None),
            Some(found) if *group == 0 => Ok(Some(Some(found.range()))),
            Some(found) => {
                // Where the groups are is sought in the match alone.
                let input = Input::new(self.body).span(found.range()).anchored(Anchored::Yes);
                let mut slots = Slots::new(*group);
                slots.search(regex, &input);
                Ok(Some(slots.group(*group)))
            }
        }
    }

    /// The error, after which there are no more matches.
    fn over_budget(&mut self) -> ExtractError {
        let end = self.body.len();
        self.searcher = Searcher::new(Input::new(self.body).span(end..end));
        ExtractError::ScannedTooMuch {
            pattern: String::new(),
            matches: self.found,
            scanned: self.scanned,
            body_bytes: end,
        }
    }
}

/// Where the groups of a match are, up to the wanted one.
struct Slots {
    stack: [Option<NonMaxUsize>; STACK_SLOTS],
    heap: Vec<Option<NonMaxUsize>>,
    used: usize,
}

impl Slots {
    fn new(group: usize) -> Self {
        let used = 2 * group + 2;
        let heap = if used > STACK_SLOTS { vec![None; used] } else { Vec::new() };
        Slots { stack: [None; STACK_SLOTS], heap, used }
    }

    fn slots(&mut self) -> &mut [Option<NonMaxUsize>] {
        if self.heap.is_empty() { &mut self.stack[..self.used] } else { &mut self.heap }
    }

    /// Finds the next match and where its groups are.
    fn search(&mut self, regex: &meta::Regex, input: &Input<'_>) -> Option<Match> {
        let slots = self.slots();
        slots.fill(None);
        let pattern = regex.search_slots(input, slots)?;
        let (start, end) = (slots[0]?.get(), slots[1]?.get());
        Some(Match::new(pattern, start..end))
    }

    fn group(&mut self, group: usize) -> Groups {
        let slots = self.slots();
        Some(slots[2 * group]?.get()..slots[2 * group + 1]?.get())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all<'b>(pattern: &str, group: Option<u32>, body: &'b [u8]) -> Vec<&'b [u8]> {
        Pattern::compile(pattern, group).unwrap().matches(body).map(Result::unwrap).collect()
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

    /// The matches by searches that count.
    fn counted<'p, 'b>(pattern: &'p Pattern, body: &'b [u8]) -> Matches<'p, 'b> {
        let mut matches = pattern.matches(body);
        matches.left.uncounted = 0;
        matches
    }

    #[test]
    fn many_matches_are_found_in_linear_time() {
        let body = "<a href=\"x\">täxt</a> ".repeat(20_000);
        for (pattern, expected) in [
            (r#"href="([^"]*)""#, 20_000),
            (r#"href="(.*?)""#, 20_000),
            (r"<a href=\S+>(\w+)</a>", 20_000),
            (r"[a-z]+", 120_000),
            (r"x*", 400_001),
        ] {
            let compiled = Pattern::compile(pattern, None).unwrap();
            let mut matches = compiled.matches(body.as_bytes());
            assert_eq!(matches.by_ref().map(Result::unwrap).count(), expected);
            let most = Budget::new(body.len()).uncounted + 6 * body.len() as u64;
            assert!(matches.scanned < most, "{pattern}: {}", matches.scanned);
        }
    }

    #[test]
    fn searches_that_look_far_ahead_end_with_an_error() {
        let body = "a".repeat(100_000);
        for text in ["(?s)a.*z|a", "a*b|a", "(a)(?:[^c]*c)?", "(?:a+b)|(a)"] {
            let pattern = Pattern::compile(text, None).unwrap();
            let mut matches = pattern.matches(body.as_bytes());
            let error = matches.by_ref().find_map(Result::err).unwrap();
            let ExtractError::ScannedTooMuch { scanned, matches: found, .. } = error else {
                panic!("{error}");
            };
            assert!(found > 10 && scanned < 200 * body.len() as u64, "{text}: {error}");
            assert!(matches.next().is_none());
            let shown = error.with_pattern(text).to_string();
            assert!(shown.contains(text) && shown.contains("100000"), "{shown}");
        }
    }

    #[test]
    fn unicode_word_boundaries_cannot_be_counted_and_are_still_found() {
        let body = "wört ünd x ".repeat(4000);
        let pattern = Pattern::compile(r"\bünd\b", None).unwrap();
        let mut matches = counted(&pattern, body.as_bytes());
        assert_eq!(matches.by_ref().take(100).filter(Result::is_ok).count(), 100);
        assert!(matches.any(|found| found.is_err()));
    }

    proptest! {
        #[test]
        fn counting_searches_find_the_same(body in "[abé, ]{0,40}") {
            for pattern in [
                "a*", "b+", "a|,", "", "(?:ab)*", "(a)|b", "a(b?)", r"\b", r"(?-u:\b)a", "^a|b$",
                "(?m)^.|a$", "(a|ab)(c|bcd)?", ".*?b", "[^a]*", "a(?:.*b)?",
            ] {
                for group in [Some(0), None] {
                    let compiled = Pattern::compile(pattern, group).unwrap();
                    let plain: Vec<_> = compiled.matches(body.as_bytes()).collect();
                    let counted: Vec<_> = counted(&compiled, body.as_bytes()).collect();
                    prop_assert_eq!(plain, counted, "{}", pattern);
                }
            }
        }

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
