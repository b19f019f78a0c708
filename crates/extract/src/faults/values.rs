//! What a tag is judged by on its own: whether its element and its attributes are known, and have the values they take.

use std::collections::HashSet;

use super::attributes::{Attribute, Values, attribute};
use super::elements::{IMG, Tag};
use super::input::is_name;
use super::lexer::Lexer;
use super::tags::Written;
use super::token::Token;
use super::versions::*;

pub(super) const XHTML_NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

const COLORS: &[&str] = &[
    "black", "green", "silver", "lime", "gray", "olive", "white", "yellow", "maroon", "navy",
    "red", "blue", "purple", "teal", "fuchsia", "aqua",
];

impl Lexer<'_> {
    /// Judges a start tag by what it says.
    pub(super) fn judge(&mut self, token: &Token, list: &[Written]) {
        let Some(tag) = token.tag else {
            self.error();
            return;
        };
        self.narrow(tag.element().versions);
        if tag.element().versions & PROPRIETARY != 0 {
            self.warn();
        }
        let find = |name: &str| Written::named(list, name);
        if tag == Tag::Html
            && find("xmlns").and_then(|xmlns| xmlns.value.as_deref()) == Some(XHTML_NAMESPACE)
        {
            self.is_xhtml = true;
            self.makes_xml = true;
        }
        for given in list {
            self.judge_attribute(token, tag, given);
        }
        self.judge_together(tag, list);
        let names = list.iter().filter_map(|given| given.name.as_deref());
        let different: HashSet<&str> = names.clone().collect();
        for _ in different.len()..names.count() {
            self.warn();
        }
    }

    /// Judges what attributes there are, and what they say together.
    fn judge_together(&mut self, tag: Tag, list: &[Written]) {
        let find = |name: &str| Written::named(list, name);
        let value = |name: &str| find(name).and_then(|given| given.value.as_deref());
        let needs: &[&str] = match tag {
            Tag::Script | Tag::Style => &["type"],
            Tag::Link if value("rel") == Some("stylesheet") => &["type"],
            Tag::Area => &["alt", "href"],
            Tag::Img if find("datafld").is_some() => &["alt"],
            Tag::Img => &["alt", "src"],
            Tag::Form => &["action"],
            Tag::Meta => &["content"],
            _ => &[],
        };
        let missing = needs.iter().filter(|name| find(name).is_none()).count();
        let mut faults = missing;
        match tag {
            Tag::Table if find("height").is_some() => {
                faults += 1;
                self.versions &= PROPRIETARY;
            }
            Tag::Caption => match value("align").map(str::to_ascii_lowercase).as_deref() {
                Some("left" | "right") => self.narrow(HTML40_LOOSE),
                Some("top" | "bottom") => self.narrow(!(HTML20 | HTML32)),
                Some(_) => faults += 1,
                None => {}
            },
            Tag::Hr => faults += usize::from(find("src").is_some()),
            Tag::Img => {
                if find("width").or(find("height")).is_some() {
                    self.narrow(!HTML20);
                }
                faults += usize::from(find("ismap").is_some() && find("usemap").is_none());
            }
            Tag::A | Tag::Map => {
                if let (Some(name), Some(id)) = (find("name"), value("id")) {
                    faults += usize::from(name.value.as_deref() != Some(id));
                }
            }
            Tag::Td | Tag::Th if find("width").or(find("height")).is_some() => {
                self.narrow(!STRICT);
            }
            _ => {}
        }
        for _ in 0..faults {
            self.warn();
        }
    }

    fn judge_attribute(&mut self, token: &Token, tag: Tag, given: &Written) {
        let known = given.name.as_deref().and_then(attribute);
        let Some(Attribute { versions, values }) = known else {
            if !given.is_asp && tag.element().versions & PROPRIETARY == 0 {
                self.warn();
            }
            return;
        };
        let name = given.name.as_deref().unwrap_or_default();
        if versions & XML != 0 {
            if !self.makes_xml {
                self.warn();
            }
        } else if name != "title" || !matches!(tag, Tag::A | Tag::Link) {
            self.narrow(versions);
        }
        match values {
            Values::Any if versions & PROPRIETARY != 0 => self.warn(),
            Values::Any | Values::Script => {}
            Values::Lower => {
                if let Some(value) = &given.value {
                    self.judge_case(value);
                }
            }
            Values::Target => {
                self.narrow(!STRICT);
                self.judge_filled(&given.value, |value| {
                    value.starts_with(char::is_alphabetic)
                        || is_one_of(&["_blank", "_self", "_parent", "_top"], value)
                });
            }
            Values::Color => self.judge_filled(&given.value, is_color),
            Values::Lang => {
                if name == "lang" {
                    self.narrow(!XHTML11);
                }
                if given.value.is_none() {
                    self.warn();
                }
            }
            _ => match &given.value {
                None => self.warn(),
                Some(value) => self.judge_value(token, tag, name, values, value),
            },
        }
    }

    /// A value that may be neither left out nor empty.
    fn judge_filled(&mut self, value: &Option<String>, is_good: impl Fn(&str) -> bool) {
        if !value.as_deref().is_some_and(|value| !value.is_empty() && is_good(value)) {
            self.warn();
        }
    }

    /// In XHTML the values that HTML knows are in lower case.
    fn judge_case(&mut self, value: &str) {
        if self.is_xhtml && value.to_lowercase() != value {
            self.warn();
        }
    }

    fn judge_value(&mut self, token: &Token, tag: Tag, name: &str, values: Values, value: &str) {
        match values {
            Values::Url => self.judge_url(value),
            Values::OneOf(known) => {
                self.judge_case(value);
                if !is_one_of(known, value) {
                    self.warn();
                }
            }
            Values::Align if !tag.is(IMG) => {
                self.judge_case(value);
                if !is_one_of(&["left", "center", "right", "justify"], value) {
                    self.warn();
                }
            }
            Values::Align | Values::VAlign => self.judge_valign(tag, value),
            Values::Length => {
                let is_free = name == "width" && matches!(tag, Tag::Col | Tag::Colgroup);
                if !is_free && !is_length(value, matches!(tag, Tag::Td | Tag::Th)) {
                    self.warn();
                }
            }
            Values::Number => {
                let is_free = name == "rows" && tag == Tag::Frameset;
                let digits = match value.strip_prefix(['+', '-']) {
                    Some(digits) if tag == Tag::Font => digits,
                    _ => value,
                };
                if !is_free && !digits.bytes().all(|b| b.is_ascii_digit()) {
                    self.warn();
                }
            }
            Values::Id => {
                if value.is_empty() {
                    self.warn();
                    return;
                }
                if !is_id(value) {
                    self.warn();
                }
                self.judge_anchor(token, value);
            }
            Values::Name if tag.is_anchor() => {
                self.narrow(!XHTML11);
                self.judge_anchor(token, value);
            }
            _ => {}
        }
    }

    fn judge_url(&mut self, value: &str) {
        if value.contains('\\') {
            self.warn();
        }
        if value.chars().any(|c| c > '\u{7E}' || c <= ' ' || matches!(c, '<' | '>')) {
            self.warn();
        }
    }

    fn judge_valign(&mut self, tag: Tag, value: &str) {
        self.judge_case(value);
        if is_one_of(&["top", "middle", "bottom", "baseline"], value) {
            return;
        }
        if is_one_of(&["left", "right"], value) {
            if !tag.is(IMG) {
                self.warn();
            }
            return;
        }
        if is_one_of(&["texttop", "absmiddle", "absbottom", "textbottom"], value) {
            self.narrow(PROPRIETARY);
        }
        self.warn();
    }

    /// What links can lead to has a name of its own.
    fn judge_anchor(&mut self, token: &Token, name: &str) {
        let owner = *self.anchors.entry(name.to_lowercase()).or_insert(token.id);
        if owner != token.id {
            self.warn();
        }
    }
}

fn is_one_of(known: &[&str], value: &str) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(value))
}

fn is_color(value: &str) -> bool {
    match value.strip_prefix('#') {
        Some(digits) => digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => is_one_of(COLORS, value),
    }
}

/// A number of pixels, or a part of the whole.
fn is_length(value: &str, is_of_cell: bool) -> bool {
    let mut letters = value.chars();
    letters.next().is_some_and(|c| c.is_ascii_digit() || c == '%')
        && letters.all(|c| c.is_ascii_digit() || c == '%' && !is_of_cell)
}

fn is_id(value: &str) -> bool {
    value.starts_with(char::is_alphabetic) && value.chars().skip(1).all(is_name)
}
