//! `squall k6 fetch`: downloads what scripts import from URLs.

use std::path::Path;

use squall_base::units;
use squall_script::{FetchState, FetchedModule, fetch};

use crate::args::K6Fetch;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

pub fn command(args: &K6Fetch) -> CommandResult {
    for script in &args.scripts {
        let fetched = fetch(script, args.update, &squall_outbound::download);
        let (lock, modules) = fetched.map_err(|error| CommandError {
            exit: Exit::ScriptFailed,
            text: format!("squall: {error}"),
        })?;
        out::print(&describe(script, &lock, &modules));
    }
    Ok(Exit::Ok)
}

/// What became of a script's modules, in words.
fn describe(script: &Path, lock: &Path, modules: &[FetchedModule]) -> String {
    let script = script.display();
    if modules.is_empty() {
        return format!("{script}: imports no modules that have to be fetched\n");
    }
    let lines = modules.iter().map(|own| {
        let state = match own.state {
            FetchState::Kept => "unchanged",
            FetchState::Added => "added",
            FetchState::Restored => "restored",
            FetchState::Updated => "updated",
        };
        format!("  {state:<10} {}: {}\n", own.url, units::bytes(own.bytes))
    });
    let count = units::counted(modules.len() as u64, "module");
    format!("{script}: {count}, locked in {}\n{}", lock.display(), lines.collect::<String>())
}
