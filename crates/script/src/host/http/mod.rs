//! The functions behind the module `k6/http`: requests are made of what a script says, and handed to whoever performs them;
//! what has come of them is read when the script asks for it.

mod body;
mod compress;
mod jar;
mod params;
mod prepared;
mod request;
mod response;
mod send;
mod url;

use std::rc::Rc;

pub(crate) use compress::compress;

use super::shared::Shared;
use crate::engine::{Thrown, Value};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let select = include_str!("../../library/select.js");
    host.set(c"select", scope.evaluate("squall:select", select)?)?;
    request::add(host, shared)?;
    send::add(host, shared)?;
    response::add(host)?;
    jar::add(host, shared)?;
    url::add(host)
}
