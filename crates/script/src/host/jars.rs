//! The numbers of the jars that scripts hold. It imports nothing of the host.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::engine::Thrown;

/// The numbers of the jars that users have made.
#[derive(Debug, Default)]
pub(crate) struct Jars(RefCell<HashMap<u64, Numbers>>);

/// Those of a user.
#[derive(Debug, Default)]
struct Numbers {
    last: u16,
    /// Those of jars that nobody holds any more, but which still have cookies.
    free: Vec<u16>,
}

/// A jar, for as long as a script holds it.
pub(super) struct Jar {
    pub number: u16,
    pub user: u64,
    pub jars: Rc<Jars>,
}

impl Drop for Jar {
    fn drop(&mut self) {
        if self.number != 0
            && let Some(own) = self.jars.0.borrow_mut().get_mut(&self.user)
        {
            own.free.push(self.number);
        }
    }
}

impl Jars {
    /// The number of a new jar of a user, and whether it is used anew.
    pub(super) fn take(&self, user: u64) -> Result<(u16, bool), Thrown> {
        let mut all = self.0.borrow_mut();
        let own = all.entry(user).or_default();
        if let Some(number) = own.free.pop() {
            return Ok((number, true));
        }
        own.last = own.last.checked_add(1).ok_or_else(|| {
            Thrown::new("a user may have 65535 jars of cookies at a time: make them once, outside of functions")
        })?;
        Ok((own.last, false))
    }
}
