//! What monitors sampled of the target: a line for each metric under the name of its monitor.

use squall_base::units::count;

use super::columns::Columns;
use super::show::Show;
use crate::document::RunDocument;
use crate::target::{SampledMetric, SampledTarget, sampled};

/// The usual width of a value.
const VALUE: usize = 11;
/// Most monitors that are shown, and most metrics of one with everything.
const MAX_MONITORS: usize = 8;
const MAX_METRICS: usize = 40;

/// The monitors with their main metrics, or with all; nothing without monitors.
pub(super) fn target(out: &mut String, run: &RunDocument, show: &Show) {
    let all = sampled(run);
    if all.is_empty() {
        return;
    }
    let mut columns = Columns::new(show.width(), vec![VALUE; 4]);
    let titles = ["mean", "max", "last", "full at"].map(str::to_owned);
    columns.cells("target", titles.to_vec());
    for own in all.iter().take(MAX_MONITORS) {
        monitor(&mut columns, own, show.full);
    }
    let more = all.len().saturating_sub(MAX_MONITORS);
    if more > 0 {
        columns.across(format!("and {} more monitors, in run.json", count(more as u64)));
    }
    columns.write(out);
    out.push('\n');
}

fn monitor(columns: &mut Columns, own: &SampledTarget<'_>, is_full: bool) {
    columns.across(own.monitor);
    let all: Vec<&SampledMetric<'_>> = own.metrics.iter().filter(|own| !own.is_bound).collect();
    let (shown, whole) = match is_full {
        true => (all.iter().take(MAX_METRICS).copied().collect(), "in run.json"),
        false => (own.main(), "--full"),
    };
    for own in &shown {
        let cells = [own.row.mean, own.row.max, own.row.last, own.full_at];
        let full = if own.was_full() { " (was full)" } else { "" };
        let mut cells = cells.map(|value| own.show(value)).to_vec();
        if own.full_at.is_none() {
            cells.pop();
        }
        columns.cells(format!("  {}{full}", own.label), cells);
    }
    let more = all.len() - shown.len();
    if more > 0 {
        columns.across(format!("  and {} more ({whole})", count(more as u64)));
    }
}
