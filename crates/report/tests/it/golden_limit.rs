//! The outputs of `squall limit`, compared with files: see `golden.rs`.

use crate::common::golden;
use serde_json::Value;
use squall_limit::{
    Arrivals, LevelKind, Limit, LoadStep, Recovery, RequirementResult, SearchEnd, StepMetric,
    SustainedMax,
};
use squall_report::{Around, Meta, RunPhase, limit_html, limit_json, limit_text};

/// A queue with a capacity of 100 a second, that takes 10 ms for one.
fn step(level: f64) -> LoadStep {
    let done = level.min(100.0);
    let mean_us = if level < 99.0 { 1e6 / (100.0 - level) } else { 3e6 };
    let p99_us = 4.6 * mean_us;
    let requirement = RequirementResult {
        text: "p99 < 200ms".to_owned(),
        met: p99_us < 2e5,
        certain: (p99_us / 2e5 - 1.0).abs() > 0.1,
        used: Some(p99_us / 2e5),
        error: Some(0.03),
        shown: format!("{:.1} ms", p99_us / 1e3),
    };
    LoadStep {
        level,
        seconds: 24.0,
        throughput: done,
        requests: done,
        concurrency: done * mean_us / 1e6,
        mean_us,
        p50_us: 0.7 * mean_us,
        p99_us,
        error_rate: if level < 99.0 { 0.0 } else { 0.125 },
        requirements: vec![requirement],
        keeps_up: done >= 0.95 * level,
        arrivals: Arrivals { rate: Some(level), due: (24.0 * level) as u64, dropped: 0 },
        generator: Vec::new(),
        machine_full: None,
        monitored: Vec::new(),
    }
}

fn limit() -> Limit {
    let levels = [10.0, 40.0, 160.0, 80.0, 75.0, 78.0, 85.0, 76.0, 65.0, 65.0];
    let mut steps: Vec<LoadStep> = levels.into_iter().map(step).collect();
    let disturbed = LoadStep {
        generator: vec!["squall was the bottleneck".to_owned()],
        machine_full: Some("the target's machine was full".to_owned()),
        ..step(120.0)
    };
    steps.insert(4, disturbed);
    let limit = Limit::new("shop".to_owned(), LevelKind::Rate, steps, SearchEnd::Found);
    let one = |from, seconds| Recovery { from, at: 10.0, seconds, watched_s: 60.0 };
    Limit { recoveries: vec![one(160.0, Some(7.0)), one(80.0, Some(0.0))], ..limit }
}

fn meta() -> Meta {
    Meta {
        squall: "0.0.0".to_owned(),
        target: Some("http://shop.example:8080".to_owned()),
        seed: 42,
        ..Meta::default()
    }
}

#[test]
fn the_text() {
    let text = limit_text(&limit(), &meta(), Around::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    golden("limit.txt", &text);
    let ends = [
        SearchEnd::NeverMet,
        SearchEnd::NeverViolated,
        SearchEnd::Generator,
        SearchEnd::NotRecovered,
        SearchEnd::SetupFailed,
        SearchEnd::Interrupted,
    ];
    let short = |end| {
        let limit = Limit::new("shop".to_owned(), LevelKind::Users, vec![step(10.0)], end);
        limit_text(&limit, &meta(), Around::default())
    };
    golden("limit-ends.txt", &ends.map(short).concat());
}

/// The same search, with a monitor of the server, whose only core is full at 80/s, and of a pool that is not.
fn monitored() -> Limit {
    let own = |name: &str, value: f64| StepMetric {
        monitor: "<server>".to_owned(),
        name: name.to_owned(),
        tags: Vec::new(),
        count: 24,
        mean: value,
        max: value,
    };
    let steps = limit().steps.into_iter().map(|step| {
        let busy = (step.level / 80.0).min(1.0);
        let monitored = vec![
            own("cpu", 0.99 * busy),
            own("cpu_limit", 1.0),
            own("pool_active", 12.0 * busy),
            own("pool_limit", 20.0),
        ];
        LoadStep { monitored, ..step }
    });
    Limit::new("shop".to_owned(), LevelKind::Rate, steps.collect(), SearchEnd::Found)
}

#[test]
fn what_was_full_is_said() {
    let text = limit_text(&monitored(), &meta(), Around::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains(" full           CPU of <server> was full: 0.99 of 1 core"), "{text}");
    let json = limit_json(&monitored(), &meta(), Around::default());
    let first = &json["saturation"]["findings"][0];
    assert_eq!((&first["metric"], &first["certain"]), (&"cpu".into(), &true.into()));
    assert_eq!(json["steps"][0]["monitored"].as_array().map(Vec::len), Some(4));
    assert_eq!(limit_json(&limit(), &meta(), Around::default())["saturation"], Value::Null);
}

#[test]
fn the_page() {
    let page = limit_html(&monitored(), &meta(), &["a & b".to_owned()]);
    golden("limit.html", &page);
    assert!(page.contains("a &amp; b") && !page.contains("<server>"), "texts are escaped");
    assert!(!page.contains("http://www") && !page.contains("<script"), "nothing from elsewhere");
    // No step, and no monitor.
    let empty = Limit::new("shop".to_owned(), LevelKind::Rate, Vec::new(), SearchEnd::SetupFailed);
    assert!(limit_html(&empty, &meta(), &[]).contains("the setup failed"));
    assert!(!limit_html(&limit(), &meta(), &[]).contains("The target"));
}

#[test]
fn a_level_that_was_met_by_chance_says_so() {
    let text = |low: f64| {
        let maximum = SustainedMax { level: low, low, high: 80.0, fitted: false };
        // In one line.
        let text = limit_text(
            &Limit { sustained_max: Some(maximum), ..limit() },
            &meta(),
            Around::default(),
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let certain = text(65.0);
    assert!(certain.contains("met at 65.0/s, and no longer at 80.0/s confirmed"), "{certain}");
    let little = text(76.0);
    assert!(
        little.contains("met at 76.0/s, and no longer at 80.0/s, by so little that"),
        "{little}"
    );
    let steps = [160.0, 76.0, 76.0].map(step).to_vec();
    let limit = Limit::new("shop".to_owned(), LevelKind::Rate, steps, SearchEnd::Found);
    let text = limit_text(&limit, &meta(), Around::default())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("76.0/s met the requirements once more at the end, by so little"),
        "{text}"
    );
}

/// A teardown that failed is in both, and so is a setup that did.
#[test]
fn setup_and_teardown_are_told() {
    let phase = |phase: &str, end: &str, errors| RunPhase {
        phase: phase.to_owned(),
        end: end.to_owned(),
        requests: 1_200,
        errors,
        elapsed_s: 0.25,
        rows: Vec::new(),
        log: Vec::new(),
    };
    let phases = [phase("setup", "done", 0), phase("teardown", "failed", 1)];
    let failures = ["teardown failed: logout: status 500".to_owned()];
    let around = Around { phases: &phases, failures: &failures };
    let text = limit_text(&limit(), &meta(), around);
    for line in [
        " setup          1,200 requests, 250 ms\n",
        " teardown       1,200 requests, 1 error, failed\n",
        " failed         teardown failed: logout: status 500\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let json = limit_json(&limit(), &meta(), around);
    assert_eq!(
        (&json["run_phases"][1]["end"], &json["run_phases"][1]["errors"]),
        (&"failed".into(), &1.into())
    );
    assert_eq!(json["failures"][0], failures[0]);
    let none = limit_text(
        &Limit::new("shop".to_owned(), LevelKind::Users, Vec::new(), SearchEnd::SetupFailed),
        &meta(),
        around,
    );
    assert!(none.contains("result         the setup failed: no step was run"), "{none}");
    assert!(!none.contains("outcome"), "a table of nothing: {none}");
}

#[test]
fn the_json() {
    golden(
        "limit.json",
        &(format!("{:#}", limit_json(&limit(), &meta(), Around::default())) + "\n"),
    );
}
