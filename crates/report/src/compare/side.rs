//! A side of a comparison: what its runs were, and what was measured in them. Reads folders, `run.json` files and
//! baselines.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use squall_analysis::{Estimate, Measure, Measured, RowValues, SketchBuilder, whole_seconds};
use squall_metrics::{HostSample, Place, RowKey, RowKind};

use super::about::RunAbout;
use super::baseline::{decode_baseline, is_baseline};
use super::means::means;
use crate::document::{Known, Row, RunDocument, Times};
use crate::json::document;
use crate::load::{LoadError, MAX_RESULT, load_folder, load_json};
use crate::recording::Recording;

/// A side of a comparison: a run, or several of the same thing.
#[derive(Debug, Clone)]
pub struct Side {
    /// What it is called in the outputs.
    pub name: String,
    /// Its runs: what each is called, and what it was.
    pub runs: Vec<(String, RunAbout)>,
    pub measured: Measured,
}

impl Side {
    /// A side of such runs. A run alone is called as its side is; several are numbered.
    pub fn new(name: &str, runs: Vec<RunAbout>, measured: Measured) -> Side {
        let is_alone = runs.len() == 1;
        let named = |(at, about)| match is_alone {
            true => (name.to_owned(), about),
            false => (format!("{name} ({})", at + 1), about),
        };
        let runs = runs.into_iter().enumerate().map(named).collect();
        Side { name: name.to_owned(), runs, measured }
    }

    /// Reads a run: its folder, its `run.json`, or a baseline, which may be of several.
    ///
    /// # Errors
    /// There is none of them, or another version of squall wrote it.
    pub fn load(path: &Path) -> Result<Side, LoadError> {
        let wrong =
            |reason: &dyn std::fmt::Display| LoadError(format!("{}: {reason}", path.display()));
        let name = run_name(path);
        if path.is_dir() {
            let (run, mut recording) = load_folder(path)?;
            let run = document(&run);
            let about = about(&run, "recording");
            let measured = sketch(&mut recording, about.seconds).map_err(|error| wrong(&error))?;
            return Ok(Side::new(&name, vec![about], measured));
        }
        let bytes = squall_plan::files::bytes(path, MAX_RESULT).map_err(|error| wrong(&error))?;
        if is_baseline(&bytes) {
            let (abouts, sketch) = decode_baseline(&bytes).map_err(|error| wrong(&error))?;
            return Ok(Side::new(&name, abouts, Measured::Blocks(sketch)));
        }
        let run = load_json(path)?;
        Ok(Side::new(&name, vec![about(&run, "result")], Measured::Values(values(&run))))
    }

    /// Several as one.
    ///
    /// # Errors
    /// There is none, or one of several is a `run.json` alone, which has no seconds.
    pub fn pool(name: &str, sides: Vec<Side>) -> Result<Side, LoadError> {
        let alone = sides.iter().find(|side| side.measured.sketch().is_none());
        let alone = alone.map_or("no run is given".to_owned(), |side| {
            let own = &side.name;
            format!("{own}: a run.json alone has no seconds of each row: name the run's folder")
        });
        let (mut runs, mut measured) = (Vec::new(), Vec::new());
        for side in sides {
            runs.extend(side.runs);
            measured.push(side.measured);
        }
        let measured = Measured::pool(measured).ok_or(LoadError(alone))?;
        Ok(Side { name: name.to_owned(), runs, measured })
    }

    /// Calls it otherwise; a run alone is called as its side is.
    pub fn renamed(mut self, name: &str) -> Side {
        if let [(own, _)] = self.runs.as_mut_slice() {
            *own = name.to_owned();
        }
        Side { name: name.to_owned(), ..self }
    }
}

/// The name of a run: its folder's, or that of its file.
pub(crate) fn run_name(path: &Path) -> String {
    let own = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_result = own.file_name().is_some_and(|name| name == "run.json");
    let named = if is_result { own.parent().unwrap_or(&own) } else { &own };
    named
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn about(run: &RunDocument, source: &str) -> RunAbout {
    let whole = (0, u64::from(whole_seconds(run.elapsed_s)));
    let steady = run.steady.as_ref().map(|steady| (steady.from_s, steady.to_s));
    let reasons = run.validity_reasons.iter().filter(|own| own.validity != "valid");
    RunAbout {
        meta: run.meta.clone(),
        elapsed_s: run.elapsed_s,
        finished: run.finished,
        interrupted: run.interrupted,
        passed: run.outcome.passed,
        validity: run.validity.clone(),
        reasons: reasons.map(|own| format!("{}: {}", own.rule, own.observed)).collect(),
        cpu_of_others: cpu_of_others(run),
        seconds: steady.unwrap_or(whole),
        is_steady: steady.is_some(),
        source: source.to_owned(),
        target: means(run),
    }
}

/// The share of a machine's CPU time that others took; of several that of the one where they took most.
fn cpu_of_others(run: &RunDocument) -> Option<f64> {
    let others = run.nodes.iter().filter_map(|node| {
        let mut sample = HostSample::default();
        node.host_metrics.iter().for_each(|(name, value)| sample.set(name, *value));
        sample.cpu_shares().map(|shares| shares.others)
    });
    others.reduce(f64::max)
}

/// What was recorded in some seconds.
fn sketch(recording: &mut Recording, (from, to): (u64, u64)) -> io::Result<Measured> {
    let second = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
    let mut builder = SketchBuilder::new(second(from), second(to));
    recording.replay_latencies(|slice| builder.add(slice))?;
    Ok(Measured::Blocks(builder.finish()))
}

/// Why a value of a `run.json` has no interval.
const NO_RECORDING: &str = "run.json alone has no seconds of each row: compare the run's folder";

/// What a result says without its recording: values of the whole run, and of all requests together those of the
/// steady part with their intervals.
fn values(run: &RunDocument) -> Vec<RowValues> {
    let rows = run.requests.iter().chain(&run.groups).chain(&run.iterations);
    let rows = rows.filter_map(|row| Some((Some(key(row)?), of_row(row))));
    let steady = run.steady.as_ref().map(|steady| {
        let all = of_times(steady.rate, steady.errors, steady.count, &steady.latency_us);
        all.into_iter().map(|own| with_interval(own, &steady.confidence)).collect()
    });
    let all = (None, steady.unwrap_or_else(|| of_row(&run.totals)));
    std::iter::once(all).chain(rows).collect()
}

fn with_interval(
    (measure, own): (Measure, Estimate),
    known: &BTreeMap<String, Known>,
) -> (Measure, Estimate) {
    let known = known.get(&measure.word());
    let estimate = known.map(|known| Estimate::between(known.value, known.low, known.high));
    (measure, estimate.unwrap_or(own))
}

fn of_row(row: &Row) -> Vec<(Measure, Estimate)> {
    of_times(row.rate, row.errors, row.count, &row.latency_us)
}

fn of_times(rate: f64, errors: u64, count: u64, times: &Times) -> Vec<(Measure, Estimate)> {
    let mut all = Vec::new();
    if count > 0 {
        all.push((Measure::Rate, rate));
        all.push((Measure::ErrorRate, errors as f64 / count as f64));
    }
    if times.count > 0 {
        let percentiles = [
            (50.0, times.p50),
            (75.0, times.p75),
            (90.0, times.p90),
            (95.0, times.p95),
            (99.0, times.p99),
            (99.9, times.p999),
        ];
        all.push((Measure::Mean, times.mean));
        all.extend(percentiles.map(|(p, value)| (Measure::Percentile(p), value)));
    }
    let alone = |(measure, value)| (measure, Estimate::alone(value, NO_RECORDING));
    all.into_iter().map(alone).collect()
}

/// What identifies a row; `None`: its kind is one that only later versions know.
pub(crate) fn key(row: &Row) -> Option<RowKey> {
    let kind = RowKind::from_label(&row.kind)?;
    let scenario = row.scenario.clone().unwrap_or_default();
    let place = Place {
        kind,
        scenario,
        group: row.group.clone(),
        tags: row.tags.clone().into_iter().collect(),
    };
    Some(RowKey { place, name: row.name.clone() })
}
