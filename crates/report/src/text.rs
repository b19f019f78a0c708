//! A run as text for a terminal of 80 to 200 columns. The outcome is the first line; then come the thresholds with what was
//! measured, the requests, the errors, and a line on how far the numbers can be trusted. All else is shown on request.

mod brief;
mod columns;
mod fleet;
mod full;
mod outcome;
mod paragraph;
mod show;
mod table;
mod target;
mod width;

use squall_base::units::{count, counted, time};

use crate::document::{NONE, RunDocument, RunPhase};
use outcome::outcome;
use paragraph::log_line;
pub use paragraph::paragraph;
pub use show::Show;
pub(crate) use show::phase_text;
use show::{MAX_LOG_SHOWN, more};
pub(crate) use width::{begin, pad, shorten, text_width};

/// The result as a person reads it.
pub fn text(run: &RunDocument, show: &Show) -> String {
    let mut out = String::new();
    outcome(&mut out, run, show);
    match show.full || show.explain {
        true => full(&mut out, run, show),
        false => brief(&mut out, run, show),
    }
    out
}

/// What a tester asks first.
fn brief(out: &mut String, run: &RunDocument, show: &Show) {
    brief::head(out, run, show.width());
    fleet::line(out, run, show);
    warnings(out, run, show);
    outcome::thresholds(out, run, show);
    out.push('\n');
    failed_phases(out, run, show);
    if run.validity != NONE {
        table::busiest(out, run, show);
        target::target(out, run, show);
        fleet::tables(out, run, show);
        brief::errors(out, run, show);
    }
    brief::validity(out, run, show);
}

/// Everything that is known.
fn full(out: &mut String, run: &RunDocument, show: &Show) {
    let width = show.width();
    out.push('\n');
    head(out, run, width);
    failed_phases(out, run, show);
    if run.validity != NONE {
        fleet::line(out, run, show);
        fleet::events(out, run, show);
        full::load(out, run, show);
        target::target(out, run, show);
        fleet::tables(out, run, show);
    }
    warnings(out, run, show);
    if show.explain {
        full::definitions(out, run, width);
    }
    outcome::thresholds(out, run, show);
    full::validity(out, run, show);
}

/// What the tester should know.
fn warnings(out: &mut String, run: &RunDocument, show: &Show) {
    for warning in &run.warnings {
        paragraph(out, " warning     ", warning, show.width());
    }
}

/// What a setup or a teardown that failed did: its requests and its log; with everything also of one that had errors.
fn failed_phases(out: &mut String, run: &RunDocument, show: &Show) {
    let failed = |phase: &&RunPhase| {
        phase.end == "failed" || (phase.errors > 0 && (show.full || show.explain))
    };
    for phase in run.run_phases.iter().filter(|phase| phase.phase != "load").filter(failed) {
        table::phase(out, phase, show);
        for line in phase.log.iter().take(MAX_LOG_SHOWN) {
            log_line(out, line, show.width());
        }
        more(out, phase.log.len().saturating_sub(MAX_LOG_SHOWN), "lines");
        out.push('\n');
    }
}

fn head(out: &mut String, run: &RunDocument, width: usize) {
    let meta = &run.meta;
    let users = run.counters.get("users_active").copied().unwrap_or(0);
    let (workers, end) = (meta.workers(), if run.finished { "" } else { ", broken off" });
    let end = if run.interrupted { ", interrupted" } else { end };
    let plan = shorten(&meta.plan, 60);
    let first = match run.validity == NONE {
        true if !run.finished => format!("{plan}: no result was written yet{end}"),
        true => format!("{plan}: no load ran{end}"),
        false => format!(
            "{plan}: {}{end}, {}, peak users {}",
            time(run.elapsed_s * 1e6),
            counted(workers, "worker"),
            count(users)
        ),
    };
    paragraph(out, "", &first, width);
    if let Some(target) = &meta.target {
        paragraph(out, " target      ", target, width);
    }
    for scenario in &meta.scenarios {
        let text = match meta.scenarios.len() {
            1 => scenario.load.clone(),
            _ => format!("{}: {}", scenario.name, scenario.load),
        };
        paragraph(out, " load        ", &text, width);
    }
    for phase in run.run_phases.iter().filter(|phase| phase.phase != "load") {
        let label = format!(" {:<12}", phase.phase);
        paragraph(out, &label, &phase_text(phase), width);
    }
    if run.interrupted {
        let text = "the run was interrupted: these are the results up to then";
        paragraph(out, " note        ", text, width);
    }
    out.push('\n');
}
