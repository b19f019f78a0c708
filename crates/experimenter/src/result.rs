//! The result of an experiment, finished or not.

use std::path::Path;

use squall_plan::files;
use squall_report::{ExperimentAbout, ExperimentResult, ExperimentServer, Machine, read_result};

use crate::clock::unix_time;
use crate::journal::State;
use crate::prepared::Prepared;

/// Largest result of a run that is read, in bytes.
const MAX_RESULT: u64 = 64 << 20;

/// What the runs that were made show. `command` is the command line, with secrets masked.
///
/// # Errors
/// The design is too large, which was found before the first run.
pub fn result(
    own: &Prepared,
    state: &State,
    folder: &Path,
    command: Vec<String>,
    finished: bool,
    warnings: Vec<String>,
) -> Result<ExperimentResult, String> {
    let (repeats, relative_error) = match own.demand.repeats {
        squall_experiment::Repeats::Fixed(repeats) => (repeats, None),
        squall_experiment::Repeats::Until { relative_error, most, .. } => {
            (most, Some(relative_error))
        }
    };
    let about = ExperimentAbout {
        name: own.name.clone(),
        file: own.file.name.clone(),
        plan: own.plan.clone(),
        squall: state.begin.squall.clone(),
        command,
        started_unix: state.begin.started_unix,
        elapsed_s: unix_time() - state.begin.started_unix,
        seed: own.demand.seed,
        repeats: repeats as u64,
        relative_error,
        retries: own.demand.retries as u64,
        warmup: own.warmup.clone(),
        finished,
        warnings,
    };
    let servers = own.servers.iter().map(|(name, command)| ExperimentServer {
        name: name.clone(),
        command: command.clone(),
        version: String::new(),
    });
    let result =
        ExperimentResult::new(about, own.factors.clone(), &own.measures(), state.runs.clone())
            .map_err(|_| "there are too many variants".to_owned())?;
    Ok(result.with(machine(state, folder), servers.collect()))
}

/// The machines that generated the load: those of the first run that has a result.
fn machine(state: &State, folder: &Path) -> Vec<Machine> {
    let folders = state.runs.iter().filter_map(|run| run.folder.as_ref());
    let mut results = folders.filter_map(|own| {
        let text = files::bytes(&folder.join(own).join("run.json"), MAX_RESULT).ok()?;
        read_result(&text).ok()
    });
    results.next().map_or_else(Vec::new, |own| own.meta.nodes)
}
