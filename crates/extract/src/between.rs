//! What stands between two texts. Searching takes linear time and allocates nothing.

use std::cmp::Reverse;

use memchr::memchr;
use memchr::memmem::Finder;

use crate::error::CompileError;

/// Bytes that are common in pages and in JSON, the most common first.
const COMMON: &[u8] =
    b" etaoinsrl\"<>/=cdhpmu-gf.:;,bvwy0123456789_{}[]()kTSACDEPIMRLBNFOHGUWx'&#?%+@\n\t\r";
/// So many places where the rarest byte stands, and the text does not, show that it is not so rare there.
const TRIES: usize = 8;

/// A left and a right boundary.
#[derive(Debug, Clone)]
pub(crate) struct Between {
    left: Boundary,
    right: Boundary,
}

/// A text that is sought.
#[derive(Debug, Clone)]
struct Boundary {
    finder: Finder<'static>,
    /// The byte of it that is likely the rarest in a body, and how far from its start that stands.
    rarest: Option<(u8, usize)>,
}

impl Boundary {
    fn new(text: &str) -> Boundary {
        let rank = |byte: u8| COMMON.iter().position(|common| *common == byte);
        let rarity = |byte: u8| if byte.is_ascii() { rank(byte).unwrap_or(usize::MAX) } else { 0 };
        let bytes = text.bytes().enumerate().filter(|_| text.len() > 1);
        // Of those that are as rare the first one.
        let rarest =
            bytes.min_by_key(|(_, byte)| Reverse(rarity(*byte))).map(|(at, byte)| (byte, at));
        Boundary { finder: Finder::new(text.as_bytes()).into_owned(), rarest }
    }

    fn text(&self) -> &[u8] {
        self.finder.needle()
    }

    /// Where it first stands. One byte is sought at twice the speed of a text: its rarest one is, while that leads to few other
    /// places.
    fn find(&self, body: &[u8]) -> Option<usize> {
        let Some((byte, ahead)) = self.rarest else { return self.finder.find(body) };
        let mut from = 0;
        for _ in 0..TRIES {
            from += memchr(byte, body.get(from + ahead..)?)?;
            if body.get(from..)?.starts_with(self.text()) {
                return Some(from);
            }
            from += 1;
        }
        self.finder.find(body.get(from..)?).map(|at| from + at)
    }
}

impl Between {
    /// An empty left boundary is the start of the body, an empty right one its end.
    pub(crate) fn compile(left: &str, right: &str) -> Result<Self, CompileError> {
        if left.is_empty() && right.is_empty() {
            return Err(CompileError::new("both boundaries are empty")
                .help("give the text before the value, the text after it, or both"));
        }
        Ok(Between { left: Boundary::new(left), right: Boundary::new(right) })
    }

    /// What stands between the boundaries. The next match is sought behind the right boundary of
    /// the one before.
    pub(crate) fn matches<'p, 'b>(&'p self, body: &'b [u8]) -> Matches<'p, 'b> {
        Matches { between: self, rest: Some(body) }
    }
}

/// The matches in a body, without overlap.
#[derive(Clone)]
pub(crate) struct Matches<'p, 'b> {
    between: &'p Between,
    /// What has not been searched; `None` when nothing more can match.
    rest: Option<&'b [u8]>,
}

impl<'b> Iterator for Matches<'_, 'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        // Taken: once a boundary is missing, it is missing in all that follows.
        let rest = self.rest.take()?;
        let Between { left, right } = self.between;
        let (from_start, to_end) = (left.text().is_empty(), right.text().is_empty());
        let start = left.find(rest)? + left.text().len();
        let tail = rest.get(start..)?;
        if to_end {
            return Some(tail);
        }
        let end = right.find(tail)?;
        if !from_start {
            self.rest = tail.get(end + right.text().len()..);
        }
        tail.get(..end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all<'b>(left: &str, right: &str, body: &'b str) -> Vec<&'b str> {
        let between = Between::compile(left, right).unwrap();
        between.matches(body.as_bytes()).map(|b| std::str::from_utf8(b).unwrap()).collect()
    }

    #[test]
    fn finds_what_is_between() {
        for (left, right, body, expected) in [
            ("<b>", "</b>", "<b>1</b><b></b><b>3</b><b>4", vec!["1", "", "3"]),
            (",", ",", ",a,b,c,", vec!["a", "c"]),
            ("", ";", "a;b;c", vec!["a"]),
            (";", "", "a;b;c", vec!["b;c"]),
            ("aa", "a", "aaaaaa", vec!["", ""]),
            ("x", "y", "nothing", vec![]),
            ("x", "y", "y x", vec![]),
            ("x", "y", "", vec![]),
            ("é", "ö", "éüö", vec!["ü"]),
        ] {
            assert_eq!(all(left, right, body), expected, "{left:?} {right:?} {body:?}");
        }
    }

    #[test]
    fn boundaries_must_say_something() {
        assert!(Between::compile("", "").unwrap_err().help.is_some());
    }

    #[test]
    fn what_is_sought_first_is_the_rarest_byte() {
        for (text, expected) in [
            ("name=\"token\" value=\"", Some((b'k', 8))),
            ("<td>", Some((b'd', 2))),
            ("зx", Some((b'x', 2))),
            ("\"", None),
            ("", None),
            ("aqaq", Some((b'q', 1))),
        ] {
            assert_eq!(Boundary::new(text).rarest, expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_found_behind_many_that_are_nearly_it() {
        let body = format!("{}<k>1</k>", "k <k ".repeat(3 * TRIES));
        assert_eq!(all("<k>", "</k>", &body), ["1"]);
        assert_eq!(all("<k>", "</k>", &body[..body.len() - 9]), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn a_boundary_is_found_where_a_text_is(text in "[akq]{0,3}", body in "[akq]{0,60}") {
            prop_assert_eq!(Boundary::new(&text).find(body.as_bytes()), body.find(&text));
        }

        #[test]
        fn agrees_with_a_lazy_regex(left in "[ab]{1,2}", right in "[ab]{1,2}", body in "[abc]{0,40}") {
            let regex = crate::regex::Pattern::compile(&format!("{left}(.*?){right}"), None).unwrap();
            let expected: Vec<&[u8]> = regex.matches(body.as_bytes()).map(Result::unwrap).collect();
            let between = Between::compile(&left, &right).unwrap();
            prop_assert_eq!(between.matches(body.as_bytes()).collect::<Vec<_>>(), expected);
        }
    }
}
