//! The programs of a variant, with all variables in their place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{Experiment, ReadyWhen, Server};
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_supervisor::CpuSet;

use crate::binding::Variables;
use crate::ready::{Place, ReadyCheck};

/// How long a server may take to be ready, unless its file says otherwise.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How long one may take to end.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What is started for a variant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Programs {
    /// Once, before its first run.
    pub prepare: Vec<Vec<String>>,
    /// Before each run.
    pub before: Vec<Vec<String>>,
    /// After each run.
    pub after: Vec<Vec<String>>,
    /// During each run, started in this order.
    pub servers: Vec<ServerProgram>,
}

/// A server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerProgram {
    pub name: String,
    pub command: Vec<String>,
    /// What prints its version; empty: nothing does.
    pub version: Vec<String>,
    pub env: Vec<(String, String)>,
    pub directory: PathBuf,
    pub cpus: Option<CpuSet>,
    pub ready: ReadyCheck,
    /// How long it may take to be ready.
    pub within: Duration,
    /// How long it may take to end before it is killed.
    pub stop_within: Duration,
}

impl Programs {
    /// Whether anything is started.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Programs::default()
    }

    /// Those of a variant; `folder` is that of the experiment's file.
    ///
    /// # Errors
    /// A text uses an unknown variable, or is not what is expected there.
    pub(crate) fn of(
        own: &Experiment,
        variables: &Variables<'_>,
        folder: &Path,
    ) -> Result<Programs, Diagnostic> {
        let all = |commands: &[Vec<Template>]| {
            commands.iter().map(|command| words(command, variables)).collect::<Result<_, _>>()
        };
        let servers = own.servers.iter().map(|server| ServerProgram::of(server, variables, folder));
        Ok(Programs {
            prepare: all(&own.prepare)?,
            before: all(&own.before)?,
            after: all(&own.after)?,
            servers: servers.collect::<Result<_, _>>()?,
        })
    }
}

impl ServerProgram {
    fn of(
        own: &Server,
        variables: &Variables<'_>,
        folder: &Path,
    ) -> Result<ServerProgram, Diagnostic> {
        let env = own.env.iter().map(|(name, value)| {
            Ok::<_, Diagnostic>((variables.text(name)?, variables.text(value)?))
        });
        let directory = own.directory.as_ref().map(|own| variables.text(own)).transpose()?;
        let cpus = own.cpus.as_ref().map(|own| {
            let text = variables.text(&own.value)?;
            cpu_set(&text, own.span)
        });
        let ready = match own.ready.as_ref().map(|ready| &ready.when) {
            None => ReadyCheck::After(Duration::ZERO),
            Some(when) => check(when, variables)?,
        };
        let within = own.ready.as_ref().and_then(|ready| ready.within).unwrap_or(READY_WITHIN);
        Ok(ServerProgram {
            name: own.name.value.clone(),
            command: words(&own.command, variables)?,
            version: words(&own.version, variables)?,
            env: env.collect::<Result<_, _>>()?,
            directory: folder.join(directory.unwrap_or_default()),
            cpus: cpus.transpose()?,
            ready,
            within,
            stop_within: own.stop_within.unwrap_or(STOP_WITHIN),
        })
    }
}

/// A set of processors as a file has it.
pub(crate) fn cpu_set(text: &str, span: Span) -> Result<CpuSet, Diagnostic> {
    CpuSet::parse(text).map_err(|error| Diagnostic::error(span, format!("`cpus`: {error}")))
}

fn words(command: &[Template], variables: &Variables<'_>) -> Result<Vec<String>, Diagnostic> {
    command.iter().map(|word| variables.text(word)).collect()
}

/// How it is seen that a server is ready.
fn check(when: &ReadyWhen, variables: &Variables<'_>) -> Result<ReadyCheck, Diagnostic> {
    let place = |template: &Template, read: fn(&str) -> Result<Place, String>| {
        let text = variables.text(template)?;
        read(&text).map_err(|why| Diagnostic::error(template.span(), why))
    };
    Ok(match when {
        ReadyWhen::Http(url) => ReadyCheck::Http(place(url, Place::of_url)?),
        ReadyWhen::Tcp(text) => ReadyCheck::Tcp(place(text, Place::of_host)?),
        ReadyWhen::Output(text) => ReadyCheck::Output(variables.text(text)?),
        ReadyWhen::After(time) => ReadyCheck::After(*time),
    })
}

/// The place of the first program that an experiment starts; `None`: it starts none.
pub(crate) fn first_program(own: &Experiment) -> Option<Span> {
    let prepared = own.prepare.iter().chain(&own.before).chain(&own.after);
    let all = prepared.chain(own.servers.iter().map(|server| &server.command));
    all.flatten().map(Template::span).find(|span| span.is_known())
}
