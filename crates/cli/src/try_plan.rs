//! `squall try`: runs one iteration of one virtual user and shows every request and response with its
//! secrets masked. It is how a plan is written and debugged.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use squall_base::{escape_control, units};
use squall_engine::Exchange;
use squall_plan::secrets::Secrets;
use squall_runner::{Tried, masked_body, masked_head, masked_request};

use crate::args::Try;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans};

/// Most bytes of a message that are shown.
const MAX_SHOWN_BYTES: usize = 16 << 10;
/// Most lines of a message that are shown.
const MAX_SHOWN_LINES: usize = 12;
/// Most characters of a line that are shown.
const MAX_LINE_LENGTH: usize = 160;

/// Tries a plan.
pub fn command(args: &Try) -> CommandResult {
    let mut loaded = plans::load(&args.plan, &args.variables)?;
    if let Some(name) = &args.scenario {
        let known: Vec<String> =
            loaded.plan.scenarios.iter().map(|scenario| scenario.name.value.clone()).collect();
        loaded.plan.scenarios.retain(|scenario| scenario.name.value == *name);
        if loaded.plan.scenarios.is_empty() {
            let text = format!("unknown scenario `{name}`: the plan has {}", known.join(", "));
            return Err(CommandError::bad_input(text));
        }
    }
    let failed = Arc::new(AtomicUsize::new(0));
    let counted = failed.clone();
    let options = args.variables.options();
    squall_runner::try_plan(&loaded, &options, MAX_SHOWN_BYTES, move |tried| match tried {
        Tried::Warning(text) => out::message(text),
        Tried::Log(text) => out::print(&format!("log  {}\n", escape_control(text))),
        Tried::Exchange(exchange, secrets) => {
            counted.fetch_add(usize::from(exchange.error.is_some()), Ordering::Relaxed);
            out::print(&ExchangeText { exchange, secrets }.to_string());
        }
    })?;
    match failed.load(Ordering::Relaxed) {
        0 => Ok(Exit::Ok),
        count => {
            out::print(&format!("\n{count} of the requests failed\n"));
            Ok(Exit::Failed)
        }
    }
}

/// An exchange as a person reads it, with its secrets masked.
struct ExchangeText<'a> {
    exchange: &'a Exchange,
    secrets: &'a Secrets,
}

impl Display for ExchangeText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ExchangeText { exchange, secrets } = self;
        let shown = |text: &str| escape_control(&secrets.mask(text)).into_owned();
        writeln!(f, "\n── {} ── {}", shown(&exchange.name), exchange.origin)?;
        self.lines(f, "  > ", &masked_request(exchange, secrets))?;
        self.lines(f, "  < ", &masked_head(exchange, secrets))?;
        if !exchange.body.is_empty() {
            self.lines(f, "  | ", &masked_body(exchange, secrets))?;
        }
        if exchange.body_bytes > exchange.body.len() as u64 {
            writeln!(f, "  | … {} in total", units::bytes(exchange.body_bytes))?;
        }
        writeln!(f, "  {}", timing(exchange))?;
        for (name, value) in &exchange.extracted {
            match value {
                Ok(value) => writeln!(f, "  {name} = {}", truncated(&secrets.mask(value)))?,
                Err(reason) => writeln!(f, "  {name}: {}", shown(reason))?,
            }
        }
        for (check, warn, passed) in &exchange.checks {
            let check = shown(check);
            match passed {
                Ok(true) => writeln!(f, "  ✓ {check}")?,
                Ok(false) if *warn => writeln!(f, "  ! {check} (warning only)")?,
                Ok(false) => writeln!(f, "  ✗ {check}")?,
                Err(reason) => writeln!(f, "  ✗ {check}: {}", shown(reason))?,
            }
        }
        if let Some((kind, detail)) = &exchange.error {
            let detail = shown(detail);
            writeln!(f, "  FAILED {}: {detail}\n         {}", kind.label(), kind.explain())?;
        }
        Ok(())
    }
}

impl ExchangeText<'_> {
    /// Writes a text as lines, each after a mark; long ones are truncated.
    fn lines(&self, f: &mut Formatter<'_>, mark: &str, all: &str) -> fmt::Result {
        let all = all.trim_end();
        for line in all.lines().take(MAX_SHOWN_LINES) {
            writeln!(f, "{mark}{}", truncated(line))?;
        }
        match all.lines().count().saturating_sub(MAX_SHOWN_LINES) {
            0 => Ok(()),
            more => writeln!(f, "{mark}… {more} more lines"),
        }
    }
}

fn timing(exchange: &Exchange) -> String {
    let mut words = vec![units::time(exchange.latency_ns as f64 / 1e3)];
    for (name, time) in exchange.phases.named() {
        words.push(format!("{} {}", name.replace('_', " "), units::time(time)));
    }
    if exchange.reused {
        words.push("connection reused".to_owned());
    }
    words.join(", ")
}

/// A line with control characters escaped, truncated to the longest length.
fn truncated(line: &str) -> String {
    let line = escape_control(line);
    let mut short: String = line.chars().take(MAX_LINE_LENGTH).collect();
    if line.chars().count() > MAX_LINE_LENGTH {
        short.push('…');
    }
    short
}
