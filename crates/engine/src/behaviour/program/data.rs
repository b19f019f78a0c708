//! Operations that change what a user has.

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::program::{ClearCacheOp, ClearCookiesOp, CookieOp, NextRowOp, SetOp};
use crate::session;
use crate::user::Cursor;

impl Run for SetOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let value = self.value.value(&user.scope());
        // Without a value rather than with an old one, which nobody would notice.
        let value = user.or_log(value.map(Some), user.program.variable_name(self.slot), None);
        user.set(self.slot, value);
        None
    }
}

/// The next row of a data source; a user without one leaves.
impl Run for NextRowOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let (rows, roster) = (&user.worker.rows, user.worker.roster.borrow());
        let taken = rows.take_one(user.program, roster.part().process(), user.core, self.0);
        drop(roster);
        let no_row = taken.err()?;
        user.worker.note_no_row(no_row);
        Some(Next::Gone)
    }
}

impl Run for ClearCookiesOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        user.core.clear_cookies(self.0);
        None
    }
}

impl Run for ClearCacheOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        user.core.clear_cache(self.0);
        None
    }
}

impl Run for CookieOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let set = session::set_cookie(user.program, user.core, self);
        user.or_log(set, "set_cookie", ());
        None
    }
}
