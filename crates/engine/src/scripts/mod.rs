//! What a worker has of the scripts of its program: a stage for each, made when the first user comes to it, or one for
//! each user; and what it knows of each place where they are called.

mod call_site;
mod counted;
mod exchanged;
mod made;
mod route;
mod rows;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use squall_script::Stage;

use crate::program::{Program, ScriptOp};
pub(crate) use call_site::CallSite;
pub(crate) use exchanged::{Doer, Exchanged};
pub(crate) use made::Made;
pub(crate) use route::{Hop, Route};
pub(crate) use rows::Spot;

/// The scripts of a worker.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    /// By the number of the script.
    stages: RefCell<Vec<Option<Rc<Stage>>>>,
    /// By the number of the call.
    calls: RefCell<Vec<Option<Rc<CallSite>>>>,
}

impl Scripts {
    /// The stage of a script for one more user.
    ///
    /// # Errors
    /// There is no memory for it, or the script throws where it begins.
    pub(crate) fn stage(&self, program: &Program, script: u32) -> Result<Rc<Stage>, String> {
        let own = &program.scripts[script as usize];
        let make = || {
            let stage = Stage::new(&own.graph, &own.options).map_err(|error| error.to_string())?;
            stage.map(Rc::new).map_err(|thrown| thrown.to_string())
        };
        if own.options.is_alone {
            return make();
        }
        let mut stages = self.stages.borrow_mut();
        let place = place(&mut stages, script);
        if let Some(stage) = place {
            return Ok(stage.clone());
        }
        Ok(place.insert(make()?).clone())
    }

    /// Has the interpreters that users share free what only refers to itself, where there is much of it. `took` hears how
    /// long each needed.
    pub(crate) fn collect_garbage(&self, mut took: impl FnMut(Duration)) {
        let stages = self.stages.borrow();
        let pauses = stages.iter().flatten().filter_map(|own| own.realm().collect_if_due());
        pauses.for_each(&mut took);
    }

    /// What is known of a call.
    pub(crate) fn call_site(&self, op: &ScriptOp) -> Rc<CallSite> {
        let mut calls = self.calls.borrow_mut();
        let site = place(&mut calls, op.number).get_or_insert_with(|| Rc::new(CallSite::new(op)));
        site.clone()
    }
}

/// A place in a list that grows to have it.
fn place<T>(list: &mut Vec<Option<T>>, number: u32) -> &mut Option<T> {
    let number = number as usize;
    if list.len() <= number {
        list.resize_with(number + 1, || None);
    }
    &mut list[number]
}
