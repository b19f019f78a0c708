//! `squall try`: runs one iteration of one virtual user and shows every request and response with its
//! secrets masked and control characters escaped. It is how a plan is written and debugged.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use squall_base::{escape_control, units};
use squall_engine::{Exchange, ExchangeCopy, Extracted, Section};
use squall_plan::model::Plan;
use squall_runner::{Tried, TryFailures, masked_body, masked_head, masked_request, masked_url};

use crate::args::Try;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans};

/// Most bytes of a message that are shown.
const MAX_SHOWN_BYTES: usize = 16 << 10;
/// The same where everything is shown: all of it is in memory until then.
const MAX_FULL_BYTES: usize = 64 << 20;
/// Most lines of a message that are shown.
const MAX_SHOWN_LINES: usize = 12;
/// Most characters of a line that are shown.
const MAX_LINE_LENGTH: usize = 160;

pub fn command(args: &Try) -> CommandResult {
    let mut loaded = plans::load(&args.plan, &args.variables)?;
    if args.scenario.is_some() || args.step.is_some() {
        // They may be about what is left out, and nobody judges a try.
        loaded.plan.thresholds.clear();
    }
    only_scenario(&mut loaded.plan, args.scenario.as_deref())?;
    up_to_step(&mut loaded.plan, args.step.as_deref())?;
    let file = args.out.as_ref().map(|path| {
        File::create(path)
            .map_err(|error| CommandError::bad_input(format!("{}: {error}", path.display())))
    });
    let shown = Shown {
        full: args.full,
        step: args.step.clone(),
        file: file.transpose()?.map(Mutex::new),
        ..Shown::default()
    };
    let shown = Arc::new(shown);
    let told = shown.clone();
    let options = args.variables.options();
    let everything = args.full || args.out.is_some();
    let bytes = if everything { MAX_FULL_BYTES } else { MAX_SHOWN_BYTES };
    let failures =
        squall_runner::try_plan(&loaded, &options, bytes, move |tried| told.show(&tried))?;
    if shown.unwritten.load(Ordering::Relaxed) > 0 {
        let path = args.out.as_deref().unwrap_or(&args.plan);
        return Err(CommandError::incomplete(format!("{}: not written", path.display())));
    }
    if let (Some(step), 0) = (&args.step, shown.matched.load(Ordering::Relaxed)) {
        let text = format!("no request of step `{step}` was made");
        return Err(CommandError::bad_input(text));
    }
    Ok(outcome(shown.failed.load(Ordering::Relaxed) as u64, failures))
}

/// Says what failed. A run of the plan would fail of it, too.
fn outcome(requests: u64, failures: TryFailures) -> Exit {
    let TryFailures { expressions, checks, exceptions, marks } = failures;
    let said = [
        (requests, "request", "failed"),
        (checks, "check", "failed"),
        (expressions, "expression", "could not be evaluated"),
        (exceptions, "exception", "in the script"),
    ];
    let failed = said.into_iter().filter(|(number, ..)| *number > 0);
    let lines: Vec<String> = failed
        .map(|(number, what, how)| format!("{} {how}\n", units::counted(number, what)))
        .chain((marks > 0).then(|| "the script marked the run as failed\n".to_owned()))
        .collect();
    if lines.is_empty() {
        return Exit::Ok;
    }
    out::print(&format!("\n{}", lines.concat()));
    Exit::Failed
}

/// Leaves one scenario in a plan.
fn only_scenario(plan: &mut Plan, name: Option<&str>) -> Result<(), CommandError> {
    let Some(name) = name else { return Ok(()) };
    let known: Vec<String> =
        plan.scenarios.iter().map(|scenario| scenario.name.value.clone()).collect();
    plan.scenarios.retain(|scenario| scenario.name.value == *name);
    match plan.scenarios.is_empty() {
        false => Ok(()),
        true => {
            let text = format!("unknown scenario `{name}`: the plan has {}", known.join(", "));
            Err(CommandError::bad_input(text))
        }
    }
}

/// Leaves out the steps behind one that is given by its number, such as `3` or `3.1`: what comes before it
/// is needed, as it sets variables and cookies.
fn up_to_step(plan: &mut Plan, step: Option<&str>) -> Result<(), CommandError> {
    let first = step.and_then(|step| step.split('.').next()).and_then(|first| first.parse().ok());
    let Some(last) = first else { return Ok(()) };
    let most = plan.scenarios.iter().map(|scenario| scenario.steps.len()).max().unwrap_or(0);
    if last == 0 || last > most {
        let text = format!("there is no step {last}: the steps are 1 to {most}");
        return Err(CommandError::bad_input(text));
    }
    plan.scenarios.iter_mut().for_each(|scenario| scenario.steps.truncate(last));
    Ok(())
}

/// Shows what is tried, and counts it.
#[derive(Default)]
struct Shown {
    full: bool,
    /// The step whose requests are shown alone: its number, or a request's name.
    step: Option<String>,
    /// Where everything is written, too.
    file: Option<Mutex<File>>,
    failed: AtomicUsize,
    matched: AtomicUsize,
    unwritten: AtomicUsize,
}

impl Shown {
    fn show(&self, tried: &Tried<'_>) {
        match tried {
            Tried::Warning(text) => out::message(text),
            Tried::Log(text) => self.write(|_| format!("log  {text}\n")),
            Tried::Exchange(exchange) => {
                self.failed.fetch_add(usize::from(exchange.error.is_some()), Ordering::Relaxed);
                if self.step.as_ref().is_none_or(|step| is_of_step(exchange, step)) {
                    self.matched.fetch_add(1, Ordering::Relaxed);
                    self.write(|full| ExchangeText { exchange, full }.to_string());
                }
            }
        }
    }

    /// Prints a text, and writes it to the file in full.
    fn write(&self, text: impl Fn(bool) -> String) {
        out::print(&text(self.full));
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let written = file.write_all(text(true).as_bytes());
            self.unwritten.fetch_add(usize::from(written.is_err()), Ordering::Relaxed);
        }
    }
}

/// Whether an exchange is of a step, which is given by its number or the request's name.
fn is_of_step(exchange: &Exchange, step: &str) -> bool {
    let within = |own: &str| own.strip_prefix(step).is_some_and(|rest| rest.starts_with('.'));
    exchange.section == Section::Trial
        && (exchange.step == step || within(&exchange.step) || exchange.name == step)
}

/// An exchange as a person reads it, with its secrets masked.
struct ExchangeText<'a> {
    exchange: &'a Exchange,
    /// Whether nothing is left out.
    full: bool,
}

impl Display for ExchangeText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exchange = self.exchange;
        let Exchange { scenario, step, name, .. } = exchange;
        let url = exchange.hops.first().map(|hop| self.url(hop)).unwrap_or_default();
        let name = self.text(name);
        writeln!(f, "\n── {} · step {step} · {name} ── {url}", escape_control(scenario))?;
        for (index, hop) in exchange.hops.iter().enumerate() {
            if index > 0 {
                writeln!(f, "  then {}", self.url(hop))?;
            }
            self.hop(f, hop)?;
        }
        writeln!(f, "  {}", timing(exchange))?;
        for Extracted { variable, value, missing } in &exchange.extracted {
            let value = value.as_ref().map(|value| self.line(&self.text(value)));
            match (value, missing) {
                (Some(value), None) => writeln!(f, "  {variable} = {value}")?,
                (Some(value), Some(why)) => {
                    writeln!(f, "  {variable} = {value} (the default: {})", self.text(why))?;
                }
                (None, why) => {
                    let why = why.as_deref().unwrap_or_default();
                    writeln!(f, "  {variable}: {}", self.text(why))?;
                }
            }
        }
        for (check, warn, passed) in &exchange.checks {
            let check = self.text(check);
            match passed {
                Ok(true) => writeln!(f, "  ✓ {check}")?,
                Ok(false) if *warn => writeln!(f, "  ! {check} (warning only)")?,
                Ok(false) => writeln!(f, "  ✗ {check}")?,
                Err(reason) => writeln!(f, "  ✗ {check}: {}", self.text(reason))?,
            }
        }
        if let Some((kind, detail)) = &exchange.error {
            let detail = self.text(detail);
            let colon = if detail.is_empty() { "" } else { ": " };
            writeln!(f, "  FAILED {}{colon}{detail}\n         {}", kind.label(), kind.explain())?;
        }
        Ok(())
    }
}

impl ExchangeText<'_> {
    fn hop(&self, f: &mut Formatter<'_>, hop: &ExchangeCopy) -> fmt::Result {
        let secrets = &self.exchange.secrets;
        self.lines(f, "  > ", &masked_request(hop, secrets))?;
        self.lines(f, "  < ", &masked_head(hop, secrets))?;
        if !hop.body.is_empty() {
            self.lines(f, "  | ", &masked_body(hop, secrets))?;
        }
        if hop.body_bytes > hop.body.len() as u64 {
            writeln!(f, "  | … {} in total", units::bytes(hop.body_bytes))?;
        }
        Ok(())
    }

    /// Writes a text as lines, each after a mark; long ones are truncated.
    fn lines(&self, f: &mut Formatter<'_>, mark: &str, all: &str) -> fmt::Result {
        let all = all.trim_end();
        let most = if self.full { usize::MAX } else { MAX_SHOWN_LINES };
        for line in all.lines().take(most) {
            writeln!(f, "{mark}{}", self.line(&escape_control(line)))?;
        }
        match all.lines().count().saturating_sub(most) {
            0 => Ok(()),
            more => writeln!(f, "{mark}… {more} more lines"),
        }
    }

    /// A text without secrets, and without what a terminal would obey.
    fn text(&self, text: &str) -> String {
        escape_control(&self.exchange.secrets.mask(text)).into_owned()
    }

    /// Where a request went, likewise.
    fn url(&self, hop: &ExchangeCopy) -> String {
        escape_control(&masked_url(hop, &self.exchange.secrets)).into_owned()
    }

    /// A line, truncated to the longest length unless all is shown.
    fn line(&self, line: &str) -> String {
        match line.char_indices().nth(MAX_LINE_LENGTH) {
            Some((end, _)) if !self.full => format!("{}…", &line[..end]),
            _ => line.to_owned(),
        }
    }
}

fn timing(exchange: &Exchange) -> String {
    let mut words = vec![units::time(exchange.latency_ns as f64 / 1e3)];
    for (name, time) in exchange.phases.named() {
        words.push(format!("{} {}", name.replace('_', " "), units::time(time)));
    }
    if exchange.last().is_some_and(|hop| hop.reused) {
        words.push("connection reused".to_owned());
    }
    words.join(", ")
}
