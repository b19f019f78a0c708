//! Tries a plan: one iteration of one user, with a copy of every request and response. It is how a plan is
//! written and debugged.

use squall_engine::{Control, Exchange, RunOptions, Section, Trace, Which};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::secrets::Secrets;
use squall_wire::Io;

use crate::error::Error;
use crate::options::Options;
use crate::{builtin, plans, setup_teardown};

/// What a trial shows. It comes from a worker's thread.
#[derive(Debug)]
pub enum Tried<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A request and its response, with the secrets that are in them.
    Exchange(&'a Exchange, &'a Secrets),
    /// A line that the plan logs, its secrets masked and its control characters escaped.
    Log(&'a str),
}

/// Runs setup, one iteration, and teardown; shows everything when it happens, with at most `bytes` of each
/// message. After a setup that failed only the teardown is run.
///
/// # Errors
/// The plan or an option is wrong, or a worker broke off. A request that fails is no error: it is shown.
pub fn try_plan(
    plan: &Plan,
    sources: &Sources,
    options: &Options,
    bytes: usize,
    show: impl Fn(Tried<'_>) + Send + Sync + Clone + 'static,
) -> Result<(), Error> {
    let seed = plans::seed(plan, options.seed);
    let destination = builtin::destination(plan, options, seed)?;
    let mut compile = options.compile(destination.url.clone(), seed);
    let programs = plans::compile_all(plan, sources, &compile)?;
    programs.warnings.iter().for_each(|warning| show(Tried::Warning(warning)));
    let shared = plans::network(plan, sources, &programs.all, Io::Auto)?;
    let mut is_set_up = true;
    for part in [Section::Setup, Section::Trial, Section::Teardown] {
        if !setup_teardown::has_steps(plan, part) || (part == Section::Trial && !is_set_up) {
            continue;
        }
        let program = plans::compile(plan, sources, part, &compile)?;
        let secrets = program.secrets.clone();
        let (shown, logged) = (show.clone(), show.clone());
        let trace = Trace::new(Which::All, bytes, move |exchange| {
            shown(Tried::Exchange(&exchange, &secrets));
        });
        let trace = trace.with_log(move |line| logged(Tried::Log(line)));
        let run = RunOptions::default();
        let control = Control::default();
        let ended =
            squall_engine::run(program, shared.clone(), &run, &control, Some(trace), |_| {})
                .map_err(Error::incomplete)?;
        if let Some(reason) = ended.failures.first() {
            return Err(Error::incomplete(reason));
        }
        if part == Section::Setup {
            if ended.asked {
                is_set_up = false;
                show(Tried::Warning("setup failed: the scenarios are not tried\n"));
            }
            compile.setup = ended.variables;
        }
    }
    Ok(())
}
