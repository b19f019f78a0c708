//! What templates and expressions see before the run: constants, chance, and the time of day.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use squall_base::random::Random;
use squall_plan::expr::{EvalError, FunctionId, Scope, Slot};
use squall_plan::value::{Value, ValueRef};

/// What is known before the run: nothing but constants and chance.
pub(crate) struct ConstantScope {
    random: RefCell<Random>,
}

impl ConstantScope {
    pub(crate) fn new(seed: u64) -> Self {
        ConstantScope { random: RefCell::new(Random::new(seed)) }
    }
}

impl Scope for ConstantScope {
    fn variable(&self, _: Slot) -> ValueRef<'_> {
        ValueRef::Null
    }

    fn is_set(&self, _: Slot) -> bool {
        false
    }

    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        Err(EvalError::new("there is no response to look at before the run"))
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    fn now_unix_ms(&self) -> i64 {
        now_unix_ms()
    }
}

/// The time of day, in milliseconds since 1970.
pub(crate) fn now_unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
