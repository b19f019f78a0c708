//! `squall try`: one user, one iteration, every request and answer shown, secrets masked. It is how
//! a plan is written and debugged.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use squall_engine::{Event, Exchange, RunOptions, Section, Stopper, Trace, Which};
use squall_plan::secrets::Secrets;
use squall_wire::Io;

use crate::args::Try;
use crate::exit::{Exit, Failure, Outcome};
use crate::{builtin, mask, once, out, plans};

/// Bytes of a message that are looked at.
const SHOWN_BYTES: usize = 16 << 10;
/// Lines of a body that are shown.
const BODY_LINES: usize = 12;
/// Characters of a line that are shown.
const LINE_LENGTH: usize = 160;

/// Tries a plan.
pub fn command(args: &Try) -> Outcome {
    let mut loaded = plans::load(&args.plan, &args.variables)?;
    if let Some(name) = &args.scenario {
        let known: Vec<String> =
            loaded.plan.scenarios.iter().map(|scenario| scenario.name.value.clone()).collect();
        loaded.plan.scenarios.retain(|scenario| scenario.name.value == *name);
        if loaded.plan.scenarios.is_empty() {
            let text = format!("no scenario `{name}`: the plan has {}", known.join(", "));
            return Err(Failure::bad_input(text));
        }
    }
    let destination = builtin::destination(&loaded.plan, &args.variables)?;
    let mut options = plans::options(&args.variables, destination.url.clone(), Vec::new());
    let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
    let shared = plans::network(&loaded.plan, &loaded.sources, &programs, Io::Auto)?;
    let failed = Arc::new(AtomicUsize::new(0));
    for part in [Section::Setup, Section::Trial, Section::Teardown] {
        if !once::has_steps(&loaded.plan, part) {
            continue;
        }
        let program = plans::compile(&loaded.plan, &loaded.sources, part, &options)?;
        let (secrets, failed) = (program.secrets.clone(), failed.clone());
        let shown_secrets = secrets.clone();
        let trace = Trace::new(Which::All, SHOWN_BYTES, move |exchange| {
            failed.fetch_add(usize::from(exchange.error.is_some()), Ordering::Relaxed);
            out::print(&Shown { exchange: &exchange, secrets: &shown_secrets }.to_string());
        });
        let run_options = RunOptions::default();
        let ended = squall_engine::run(
            program,
            shared.clone(),
            &run_options,
            &Stopper::default(),
            Some(trace),
            |event| {
                if let Event::Log(lines) = event {
                    lines.iter().for_each(|line| {
                        out::print(&format!("log  {}\n", secrets.mask(&line.text)));
                    });
                }
            },
        )
        .map_err(Failure::incomplete)?;
        if let Some(reason) = ended.failures.first() {
            return Err(Failure::incomplete(reason));
        }
        if part == Section::Setup {
            options.setup = ended.variables;
        }
    }
    match failed.load(Ordering::Relaxed) {
        0 => Ok(Exit::Ok),
        count => {
            out::print(&format!("\n{count} of the requests failed\n"));
            Ok(Exit::Failed)
        }
    }
}

/// An exchange as a person reads it, without its secrets.
struct Shown<'a> {
    exchange: &'a Exchange,
    secrets: &'a Secrets,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown { exchange, secrets } = self;
        writeln!(f, "\n── {} ── {}", secrets.mask(&exchange.name), exchange.origin)?;
        self.lines(f, "  > ", &exchange.request)?;
        self.lines(f, "  < ", &exchange.head)?;
        if !exchange.body.is_empty() {
            self.lines(f, "  | ", &exchange.body)?;
        }
        if exchange.body_bytes > exchange.body.len() as u64 {
            writeln!(f, "  | … {} bytes in all", exchange.body_bytes)?;
        }
        writeln!(f, "  {}", timing(exchange))?;
        for (name, value) in &exchange.extracted {
            match value {
                Ok(value) => writeln!(f, "  {name} = {}", cut(&secrets.mask(value)))?,
                Err(reason) => writeln!(f, "  {name}: {}", secrets.mask(reason))?,
            }
        }
        for (check, warn, held) in &exchange.checks {
            let check = secrets.mask(check);
            match held {
                Ok(true) => writeln!(f, "  ✓ {check}")?,
                Ok(false) if *warn => writeln!(f, "  ! {check} (only a warning)")?,
                Ok(false) => writeln!(f, "  ✗ {check}")?,
                Err(reason) => writeln!(f, "  ✗ {check}: {}", secrets.mask(reason))?,
            }
        }
        if let Some((kind, detail)) = &exchange.error {
            let detail = secrets.mask(detail);
            writeln!(f, "  FAILED {}: {detail}\n         {}", kind.label(), kind.explain())?;
        }
        Ok(())
    }
}

impl Shown<'_> {
    /// Bytes as lines, each behind a mark; what is long is cut.
    fn lines(&self, f: &mut Formatter<'_>, mark: &str, bytes: &[u8]) -> fmt::Result {
        let all = mask::message(bytes, self.secrets);
        let all = all.trim_end();
        for line in all.lines().take(BODY_LINES) {
            writeln!(f, "{mark}{}", cut(line))?;
        }
        match all.lines().count().saturating_sub(BODY_LINES) {
            0 => Ok(()),
            more => writeln!(f, "{mark}… {more} more lines"),
        }
    }
}

fn timing(exchange: &Exchange) -> String {
    let mut words = vec![format!("{:.1} ms", exchange.latency_us as f64 / 1e3)];
    for (name, time) in exchange.phases.named() {
        words.push(format!("{name} {:.1}", time as f64 / 1e3));
    }
    if exchange.reused {
        words.push("connection used again".to_owned());
    }
    words.join(", ")
}

/// A line, made printable, and not too long.
fn cut(line: &str) -> String {
    let mut short: String =
        line.chars().take(LINE_LENGTH).map(|c| if c.is_control() { '·' } else { c }).collect();
    if line.chars().count() > LINE_LENGTH {
        short.push('…');
    }
    short
}
