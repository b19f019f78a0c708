//! Changes of a text that keep its lines: spans are blanked or replaced, and texts inserted.

use super::places::Places;

/// A place in a text, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: usize,
    /// In characters.
    pub column: usize,
}

impl Place {
    /// The place of a byte.
    pub fn at(text: &str, byte: usize) -> Place {
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &text[..byte];
        let line = before.matches('\n').count() + 1;
        let from = before.rfind('\n').map_or(0, |at| at + 1);
        Place { line, column: before[from..].chars().count() + 1 }
    }
}

impl Place {
    /// Goes on behind a part of the text.
    fn pass(&mut self, part: &str) {
        self.line += part.matches('\n').count();
        match part.rfind('\n') {
            Some(end) => self.column = part[end + 1..].chars().count() + 1,
            None => self.column += part.chars().count(),
        }
    }
}

/// Changes of a text, in any order. Where two overlap the one that begins first holds; what is inserted at a place comes in the
/// order in which it was asked for.
#[derive(Debug)]
pub(super) struct Edits<'t> {
    text: &'t str,
    /// From, to, and what stands there instead.
    changes: Vec<(usize, usize, String)>,
}

impl<'t> Edits<'t> {
    pub fn new(text: &'t str) -> Edits<'t> {
        Edits { text, changes: Vec::new() }
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Spaces instead of a span; its line ends stay.
    pub fn blank(&mut self, from: usize, to: usize) {
        let blank =
            self.text[from..to].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        self.changes.push((from, to, blank));
    }

    /// The same of a whole statement: a semicolon holds its place, since what comes after could otherwise belong to what
    /// comes before.
    pub fn blank_statement(&mut self, from: usize, to: usize) {
        self.replace(from, to, ";");
    }

    /// Another text instead of a span, which has its line ends behind it.
    pub fn replace(&mut self, from: usize, to: usize, with: &str) {
        let ends = self.text[from..to].matches('\n').count();
        let missing = ends.saturating_sub(with.matches('\n').count());
        self.changes.push((from, to, with.to_owned() + &"\n".repeat(missing)));
    }

    pub fn insert(&mut self, at: usize, text: &str) {
        self.changes.push((at, at, text.to_owned()));
    }

    /// The changed text, and where what stands in it was before.
    pub fn apply(mut self) -> (String, Places) {
        // Stable: what is inserted at a place stays in its order.
        self.changes.sort_by_key(|(from, to, _)| (*from, *to != *from));
        let mut out = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        let (mut old, mut new) = (Place { line: 1, column: 1 }, Place { line: 1, column: 1 });
        let mut places = Places::default();
        for (from, to, with) in &self.changes {
            if *from < at {
                continue;
            }
            let kept = &self.text[at..*from];
            let differs = with.len() != to - from;
            out.push_str(kept);
            out.push_str(with);
            old.pass(kept);
            new.pass(kept);
            if differs {
                places.replaced(new.line, new.column, old.column);
            }
            old.pass(&self.text[*from..*to]);
            new.pass(with);
            at = *to;
            if differs {
                places.moved(new.line, new.column, old.column);
            }
        }
        out.push_str(&self.text[at..]);
        (out, places)
    }
}

impl Edits<'_> {
    /// A span that was blanked is one line from now on.
    pub fn changed_last_blank(&mut self, from: usize, to: usize) {
        let own = self.changes.iter_mut().find(|own| (own.0, own.1) == (from, to));
        if let Some((_, _, with)) = own {
            *with = with.replace('\n', " ");
        }
    }
}
