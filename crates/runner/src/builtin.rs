//! The built-in target, started for the length of a run.

use squall_plan::model::{Plan, Target};
use squall_target::Server;

use crate::error::Error;
use crate::options::Options;

/// Where a plan's requests go, and the server that was started for it, if any.
pub struct Destination {
    /// In place of the plan's own target.
    pub url: Option<String>,
    _server: Option<Server>,
}

/// Whether requests go to the built-in target.
pub fn is_asked_for(plan: &Plan, run: &Options) -> bool {
    match &run.target {
        Some(target) => target == "builtin",
        None => plan.target == Some(Target::Builtin),
    }
}

/// Starts the built-in target if the plan, or the option in its place, asks for it; it draws from `seed`.
pub fn destination(plan: &Plan, run: &Options, seed: u64) -> Result<Destination, Error> {
    if !is_asked_for(plan, run) {
        return Ok(Destination { url: run.target.clone(), _server: None });
    }
    let options = squall_target::Options { seed: Some(seed), ..squall_target::Options::default() };
    let server = Server::start(options).map_err(|error| {
        Error::incomplete(format!("the built-in target could not be started: {error}"))
    })?;
    Ok(Destination { url: Some(server.url()), _server: Some(server) })
}
