//! Which language an element is in (`:lang()`), and in which direction its text runs (`:dir()`).

use super::elements::Elements;
use super::selector::Direction;
use crate::error::ExtractError;
use crate::markup::{DOCUMENT, Kind, NodeId};

impl Elements<'_> {
    /// Whether an element is in one of the languages.
    pub(super) fn speaks(&self, element: NodeId, ranges: &[String]) -> Result<bool, ExtractError> {
        let Some(language) = self.language(element)? else { return Ok(false) };
        self.fuel.burn_text(language.len() * ranges.len())?;
        Ok(ranges.iter().any(|range| in_range(range, language)))
    }

    /// The language of an element: its own or that of the nearest element around it that has one (which
    /// may be empty), of a page at last the one that it says as a header would.
    fn language(&self, element: NodeId) -> Result<Option<&str>, ExtractError> {
        for id in std::iter::once(element).chain(self.tree.ancestors(element)) {
            if id == DOCUMENT {
                break;
            }
            let is_html = self.is_html(id)?;
            let own = match self.attribute(id, "xml:lang")? {
                // In a page that is an attribute like any other, but for what is not HTML.
                Some(language) if !(is_html && self.tree.is_html()) => Some(language),
                _ if is_html => self.attribute(id, "lang")?,
                _ => None,
            };
            if own.is_some() {
                return Ok(own);
            }
        }
        self.language_of_page()
    }

    /// What `<meta http-equiv="content-language">` says.
    fn language_of_page(&self) -> Result<Option<&str>, ExtractError> {
        if !self.tree.is_html() {
            return Ok(None);
        }
        for id in self.tree.elements().take_while(|id| self.tree.local_name(*id) != "body") {
            self.fuel.burn(1)?;
            let is_language = self.tree.local_name(id) == "meta"
                && self
                    .attribute(id, "http-equiv")?
                    .is_some_and(|header| header.eq_ignore_ascii_case("content-language"));
            if is_language {
                return self.attribute(id, "content");
            }
        }
        Ok(None)
    }

    /// In which direction the text of an element runs (WHATWG HTML, 3.2.6.4); `None` outside HTML.
    pub(super) fn direction(&self, element: NodeId) -> Result<Option<Direction>, ExtractError> {
        for id in std::iter::once(element).chain(self.tree.ancestors(element)) {
            if id == DOCUMENT {
                break;
            }
            if !self.is_html(id)? {
                return Ok(None);
            }
            let said = self.attribute(id, "dir")?.unwrap_or_default().to_ascii_lowercase();
            let name = self.tree.local_name(id);
            let direction = match said.as_str() {
                "ltr" => Some(Direction::LeftToRight),
                "rtl" => Some(Direction::RightToLeft),
                "auto" => self.direction_of_text(id)?,
                _ if name == "bdi" => self.direction_of_text(id)?,
                // Telephone numbers run so everywhere.
                _ if name == "input"
                    && self
                        .attribute(id, "type")?
                        .is_some_and(|k| k.eq_ignore_ascii_case("tel")) =>
                {
                    Some(Direction::LeftToRight)
                }
                _ => None,
            };
            if direction.is_some() {
                return Ok(direction);
            }
        }
        Ok(Some(Direction::LeftToRight))
    }

    /// The direction of the first character that has one; `None`: none has.
    fn direction_of_text(&self, element: NodeId) -> Result<Option<Direction>, ExtractError> {
        let of = |text: &str| -> Result<Option<Direction>, ExtractError> {
            self.fuel.burn_copy(text.len())?;
            Ok(text.chars().find_map(direction_of))
        };
        if self.tree.local_name(element) == "input" {
            let value = self.attribute(element, "value")?.unwrap_or_default();
            let otherwise = (!value.is_empty()).then_some(Direction::LeftToRight);
            return Ok(of(value)?.or(otherwise));
        }
        let mut at = element + 1;
        while at < self.tree.descendants(element).end {
            self.fuel.burn(1)?;
            let kind = self.tree.kind(at);
            if kind == Kind::Text
                && let Some(direction) = of(self.tree.text(at))?
            {
                return Ok(Some(direction));
            }
            let apart = kind == Kind::Element
                && (matches!(self.tree.local_name(at), "bdi" | "script" | "style" | "textarea")
                    || self.attribute(at, "dir")?.is_some());
            at = if apart { self.tree.descendants(at).end } else { at + 1 };
        }
        Ok(None)
    }
}

/// The direction of a letter, by the defaults of Unicode's blocks (UAX 44, DerivedBidiClass); others have
/// none.
fn direction_of(c: char) -> Option<Direction> {
    let right_to_left = matches!(
        c,
        '\u{0590}'..='\u{08FF}'
            | '\u{FB1D}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFF}'
            | '\u{10800}'..='\u{10FFF}'
            | '\u{1E800}'..='\u{1EFFF}'
    );
    c.is_alphabetic().then_some(match right_to_left {
        true => Direction::RightToLeft,
        false => Direction::LeftToRight,
    })
}

/// Whether a language is one that a range names (RFC 4647, 3.3.2). The empty range names no language.
fn in_range(range: &str, language: &str) -> bool {
    if range.is_empty() || language.is_empty() {
        return range == language;
    }
    let mut subtags = language.split('-');
    let mut wanted = range.split('-');
    let (first, own) = (wanted.next().unwrap_or_default(), subtags.next().unwrap_or_default());
    if first != "*" && !first.eq_ignore_ascii_case(own) {
        return false;
    }
    for part in wanted.filter(|part| *part != "*") {
        // What lies between may be passed over, but not single letters, which begin something else.
        let found = subtags.by_ref().find(|own| own.eq_ignore_ascii_case(part) || own.len() == 1);
        if !found.is_some_and(|own| own.eq_ignore_ascii_case(part)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_name_languages() {
        for (range, language, expected) in [
            ("de", "de-DE", true),
            ("de", "den", false),
            ("DE-de", "de-Latn-DE", true),
            ("de-DE", "de-x-DE", false),
            ("*-DE", "de-Latn-DE-1996", true),
            ("*", "de", true),
            ("*", "", false),
            ("", "", true),
            ("", "de", false),
            ("de-*-DE", "de-DE", true),
            ("de--DE", "de-DE", false),
        ] {
            assert_eq!(in_range(range, language), expected, "{range} {language}");
        }
    }
}
