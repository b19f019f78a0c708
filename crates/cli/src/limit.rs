//! `squall limit`: finds the highest load at which a plan's target meets its requirements, and prints it.

use squall_base::units::{count, rate};
use squall_limit::{LevelKind, LoadStep, SearchEnd};
use squall_runner::{Handle, LimitNotice, LimitOptions, LimitOutcome, Options};

use crate::args::{self, Mode, Raised};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans, signals};

/// Finds the sustained maximum, or runs the other modes.
pub fn command(args: &args::Limit) -> CommandResult {
    let loaded = plans::load(&args.plan, &args.variables)?;
    let by = args.by.map(|raised| match raised {
        Raised::Rate => LevelKind::Rate,
        Raised::Users => LevelKind::Users,
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
    };
    let options = Options {
        folder: Some(args.out.clone()),
        ..args.runtime.options(args.variables.options())
    };
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let (plan, sources) = (&loaded.plan, &loaded.sources);
    let mut tell = |notice: LimitNotice<'_>| match notice {
        LimitNotice::Warning(text) => out::message(text),
        LimitNotice::Step { step, by, number, most } if !args.quiet => {
            out::message(&line(step, by, number, most));
        }
        LimitNotice::Step { .. } => {}
    };
    let outcome = squall_runner::limit(plan, sources, &options, &asked, &handle, &mut tell)?;
    conclude(args, outcome)
}

/// A level as it was typed.
fn number(text: &str, by: LevelKind, flag: &str) -> Result<f64, CommandError> {
    let bad = || {
        let form = if by == LevelKind::Rate {
            "a rate, such as 50/s"
        } else {
            "a number of users, such as 50"
        };
        CommandError::bad_input(format!("{flag} {text}: expected {form}"))
    };
    let number = match by {
        LevelKind::Rate => args::rate(text).map_err(|_| bad())?,
        LevelKind::Users => text.parse::<u32>().map(f64::from).map_err(|_| bad())?,
    };
    if number > 0.0 { Ok(number) } else { Err(bad()) }
}

/// What is shown of a step when it is done.
fn line(step: &LoadStep, by: LevelKind, number: usize, of: usize) -> String {
    let results: Vec<String> = step
        .requirements
        .iter()
        .map(|result| format!("{} ({})", result.text, result.shown))
        .collect();
    let level = match by {
        LevelKind::Rate => rate(step.level),
        LevelKind::Users => format!("{} users", count(step.level as u64)),
    };
    let outcome = step.outcome().label();
    format!(" step {number} of at most {of}: {level}, {}: {outcome}\n", results.join(", "))
}

/// Prints the result and returns the exit code.
fn conclude(args: &args::Limit, outcome: LimitOutcome) -> CommandResult {
    let LimitOutcome { limit, broken, mut failures, folder, teardown } = outcome;
    let json = format!("{:#}\n", squall_report::limit_json(&limit));
    match args.json.as_deref() {
        Some("-") => out::print(&json),
        Some(path) => {
            let written = std::fs::write(path, &json);
            failures.extend(written.err().map(|error| format!("{path}: {error}")));
        }
        None => {}
    }
    if args.json.as_deref() != Some("-") {
        out::print(&squall_report::limit_text(&limit));
        if let Some(folder) = folder {
            out::print(&format!(" folder         {}\n", folder.display()));
        }
    }
    let mut errors: Vec<CommandError> =
        broken.into_iter().chain(teardown).map(CommandError::from).collect();
    if !failures.is_empty() {
        errors.push(CommandError::incomplete(failures.join("; ")));
    }
    if !errors.is_empty() {
        let first = errors.remove(0);
        errors.iter().for_each(|error| out::message(&format!("{}\n", error.text)));
        return Err(first);
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
