//! The names under which requests, groups and programs are counted, and their numbers.

use std::collections::HashMap;

/// Most names; further ones count under [`OTHER`].
pub const MAX_NAMES: usize = 1_000;
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

/// Names by number, at most [`MAX_NAMES`] and one `other` for each kind.
#[derive(Debug, Clone, Default)]
pub struct Names {
    texts: Vec<(NameKind, String)>,
    /// Numbers by kind and text.
    numbers: [HashMap<String, NameId>; 3],
    /// Whether there were too many names.
    overflowed: bool,
}

impl Names {
    /// An empty list of names.
    pub fn new() -> Names {
        Names::default()
    }

    /// The number of a name, assigned now if it is new; that of `other` if there are too many.
    pub fn intern(&mut self, kind: NameKind, text: &str) -> NameId {
        if let Some(id) = self.numbers[kind as usize].get(text) {
            return *id;
        }
        if self.texts.len() >= MAX_NAMES && text != OTHER {
            self.overflowed = true;
            return self.intern(kind, OTHER);
        }
        let id = NameId(self.texts.len() as u32);
        self.texts.push((kind, text.to_owned()));
        self.numbers[kind as usize].insert(text.to_owned(), id);
        id
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

    /// Whether there were too many names, and some count under `other`.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_few() {
        let mut names = Names::new();
        for number in 0..3_000 {
            names.intern(NameKind::Request, &format!("page {number}"));
        }
        assert_eq!(names.len(), MAX_NAMES + 1);
        assert!(names.overflowed());
        assert_eq!(names.intern(NameKind::Request, "page 5"), NameId(5));
        let other = names.intern(NameKind::Request, "page 2999");
        assert_eq!(names.get(other), Some((NameKind::Request, OTHER)));
    }
}
