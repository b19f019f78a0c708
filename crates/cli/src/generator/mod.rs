//! Where the load of a command comes from: the workers of this process, or the nodes that were asked for.

pub mod connection;
mod local;

use std::path::{Path, PathBuf};

use squall_fleet::controller::{FleetOptions, FleetSource};
use squall_fleet::protocol::messages;
use squall_plan::model::{Plan, Target};
use squall_plan::yaml::Loaded;
use squall_runner::{LoadSource, LocalEngine, Options};

use self::local::LocalNodes;
use crate::args::{Fleet, Nodes, OnLoss, RuntimeOptions};
use crate::exit::CommandError;
use crate::{out, plans};

/// What a controller is called at the server: the name of its user in the configuration that is printed.
pub const CONTROLLER: &str = "controller";

/// What generates a load.
pub struct Generator {
    pub source: Box<dyn LoadSource>,
    /// Processes of this machine, which end when this is dropped.
    pub local: Option<LocalNodes>,
}

/// What a load is asked of.
pub enum LoadFrom<'a> {
    /// What these options say.
    Of(&'a Fleet),
    /// A run that goes on in its folder, with the options by which its server is reached.
    Resumed { source: Box<FleetSource>, fleet: &'a Fleet, folder: PathBuf },
}

impl LoadFrom<'_> {
    /// The options about it.
    pub fn fleet(&self) -> &Fleet {
        match self {
            LoadFrom::Of(fleet) | LoadFrom::Resumed { fleet, .. } => fleet,
        }
    }

    /// The folder of a run that goes on.
    pub fn goes_on_in(&self) -> Option<&Path> {
        match self {
            LoadFrom::Of(_) => None,
            LoadFrom::Resumed { folder, .. } => Some(folder),
        }
    }

    /// Options of a run, with how it is generated. A run that goes on has its threads.
    pub fn with_runtime(&self, runtime: &RuntimeOptions, options: Options) -> Options {
        let workers = options.workers;
        let options = runtime.options(options);
        match self {
            LoadFrom::Of(_) => options,
            LoadFrom::Resumed { .. } => Options { workers, ..options },
        }
    }

    /// What generates it.
    ///
    /// # Errors
    /// See [`generator`].
    pub fn generator(
        self,
        loaded: &Loaded,
        options: &mut Options,
    ) -> Result<Generator, CommandError> {
        match self {
            LoadFrom::Of(fleet) => generator(fleet, loaded, options),
            LoadFrom::Resumed { source, .. } => Ok(Generator { source, local: None }),
        }
    }
}

/// A run that goes on from its folder: where its load comes from, its plan, and the options that it was run with.
///
/// # Errors
/// There is no such run in the folder.
pub fn resumed(
    fleet: &Fleet,
    folder: &Path,
) -> Result<(Box<FleetSource>, Loaded, Options), CommandError> {
    let connect = connection::connect(&fleet.server, CONTROLLER)?;
    connection::look(&connect)?;
    let wanted = with(fleet, FleetOptions::new(connect, Vec::new()));
    let (source, loaded, options) =
        FleetSource::resume(wanted, folder).map_err(CommandError::bad_input)?;
    Ok((Box::new(source), loaded, options))
}

/// The folder of a run, among the runs of a folder, that a controller left which has died; the last one, if there are several.
pub fn left_in(folder: &Path) -> Option<PathBuf> {
    let runs = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    runs.filter(|run| run.join("fleet.json").is_file()).max()
}

/// What generates the load of a plan. Nodes of this machine have as many workers as it has CPUs, together, unless a number was
/// asked for.
pub fn generator(
    fleet: &Fleet,
    loaded: &Loaded,
    options: &mut Options,
) -> Result<Generator, CommandError> {
    if fleet.nodes.is_some() {
        plans::within_nodes(loaded).iter().for_each(|note| out::message(note));
    }
    let (wanted, local) = match &fleet.nodes {
        None => {
            refuse_alone(fleet)?;
            return Ok(Generator { source: Box::new(LocalEngine), local: None });
        }
        Some(Nodes::Local(count)) => {
            refuse_server(fleet, *count)?;
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            let each = u32::try_from(cpus).unwrap_or(u32::MAX) / count;
            options.workers = options.workers.or(Some(each.max(1)));
            let local = LocalNodes::start(*count, options.allow_exec)?;
            let any = vec![(String::new(), *count)];
            let wanted = FleetOptions::new(local.connect(CONTROLLER), any);
            (FleetOptions { ended: local.ended(), ..wanted }, Some(local))
        }
        Some(Nodes::Zones(zones)) => {
            let connect = connection::connect(&fleet.server, CONTROLLER)?;
            refuse_builtin(&loaded.plan, options)?;
            connection::look(&connect)?;
            (FleetOptions::new(connect, zones.clone()), None)
        }
    };
    Ok(Generator { source: Box::new(FleetSource::new(with(fleet, wanted))), local })
}

/// What was asked for besides the nodes.
fn with(fleet: &Fleet, wanted: FleetOptions) -> FleetOptions {
    let on_loss = fleet.on_loss.map(|on_loss| match on_loss {
        OnLoss::Redistribute => messages::OnLoss::Redistribute,
        OnLoss::Continue => messages::OnLoss::Continue,
        OnLoss::Abort => messages::OnLoss::Abort,
    });
    FleetOptions {
        wait: fleet.wait.unwrap_or(wanted.wait),
        lease: fleet.lease.unwrap_or(wanted.lease),
        on_loss: on_loss.unwrap_or(wanted.on_loss),
        ..wanted
    }
}

/// A command line without a server's passwords.
pub fn masked(fleet: &Fleet, word: &str) -> String {
    fleet.server.nats.iter().fold(word.to_owned(), |word, url| {
        let behind = url.split_once("://").map_or(url.as_str(), |(_, behind)| behind);
        match behind.rsplit_once('@') {
            Some((user, _)) => word.replace(&format!("{user}@"), "***@"),
            None => word,
        }
    })
}

/// Options about nodes, where there are none.
fn refuse_alone(fleet: &Fleet) -> Result<(), CommandError> {
    let typed = [
        ("--nats", !fleet.server.nats.is_empty()),
        ("--nats-user", fleet.server.nats_user.is_some()),
        ("--nats-password-file", fleet.server.nats_password_file.is_some()),
        ("--nats-token-file", fleet.server.nats_token_file.is_some()),
        ("--nats-nkey", fleet.server.nats_nkey.is_some()),
        ("--nats-creds", fleet.server.nats_creds.is_some()),
        ("--nats-ca", fleet.server.nats_ca.is_some()),
        ("--nats-cert", fleet.server.nats_cert.is_some()),
        ("--wait", fleet.wait.is_some()),
        ("--on-loss", fleet.on_loss.is_some()),
        ("--lease", fleet.lease.is_some()),
    ];
    match typed.into_iter().find(|(_, is)| *is) {
        Some((flag, _)) => Err(CommandError::bad_input(format!(
            "{flag} goes with --nodes N, which says how many nodes of the fleet are to run this"
        ))),
        None => Ok(()),
    }
}

/// A server, where the nodes are here.
fn refuse_server(fleet: &Fleet, count: u32) -> Result<(), CommandError> {
    let server = &fleet.server;
    let is_named = !server.nats.is_empty()
        || server.nats_user.is_some()
        || server.nats_password_file.is_some()
        || server.nats_token_file.is_some()
        || !connection::files(server).is_empty();
    match is_named {
        true => Err(CommandError::bad_input(format!(
            "--nodes local:{count} starts a server of its own: leave out --nats and what goes with it, or ask for \
             --nodes {count} of the fleet at that server"
        ))),
        false => Ok(()),
    }
}

/// The built-in target is in this process, and listens on this machine alone.
fn refuse_builtin(plan: &Plan, options: &Options) -> Result<(), CommandError> {
    let is_builtin = match options.target.as_deref() {
        Some(typed) => typed == "builtin",
        None => matches!(plan.target, Some(Target::Builtin)),
    };
    match is_builtin {
        true => Err(CommandError::bad_input(
            "the built-in target listens on this machine only, where nodes elsewhere cannot reach it: start \
             `squall target -l 0.0.0.0:8080` and give --target http://HOST:8080, or use --nodes local:4",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Server;

    #[test]
    fn a_command_line_shows_no_password() {
        let nats = vec![
            "nats://ada:s3cret@a:1".to_owned(),
            "tls://tok3n@b".to_owned(),
            "nats://c".to_owned(),
        ];
        let fleet = Fleet { server: Server { nats, ..Server::default() }, ..Fleet::default() };
        for (typed, shown) in [
            ("--nats=nats://ada:s3cret@a:1,tls://tok3n@b,c", "--nats=nats://***@a:1,tls://***@b,c"),
            ("ada:s3cret@a:1", "***@a:1"),
            ("--nodes", "--nodes"),
        ] {
            assert_eq!(masked(&fleet, typed), shown);
        }
    }
}
