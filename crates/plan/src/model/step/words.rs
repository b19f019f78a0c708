//! What blocks of steps say in a word.

use crate::keys::words;

words! {
    /// Who counts passes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum CountedBy {
        /// Each user its own.
        #[default]
        User = "user",
        /// The users of the scenario together.
        Scenario = "scenario",
    }
}

words! {
    /// What a group is in files of samples that have groups.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum GroupSamples {
        /// A row behind those of what is in it.
        #[default]
        Apart = "apart",
        /// One sample, of which what is in it are the parts.
        Parts = "parts",
    }
}

words! {
    /// Whether the waits within a group are part of its time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ThinkTime {
        /// They are.
        #[default]
        Included = "included",
        /// They are left out.
        Excluded = "excluded",
    }
}
