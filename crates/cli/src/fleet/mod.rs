//! `squall fleet`: the nodes and runs of a fleet.

mod hosts;
mod manifest;
pub mod outlook;
mod ssh;
mod status;

pub use self::status::nodes;

use crate::args::{Fleet, FleetCommand, FleetCommands};
use crate::exit::{CommandError, CommandResult};
use crate::run;

pub fn command(args: &FleetCommands) -> CommandResult {
    match &args.command {
        FleetCommand::Up(up) => ssh::command(up),
        FleetCommand::Manifest(file) => manifest::command(file),
        FleetCommand::Resume { folder, output, server } => {
            if output.folder().is_some() {
                let text = "--out FOLDER: a run that goes on does so in its own folder";
                return Err(CommandError::bad_input(text));
            }
            let fleet = Fleet { server: server.clone(), ..Fleet::default() };
            run::resume(folder, output, &fleet)
        }
        FleetCommand::Status { server, json } => status::status(server, *json),
        FleetCommand::Logs { run, server } => status::logs(server, run.as_deref()),
        FleetCommand::Stop { run, server } => status::stop(server, run.as_deref()),
    }
}
