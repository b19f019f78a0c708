use super::*;
use crate::statistics::Sample;

fn factor(name: &str, levels: [&str; 2]) -> Factor {
    Factor { name: name.into(), levels: levels.map(Into::into).to_vec() }
}

/// Sentences about four variants of which the second parser takes so many times as long, by chance that is drawn once.
fn said(times: f64, noise: f64, drift: f64) -> Vec<String> {
    let design = Design::new(vec![
        factor("threads", ["virtual", "classic"]),
        factor("parser", ["own", "gson"]),
    ])
    .unwrap();
    let mut random = squall_base::random::Random::of(7, 1, 2, 3);
    let run = |variant: usize, block: usize, random: &mut squall_base::random::Random| {
        let slower = if design.levels(variant)[1] == 1 { times } else { 1.0 };
        slower * (drift * block as f64 + random.normal(0.0, noise)).exp()
    };
    let values = (0..4)
        .map(|own| (0..5).map(|block| Some(run(own, block, &mut random))).collect())
        .collect();
    let own = Statistics::new(&design, &Sample::new(Scale::Ratio, values), 1);
    sentences(&design, &Measure::new("mean(store)", "us"), &own)
}

#[test]
fn what_is_real_is_said_with_its_interval() {
    let own = said(0.87, 0.01, 0.0);
    assert_eq!(own.len(), 2, "{own:#?}");
    assert!(
        own[0].starts_with("mean(store): gson is 1") && own[0].ends_with("%) faster than own"),
        "{own:#?}"
    );
    assert!(
        own[1].starts_with("mean(store): no difference larger than ")
            && own[1].ends_with("% can be seen between virtual and classic"),
        "{own:#?}"
    );
}

#[test]
fn what_cannot_be_seen_is_said_with_the_repeats_that_would_show_it() {
    let own = said(1.0, 0.2, 0.0);
    assert_eq!(own.len(), 2, "{own:#?}");
    for (own, levels) in own.iter().zip(["virtual and classic", "own and gson"]) {
        let begin =
            format!("mean(store): 5 repeats show no difference between {levels}, which may be");
        assert!(
            own.starts_with(&begin) && own.ends_with(" repeats would be needed to show 5%"),
            "{own}"
        );
    }
}

#[test]
fn a_drift_is_said() {
    let own = said(1.0, 0.01, 0.05);
    assert!(
        own.iter().any(|own| own.starts_with("mean(store): the runs of the last block were ")
            && own.contains("%) slower than those of the first")),
        "{own:#?}"
    );
}

/// The sentences of a measure of these values: by variant of two times two, then by block.
fn said_of(measure: &Measure, values: [[f64; 3]; 4]) -> Vec<String> {
    let design = Design::new(vec![
        factor("threads", ["virtual", "classic"]),
        factor("parser", ["own", "gson"]),
    ])
    .unwrap();
    let values = values.map(|own| own.map(Some).to_vec()).to_vec();
    sentences(&design, measure, &Statistics::new(&design, &Sample::new(measure.scale(), values), 1))
}

/// Three runs of nearly a value, and each variant's in an order of its own.
fn near(value: f64) -> [f64; 3] {
    let turn = (value as usize / 7) % 3;
    let mut own = [value, value * 1.001, value * 0.999];
    own.rotate_left(turn);
    own
}

/// What is said of a parser that changes a measure from 100 to this much.
fn said_of_change(name: &str, unit: &str, of: f64, to: f64) -> String {
    let values = [of, to, of, to].map(near);
    said_of(&Measure::new(name, unit), values).swap_remove(0)
}

#[test]
fn words_fit_the_measure() {
    for (name, unit, of, to, begin, end) in [
        ("mean", "us", 100.0, 87.0, "mean: gson is 13% (", "%) faster than own"),
        ("mean", "us", 100.0, 104.0, "mean: gson is 4% (", "%) slower than own"),
        ("mean", "us", 100.0, 20.0, "mean: gson takes 80% (", "%) less time than own"),
        ("mean", "us", 100.0, 320.0, "mean: gson takes 3.2 (", ") times as long as own"),
        ("rate", "per_second", 100.0, 113.0, "rate: 13% (", "%) higher with gson than with own"),
        ("rate", "per_second", 100.0, 40.0, "rate: 60% (", "%) lower with gson than with own"),
        ("rate", "per_second", 1.0, 3.0, "rate: 3.0 (", ") times as high with gson as with own"),
        ("rss(s)", "bytes", 1e6, 1.2e6, "rss(s): gson takes 20% (", "%) more than own"),
        ("cpu(s)", "share", 0.5, 0.4, "cpu(s): gson takes 20% (", "%) less CPU time than own"),
        (
            "error_rate",
            "share",
            0.05,
            0.07,
            "error_rate: 2 (",
            ") percentage points higher with gson than with own",
        ),
        ("count", "number", 100.0, 90.0, "count: 10% (", "%) less with gson than with own"),
    ] {
        let own = said_of_change(name, unit, of, to);
        assert!(own.starts_with(begin) && own.ends_with(end), "{own}");
    }
}

#[test]
fn an_interaction_says_what_each_level_does() {
    let values = [near(100.0), near(100.0), near(100.0), near(120.0)];
    let own = said_of(&Measure::new("mean", "us"), values);
    let start = "mean: the effect of threads depends on parser: classic beside virtual is ";
    let found = own.iter().find_map(|own| own.strip_prefix(start));
    let found = found.unwrap_or_else(|| panic!("{own:#?}"));
    assert!(
        found.starts_with("0% slower with own, 20% slower with gson; these differ by 20% ("),
        "{found}"
    );
}

#[test]
fn where_effects_cancel_out_no_difference_is_one_on_average() {
    let values = [near(100.0), near(120.0), near(120.0), near(100.0)];
    let own = said_of(&Measure::new("mean", "us"), values);
    assert!(
        own.iter().any(|own| own
            .ends_with("can be seen between own and gson, on average over the values of threads")),
        "{own:#?}"
    );
}

#[test]
fn what_is_missing_is_said_in_one_sentence() {
    let design = Design::new(vec![
        factor("threads", ["virtual", "classic"]),
        factor("parser", ["own", "gson"]),
    ]);
    let design = design.unwrap();
    let measure = Measure::new("mean", "us");
    let said = |values: Vec<Vec<Option<f64>>>| {
        let own = Statistics::new(&design, &Sample::new(measure.scale(), values), 1);
        let all = sentences(&design, &measure, &own);
        all.into_iter().filter(|own| own.contains("no run has a value")).collect::<Vec<_>>()
    };
    let run = |value: f64| near(value).map(Some).to_vec();
    assert_eq!(
        said(vec![run(100.0), run(120.0), run(110.0), vec![None; 3]]),
        [
            "mean: no run has a value of classic, gson; threads, parser: estimated from the other variants, as if no factor's \
          effect depended on another; threads x parser: the other variants do not tell all of it"
        ]
    );
    assert_eq!(said(vec![run(100.0), run(120.0), run(110.0), run(130.0)]), Vec::<String>::new());
    assert_eq!(said(vec![vec![None; 3]; 4]), Vec::<String>::new(), "nothing was measured at all");
}
