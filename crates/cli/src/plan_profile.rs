//! The profile of the target that a plan asks for.

use squall_plan::model::{self, Plan};
use squall_profiler::Profiler;
use squall_runner::Sink;

use crate::exit::CommandError;

/// A sink with its name.
type Named = (String, Box<dyn Sink>);

/// What takes the profile of a plan, which is good, of the process of one of its monitors or of those that are typed.
///
/// # Errors
/// squall does not know its own program, which runs those that take a profile.
pub fn of_plan(plan: &Plan, typed: &[model::Monitor]) -> Result<Option<Named>, CommandError> {
    let Some(profile) = &plan.profile else { return Ok(None) };
    let name = &profile.process.value;
    let monitor = squall_monitor::wanted(plan, typed).find(|own| own.name.value == *name).cloned();
    let Some(monitor) = monitor else { return Ok(None) };
    let squall = std::env::current_exe().map_err(CommandError::incomplete)?;
    let find = move || squall_monitor::pids(&monitor);
    let profiler = Profiler::new(profile, squall, find).map_err(CommandError::bad_input)?;
    Ok(Some((format!("profile of {name}"), Box::new(profiler))))
}
