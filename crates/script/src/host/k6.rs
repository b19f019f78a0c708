//! The module `k6`, the console, and the numbers of a user.

use std::rc::Rc;
use std::time::Duration;

use super::shared::{LONGEST_WAIT, Shared, tags};
use crate::Wait;
use crate::engine::{Call, Thrown, Value};
use crate::event::{Event, Level};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let check = scope.function("check", 3, move |call| {
        let (name, ok) = (own.name(&call.argument(0))?, call.argument(1).is_true());
        own.tell(Event::Check { name, ok, tags: tags(&call.argument(2))? });
        Ok(call.scope().undefined())
    });
    host.set(c"check", check?)?;
    let own = shared.clone();
    let enter = scope.function("enter", 1, move |call| {
        let name = own.name(&call.argument(0))?;
        own.tell(Event::Enter(name));
        Ok(call.scope().undefined())
    });
    host.set(c"enter", enter?)?;
    let own = shared.clone();
    let leave = scope.function("leave", 0, move |call| {
        own.tell(Event::Leave);
        Ok(call.scope().undefined())
    });
    host.set(c"leave", leave?)?;
    host.set(c"sleep", scope.function("sleep", 1, sleep)?)?;
    let own = shared.clone();
    let log = scope.function("log", 2, move |call| {
        let level = match call.argument(0).to_number()? {
            0.0 => Level::Debug,
            1.0 => Level::Info,
            2.0 => Level::Warn,
            _ => Level::Error,
        };
        own.tell(Event::Log { level, text: call.argument(1).to_text()? });
        Ok(call.scope().undefined())
    });
    host.set(c"log", log?)?;
    let own = shared.clone();
    let user = scope
        .function("user", 0, move |call| Ok(call.scope().number(own.current.get().user as f64)));
    host.set(c"user", user?)?;
    let own = shared.clone();
    let iteration = scope.function("iteration", 0, move |call| {
        Ok(call.scope().number(own.current.get().iteration as f64))
    });
    host.set(c"iteration", iteration?)?;
    Ok(())
}

fn sleep<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let seconds = call.argument(0).to_number()?;
    if seconds.is_nan() {
        return Err(Thrown::new("TypeError: sleep() takes a number of seconds"));
    }
    let time = Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_WAIT));
    call.wait(Wait::Sleep(time))?;
    Ok(call.scope().undefined())
}
