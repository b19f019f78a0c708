//! The built-in target, started for the length of a run.

use squall_plan::model::{Plan, Target};
use squall_target::{Options, Server};

use crate::args::Variables;
use crate::exit::CommandError;

/// Where a plan's requests go, and the server that was started for it, if any.
pub struct Destination {
    /// In place of the plan's own target.
    pub url: Option<String>,
    _server: Option<Server>,
}

/// Whether requests go to the built-in target.
pub fn is_asked_for(plan: &Plan, variables: &Variables) -> bool {
    match &variables.target {
        Some(target) => target == "builtin",
        None => plan.target == Some(Target::Builtin),
    }
}

/// Starts the built-in target if the plan, or the flag in its place, asks for it; it draws from `seed`.
pub fn destination(
    plan: &Plan,
    variables: &Variables,
    seed: u64,
) -> Result<Destination, CommandError> {
    if !is_asked_for(plan, variables) {
        return Ok(Destination { url: variables.target.clone(), _server: None });
    }
    let options = Options { seed: Some(seed), ..Options::default() };
    let server = Server::start(options).map_err(|error| {
        CommandError::incomplete(format!("the built-in target could not be started: {error}"))
    })?;
    Ok(Destination { url: Some(server.url()), _server: Some(server) })
}
