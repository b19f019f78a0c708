//! `squall limit`: finds the highest load at which a plan's target meets its requirements, and prints it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};

use squall_base::units::counted;
use squall_limit::{LevelKind, LoadStep, SearchEnd};
use squall_report::Around;
use squall_runner::{
    Handle, LimitNotice, LimitOptions, LimitOutcome, LimitParts, PhaseEnd, PhaseReport,
};

use crate::args::{self, Raised};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::generator::{self, Generator};
use crate::{out, plan_monitors, plans, signals};

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
        folder: Some(args.out.clone()),
    };
    let mut options = args.runtime.options(args.variables.options());
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let mut tell = |notice: LimitNotice<'_>| match notice {
        LimitNotice::Warning(text) => out::message(text),
        LimitNotice::Step { step, by, number, most } if !args.quiet => {
            out::message(&line(step, by, number, most));
        }
        LimitNotice::Step { .. } => {}
    };
    if loaded.plan.profile.is_some() {
        out::message(
            "the plan's `profile` is left out: a search has many loads; run the plan at the level in question\n",
        );
    }
    let json = args.json.as_deref().filter(|path| *path != "-").map(Json::open).transpose()?;
    let Generator { source, local } = generator::generator(&args.fleet, &loaded, &mut options)?;
    let monitors = plan_monitors::maker(&loaded, &args.monitors.typed, options.allow_exec)?;
    let parts = LimitParts { source: &*source, monitors: &monitors };
    let found = squall_runner::limit_with(&loaded, &options, &asked, parts, &handle, &mut tell);
    drop(local);
    let outcome = found?;
    conclude(args, outcome, json)
}

/// A file for the result.
struct Json<'a> {
    path: &'a str,
    file: File,
}

impl<'a> Json<'a> {
    /// It is better to know before the search that there will be no result. What the file holds stays until there is one.
    fn open(path: &'a str) -> Result<Json<'a>, CommandError> {
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let file =
            opened.map_err(|error| CommandError::bad_input(format!("--json {path}: {error}")))?;
        Ok(Json { path, file })
    }

    fn write(mut self, text: &str) -> Result<(), String> {
        let written = self.empty().and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| format!("{}: {error}", self.path))
    }

    /// A pipe or a device has no length.
    fn empty(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }
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
    let level = match by {
        LevelKind::Users => counted(step.level.round() as u64, "user"),
        LevelKind::Rate | LevelKind::Factor => squall_report::level_text(by, step.level),
    };
    let results: Vec<String> = results.into_iter().chain(step.behind()).collect();
    let outcome = step.outcome().label();
    format!(" step {number} of at most {of}: {level}, {}: {outcome}\n", results.join(", "))
}

/// Prints the result and returns the exit code.
fn conclude(args: &args::Limit, outcome: LimitOutcome, file: Option<Json<'_>>) -> CommandResult {
    let run_phases = outcome.run_phases();
    let LimitOutcome { meta, limit, mut failures, phases, folder } = outcome;
    let around = Around { phases: &run_phases, failures: &failures };
    let json = format!("{:#}\n", squall_report::limit_json(&limit, &meta, around));
    if args.json.as_deref() == Some("-") {
        out::print(&json);
    } else {
        out::print(&squall_report::limit_text(&limit, &meta, around));
        if let Some(folder) = folder {
            out::print(&format!(" folder         {}\n", folder.display()));
        }
    }
    failures.extend(file.and_then(|file| file.write(&json).err()));
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
        SearchEnd::Generator | SearchEnd::SetupFailed => Exit::Incomplete,
        SearchEnd::NeverMet | SearchEnd::NotRecovered => Exit::Failed,
        _ => Exit::Ok,
    })
}

#[cfg(test)]
mod tests {
    use squall_limit::Arrivals;

    use super::*;

    fn step(level: f64) -> LoadStep {
        LoadStep {
            level,
            seconds: 1.0,
            throughput: 1.0,
            requests: 1.0,
            concurrency: 1.0,
            mean_us: 1.0,
            p50_us: 1.0,
            p99_us: 1.0,
            error_rate: 0.0,
            requirements: Vec::new(),
            keeps_up: true,
            arrivals: Arrivals::default(),
            generator: Vec::new(),
            machine_full: None,
            monitored: Vec::new(),
        }
    }

    #[test]
    fn one_user_is_no_plural() {
        let shown = |level, by| line(&step(level), by, 1, 50);
        assert!(shown(1.0, LevelKind::Users).starts_with(" step 1 of at most 50: 1 user, "));
        assert!(shown(2_000.0, LevelKind::Users).contains(": 2,000 users, "));
        assert!(shown(1.0, LevelKind::Rate).contains(": 1.00/s, "));
    }

    /// A step that meets all requirements and is violated says why.
    #[test]
    fn a_step_that_fell_behind_says_so() {
        let arrivals = Arrivals { rate: None, due: 400, dropped: 100 };
        let step = LoadStep { keeps_up: false, arrivals, ..step(2.0) };
        let shown = line(&step, LevelKind::Factor, 1, 50);
        let expected = " step 1 of at most 50: 2.00x, 100 of 400 arrivals were dropped: violated\n";
        assert_eq!(shown, expected);
    }
}
