//! What a worker has of the scripts of its program: a stage for each, made when the first user comes to it, and what it
//! knows of each place where they are called.

mod call_site;
mod counted;
mod exchanged;
mod made;
mod route;
mod rows;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use squall_script::Stage;

use crate::program::{Program, ScriptOp};
pub(crate) use call_site::CallSite;
pub(crate) use exchanged::Exchanged;
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
    /// Iterations that users of scripts have completed.
    pub completed: Cell<u64>,
}

impl Scripts {
    /// The stage of a script.
    ///
    /// # Errors
    /// There is no memory for it, or the script throws where it begins.
    pub(crate) fn stage(&self, program: &Program, script: u32) -> Result<Rc<Stage>, String> {
        let mut stages = self.stages.borrow_mut();
        let place = place(&mut stages, script);
        if let Some(stage) = place {
            return Ok(stage.clone());
        }
        let own = &program.scripts[script as usize];
        let stage = Stage::new(&own.graph, &own.options).map_err(|error| error.to_string())?;
        let stage = Rc::new(stage.map_err(|thrown| thrown.to_string())?);
        *place = Some(stage.clone());
        Ok(stage)
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
