//! The outputs of an experiment, compared with files: see `common.rs`.

use crate::common::golden;
use squall_base::random::Random;
use squall_experiment::{Design, Factor, Measure};
use squall_report::{
    ExperimentAbout, ExperimentFactor, ExperimentResult, ExperimentRun, ExperimentServer,
    ExperimentState, Machine, Show, experiment_csv, experiment_html, experiment_markdown,
    experiment_runs_csv, experiment_schema, experiment_text,
};

const SHOW: Show = Show { columns: 100, color: false, full: false, explain: false };

fn factor(name: &str, kind: &str, sets: &str, levels: &[&str]) -> ExperimentFactor {
    let levels = levels.iter().map(ToString::to_string).collect();
    ExperimentFactor { name: name.into(), kind: kind.into(), sets: sets.into(), levels }
}

fn about(name: &str) -> ExperimentAbout {
    ExperimentAbout {
        name: name.into(),
        file: "lab.yaml".into(),
        plan: "shop.yaml".into(),
        squall: "0.0.0".into(),
        command: ["squall", "experiment", "lab.yaml"].map(str::to_owned).to_vec(),
        started_unix: 1_795_213_023.0,
        elapsed_s: 1_260.0,
        seed: Some(7),
        repeats: 5,
        retries: 2,
        finished: true,
        ..ExperimentAbout::default()
    }
}

fn machine() -> Machine {
    Machine {
        host: "lab".into(),
        os: "Linux 6.18".into(),
        cpu: "a processor".into(),
        memory_bytes: 8 << 30,
        cpus: 2,
        workers: 2,
        io: "epoll".into(),
        ..Machine::default()
    }
}

/// Runs of all variants in random order, with what `of` says of each: variant, block, and chance.
fn runs(
    factors: &[ExperimentFactor],
    blocks: usize,
    mut of: impl FnMut(&[usize], usize, &mut Random) -> Vec<Option<f64>>,
) -> Vec<ExperimentRun> {
    let factors =
        factors.iter().map(|own| Factor { name: own.name.clone(), levels: own.levels.clone() });
    let design = Design::new(factors.collect()).expect("small");
    let mut random = Random::of(3, 5, 7, 0);
    let mut runs = Vec::new();
    for block in 0..blocks {
        for variant in design.block(7, block) {
            let number = runs.len() as u64 + 1;
            let values = of(&design.levels(variant), block, &mut random);
            runs.push(ExperimentRun {
                number,
                variant: variant as u64,
                block: block as u64,
                attempt: 1,
                folder: Some(format!("runs/{number:03}")),
                started_s: number as f64 * 60.0,
                took_s: 58.5,
                failed: values.is_empty().then(|| "the server ended with code 1".to_owned()),
                values,
                ..ExperimentRun::default()
            });
        }
    }
    runs
}

/// The lab's server: the parser matters, and more so with classic threads; one run failed.
fn lab() -> ExperimentResult {
    let factors = vec![
        factor("threads", "variable", "", &["virtual", "classic"]),
        factor("parser", "variable", "", &["own", "gson"]),
    ];
    let measures = [
        Measure::new("mean(store)", "us"),
        Measure::new("rate", "per_second"),
        Measure::new("error_rate", "share"),
        Measure::new("cpu(server)", "share"),
        Measure::new("rss(server)", "bytes"),
    ];
    let runs = runs(&factors, 5, |levels, block, random| {
        let (classic, gson) = (levels[0] as f64, levels[1] as f64);
        if (levels, block) == (&[1, 1], 3) {
            return Vec::new();
        }
        let mut around = |value: f64, by: f64| value * random.normal(0.0, by).exp();
        let store = around(1_230.0 * (1.0 - 0.13 * gson - 0.05 * classic * gson), 0.01);
        vec![
            Some(store),
            Some(around(1_967.0, 0.1)),
            Some(around(0.002 + 0.02 * gson, 0.05)),
            Some(around(0.8 * (1.0 - 0.1 * classic), 0.01)),
            Some(around(2e8, 0.002)),
        ]
    });
    let server = ExperimentServer {
        name: "server".into(),
        command: ["java", "-jar", "server.jar", "--threads=${threads}"].map(str::to_owned).to_vec(),
        version: "openjdk 21.0.2".into(),
    };
    ExperimentResult::new(about("threads and parsers"), factors, &measures, runs)
        .expect("small")
        .with(vec![machine()], vec![server])
}

/// A list of variants of which one is interrupted, with what may stand in names.
fn list() -> ExperimentResult {
    let hostile = "<b>|*x*`=1+1\u{1b}[31m";
    let factors = vec![factor("variant", "variants", "", &["old", hostile, "new, \"quoted\""])];
    let measures = [Measure::new("p99", "us")];
    let runs = runs(&factors, 3, |levels, block, random| {
        let slower = 1.0 + 0.3 * levels[0] as f64;
        if levels[0] == 2 && block > 0 {
            return Vec::new();
        }
        vec![Some(9e3 * slower * (0.1 * block as f64 + random.normal(0.0, 0.002)).exp())]
    });
    let about = ExperimentAbout {
        seed: None,
        finished: false,
        warnings: vec!["net.ipv4.tcp_tw_reuse could not be put back".to_owned()],
        ..about(hostile)
    };
    ExperimentResult::new(about, factors, &measures, runs).expect("small")
}

/// Ten variants with one run each, as a first block has them.
fn first_block() -> ExperimentResult {
    let factors = vec![
        factor("reuse", "plan", "connections.reuse", &["per_user", "per_iteration"]),
        factor("users", "load", "users", &["1", "2", "3", "10", "100"]),
    ];
    let measures = [Measure::new("mean", "us")];
    let runs = runs(&factors, 1, |levels, _, _| vec![Some(100.0 * (1.0 + levels[1] as f64))]);
    ExperimentResult::new(about("grid"), factors, &measures, runs).expect("small")
}

#[test]
fn the_text() {
    for (name, result) in [("lab", lab()), ("list", list()), ("first-block", first_block())] {
        let text = experiment_text(&result, &SHOW);
        assert!(text.lines().all(|line| line.chars().count() <= 99), "{text}");
        assert!(!text.contains('\u{1b}'), "what came from elsewhere stays data");
        golden(&format!("experiment-{name}.txt"), &text);
    }
}

#[test]
fn the_markdown() {
    golden("experiment-lab.md", &experiment_markdown(&lab()));
    let hostile = experiment_markdown(&list());
    assert!(!hostile.contains("<b>") && !hostile.contains("|*x*"), "{hostile}");
}

#[test]
fn the_page() {
    let page = experiment_html(&lab());
    for wanted in [
        "<a href=\"runs/001/report.html\">1</a>",
        "gson is 17% (15% to 18%) faster than own",
        "openjdk 21.0.2",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    // An interval, a stacked bar and a picture of runs, of each measure.
    for (class, number) in [
        ("class=\"whisker\"", 4 * 5),
        ("class=\"bar\"", 5),
        ("class=\"point\"", 19 * 5),
        ("class=\"gone\"", 5),
    ] {
        assert_eq!(page.matches(class).count(), number, "{class}");
    }
    let hostile = experiment_html(&list());
    assert!(!hostile.contains("<b>") && !hostile.contains('\u{1b}'));
    assert!(
        !page.contains("<script") && !page.contains("http:") && !page.contains("src="),
        "it needs nothing from elsewhere"
    );
    if let Some(folder) = std::env::var_os("SQUALL_PAGES") {
        for (name, result) in [("lab", lab()), ("list", list()), ("first-block", first_block())] {
            let path = std::path::Path::new(&folder).join(format!("{name}.html"));
            std::fs::write(path, experiment_html(&result)).expect("written");
        }
    }
}

#[test]
fn the_tables() {
    golden("experiment-lab.csv", &experiment_csv(&lab()));
    golden("experiment-runs-list.csv", &experiment_runs_csv(&list()));
    for (named, head) in [
        (factor("variant", "variants", "", &["old", "new"]), "variant,measure,unit,"),
        (factor("low", "variable", "", &["a", "b"]), "variant,factor_low,measure,unit,"),
    ] {
        let factors = vec![named];
        let runs = runs(&factors, 2, |_, _, _| vec![Some(1.0)]);
        let measures = [Measure::new("mean", "us")];
        let own = ExperimentResult::new(about("x"), factors, &measures, runs).expect("small");
        let table = experiment_csv(&own);
        let columns: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
        assert!(table.starts_with(head) && columns == [columns[0]; 3], "{table}");
    }
    let (head, rows) = (5 * 4, 4 * 5 * 5);
    assert_eq!(experiment_csv(&lab()).lines().count(), 1 + head);
    assert_eq!(experiment_runs_csv(&lab()).lines().count(), 1 + rows);
}

#[test]
fn the_json_is_read_again_as_it_was() {
    let result = lab();
    let text = serde_json::to_string_pretty(&result).expect("JSON");
    let again: ExperimentResult = serde_json::from_str(&text).expect("its own form");
    assert_eq!(again, result);
    let schema = experiment_schema();
    for key in ["variants", "effects", "comparisons", "runs", "machine", "measures"] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    golden("experiment-schema.json", &format!("{schema:#}\n"));
}

#[test]
fn a_failed_run_is_no_repeat() {
    let result = lab();
    let variant = &result.variants[3];
    assert_eq!((variant.repeats, variant.failed, variant.missing), (4, 1, 1));
    assert_eq!((variant.why.len(), variant.why[0].runs), (1, 1));
    assert_eq!(variant.why[0].text, "the server ended with code 1");
    assert!(variant.cells.iter().all(|cell| cell.repeats == 4));
    assert!(result.variants[..3].iter().all(|own| (own.repeats, own.missing) == (5, 0)));
}

#[test]
fn runs_that_the_design_does_not_have_are_left_out() {
    let factors = vec![factor("one", "variable", "", &["a", "b"])];
    let mut own = runs(&factors, 3, |_, _, _| vec![Some(1.0)]);
    own.push(ExperimentRun { variant: 9, values: vec![Some(5.0)], ..ExperimentRun::default() });
    own.push(ExperimentRun {
        variant: 1,
        block: 3,
        values: Vec::new(),
        ..ExperimentRun::default()
    });
    let result = ExperimentResult::new(about("x"), factors, &[Measure::new("mean", "us")], own)
        .expect("small");
    assert!(result.variants.iter().all(|own| own.cells[0].repeats == 3));
    assert!(!experiment_text(&result, &SHOW).is_empty());
    assert!(!experiment_runs_csv(&result).is_empty());
}

#[test]
fn reasons_that_repeat_stand_once_with_their_number() {
    let factors = vec![factor("one", "variable", "", &["a", "b"])];
    let mut own = runs(&factors, 4, |_, _, _| vec![Some(1.0)]);
    for (at, run) in own.iter_mut().filter(|run| run.variant == 1).enumerate() {
        match at {
            0..2 => {
                run.failed = Some(format!("its numbers are invalid: {} of 28,231 ports", 100 + at));
                run.values = Vec::new();
            }
            _ => run.counted_invalid = vec!["ports".to_owned()],
        }
    }
    let first = own.iter().find(|run| run.variant == 1).unwrap().number;
    let result = ExperimentResult::new(about("x"), factors, &[Measure::new("mean", "us")], own);
    let result = result.expect("small");
    let variant = &result.variants[1];
    assert_eq!(variant.why.len(), 1, "{:?}", variant.why);
    assert_eq!((variant.why[0].runs, variant.why[0].first), (2, first));
    let text = experiment_text(&result, &Show { columns: 500, ..SHOW });
    let said = format!("100 of 28,231 ports (2 runs, the first is runs/{first:03})");
    assert!(text.contains(&said), "{text}");
    let counted = "careful     2 b: invalid numbers count, as `count_invalid` of the experiment says: ports (2 runs";
    assert!(text.contains(counted), "{text}");
    let others = [experiment_html(&result), experiment_markdown(&result)];
    assert!(others.iter().all(|own| own.contains("invalid numbers count")), "{others:?}");
}

#[test]
fn comparisons_with_long_names_can_be_told_apart() {
    let name = |at: usize| {
        format!("a server with a name that is long and ends with {at} as its last word")
    };
    let names = [1, 2, 3].map(name);
    let levels: Vec<&str> = names.iter().map(String::as_str).collect();
    let factors = vec![factor("variant", "variants", "", &levels)];
    let runs =
        runs(&factors, 3, |levels, block, _| vec![Some(100.0 + (levels[0] * 50 + block) as f64)]);
    let result = ExperimentResult::new(about("x"), factors, &[Measure::new("mean", "us")], runs);
    let text = experiment_text(&result.expect("small"), &SHOW);
    assert!(text.lines().all(|line| line.chars().count() <= 99), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (second, first) in [(2, 1), (3, 1), (3, 2)] {
        let wanted = format!("{} beside {} +", name(second), name(first));
        assert!(words.contains(&wanted), "{wanted}:\n{text}");
    }
}

#[test]
fn an_experiment_under_way_says_how_far_it_is() {
    let factors = vec![factor("one", "variable", "", &["a", "b"])];
    let runs = runs(&factors, 2, |levels, _, _| vec![Some(100.0 * (1.0 + levels[0] as f64))]);
    let about = |state| ExperimentAbout { blocks_done: 2, ..about("x") }.at(state);
    let of = |state| {
        let measures = [Measure::new("mean", "us")];
        ExperimentResult::new(about(state), factors.clone(), &measures, runs.clone())
            .expect("small")
    };
    let own = of(ExperimentState::UnderWay { left_s: Some(240.0) });
    let page = experiment_html(&own);
    assert!(page.contains("; under way: 2 of 5 blocks are done, about 4m left"), "{page}");
    assert_eq!((own.about.state.as_str(), own.variants[0].missing), ("under way", 0));
    let own = of(ExperimentState::Interrupted);
    assert!(experiment_html(&own).contains("interrupted before all runs were made"));
    let own = of(ExperimentState::Finished);
    assert!(own.about.finished && own.about.state == "finished" && own.about.left_s.is_none());
}

#[test]
fn a_variant_without_a_run_takes_nothing_from_the_effects_of_the_others() {
    let factors = vec![
        factor("threads", "variable", "", &["virtual", "classic"]),
        factor("parser", "variable", "", &["own", "gson"]),
    ];
    let runs = runs(&factors, 4, |levels, block, _| match levels {
        [1, 1] => Vec::new(),
        levels => vec![Some(100.0 + (20 * levels[0] + 50 * levels[1] + block) as f64)],
    });
    let result = ExperimentResult::new(about("x"), factors, &[Measure::new("mean", "us")], runs);
    let result = result.expect("small");
    let [threads, parser, both] = &result.effects[..] else { panic!("{:?}", result.effects) };
    assert!(threads.is_real && parser.is_real);
    assert_eq!((threads.assumes.as_str(), both.assumes.as_str()), ("no interactions", ""));
    assert!(both.contrasts[0].difference.is_none());
    let text = experiment_text(&result, &SHOW);
    assert!(text.contains("no run has a value of classic, gson"), "{text}");
}
