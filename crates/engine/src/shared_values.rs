//! The variables that all users of a run have together. Who looks at them takes all of them as they are at that moment;
//! they are set seldom.

use std::sync::{Arc, PoisonError, RwLock};

use squall_plan::value::Value;

/// What they hold, by number; `None`: nothing.
pub(crate) type Values = Arc<[Option<Value>]>;

/// The variables that all users have together.
#[derive(Debug, Default)]
pub(crate) struct SharedValues(RwLock<Values>);

impl SharedValues {
    /// They hold this at first.
    pub(crate) fn new(initial: Values) -> SharedValues {
        SharedValues(RwLock::new(initial))
    }

    /// What they hold now.
    pub(crate) fn now(&self) -> Values {
        // A thread that panicked has left whole values behind: they are replaced in one go.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives one of them a value, or takes it away.
    pub(crate) fn set(&self, index: usize, value: Option<Value>) {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let changed = values.iter().enumerate();
        let changed = changed.map(|(own, old)| if own == index { &value } else { old }.clone());
        *values = changed.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_sees_what_was_set_last_and_keeps_what_it_saw() {
        let values = SharedValues::new([None, Some(Value::Int(1))].into());
        let before = values.now();
        values.set(0, Some(Value::text("a")));
        values.set(1, None);
        assert_eq!(*values.now(), [Some(Value::text("a")), None]);
        assert_eq!(*before, [None, Some(Value::Int(1))]);
    }
}
