//! The module `k6/data`: arrays that all users share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::shared::Shared;
use crate::engine::{Call, Thrown, Value};
use crate::shared_data::{Found, Making, Rows};

/// What is behind the object that a SharedArray holds.
enum Array {
    /// It is being made; `None`: no longer.
    Making(RefCell<Option<Making>>),
    There(Arc<Rows>),
}

fn array(call: &Call<'_>) -> Result<Rc<Array>, Thrown> {
    call.argument(0).behind().ok_or_else(|| Thrown::new("TypeError: a SharedArray"))
}

fn native<'c>(call: &Call<'c>, own: Array) -> Result<Value<'c>, Thrown> {
    call.scope().native(Rc::new(own))
}

/// `sharedArray(name)`: what is behind it.
fn open<'c>(call: &Call<'c>, shared: &Shared) -> Result<Value<'c>, Thrown> {
    if call.is_of_user() {
        return Err(Thrown::new(
            "a SharedArray must be made where the script begins, outside of functions",
        ));
    }
    let name = call.argument(0).to_text()?;
    let own = match shared.data.find(&name).map_err(Thrown::new)? {
        Found::There(rows) => Array::There(rows),
        Found::Absent(making) => Array::Making(RefCell::new(Some(making))),
    };
    native(call, own)
}

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let array_of = scope.function("sharedArray", 1, move |call| open(call, &own));
    host.set(c"sharedArray", array_of?)?;
    // `sharedPush(array, json)`: adds an element to one that is being made.
    let push = scope.function("sharedPush", 2, |call| {
        if let Array::Making(making) = &*array(call)?
            && let Some(making) = making.borrow_mut().as_mut()
        {
            making.push(&call.argument(1).to_text()?).map_err(Thrown::new)?;
        }
        Ok(call.scope().undefined())
    });
    host.set(c"sharedPush", push?)?;
    // `sharedEnd(array, isWhole)`: what is behind the array that all have, or undefined.
    let end = scope.function("sharedEnd", 2, |call| {
        let Array::Making(making) = &*array(call)? else { return Ok(call.scope().undefined()) };
        let taken = making.take();
        match taken {
            Some(mut making) if call.argument(1).is_true() => {
                native(call, Array::There(making.finish()))
            }
            _ => Ok(call.scope().undefined()),
        }
    });
    host.set(c"sharedEnd", end?)?;
    // `sharedLength(array)`: undefined if it is not whole.
    let length = scope.function("sharedLength", 1, |call| match &*array(call)? {
        Array::There(rows) => Ok(call.scope().number(rows.len() as f64)),
        Array::Making(_) => Ok(call.scope().undefined()),
    });
    host.set(c"sharedLength", length?)?;
    let row = scope.function("sharedRow", 2, |call| {
        let number = call.argument(1).to_number()?;
        match &*array(call)? {
            Array::There(rows) if number >= 0.0 => match rows.row(number as usize) {
                Some(json) => call.scope().text(json),
                None => Ok(call.scope().undefined()),
            },
            _ => Ok(call.scope().undefined()),
        }
    });
    host.set(c"sharedRow", row?)?;
    Ok(())
}
