//! A baseline: runs as a small file that may be kept beside the code. Gzip of JSON, so that `zcat` shows it; some
//! kilobytes for each row of a run.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use squall_analysis::{Block, RowSketch, Sketch};
use squall_metrics::{COARSE, HIGHEST, Histogram, Place, RowKey, RowKind};

use super::about::RunAbout;
use crate::schema::document;

/// Version of the form.
const BASELINE: u64 = 2;
/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Largest content, in bytes: far more than 100,000 rows need.
const MAX_BYTES: u64 = 1 << 30;
/// Most blocks of all runs, and most seconds of one: more than a run of a year has.
const MAX_BLOCKS: usize = 10_000;
const MAX_SECONDS: u64 = 1 << 25;

document! {
    /// Runs that others are compared with.
    BaselineDocument {
        /// Version of this form.
        squall_baseline: u64,
        /// The runs.
        runs: Vec<BaselineRun>,
        /// The rows; the first is all requests together.
        rows: Vec<BaselineRow>,
    }

    /// A run.
    BaselineRun {
        /// What it was.
        about: RunAbout,
        /// How many seconds each block has.
        seconds: Vec<u64>,
    }

    /// What was counted of a row.
    BaselineRow {
        /// `request`, `program`, `resource`, `group` or `iteration`; empty: all requests together.
        kind: String,
        /// The scenario.
        scenario: String,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// The name.
        name: String,
        /// By block, those of the first run first: how many have ended.
        count: Vec<u64>,
        /// How many of them were errors.
        errors: Vec<u64>,
        /// The sum of their latencies, in µs.
        sum_us: Vec<u64>,
        /// Their latencies in HdrHistogram's buckets of 2 digits: how far the lowest value of each bucket that holds
        /// something is above that of the one before, in µs, and how many are in it, in turn.
        latency: Vec<Vec<u64>>,
        /// The latencies of all runs in buckets of 3 digits.
        all: Vec<u64>,
    }
}

/// Whether a file begins as a baseline does.
pub(super) fn is_baseline(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// A baseline as it is in its file, of as many runs as the sketch has.
pub fn encode_baseline(abouts: &[RunAbout], sketch: &Sketch) -> Vec<u8> {
    let run = |(about, seconds): (&RunAbout, &Vec<u64>)| BaselineRun {
        about: about.clone(),
        seconds: seconds.clone(),
    };
    let document = BaselineDocument {
        squall_baseline: BASELINE,
        runs: abouts.iter().zip(&sketch.seconds).map(run).collect(),
        rows: sketch.rows.iter().map(row).collect(),
    };
    let json = serde_json::to_vec(&document).unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(&json);
    encoder.finish().unwrap_or_default()
}

fn row(row: &RowSketch) -> BaselineRow {
    let of = |value: fn(&Block) -> u64| row.blocks().map(value).collect();
    let place = row.key.as_ref().map(|key| &key.place);
    BaselineRow {
        kind: place.map_or(String::new(), |place| place.kind.label().to_owned()),
        scenario: place.map_or(String::new(), |place| place.scenario.clone()),
        group: place.map_or(Vec::new(), |place| place.group.clone()),
        tags: place.map_or(BTreeMap::new(), |place| place.tags.iter().cloned().collect()),
        name: row.key.as_ref().map_or(String::new(), |key| key.name.clone()),
        count: of(|block| block.count),
        errors: of(|block| block.errors),
        sum_us: of(|block| block.sum_us.round() as u64),
        latency: row.blocks().map(|block| packed(&block.latency)).collect(),
        all: packed(&row.latency),
    }
}

/// The buckets of a histogram that hold something: how far the lowest value of each, in µs, is above that of the one
/// before, and how many are in it.
fn packed<const BITS: u32>(latency: &Histogram<BITS>) -> Vec<u64> {
    let mut last = 0;
    let each = latency
        .buckets()
        .flat_map(|(low, _, count)| [low - std::mem::replace(&mut last, low), count]);
    each.collect()
}

/// A histogram of such buckets; `None`: they are none.
fn unpacked<const BITS: u32>(packed: &[u64]) -> Option<Histogram<BITS>> {
    let mut latency = Histogram::new();
    let (pairs, rest) = packed.as_chunks::<2>();
    let (mut value, mut all) = (0u64, 0u64);
    for [distance, count] in pairs {
        value = value.checked_add(*distance).filter(|value| *value <= HIGHEST)?;
        all = all.checked_add(*count)?;
        latency.record_n(value, *count);
    }
    rest.is_empty().then_some(latency)
}

/// Reads a baseline.
///
/// # Errors
/// The bytes are none, or of another version.
pub fn decode_baseline(bytes: &[u8]) -> io::Result<(Vec<RunAbout>, Sketch)> {
    let mut json = Vec::new();
    let read = GzDecoder::new(bytes).take(MAX_BYTES).read_to_end(&mut json);
    read.map_err(|error| wrong(&error.to_string()))?;
    read_baseline(&json)
}

fn wrong(reason: &str) -> io::Error {
    io::Error::other(format!("not a baseline: {reason}"))
}

/// Reads the JSON of a baseline.
///
/// # Errors
/// It is none, or of another version.
pub fn read_baseline(json: &[u8]) -> io::Result<(Vec<RunAbout>, Sketch)> {
    let version: Version =
        serde_json::from_slice(json).map_err(|error| wrong(&error.to_string()))?;
    match version.squall_baseline {
        Some(BASELINE) => {}
        Some(later) if later > BASELINE => {
            return Err(io::Error::other("it was written by a later version of squall"));
        }
        Some(_) => {
            return Err(io::Error::other(
                "it was written by an earlier version of squall: save it again",
            ));
        }
        None => return Err(wrong("it has no version")),
    }
    let document: BaselineDocument =
        serde_json::from_slice(json).map_err(|error| wrong(&error.to_string()))?;
    let (abouts, seconds): (Vec<RunAbout>, Vec<Vec<u64>>) =
        document.runs.into_iter().map(|run| (run.about, run.seconds)).unzip();
    let good = |own: &u64| (1..=MAX_SECONDS).contains(own);
    if abouts.is_empty() {
        return Err(wrong("it has no run"));
    }
    if seconds.iter().flatten().count() > MAX_BLOCKS || !seconds.iter().flatten().all(good) {
        return Err(wrong("its blocks are out of range"));
    }
    let rows = document.rows.into_iter().map(|row| of_row(row, &seconds));
    let rows =
        rows.collect::<Option<Vec<_>>>().ok_or_else(|| wrong("a row of it has other blocks"))?;
    Ok((abouts, Sketch { seconds, rows }))
}

/// What is read of any version.
#[derive(serde::Deserialize)]
struct Version {
    squall_baseline: Option<u64>,
}

/// A row of runs with such blocks; `None`: it has others.
fn of_row(row: BaselineRow, seconds: &[Vec<u64>]) -> Option<RowSketch> {
    let blocks = seconds.iter().flatten().count();
    let columns = [&row.count, &row.errors, &row.sum_us];
    if !columns.into_iter().all(|own| own.len() == blocks) || row.latency.len() != blocks {
        return None;
    }
    let key = match row.kind.as_str() {
        "" => None,
        label => {
            let place = Place {
                kind: RowKind::from_label(label)?,
                scenario: row.scenario,
                group: row.group,
                tags: row.tags.into_iter().collect(),
            };
            Some(RowKey { place, name: row.name })
        }
    };
    let block = |at: usize| {
        let latency: Histogram<COARSE> = unpacked(&row.latency[at])?;
        let (count, errors, sum_us) = (row.count[at], row.errors[at], row.sum_us[at] as f64);
        Some(Block { count, errors, sum_us, latency })
    };
    let mut rest = 0;
    let runs = seconds.iter().map(|run| {
        let first = rest;
        rest += run.len();
        (first..rest).map(block).collect()
    });
    Some(RowSketch { key, latency: unpacked(&row.all)?, runs: runs.collect::<Option<Vec<_>>>()? })
}
