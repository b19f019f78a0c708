//! `squall limit`: finds the highest load at which a plan's target meets its requirements, and prints it.

use squall_limit::{LevelKind, LoadStep, SearchEnd};
use squall_runner::{Handle, LimitNotice, LimitOptions, LimitOutcome, PhaseEnd, PhaseReport};

use crate::args::{self, Mode, Raised};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans, signals};

/// Finds the sustained maximum, or runs the other modes.
pub fn command(args: &args::Limit) -> CommandResult {
    let loaded = plans::load(&args.plan, &args.variables)?;
    let by = args.by.map(|raised| match raised {
        Raised::Rate => LevelKind::Rate,
        Raised::Users => LevelKind::Users,
        Raised::Factor => LevelKind::Factor,
    });
    let kind = by.unwrap_or_else(|| squall_runner::level_kind(&loaded.plan));
    let level = |text: Option<&String>, flag| text.map(|text| number(text, kind, flag)).transpose();
    let asked = LimitOptions {
        requirements: args.require.clone(),
        by,
        from: level(args.from.as_ref(), "--from")?,
        to: level(args.to.as_ref(), "--to")?,
        step: args.step,
        max_steps: args.steps,
        mode: args.mode.into(),
        folder: Some(args.out.clone()),
    };
    let options = args.runtime.options(args.variables.options());
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let mut tell = |notice: LimitNotice<'_>| match notice {
        LimitNotice::Warning(text) => out::message(text),
        LimitNotice::Step { step, by, number, most } if !args.quiet => {
            out::message(&line(step, by, number, most));
        }
        LimitNotice::Step { .. } => {}
    };
    let outcome = squall_runner::limit(&loaded, &options, &asked, &handle, &mut tell)?;
    conclude(args, outcome)
}

/// A level as it was typed.
fn number(text: &str, by: LevelKind, flag: &str) -> Result<f64, CommandError> {
    let bad = || {
        let form = match by {
            LevelKind::Rate => "a rate, such as 50/s",
            LevelKind::Users => "a number of users, such as 50",
            LevelKind::Factor => "a factor of the plan's loads, such as 0.5 or 2",
        };
        CommandError::bad_input(format!("{flag} {text}: expected {form}"))
    };
    let number = match by {
        LevelKind::Rate => args::rate(text).map_err(|_| bad())?,
        LevelKind::Users => text.parse::<u32>().map(f64::from).map_err(|_| bad())?,
        LevelKind::Factor => text.trim_end_matches('x').parse::<f64>().map_err(|_| bad())?,
    };
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err(bad()) }
}

/// What is shown of a step when it is done.
fn line(step: &LoadStep, by: LevelKind, number: usize, of: usize) -> String {
    let results: Vec<String> = step
        .requirements
        .iter()
        .map(|result| format!("{} ({})", result.text, result.shown))
        .collect();
    let (outcome, level) = (step.outcome().label(), squall_report::level_text(by, step.level));
    let unit = if by == LevelKind::Users { " users" } else { "" };
    format!(" step {number} of at most {of}: {level}{unit}, {}: {outcome}\n", results.join(", "))
}

/// Prints the result and returns the exit code.
fn conclude(args: &args::Limit, outcome: LimitOutcome) -> CommandResult {
    let LimitOutcome { meta, limit, mut failures, phases, folder } = outcome;
    let json = format!("{:#}\n", squall_report::limit_json(&limit, &meta));
    match args.json.as_deref() {
        Some("-") => out::print(&json),
        Some(path) => {
            let written = std::fs::write(path, &json);
            failures.extend(written.err().map(|error| format!("{path}: {error}")));
        }
        None => {}
    }
    if args.json.as_deref() != Some("-") {
        out::print(&squall_report::limit_text(&limit, &meta));
        if let Some(folder) = folder {
            out::print(&format!(" folder         {}\n", folder.display()));
        }
    }
    let interrupted = phases.iter().filter(|report| report.failure().is_none());
    let told: Vec<String> = interrupted.filter_map(PhaseReport::trouble).collect();
    told.iter().for_each(|trouble| out::message(&format!("squall: {trouble}\n")));
    if !failures.is_empty() {
        return Err(CommandError::incomplete(failures.join("; ")));
    }
    if phases.iter().any(|report| report.end != PhaseEnd::Done) {
        return Ok(Exit::Interrupted);
    }
    Ok(match limit.end {
        SearchEnd::Interrupted => Exit::Interrupted,
        SearchEnd::Generator => Exit::Incomplete,
        SearchEnd::NeverMet | SearchEnd::NotRecovered => Exit::Failed,
        _ if args.mode != Mode::Search => {
            let met = limit.steps.iter().all(LoadStep::met);
            if met { Exit::Ok } else { Exit::Failed }
        }
        _ => Exit::Ok,
    })
}
