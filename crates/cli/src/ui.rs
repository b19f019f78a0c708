//! Pages: of a run while it goes on, and `squall ui`, of the runs of a folder.

use std::path::Path;

use squall_live::Follow;
use squall_report::{Details, document, html};
use squall_runner::{FinishedRun, Handle};
use squall_ui::{Address, Content, Report, Runs, Server};

use crate::args;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, signals};

/// Serves the runs of a folder until it is interrupted.
pub fn command(args: &args::Ui) -> CommandResult {
    let folder = &args.folder;
    if !folder.is_dir() {
        return Err(CommandError::bad_input(format!("{}: no such folder", folder.display())));
    }
    let mut ends = signals::ends().map_err(CommandError::incomplete)?;
    let server = start(&args.listen, Content { run: None, runs: Some(Runs::of(folder)) })?;
    out::print(&format!("{}\n", server.url()));
    ends.forever().next();
    Ok(Exit::Ok)
}

/// Serves a run that is about to begin.
///
/// # Errors
/// It cannot be served there.
pub fn serve_run(
    address: &Address,
    follow: &mut Follow,
    handle: &Handle,
    folder: Option<&Path>,
) -> Result<Server, CommandError> {
    let run = Some((follow.shared(), handle.clone()));
    let server = start(address, Content { run, runs: folder.map(Runs::of) })?;
    out::message(&format!("squall: this run is shown at {}\n", server.url()));
    // The terminal's view covers that.
    follow.greet(format!("this run is shown at {}", server.url()));
    Ok(server)
}

fn start(address: &Address, content: Content) -> Result<Server, CommandError> {
    let server = Server::start(address, content)
        .map_err(|error| CommandError::bad_input(format!("the page cannot be served: {error}")))?;
    if address.is_open() {
        out::message(
            "squall: other machines may reach the page; its address is secret, and goes over the network as it is\n",
        );
    }
    Ok(server)
}

/// Tells pages that are open that the run is over, and where its report is.
pub fn finish(server: &Server, outcome: &FinishedRun) {
    let name = outcome.folder.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    server.finish(match name {
        Some(name) => Report::InFolder(name.to_owned()),
        None => {
            let details = Details::of(&outcome.run, None);
            Report::Held(html(&document(&outcome.run), &details).into_bytes())
        }
    });
}
