//! A baseline: a run as a small file that may be kept beside the code. Gzip of JSON, so that `zcat` shows it; some
//! 0.7 KiB for each row.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use squall_analysis::{Block, GRID, RowSketch, Sketch, quantile_ranks};
use squall_metrics::{Place, RowKey, RowKind};

use super::side::RunAbout;
use crate::schema::document;

/// Version of the form.
const BASELINE: u64 = 1;
/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Largest content, in bytes: far more than 100,000 rows need.
const MAX_BYTES: u64 = 1 << 30;
/// Most blocks, and most seconds of one: more than a run of a year has.
const MAX_BLOCKS: usize = 1_000;
const MAX_SECONDS: u64 = 1 << 25;

document! {
    /// A run that others are compared with.
    BaselineDocument {
        /// Version of this form.
        squall_baseline: u64,
        /// What it was.
        about: RunAbout,
        /// How many seconds each block has.
        seconds: Vec<u64>,
        /// The rows; the first is all requests together.
        rows: Vec<BaselineRow>,
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
        /// By block, how many have ended.
        count: Vec<u64>,
        /// How many of them were errors.
        errors: Vec<u64>,
        /// How many of them have a latency.
        complete: Vec<u64>,
        /// The sum of these, in µs.
        sum_us: Vec<u64>,
        /// For each percentile of the row that is compared, how many exceed it, by block.
        above: Vec<Vec<u64>>,
        /// The distribution, in µs, from the smallest value to the largest: how much is added from each percentile
        /// that is kept to the next.
        quantiles_us: Vec<u64>,
    }
}

/// Whether a file begins as a baseline does.
pub(super) fn is_baseline(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// A baseline as it is in its file.
pub fn encode_baseline(about: &RunAbout, sketch: &Sketch) -> Vec<u8> {
    let document = BaselineDocument {
        squall_baseline: BASELINE,
        about: about.clone(),
        seconds: sketch.seconds.clone(),
        rows: sketch.rows.iter().map(row).collect(),
    };
    let json = serde_json::to_vec(&document).unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(&json);
    encoder.finish().unwrap_or_default()
}

fn row(row: &RowSketch) -> BaselineRow {
    let of = |value: fn(&Block) -> u64| row.blocks.iter().map(value).collect();
    let place = row.key.as_ref().map(|key| &key.place);
    let mut last = 0;
    let steps = row.quantiles.iter().map(|value| value - std::mem::replace(&mut last, *value));
    BaselineRow {
        kind: place.map_or(String::new(), |place| place.kind.label().to_owned()),
        scenario: place.map_or(String::new(), |place| place.scenario.clone()),
        group: place.map_or(Vec::new(), |place| place.group.clone()),
        tags: place.map_or(BTreeMap::new(), |place| place.tags.iter().cloned().collect()),
        name: row.key.as_ref().map_or(String::new(), |key| key.name.clone()),
        quantiles_us: steps.collect(),
        count: of(|block| block.count),
        errors: of(|block| block.errors),
        complete: of(|block| block.complete),
        sum_us: of(|block| block.sum_us.round() as u64),
        above: (0..GRID.len())
            .map(|at| row.blocks.iter().map(|block| block.above[at]).collect())
            .collect(),
    }
}

/// Reads a baseline.
///
/// # Errors
/// The bytes are none, or of a later version.
pub fn decode_baseline(bytes: &[u8]) -> io::Result<(RunAbout, Sketch)> {
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
/// It is none, or of a later version.
pub fn read_baseline(json: &[u8]) -> io::Result<(RunAbout, Sketch)> {
    let document: BaselineDocument =
        serde_json::from_slice(json).map_err(|error| wrong(&error.to_string()))?;
    match document.squall_baseline {
        BASELINE => {}
        later if later > BASELINE => {
            return Err(io::Error::other("it was written by a later version of squall"));
        }
        _ => return Err(wrong("it has no version")),
    }
    let seconds = document.seconds;
    let good = |own: &u64| (1..=MAX_SECONDS).contains(own);
    if seconds.len() > MAX_BLOCKS || !seconds.iter().all(good) {
        return Err(wrong("its blocks are out of range"));
    }
    let rows = document.rows.into_iter().map(|row| of_row(row, seconds.len()));
    let rows =
        rows.collect::<Option<Vec<_>>>().ok_or_else(|| wrong("a row of it has other blocks"))?;
    Ok((document.about, Sketch { seconds, rows }))
}

/// A row of so many blocks; `None`: it has not as many.
fn of_row(row: BaselineRow, blocks: usize) -> Option<RowSketch> {
    let columns =
        [&row.count, &row.errors, &row.complete, &row.sum_us].into_iter().chain(&row.above);
    let quantiles = [0, quantile_ranks().count()].contains(&row.quantiles_us.len());
    if row.above.len() != GRID.len()
        || !columns.into_iter().all(|own| own.len() == blocks)
        || !quantiles
    {
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
    let blocks = (0..blocks).map(|at| {
        let mut above = [0; GRID.len()];
        above.iter_mut().zip(&row.above).for_each(|(own, column)| *own = column[at]);
        Block {
            count: row.count[at],
            errors: row.errors[at],
            complete: row.complete[at],
            sum_us: row.sum_us[at] as f64,
            above,
        }
    });
    let mut value = 0u64;
    let quantiles = row.quantiles_us.iter().map(|step| {
        value = value.saturating_add(*step);
        value
    });
    Some(RowSketch { key, blocks: blocks.collect(), quantiles: quantiles.collect() })
}
