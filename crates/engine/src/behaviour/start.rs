//! Binds users to what decides on their steps: today a compiled program for all of them.

use std::rc::Rc;

use super::drive::{Rest, run};
use crate::user::User;
use crate::worker::Worker;

/// Gives a user a task of its own.
pub(crate) fn start(worker: &Rc<Worker>, user: Box<User>) {
    worker.spawn(drive(worker.clone(), user));
}

/// Runs a user until it waits, is free, or is gone.
async fn drive(worker: Rc<Worker>, mut user: Box<User>) {
    let User { core, strand, cursor } = &mut *user;
    let (how, since) = run(&worker, core, strand, cursor).await;
    rest(&worker, user, how, since);
}

/// Gives a user that rests back to its worker.
pub(super) fn rest(worker: &Worker, user: Box<User>, how: Rest, since: u64) {
    match how {
        Rest::Wait(state, due) => {
            worker.note(&user.core, state, since);
            worker.park(user, due, since);
        }
        Rest::Free => worker.free(user),
        Rest::Gone => worker.leave(user, since),
    }
}
