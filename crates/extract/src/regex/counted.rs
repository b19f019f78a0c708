//! Searches that count the bytes they look at, by automata that are built while they run.

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, Match};

/// The largest compiled size of a pattern, in bytes.
pub(super) const SIZE_LIMIT: usize = 10 << 20;

/// A pattern as a pair of automata: one forwards, one backwards.
#[derive(Debug)]
pub(super) struct CountedRegex(Regex);

impl CountedRegex {
    /// `None` if the pattern cannot be searched so.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        // Where the states do not fit, it gives up rather than make them again and again.
        let dfa = DFA::config()
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(3))
            .minimum_bytes_per_state(Some(10));
        Regex::builder()
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(SIZE_LIMIT)))
            .dfa(dfa)
            .build(pattern)
            .ok()
            .map(CountedRegex)
    }
}

/// The searches of one extraction, and the states that they have made so far.
#[derive(Clone)]
pub(super) struct Search<'p>(Option<(&'p Regex, Cache)>);

/// What one search came to.
pub(super) struct Searched {
    pub(super) found: Option<Match>,
    pub(super) scanned: u64,
}

impl<'p> Search<'p> {
    pub(super) fn new(regex: Option<&'p CountedRegex>) -> Self {
        Search(regex.map(|CountedRegex(regex)| (regex, regex.create_cache())))
    }

    /// Finds the leftmost match and looks at `most` bytes at most, and then finds nothing. `None`
    /// if the automata cannot tell, now and from now on.
    pub(super) fn find(&mut self, input: &Input<'_>, most: u64) -> Option<Searched> {
        let (regex, cache) = self.0.as_mut()?;
        let searched = find(regex, cache, input, most);
        if searched.is_none() {
            self.0 = None;
        }
        searched
    }
}

fn find(regex: &Regex, cache: &mut Cache, input: &Input<'_>, most: u64) -> Option<Searched> {
    let (forward, reverse) = cache.as_parts_mut();
    let (end, mut scanned) = find_end(regex.forward(), forward, input, most)?;
    let Some(end) = end else { return Some(Searched { found: None, scanned }) };
    let span = input.start()..end;
    scanned += span.len() as u64;
    let backwards = Input::new(input.haystack()).span(span).anchored(Anchored::Yes);
    let start = regex.reverse().try_search_rev(reverse, &backwards).ok()??;
    Some(Searched { found: Some(Match::new(start.pattern(), start.offset()..end)), scanned })
}

/// The end of the leftmost match, and how many bytes were looked at.
fn find_end(
    dfa: &DFA,
    cache: &mut dfa::Cache,
    input: &Input<'_>,
    most: u64,
) -> Option<(Option<usize>, u64)> {
    let mut state = dfa.start_state_forward(cache, input).ok()?;
    let mut end = None;
    let span = input.get_span();
    let last = span.end.min(span.start.saturating_add(usize::try_from(most).unwrap_or(usize::MAX)));
    for at in span.start..last {
        state = dfa.next_state(cache, state, input.haystack()[at]).ok()?;
        if !state.is_tagged() || state.is_start() {
            continue;
        }
        if state.is_match() {
            // A match is known one byte behind its end.
            end = Some(at);
        } else if state.is_dead() {
            return Some((end, (at - span.start + 1) as u64));
        } else if state.is_quit() {
            return None;
        }
    }
    if last < span.end {
        return Some((None, most));
    }
    // All spans end where the body ends.
    if dfa.next_eoi_state(cache, state).ok()?.is_match() {
        end = Some(last);
    }
    Some((end, (last - span.start) as u64))
}
