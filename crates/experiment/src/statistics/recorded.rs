//! Experiments whose runs vary as recorded runs did: equal runs of one load, made one after the other
//! (`bench/experiment/record.py`). Their noise has what real runs have and no formula: outliers, drift, and neighbours that are
//! alike.

use super::*;
use crate::design::Factor;
use crate::measure::Measure;
use crate::words::sentences;
use squall_base::random::Random;

const RECORDED: &str = include_str!("../../tests/recorded.csv");
/// A page that costs CPU time, and one that waits; on the busy machine that made the recording, the first varies by some 20 %.
const BUSY: &str = "/";
const QUIET: &str = "/delay/50";
const COLUMNS: [&str; 3] = ["mean_us", "p99_us", "rate_per_s"];
/// Runs that are drawn together, so that they keep what neighbours have in common and their drift (moving blocks: Künsch, "The
/// jackknife and the bootstrap for general stationary observations", 1989): some, or as many as were recorded.
const PIECES: [usize; 2] = [10, 60];
const REPEATS: usize = 5;

/// A measure of the recorded runs of a path, in their order: logarithms, without their mean.
fn recorded(path: &str, column: &str) -> Vec<f64> {
    let mut lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let head = lines.next().expect("a head").split(',');
    let at = head.into_iter().position(|own| own == column).expect("the column");
    let of_path =
        lines.map(|line| line.split(',').collect::<Vec<_>>()).filter(|own| own[0] == path);
    let values: Vec<f64> =
        of_path.map(|own| own[at].parse::<f64>().expect("a number").ln()).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.into_iter().map(|own| own - mean).collect()
}

/// Noise of so many runs in the order in which they are made: pieces of the recording, each from anywhere on.
fn noise(random: &mut Random, recorded: &[f64], piece: usize, runs: usize) -> Vec<f64> {
    let mut drawn = Vec::new();
    while drawn.len() < runs {
        let from = random.below(recorded.len());
        drawn.extend((0..piece).map(|at| recorded[(from + at) % recorded.len()]));
    }
    drawn.truncate(runs);
    drawn
}

/// An experiment of five repeats, with the noise of its runs in their order, and what a variant has beyond 0 in a block.
fn experiment(
    random: &mut Random,
    design: &Design,
    noise: &[f64],
    of: impl Fn(usize, usize) -> f64,
) -> Sample {
    let seed = random.next_u64();
    let mut values = vec![vec![None; REPEATS]; design.variants()];
    let runs = (0..REPEATS)
        .flat_map(|block| design.block(seed, block).into_iter().map(move |own| (own, block)));
    for ((variant, block), noise) in runs.zip(noise) {
        values[variant][block] = Some((6.0 + noise + of(variant, block)).exp());
    }
    Sample::new(Scale::Ratio, values)
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor { name: name.into(), levels: levels.iter().map(ToString::to_string).collect() }
}

fn two() -> Design {
    Design::new(vec![factor("build", &["old", "new"])]).unwrap()
}

fn two_by_two() -> Design {
    Design::new(vec![
        factor("parser", &["own", "gson"]),
        factor("threads", &["virtual", "classic"]),
    ])
    .unwrap()
}

fn calls_something_different(own: &Statistics) -> bool {
    own.pairs.iter().any(|pair| pair.contrast.is_some_and(|own| own.is_real()))
        || own.effects.iter().any(Effect::is_real)
}

/// How many of so many experiments say what is asked of them.
fn count(of: u64, salt: u64, mut says: impl FnMut(&mut Random) -> bool) -> usize {
    (0..of).filter(|seed| says(&mut Random::of(*seed, salt, 38, 0))).count()
}

#[test]
fn the_recordings_are_what_the_tests_take_them_for() {
    for path in [BUSY, QUIET] {
        assert!(COLUMNS.iter().all(|column| recorded(path, column).len() == 60), "{path}");
    }
    let deviation = |path| {
        let all = recorded(path, "mean_us");
        (all.iter().map(|own| own * own).sum::<f64>() / (all.len() - 1) as f64).sqrt()
    };
    let (busy, quiet) = (deviation(BUSY), deviation(QUIET));
    assert!(busy > 0.1, "{busy}: five repeats show no 5%");
    assert!(quiet < 0.02, "{quiet}: five repeats show 5%");
}

/// How many of so many experiments with equal variants call any of them different by any of three measures.
fn called_different(of: u64, design: &Design, path: &str, piece: usize) -> usize {
    let all = COLUMNS.map(|column| recorded(path, column));
    let runs = design.variants() * REPEATS;
    count(of, (runs + piece) as u64, |random| {
        let (place, order) = (random.next_u64(), random.next_u64());
        all.iter().any(|own| {
            // The same runs in the same order, whatever is measured of them.
            let noise = noise(&mut Random::of(place, 0, 0, 0), own, piece, runs);
            let sample = experiment(&mut Random::of(order, 0, 0, 0), design, &noise, |_, _| 0.0);
            calls_something_different(&Statistics::new(design, &sample, all.len()))
        })
    })
}

#[test]
fn of_experiments_with_equal_variants_at_most_5_percent_call_them_different() {
    for design in [two(), two_by_two()] {
        for path in [BUSY, QUIET] {
            for piece in PIECES {
                let wrong = called_different(4_000, &design, path, piece);
                let of = design.variants();
                assert!(wrong <= 200, "{wrong} of 4,000: {of} variants, {path}, {piece}");
            }
        }
    }
}

#[test]
fn a_variant_5_percent_slower_is_found_where_five_repeats_can_show_it() {
    let (design, all) = (two(), recorded(QUIET, "mean_us"));
    for piece in PIECES {
        let found = count(100, piece as u64, |random| {
            let noise = noise(random, &all, piece, 2 * REPEATS);
            let sample =
                experiment(random, &design, &noise, |variant, _| variant as f64 * 0.05_f64.ln_1p());
            let own = Statistics::new(&design, &sample, 1).pairs[0].contrast.unwrap();
            own.is_real() && own.value > 0.0
        });
        assert!(found >= 95, "{found} of 100, {piece}");
    }
}

#[test]
fn where_five_repeats_cannot_show_5_percent_the_sentence_says_how_many_can() {
    let (design, all) = (two(), recorded(BUSY, "mean_us"));
    let measure = Measure::new("mean", "us");
    let said = count(100, 1, |random| {
        let noise = noise(random, &all, PIECES[0], 2 * REPEATS);
        let sample =
            experiment(random, &design, &noise, |variant, _| variant as f64 * 0.05_f64.ln_1p());
        let own = Statistics::new(&design, &sample, 1);
        let said = sentences(&design, &measure, &own);
        let is_seen = own.pairs[0].contrast.is_some_and(|own| own.is_real());
        is_seen || said[0].ends_with(" would be needed to show 5%")
    });
    assert!(said >= 95, "{said} of 100");
}

#[test]
fn a_factor_without_effect_is_not_blamed_for_the_one_beside_it() {
    let (design, all) = (two_by_two(), recorded(QUIET, "mean_us"));
    for piece in PIECES {
        let (mut found, mut blamed) = (0, 0);
        for seed in 0..200 {
            let random = &mut Random::of(seed, piece as u64, 7, 0);
            let noise = noise(random, &all, piece, 4 * REPEATS);
            let slower = |variant: usize, _| design.levels(variant)[0] as f64 * 0.2_f64.ln_1p();
            let own = Statistics::new(&design, &experiment(random, &design, &noise, slower), 1);
            found += usize::from(own.effects[0].is_real());
            blamed += usize::from(own.effects[1].is_real() || own.effects[2].is_real());
        }
        assert!(found >= 195, "found in {found} of 200");
        assert!(blamed <= 10, "blamed in {blamed} of 200");
    }
}

#[test]
fn a_drift_over_the_experiment_is_not_taken_for_an_effect() {
    let design = two_by_two();
    for (path, is_named) in [(BUSY, false), (QUIET, true)] {
        let all = recorded(path, "mean_us");
        let mut named = 0;
        let wrong = count(2_000, 9, |random| {
            let noise = noise(random, &all, PIECES[0], 4 * REPEATS);
            // On top of what was recorded, 5 % a block.
            let sample = experiment(random, &design, &noise, |_, block| 0.05 * block as f64);
            let own = Statistics::new(&design, &sample, 1);
            named += usize::from(own.drift.is_some_and(|own| own.is_real()));
            calls_something_different(&own)
        });
        assert!(wrong <= 100, "{wrong} of 2,000 on {path}");
        assert!(!is_named || named >= 1_900, "named in {named} of 2,000 on {path}");
    }
}
