//! The phases of a run. Pure.

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before anything is sent.
    Preparation,
    /// The plan's setup.
    Setup,
    /// The plan's load.
    Load,
    /// The plan's teardown.
    Teardown,
}

impl Phase {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Phase::Preparation => "preparation",
            Phase::Setup => "setup",
            Phase::Load => "load",
            Phase::Teardown => "teardown",
        }
    }
}
