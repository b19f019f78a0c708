//! `squall try`: one user, one iteration, every request and answer shown, secrets masked. It is how
//! a plan is written and debugged.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use squall_engine::{Event, Exchange, Part, RunOptions, Stopper, Trace};

use crate::args::Try;
use crate::exit::{Exit, Failure, Outcome};
use crate::out;
use crate::{builtin, plans, run};

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
    let shared = plans::network(&loaded.plan, &loaded.sources, &programs)?;
    let secrets = Arc::new(loaded.plan.secrets());
    let failed = Arc::new(AtomicUsize::new(0));
    for part in [Part::Setup, Part::Trial, Part::Teardown] {
        if !run::has_steps(&loaded.plan, part) {
            continue;
        }
        let program = plans::compile(&loaded.plan, &loaded.sources, part, &options)?;
        let (shown_secrets, failed) = (secrets.clone(), failed.clone());
        let trace = Trace::new(move |exchange| {
            failed.fetch_add(usize::from(exchange.error.is_some()), Ordering::Relaxed);
            out::print(&mask(show(&exchange), &shown_secrets));
        });
        let run_options = RunOptions { workers: 1 };
        let ended = squall_engine::run(
            program,
            shared.clone(),
            &run_options,
            &Stopper::default(),
            Some(trace),
            |event| {
                if let Event::Log(lines) = event {
                    lines.iter().for_each(|line| {
                        out::print(&mask(format!("log  {}\n", line.text), &secrets))
                    });
                }
            },
        )
        .map_err(Failure::incomplete)?;
        if let Some(reason) = ended.failures.first() {
            return Err(Failure::incomplete(reason));
        }
        if part == Part::Setup {
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

/// Replaces every secret by stars.
fn mask(mut text: String, secrets: &[String]) -> String {
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret.as_str(), "***");
    }
    text
}

/// An exchange as a person reads it.
fn show(exchange: &Exchange) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n── {} ── {}", exchange.name, exchange.origin);
    lines(&mut text, "  > ", &exchange.request);
    lines(&mut text, "  < ", &exchange.head);
    if !exchange.body.is_empty() {
        lines(&mut text, "  | ", &exchange.body);
    }
    if exchange.body_bytes > exchange.body.len() as u64 {
        let _ = writeln!(text, "  | … {} bytes in all", exchange.body_bytes);
    }
    let _ = writeln!(text, "  {}", timing(exchange));
    for (name, value) in &exchange.extracted {
        let _ = match value {
            Ok(value) => writeln!(text, "  {name} = {}", cut(value)),
            Err(reason) => writeln!(text, "  {name}: {reason}"),
        };
    }
    for (check, warn, held) in &exchange.checks {
        let _ = match held {
            Ok(true) => writeln!(text, "  ✓ {check}"),
            Ok(false) if *warn => writeln!(text, "  ! {check} (only a warning)"),
            Ok(false) => writeln!(text, "  ✗ {check}"),
            Err(reason) => writeln!(text, "  ✗ {check}: {reason}"),
        };
    }
    if let Some((kind, detail)) = &exchange.error {
        let _ = writeln!(text, "  FAILED {}: {detail}\n         {}", kind.label(), kind.explain());
    }
    text
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

/// Bytes as lines, each behind a mark; what is long is cut.
fn lines(text: &mut String, mark: &str, bytes: &[u8]) {
    let all = String::from_utf8_lossy(bytes);
    let all = all.trim_end();
    for line in all.lines().take(BODY_LINES) {
        let _ = writeln!(text, "{mark}{}", cut(line));
    }
    let more = all.lines().count().saturating_sub(BODY_LINES);
    if more > 0 {
        let _ = writeln!(text, "{mark}… {more} more lines");
    }
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
