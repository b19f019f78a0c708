//! Tries a plan: one iteration of one user, with a copy of every request and response. It is how a plan is
//! written and debugged.

use squall_engine::{Control, Event, Exchange, RunOptions, Section, Trace, Which};
use squall_plan::secrets::Secrets;
use squall_plan::yaml::Loaded;

use crate::error::Error;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::sections;

/// What a trial shows. It comes from a worker's thread.
#[derive(Debug)]
pub enum Tried<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A request and its response, with the secrets that are in them.
    Exchange(&'a Exchange, &'a Secrets),
    /// A line that the plan logs, its secrets masked.
    Log(&'a str),
}

/// Runs setup, one iteration, and teardown; shows everything, with at most `bytes` of each message.
///
/// # Errors
/// The plan or an option is wrong, or a worker broke off. A request that fails is no error: it is shown.
pub fn try_plan(
    loaded: &Loaded,
    options: &Options,
    bytes: usize,
    show: impl Fn(Tried<'_>) + Send + Sync + Clone + 'static,
) -> Result<(), Error> {
    let mut prepared = Prepared::new(loaded, options, |io, _| io)?;
    prepared.warnings.iter().for_each(|warning| show(Tried::Warning(warning)));
    for part in [Section::Setup, Section::Trial, Section::Teardown] {
        if !sections::has_steps(&loaded.plan, part) {
            continue;
        }
        let program = prepared.program(part)?;
        let secrets = program.secrets.clone();
        let (shown, shown_secrets) = (show.clone(), secrets.clone());
        let trace = Trace::new(Which::All, bytes, move |exchange| {
            shown(Tried::Exchange(&exchange, &shown_secrets));
        });
        let run = RunOptions::default();
        let control = Control::default();
        let ended = squall_engine::run(
            program,
            prepared.shared.clone(),
            &run,
            &control,
            Some(trace),
            |event| {
                if let Event::Log(lines) = event {
                    lines.iter().for_each(|line| show(Tried::Log(&secrets.mask_own(&line.text))));
                }
            },
        )
        .map_err(Error::incomplete)?;
        if let Some(reason) = ended.failures.first() {
            return Err(Error::incomplete(reason));
        }
        if part == Section::Setup {
            prepared.compile.setup = ended.variables;
        }
    }
    Ok(())
}
