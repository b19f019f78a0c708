//! The jars and caches of a plan that have names.

use crate::parts::numbered::Numbered;

/// The names of jars and caches, whose numbers are their places from 1; 0 is the one without a name. Steps are fewer
/// than numbers.
#[derive(Debug, Default)]
pub(super) struct Stores {
    jars: Numbered<String>,
    caches: Numbered<String>,
}

impl Stores {
    /// The number of a jar.
    pub(super) fn jar(&mut self, name: Option<&str>) -> u16 {
        number(&mut self.jars, name)
    }

    /// How many jars have names.
    pub(super) fn jars(&self) -> u16 {
        u16::try_from(self.jars.len()).unwrap_or(u16::MAX)
    }

    /// The number of a cache.
    pub(super) fn cache(&mut self, name: Option<&str>) -> u16 {
        number(&mut self.caches, name)
    }
}

fn number(names: &mut Numbered<String>, name: Option<&str>) -> u16 {
    let Some(name) = name else { return 0 };
    u16::try_from(names.number(name.to_owned()) + 1).unwrap_or(u16::MAX)
}
