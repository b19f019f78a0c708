//! The names under which requests, groups and programs are counted, and their numbers.

use std::collections::HashMap;

/// Most names of a run whose plan gives no number; further ones count under [`OTHER`].
pub const MAX_NAMES: usize = 1_000;
/// The highest number of names that a run may have, `other` of each kind aside.
pub const MAX_NAMES_LIMIT: usize = 100_000;
/// The name under which the rest counts.
pub const OTHER: &str = "other";

/// What a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// A request.
    Request,
    /// A group of steps.
    Group,
    /// A program that is run.
    Exec,
}

impl NameKind {
    pub(crate) fn from_number(number: u64) -> Option<NameKind> {
        [NameKind::Request, NameKind::Group, NameKind::Exec]
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// The number of a name, within one worker or within the totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Names by number: so many as it was made for, and one `other` for each kind.
#[derive(Debug, Clone)]
pub struct Names {
    most: usize,
    texts: Vec<(NameKind, String)>,
    /// Numbers by kind and text.
    numbers: [HashMap<String, NameId>; 3],
}

impl Names {
    /// An empty list of at most so many names.
    pub fn new(most: usize) -> Names {
        Names { most, texts: Vec::new(), numbers: Default::default() }
    }

    /// The number of a name, assigned now if it is new; that of `other` if there are too many.
    pub fn intern(&mut self, kind: NameKind, text: &str) -> NameId {
        if let Some(id) = self.find(kind, text) {
            return id;
        }
        if self.is_full() && text != OTHER {
            return self.intern(kind, OTHER);
        }
        let id = NameId(self.texts.len() as u32);
        self.texts.push((kind, text.to_owned()));
        self.numbers[kind as usize].insert(text.to_owned(), id);
        id
    }

    /// The number of a name that has one.
    pub fn find(&self, kind: NameKind, text: &str) -> Option<NameId> {
        self.numbers[kind as usize].get(text).copied()
    }

    /// Whether no further name gets a number, but for `other`.
    pub fn is_full(&self) -> bool {
        self.texts.len() >= self.most
    }

    /// Takes over the names that `other` has beyond these, which are the first ones of it.
    pub fn follow(&mut self, other: &Names) {
        for (kind, text) in &other.texts[self.texts.len()..] {
            self.intern(*kind, text);
        }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Kind and text of a name.
    pub fn get(&self, NameId(id): NameId) -> Option<(NameKind, &str)> {
        self.texts.get(id as usize).map(|(kind, text)| (*kind, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_few() {
        let mut names = Names::new(MAX_NAMES);
        for number in 0..3_000 {
            names.intern(NameKind::Request, &format!("page {number}"));
        }
        assert_eq!(names.len(), MAX_NAMES + 1);
        assert!(names.is_full());
        assert_eq!(names.intern(NameKind::Request, "page 5"), NameId(5));
        let other = names.intern(NameKind::Request, "page 2999");
        assert_eq!(names.get(other), Some((NameKind::Request, OTHER)));
    }

    #[test]
    fn who_follows_agrees() {
        let (mut all, mut own) = (Names::new(3), Names::new(3));
        for text in ["a", "b", "c", "d"] {
            all.intern(NameKind::Request, text);
        }
        own.intern(NameKind::Request, "a");
        own.follow(&all);
        for text in ["a", "b", "c", "other"] {
            assert_eq!(own.find(NameKind::Request, text), all.find(NameKind::Request, text));
        }
        assert_eq!((own.len(), own.find(NameKind::Request, "d")), (4, None));
        own.follow(&all);
        assert_eq!(own.len(), 4);
    }
}
