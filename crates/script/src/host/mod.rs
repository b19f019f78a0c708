//! The functions of the host that the modules in `library` call: one file for each module.

mod crypto;
mod data;
mod encoding;
mod execution;
mod heads;
mod http;
mod jars;
mod k6;
mod metrics;
mod open;
mod random;
mod secrets;
mod shared;
mod timers;
mod url;
mod users;

use std::rc::Rc;

use crate::engine::{Scope, Thrown, Value};

pub(crate) use http::compress;
pub use shared::SecretSource;
pub(crate) use shared::Shared;
pub use users::Numbers;

/// The functions of the host, as properties of one object.
pub(crate) fn make<'r>(scope: Scope<'r>, shared: &Rc<Shared>) -> Result<Value<'r>, Thrown> {
    let host = scope.object()?;
    http::add(&host, shared)?;
    k6::add(&host, shared)?;
    metrics::add(&host, shared)?;
    crypto::add(&host)?;
    data::add(&host, shared)?;
    encoding::add(&host)?;
    execution::add(&host, shared)?;
    open::add(&host, shared)?;
    random::add(&host, shared)?;
    secrets::add(&host, shared)?;
    timers::add(&host)?;
    url::add(&host)?;
    let share = scope.function("share", 1, |call| {
        call.argument(0).share()?;
        Ok(call.scope().undefined())
    });
    host.set(c"share", share?)?;
    host.set(c"hidden", scope.array(Vec::new())?)?;
    Ok(host)
}
