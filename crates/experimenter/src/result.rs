//! The result of an experiment, finished or not.

use std::path::Path;

use squall_plan::files;
use squall_report::{
    ExperimentAbout, ExperimentResult, ExperimentServer, ExperimentState, Machine, read_result,
};

use crate::clock::unix_time;
use crate::conduct::counted;
use crate::journal::State;
use crate::logs::{first_line, version_log};
use crate::prepared::Prepared;

/// Largest result of a run that is read, in bytes.
const MAX_RESULT: u64 = 64 << 20;

/// What the runs that were made show, of an experiment that is under way, interrupted or finished. `command` is the command line, with secrets masked.
///
/// # Errors
/// The design is too large, which was found before the first run.
pub fn result(
    own: &Prepared,
    state: &State,
    folder: &Path,
    command: Vec<String>,
    at: ExperimentState,
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
        blocks_done: blocks_done(own, state) as u64,
        count_invalid: own.counting.shown(),
        warnings,
        ..ExperimentAbout::default()
    };
    let servers = own.servers.iter().map(|(name, command)| ExperimentServer {
        name: name.clone(),
        command: command.clone(),
        version: version(own, folder, name),
    });
    let result = ExperimentResult::new(
        about.at(at),
        own.factors.clone(),
        &own.measures(),
        state.runs.clone(),
    )
    .map_err(|_| "there are too many variants".to_owned())?;
    Ok(result.with(machine(state, folder), servers.collect()))
}

/// The blocks that are done.
fn blocks_done(own: &Prepared, state: &State) -> usize {
    let mut schedule = own.schedule();
    state.runs.iter().for_each(|run| schedule.made(counted(run)));
    schedule.blocks_done()
}

/// What a server printed of its version, where that differs between variants each of it; empty: nothing.
fn version(own: &Prepared, folder: &Path, server: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    for variant in 0..own.variants.len() {
        let line = first_line(&version_log(folder, server, variant));
        if !line.is_empty() && !found.contains(&line) {
            found.push(line);
        }
    }
    found.join("; ")
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
