use super::*;
use crate::design::Factor;
use squall_base::random::Random;

fn factor(name: &str, levels: &[&str]) -> Factor {
    let levels = levels.iter().map(ToString::to_string).collect();
    Factor { name: name.into(), levels }
}

fn two_by_two() -> Design {
    Design::new(vec![factor("memory", &["4", "16"]), factor("cache", &["1", "2"])]).unwrap()
}

fn near(own: f64, expected: f64) {
    assert!((own - expected).abs() < 1e-3 * expected.abs().max(1.0), "{own}, expected {expected}");
}

/// "The Art of Computer Systems Performance Analysis", example 18.1 and its sequels: memory and cache of a workstation, 3
/// repeats.
#[test]
fn shares_and_effects_are_those_of_the_book() {
    let values = [[15.0, 18.0, 12.0], [25.0, 28.0, 19.0], [45.0, 48.0, 51.0], [75.0, 75.0, 81.0]];
    let values = values.map(|own| own.map(Some).to_vec()).to_vec();
    let sample = Sample::new(Scale::Difference, values);
    let own = Statistics::new(&two_by_two(), &sample, 1);
    // 5,547, 1,083, 300 and 102 of 7,032. The book has no blocks: what they take is of its errors.
    for (effect, squares) in own.effects.iter().zip([5_547.0, 1_083.0, 300.0]) {
        near(effect.share.unwrap(), squares / 7_032.0);
    }
    near(own.shares.blocks + own.shares.chance, 102.0 / 7_032.0);
    near(own.shares.higher, 0.0);
    // The book's effects are 21.5, 9.5 and 5, each from the mean of two levels: half and a quarter of ours.
    let values = own.effects.iter().map(|effect| effect.contrasts[0].contrast.unwrap().value);
    for (value, expected) in values.zip([43.0, 19.0, 20.0]) {
        near(value, expected);
    }
    near(own.cells[1].value.unwrap(), 24.0);
}

/// The same book's example 21.1: caches x programs, in ms; our blocks are its programs.
#[test]
fn blocks_take_their_part_as_in_the_book() {
    let values = [
        [54.0, 60.0, 43.0, 49.0, 49.0],
        [55.0, 60.0, 43.0, 52.0, 50.0],
        [106.0, 123.0, 120.0, 111.0, 108.0],
    ];
    let values = values.map(|own| own.map(Some).to_vec()).to_vec();
    let design = Design::new(vec![factor("caches", &["two", "one", "none"])]).unwrap();
    let own = Statistics::new(&design, &Sample::new(Scale::Difference, values), 1);
    // 12,857.2, 308.4 and 236.8 of 13,402.4.
    near(own.effects[0].share.unwrap(), 12_857.2 / 13_402.4);
    near(own.shares.blocks, 308.4 / 13_402.4);
    near(own.shares.chance, 236.8 / 13_402.4);
    let differences = own.pairs.iter().map(|pair| pair.contrast.unwrap().value);
    for (value, expected) in differences.zip([1.0, 62.6, 61.6]) {
        near(value, expected);
    }
}

/// A sample of a design: a mean for each variant and block, and normal chance with a deviation for each variant.
fn drawn(
    random: &mut Random,
    variants: usize,
    blocks: usize,
    mean: impl Fn(usize, usize) -> f64,
    deviation: impl Fn(usize) -> f64,
) -> Sample {
    let values = (0..variants)
        .map(|variant| {
            let run = |block| random.normal(mean(variant, block), deviation(variant)).exp();
            (0..blocks).map(run).map(Some).collect()
        })
        .collect();
    Sample::new(Scale::Ratio, values)
}

fn calls_something_different(own: &Statistics) -> bool {
    own.pairs.iter().any(|pair| pair.contrast.is_some_and(|own| own.is_real()))
        || own.effects.iter().any(Effect::is_real)
}

/// How many of so many experiments say what is asked of them.
fn count(of: usize, mut says: impl FnMut(&mut Random) -> bool) -> usize {
    (0..of).filter(|seed| says(&mut Random::of(*seed as u64, 38, 0, 0))).count()
}

#[test]
fn equal_variants_are_called_different_in_one_experiment_of_twenty() {
    for (design, variants) in [
        (Design::new(vec![factor("one", &["a", "b"])]).unwrap(), 2),
        (two_by_two(), 4),
        (Design::new(vec![factor("one", &["a", "b", "c", "d", "e", "f", "g", "h"])]).unwrap(), 8),
    ] {
        let wrong = count(4_000, |random| {
            let sample = drawn(random, variants, 5, |_, _| 0.0, |_| 0.02);
            calls_something_different(&Statistics::new(&design, &sample, 1))
        });
        assert!(wrong <= 235, "{wrong} of 4,000 with {variants} variants");
        assert!(wrong >= 120, "{wrong} of 4,000 with {variants} variants: intervals are too wide");
    }
}

#[test]
fn a_variant_that_varies_more_is_found_and_blamed_for_nothing() {
    let design = Design::new(vec![factor("one", &["a", "b", "c", "d", "e", "f"])]).unwrap();
    let mut found = 0;
    let wrong = count(500, |random| {
        let noise = |variant| if variant == 2 { 0.2 } else { 0.02 };
        let sample = drawn(random, 6, 5, |_, _| 0.0, noise);
        let own = Statistics::new(&design, &sample, 1);
        found += usize::from(own.noisy.contains(&2));
        calls_something_different(&own)
    });
    assert!(wrong <= 30, "{wrong} of 500");
    assert!(found >= 490, "found in {found} of 500");
}

#[test]
fn a_drift_is_named_and_not_taken_for_an_effect() {
    let design = two_by_two();
    let mut named = 0;
    let wrong = count(500, |random| {
        // The machine slows down by 4 % a block, and within it by the position in its order.
        let seed = random.next_u64();
        let orders: Vec<Vec<usize>> = (0..5).map(|block| design.block(seed, block)).collect();
        let at = |variant: usize, block: usize| {
            let position = orders[block].iter().position(|own| *own == variant).unwrap();
            0.04 * (block as f64 + position as f64 / 4.0)
        };
        let sample = drawn(random, 4, 5, at, |_| 0.01);
        let own = Statistics::new(&design, &sample, 1);
        named += usize::from(own.drift.unwrap().is_real());
        calls_something_different(&own)
    });
    assert!(wrong <= 30, "{wrong} of 500");
    assert!(named >= 490, "named in {named} of 500");
}

#[test]
fn a_difference_is_found_as_often_as_is_foretold_and_nobody_else_is_blamed() {
    let design = two_by_two();
    let (mut found, mut blamed) = (0, 0);
    for seed in 0..500 {
        let mut random = Random::of(seed, 5, 0, 0);
        let slower = |variant: usize, _| if design.levels(variant)[0] == 1 { 0.05 } else { 0.0 };
        let sample = drawn(&mut random, 4, 5, slower, |_| 0.01);
        let own = Statistics::new(&design, &sample, 1);
        let [memory, cache, both] =
            [0, 1, 2].map(|at| own.effects[at].contrasts[0].contrast.unwrap());
        found += usize::from(memory.is_real() && memory.value > 0.0);
        blamed += usize::from(cache.is_real() || both.is_real());
        assert!(memory.detectable(5).unwrap() < 0.05);
    }
    assert!(found >= 490, "found {found}");
    assert!(blamed <= 20, "blamed {blamed}");
}

#[test]
fn the_repeats_that_are_advised_show_the_difference() {
    let design = Design::new(vec![factor("one", &["a", "b"])]).unwrap();
    let mut advised = Vec::new();
    for seed in 0..200 {
        let sample = drawn(&mut Random::of(seed, 6, 0, 0), 2, 5, |_, _| 0.0, |_| 0.05);
        let own = Statistics::new(&design, &sample, 1);
        advised.push(own.pairs[0].contrast.unwrap().repeats_for(0.05).unwrap());
    }
    advised.sort_unstable();
    let repeats = advised[100];
    let shown = count(500, |random| {
        let mean = |variant: usize, _| if variant == 1 { 0.05_f64.ln_1p() } else { 0.0 };
        let sample = drawn(random, 2, repeats, mean, |_| 0.05);
        Statistics::new(&design, &sample, 1).pairs[0].contrast.unwrap().is_real()
    });
    assert!((350..=450).contains(&shown), "{shown} of 500 with {repeats} repeats");
}

#[test]
fn runs_that_are_missing_take_nothing_from_the_others() {
    let design = two_by_two();
    let mut wrong = 0;
    for seed in 0..500 {
        let mut random = Random::of(seed, 7, 0, 0);
        // Blocks differ much, so that a mean over other blocks would be far off.
        let full = drawn(&mut random, 4, 5, |_, block| block as f64, |_| 0.01);
        let gone = (random.below(4), random.below(5));
        let of = |variant, block| full.value(variant, block).filter(|_| (variant, block) != gone);
        let values = (0..4).map(|own| (0..5).map(|block| of(own, block)).collect()).collect();
        let own = Statistics::new(&design, &Sample::new(Scale::Ratio, values), 1);
        assert!(own.pairs.iter().all(|pair| pair.contrast.unwrap().value.abs() < 0.1));
        wrong += usize::from(calls_something_different(&own));
    }
    assert!(wrong <= 30, "{wrong} of 500");
}

/// A sample of a design without the runs of some variants; means are exact but for a spread that is the same in all.
fn without(design: &Design, gone: &[usize], mean: impl Fn(&[usize]) -> f64) -> Sample {
    let of = |variant: usize, block: usize| {
        let own = mean(&design.levels(variant)) + 0.001 * [1.0, -1.0, 0.0][(block + variant) % 3];
        (!gone.contains(&variant)).then_some(own + block as f64)
    };
    let values = (0..design.variants()).map(|own| (0..3).map(|block| of(own, block)).collect());
    Sample::new(Scale::Difference, values.collect())
}

fn values(effect: &Effect) -> Vec<Option<f64>> {
    let value = |own: &Contrast| (own.value * 10.0).round() / 10.0;
    effect.contrasts.iter().map(|own| own.contrast.as_ref().map(value)).collect()
}

#[test]
fn effects_are_estimated_from_the_variants_that_have_runs() {
    // Without interactions three of two times two variants tell both factors, and say that they take that for granted.
    let design = two_by_two();
    let sample =
        without(&design, &[3], |levels| 10.0 + 2.0 * levels[0] as f64 + 5.0 * levels[1] as f64);
    let own = Statistics::new(&design, &sample, 1);
    assert_eq!(
        [0, 1, 2].map(|at| values(&own.effects[at])),
        [vec![Some(2.0)], vec![Some(5.0)], vec![None]]
    );
    assert_eq!(
        [0, 1, 2].map(|at| own.effects[at].assumes),
        [Assumes::NoInteractions, Assumes::NoInteractions, Assumes::Nothing]
    );
    assert!(
        own.effects[0].is_real()
            && own.effects[0].share.is_some()
            && own.effects[2].share.is_none()
    );
    // Seven of eight tell all but the interaction of all three factors, whichever is missing.
    let factors = ["one", "two", "three"].map(|name| factor(name, &["a", "b"]));
    let design = Design::new(factors.to_vec()).unwrap();
    let mean = |levels: &[usize]| {
        let [a, b, c] = [0, 1, 2].map(|at| levels[at] as f64);
        10.0 + 2.0 * a + 4.0 * b + 6.0 * c + 3.0 * a * b
    };
    for gone in 0..8 {
        let own = Statistics::new(&design, &without(&design, &[gone], mean), 1);
        let found: Vec<f64> = own.effects.iter().map(|own| values(own)[0].unwrap()).collect();
        assert_eq!(found, [3.5, 5.5, 6.0, 3.0, 0.0, 0.0], "without {gone}");
        assert!(own.effects.iter().all(|own| own.assumes == Assumes::NoHigherInteractions));
        assert!(own.effects.iter().all(|own| own.p.is_some()));
    }
    // Of three levels, two are told with the other factor, and the third only where the factors do not depend on each other.
    let design =
        Design::new(vec![factor("one", &["a", "b", "c"]), factor("two", &["x", "y"])]).unwrap();
    let sample = without(&design, &[5], |levels| 10.0 + levels[0] as f64 + 4.0 * levels[1] as f64);
    let own = Statistics::new(&design, &sample, 1);
    assert_eq!(values(&own.effects[0]), [Some(1.0), Some(2.0), Some(1.0)]);
    assert_eq!(values(&own.effects[2]), [Some(0.0), None]);
}

#[test]
fn a_level_without_a_run_has_no_effect() {
    let design = two_by_two();
    let own = Statistics::new(&design, &without(&design, &[2, 3], |levels| levels[1] as f64), 1);
    assert_eq!(
        [0, 1, 2].map(|at| values(&own.effects[at])),
        [vec![None], vec![Some(1.0)], vec![None]]
    );
}

#[test]
fn variants_are_compared_that_differ_in_one_factor() {
    let pairs = |design: &Design| -> Vec<(usize, usize)> {
        let own = Statistics::new(design, &without(design, &[], |_| 1.0), 1);
        own.pairs.iter().map(|pair| (pair.of, pair.with)).collect()
    };
    assert_eq!(pairs(&two_by_two()), [(0, 1), (0, 2), (1, 3), (2, 3)]);
    let list = Design::new(vec![factor("variant", &["a", "b", "c"])]).unwrap();
    assert_eq!(pairs(&list), [(0, 1), (0, 2), (1, 2)]);
}

#[test]
fn with_all_variants_there_an_effect_is_the_mean_over_all_that_have_a_level() {
    let design =
        Design::new(vec![factor("one", &["a", "b", "c"]), factor("two", &["x", "y"])]).unwrap();
    let effects = [vec![0], vec![1], vec![0, 1]];
    let model = model::Model::new(&design, &[0, 1, 2, 3, 4, 5], &effects);
    for (factors, levels, expected) in [
        (vec![0], vec![(2, 0)], [-0.5, -0.5, 0.0, 0.0, 0.5, 0.5]),
        (vec![1], vec![(1, 0)], [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0].map(|own: f64| own / 3.0)),
        (vec![0, 1], vec![(1, 0), (1, 0)], [1.0, -1.0, -1.0, 1.0, 0.0, 0.0]),
    ] {
        let weights = model.weights(&factors, &levels).unwrap();
        assert!(
            weights.iter().zip(expected).all(|(own, wanted)| (own - wanted).abs() < 1e-9),
            "{weights:?}"
        );
    }
}

#[test]
fn little_is_said_of_little() {
    let design = two_by_two();
    let none = Sample::new(Scale::Ratio, vec![vec![None]; 4]);
    let own = Statistics::new(&design, &none, 1);
    assert!(own.pairs.iter().all(|pair| pair.contrast.is_none()) && own.drift.is_none());
    let once = Sample::new(
        Scale::Ratio,
        vec![vec![Some(1.0)], vec![Some(2.0)], vec![None], vec![Some(3.0)]],
    );
    let own = Statistics::new(&design, &once, 1);
    let first = own.pairs[0].contrast.unwrap();
    near(first.value, 1.0);
    assert_eq!((first.interval, first.repeats_for(0.1)), (None, None));
    assert!(own.pairs[1].contrast.is_none(), "the third variant has no run");
    assert!(own.effects[2].share.is_none(), "three of four variants tell no interaction");
    let same = Sample::new(Scale::Ratio, vec![vec![Some(2.0); 3]; 4]);
    let own = Statistics::new(&design, &same, 1);
    assert!(!calls_something_different(&own), "equal to the last digit");
    let same = vec![vec![Some(100.0), Some(100.0 * 1.001), Some(100.0 * 0.999)]; 4];
    let own = Statistics::new(&design, &Sample::new(Scale::Ratio, same), 1);
    assert!(!calls_something_different(&own), "equal but for rounding");
    let shares =
        Sample::new(Scale::Ratio, vec![vec![Some(0.0), Some(0.1)], vec![Some(0.0), Some(0.2)]]);
    assert_eq!(shares.scale(), Scale::Difference);
}
