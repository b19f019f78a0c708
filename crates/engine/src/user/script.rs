//! What a user has of scripts: its own instance of each, and the call that it is in. Plain data.

use std::rc::Rc;

use squall_script::{Answer, Fiber, Requests, ScriptUser, Stage};

/// A call of a function that is not over.
pub(crate) struct ScriptCall {
    pub fiber: Fiber,
    /// What it is told when it goes on.
    pub answer: Answer,
    /// Requests that it waits for and that were not begun.
    pub requests: Option<Requests>,
    /// Whether they have their place among those of all users, if they need one.
    pub has_place: bool,
    /// The groups of the script that it is in, by the places that they lead to; the innermost last.
    pub spots: Vec<u32>,
}

impl ScriptCall {
    /// A call that has not begun.
    pub(crate) fn new(fiber: Fiber) -> ScriptCall {
        ScriptCall {
            fiber,
            answer: Answer::Ready,
            requests: None,
            has_place: false,
            spots: Vec::new(),
        }
    }

    /// The innermost place that it is in.
    pub(crate) fn spot(&self) -> u32 {
        self.spots.last().copied().unwrap_or(0)
    }
}

/// A user's own instance of a script, and the stage that it is on: many users share one, or each has its own.
pub(crate) struct Instance {
    pub user: ScriptUser,
    pub stage: Rc<Stage>,
}

/// The instances that a user has, by the numbers of their kinds.
pub(crate) type Instances = Vec<Option<Rc<Instance>>>;
