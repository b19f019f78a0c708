//! What stands between two texts. Searching takes linear time and allocates nothing.

use memchr::memmem::Finder;

use crate::CompileError;

/// A left and a right boundary.
#[derive(Debug, Clone)]
pub(crate) struct Between {
    left: Finder<'static>,
    right: Finder<'static>,
}

impl Between {
    /// An empty left boundary is the start of the body, an empty right one its end.
    pub(crate) fn compile(left: &str, right: &str) -> Result<Self, CompileError> {
        if left.is_empty() && right.is_empty() {
            return Err(CompileError::new("both boundaries are empty")
                .help("give the text before the value, the text after it, or both"));
        }
        Ok(Between {
            left: Finder::new(left.as_bytes()).into_owned(),
            right: Finder::new(right.as_bytes()).into_owned(),
        })
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
        let (from_start, to_end) = (left.needle().is_empty(), right.needle().is_empty());
        let start = left.find(rest)? + left.needle().len();
        let tail = rest.get(start..)?;
        if to_end {
            return Some(tail);
        }
        let end = right.find(tail)?;
        if !from_start {
            self.rest = tail.get(end + right.needle().len()..);
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

    proptest! {
        #[test]
        fn agrees_with_a_lazy_regex(left in "[ab]{1,2}", right in "[ab]{1,2}", body in "[abc]{0,40}") {
            let regex = crate::regex::Pattern::compile(&format!("{left}(.*?){right}"), None).unwrap();
            let expected: Vec<&[u8]> = regex.matches(body.as_bytes()).map(Result::unwrap).collect();
            let between = Between::compile(&left, &right).unwrap();
            prop_assert_eq!(between.matches(body.as_bytes()).collect::<Vec<_>>(), expected);
        }
    }
}
