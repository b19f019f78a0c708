//! Timers: `k6/timers`, and the globals of the same names.

use std::time::Duration;

use super::shared::LONGEST_WAIT;
use crate::engine::{Thrown, Value};

pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    // `setTimer(function, ms, every, ...arguments)`
    let set = scope.function("setTimer", 3, |call| {
        if !call.argument(0).is_function() {
            return Err(Thrown::new("TypeError: a timer takes a function as its first argument"));
        }
        // What is not a number is no delay.
        let ms = call.argument(1).to_number()?;
        let seconds = if ms.is_nan() { 0.0 } else { (ms / 1e3).clamp(0.0, LONGEST_WAIT) };
        let arguments: Vec<Value<'_>> = (3..call.arguments()).map(|at| call.argument(at)).collect();
        let delay = Duration::from_secs_f64(seconds);
        let every = call.argument(2).is_true();
        let number = call.set_timer(&call.argument(0), delay, every, &arguments)?;
        Ok(call.scope().number(f64::from(number)))
    });
    host.set(c"setTimer", set?)?;
    let clear = scope.function("clearTimer", 1, |call| {
        let number = call.argument(0).to_number()?;
        call.clear_timer(number as u32);
        Ok(call.scope().undefined())
    });
    host.set(c"clearTimer", clear?)?;
    Ok(())
}
