//! What was measured in a run: its values, from its folder.

use std::path::Path;

use squall_analysis::{FailureKind, RunMeasure, Steady, Totals, Unsteady, Validity, Warmup};
use squall_report::{Recording, Run, load_folder};

use crate::counting::Counting;

/// The values of a run.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Of each measure; `None`: nothing of it was recorded.
    pub values: Vec<Option<f64>>,
    /// The rules by which they are invalid, although they count.
    pub counted_invalid: Vec<String>,
    /// What is to be known of them.
    pub warnings: Vec<String>,
}

/// Why a run does not count, although it was made.
pub(crate) type NotCounted = String;

/// The values of a run that is over.
///
/// # Errors
/// The run failed, or its numbers are invalid, in a sentence.
pub(crate) fn measured(
    folder: &Path,
    measures: &[RunMeasure],
    counting: &Counting,
) -> Result<Measured, NotCounted> {
    let (run, mut recording) = load_folder(folder).map_err(|error| error.to_string())?;
    if let Some(why) = failure(&run) {
        return Err(why);
    }
    let counted_invalid = counting
        .rules(&run.reasons)
        .map_err(|own| format!("its numbers are invalid: {}", own.observed))?;
    let mut warnings: Vec<String> = doubts(&run);
    let part = measured_part(&run)?;
    if let Some((from, _)) = part.filter(|(from, _)| *from > 0) {
        warnings.push(format!("measured without its first {from} s, its warm-up"));
    }
    let (totals, elapsed_s) = match part {
        None => (run.totals.as_ref().clone(), run.elapsed_s),
        Some((from, to)) => (totals_of(&mut recording, from, to)?, f64::from(to - from)),
    };
    let values: Vec<Option<f64>> =
        measures.iter().map(|measure| measure.value(&totals, elapsed_s)).collect();
    let missing = measures.iter().zip(&values).filter(|(_, value)| value.is_none());
    warnings.extend(
        missing.map(|(own, _)| format!("measure `{}`: nothing of it was recorded", own.text())),
    );
    Ok(Measured { values, counted_invalid, warnings })
}

/// Why a run failed; `None`: it did not. That a threshold failed is a result like another: a variant that is slower may be
/// too slow.
fn failure(run: &Run) -> Option<String> {
    let outcome = run.outcome();
    let reasons = outcome.reasons.iter().filter(|own| own.kind != FailureKind::Threshold);
    let reasons: Vec<&str> = reasons.map(|own| own.text.as_str()).collect();
    if run.interrupted {
        return Some("the run was interrupted".to_owned());
    }
    (!reasons.is_empty()).then(|| format!("the run failed: {}", reasons.join("; ")))
}

/// What is doubtful about the numbers of a run that counts, and which thresholds it did not pass.
fn doubts(run: &Run) -> Vec<String> {
    let doubts = run.reasons.iter().filter_map(|own| match own.validity() {
        Validity::Valid => None,
        Validity::Questionable => Some(format!("its numbers are questionable: {}", own.observed)),
        Validity::Invalid => Some(format!("its numbers are invalid, and count: {}", own.observed)),
    });
    let outcome = run.outcome();
    let failed = outcome.reasons.into_iter().map(|own| own.text);
    doubts.chain(failed).collect()
}

/// The seconds of a run that are measured: without its warm-up. `None`: all of it, as it has none, or is too short for the rule
/// that finds it.
fn measured_part(run: &Run) -> Result<Option<(u32, u32)>, NotCounted> {
    let warmup = run.meta.shape().warmup;
    let end = squall_analysis::whole_seconds(run.elapsed_s);
    let part = match (warmup, run.steady) {
        (Warmup::None, _) | (Warmup::Auto, None) => return Ok(None),
        (Warmup::Auto, Some(Steady { unsteady: Some(Unsteady::Short), .. })) => return Ok(None),
        (_, Some(Steady { from, to, .. })) => (from, to),
        (Warmup::Fixed(seconds), None) => (seconds.ceil() as u32, end),
    };
    match part.0 < part.1 {
        true => Ok(Some(part)),
        false => Err(format!("its warm-up of {} s leaves nothing of it", part.0)),
    }
}

/// The totals of some seconds of a run.
fn totals_of(recording: &mut Recording, from: u32, to: u32) -> Result<Totals, NotCounted> {
    let mut totals = Totals::new();
    let read = recording.replay(|slice| {
        // The names of what is counted later may stand in any slice.
        match (from..to).contains(&slice.second) {
            true => drop(totals.add(slice)),
            false => totals.learn(slice),
        }
    });
    match read {
        Ok(None) => Ok(totals),
        Ok(Some(why)) => Err(format!("slices.bin: {why}")),
        Err(error) => Err(format!("slices.bin: {error}")),
    }
}
