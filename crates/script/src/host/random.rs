//! The random numbers of the user that runs.

use std::rc::Rc;

use super::shared::Shared;
use crate::engine::{Thrown, Value};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let random = scope.function("random", 0, move |call| {
        Ok(call.scope().number(own.users.random(own.current.get(), own.seed)))
    });
    host.set(c"random", random?)?;
    let own = shared.clone();
    let seed = scope.function("seed", 1, move |call| {
        let seed = call.argument(0).to_number()?;
        if !seed.is_finite() {
            return Err(Thrown::new("TypeError: randomSeed() takes a number"));
        }
        own.users.set_seed(own.current.get().user, seed);
        Ok(call.scope().undefined())
    });
    host.set(c"seed", seed?)?;
    Ok(())
}
