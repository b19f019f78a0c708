//! Which characters may stand in the path, the query and the fragment of a URL, by RFC 2396 and, beyond ASCII, as Java's
//! `URI` and most tools that came after it hold to it: what is visible.

/// A part of a URL behind its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Up to a `?`.
    Path,
    Query,
    /// Behind a `#`, which is not sent.
    Fragment,
}

impl Part {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Part::Path => "path",
            Part::Query => "query",
            Part::Fragment => "fragment",
        }
    }
}

/// A character that may not stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Illegal {
    /// The byte of the text that it begins at.
    pub at: usize,
    /// The part that it is in.
    pub part: Part,
    /// Whether it is a `%` without two hexadecimal digits behind it.
    pub is_escape: bool,
}

/// Looks through a text that begins in a part of a URL, and says in which part it ends.
///
/// # Errors
/// It has a character that may not stand there.
pub fn check(text: &str, begin: Part) -> Result<Part, Illegal> {
    let mut part = begin;
    for (at, c) in text.char_indices() {
        let is_good = match c {
            '?' if part == Part::Path => {
                part = Part::Query;
                true
            }
            '#' if part != Part::Fragment => {
                part = Part::Fragment;
                true
            }
            '[' | ']' => part != Part::Path,
            '%' => {
                let digits = text.as_bytes().get(at + 1..at + 3);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            c => may_stand_anywhere(c),
        };
        if !is_good {
            return Err(Illegal { at, part, is_escape: c == '%' });
        }
    }
    Ok(part)
}

fn may_stand_anywhere(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric() || "-_.!~*'();/?:@&=+$,".contains(c),
        // Blanks that are no white space to Rust are none to Unicode either.
        _ => !c.is_control() && !c.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters of ASCII that may stand in a part.
    fn legal(part: Part) -> String {
        (0..128u8).map(char::from).filter(|c| check(&c.to_string(), part).is_ok()).collect()
    }

    #[test]
    fn all_of_ascii_is_known() {
        let digits = "0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let letters = "abcdefghijklmnopqrstuvwxyz~";
        assert_eq!(legal(Part::Path), format!("!#$&'()*+,-./{digits}_{letters}"));
        assert_eq!(legal(Part::Query), format!("!#$&'()*+,-./{digits}[]_{letters}"));
        assert_eq!(legal(Part::Fragment), format!("!$&'()*+,-./{digits}[]_{letters}"));
    }

    #[test]
    fn what_is_visible_beyond_ascii_may_stand_anywhere() {
        for good in ["é", "e\u{301}", "中", "€", "😀", "\u{ad}", "\u{200b}", "\u{feff}", "\u{fffd}"]
        {
            assert_eq!(check(good, Part::Path), Ok(Part::Path), "{good:?}");
        }
        for bad in ["\u{80}", "\u{85}", "\u{a0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{3000}"] {
            assert!(check(bad, Part::Query).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn parts_follow_each_other() {
        assert_eq!(check("/a?b=[c]#d?e", Part::Path), Ok(Part::Fragment));
        assert_eq!(check("a?b", Part::Query), Ok(Part::Query));
        let bad = |at, part, is_escape| Err(Illegal { at, part, is_escape });
        assert_eq!(check("/é[", Part::Path), bad(3, Part::Path, false));
        assert_eq!(check("/a?x=%4", Part::Path), bad(5, Part::Query, true));
        assert_eq!(check("/a#b#", Part::Path), bad(4, Part::Fragment, false));
        assert_eq!(check("%41%zz", Part::Path), bad(3, Part::Path, true));
    }
}
