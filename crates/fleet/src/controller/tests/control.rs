//! How a load begins, is changed and ends.

use squall_runner::{LimitOptions, LimitParts, PhaseEnd, limit_with};

use super::*;

#[test]
fn what_a_run_is_told_reaches_the_nodes() {
    let handle = Handle::default();
    let control = |act: fn(&Handle)| {
        let handle = handle.clone();
        Line::Do(Box::new(move || act(&handle)))
    };
    let (source, commanded) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        control(|handle| handle.pause().expect("a load")),
        Line::Await("Change(Pause "),
        control(|handle| handle.resume().expect("a load")),
        Line::Await("Change(GoOn "),
        Line::Say(RunEvent::Carries { users: Some(5) }),
        control(|handle| {
            let why = handle.set_users("a", 60).expect_err("more than the nodes carry");
            assert!(why.contains("at most 5 virtual users") && why.contains("have 60"), "{why}");
        }),
        control(|handle| handle.set_users("a", 3).expect("a load that ends by time")),
        Line::Await("Change(Shape { load: 0, "),
        record("eu-1", 0, (10, 1_000, 10), 0),
        whole(0),
        Line::Await("Change(Stop { graceful: 30000000000 })"),
        ended(1, Vec::new()),
    ]]);
    let thresholds = "{threshold: 'error_rate < 40%', abort_on_fail: true}";
    let outcome = ran(source, thresholds, Vec::new(), &handle);
    assert!(matches!(outcome.phases[0].end, PhaseEnd::Aborted(_)), "{:?}", outcome.phases);
    let shaped = commands(&commanded).into_iter().find(|own| own.contains("Shape"));
    assert!(shaped.is_some_and(|own| own.contains("\\\"users\\\":3")), "{commanded:?}");
}

#[test]
fn nodes_may_ask_for_the_end() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (1, 1_000, 0), 0),
        Line::Say(RunEvent::StopAsked),
        Line::Await("Change(Stop"),
        ended(1, Vec::new()),
    ]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert!(outcome.run.stopped_by_plan);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Done);
}

#[test]
fn somebody_elsewhere_interrupts_a_run() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (1, 1_000, 0), 0),
        Line::Say(RunEvent::Interrupted),
        Line::Await("Change(Stop"),
        ended(1, Vec::new()),
    ]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert!(outcome.is_interrupted() && !outcome.run.stopped_by_plan);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
}

#[test]
fn a_fleet_that_cannot_begin_has_no_numbers_and_is_released() {
    let why = "node us-1 is missing after 5 minutes";
    let (source, commanded) = scripted(vec![vec![Line::Say(RunEvent::Refused(why.to_owned()))]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert_eq!(outcome.run.incomplete, [format!("load failed: {why}")]);
    assert!(!outcome.has_load && outcome.run.fleet.is_none());
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

#[test]
fn who_stops_a_run_while_it_waits_for_nodes_waits_no_more() {
    let handle = Handle::default();
    let stopper = handle.clone();
    let stop = Line::Do(Box::new(move || stopper.stop()));
    let (source, commanded) = scripted(vec![vec![stop, Line::Await("Change(Stop")]]);
    let outcome = ran(source, "", Vec::new(), &handle);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

fn ended_node(node: &str, how: &str) -> EndedNode {
    EndedNode { node: node.to_owned(), how: how.to_owned() }
}

/// A node of this machine that ends while others are waited for is not waited for: there is no script of what comes then.
#[test]
fn a_load_does_not_begin_without_a_node_that_has_ended() {
    let waits = Line::Say(RunEvent::Waiting("1 of 2 nodes are ready".to_owned()));
    let ended =
        || vec![ended_node("local-2", "the disk is full"), ended_node("local-1", "signal: 9")];
    let script = vec![waits, Line::Await("never")];
    let (source, commanded) = scripted_beside(Arc::new(ended), vec![script]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let why =
        "load failed: node local-2 has ended: the disk is full; node local-1 has ended: signal: 9";
    assert_eq!(outcome.run.incomplete, [why]);
    assert!(!outcome.has_load);
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

/// Its load goes on elsewhere, as that of any node that is lost.
#[test]
fn a_node_that_ends_while_the_load_runs_is_told_of_once() {
    let nodes: Arc<Mutex<Vec<EndedNode>>> = Arc::default();
    let (dies, all) = (nodes.clone(), nodes.clone());
    let dies = Box::new(move || dies.lock().expect("no panic").push(ended_node("us-1", "killed")));
    let ended_nodes: EndedNodes = Arc::new(move || all.lock().expect("no panic").clone());
    let (source, _) = scripted_beside(
        ended_nodes,
        vec![vec![
            starts(Duration::from_secs(1)),
            record("eu-1", 0, (10, 1_000, 0), 0),
            Line::Do(dies),
            whole(0),
            ended(1, Vec::new()),
        ]],
    );
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    let events = &run.fleet.as_ref().expect("a fleet").events;
    let events: Vec<_> = events.iter().map(|own| (own.node.as_str(), own.text.as_str())).collect();
    assert_eq!(events, [("us-1", "node us-1 has ended: killed")]);
}

/// Each level is a run of its own, whose nodes are let go before the next one.
#[test]
fn a_search_runs_its_levels_on_the_nodes() {
    let level = || {
        let seconds = (0..2).flat_map(|second| {
            [
                record("eu-1", second, (10, 1_000, 0), 0),
                record("us-1", second, (10, 1_000, 0), 0),
                whole(second),
            ]
        });
        let mut lines = vec![starts(Duration::from_secs(2))];
        lines.extend(seconds);
        lines.push(ended(2, Vec::new()));
        lines
    };
    let (source, commanded) = scripted(vec![level(), level()]);
    let plan = load_str("plan", &PLAN.replace("THRESHOLDS", "")).expect("a plan");
    let asked = LimitOptions {
        requirements: vec!["p99 < 1s".to_owned()],
        by: None,
        from: Some(1_000_000.0),
        to: Some(2_000_000.0),
        step: Duration::from_secs(2),
        max_steps: 2,
        folder: None,
    };
    let (handle, run) = (Handle::default(), Options::default());
    let parts = LimitParts { source: &source, ..LimitParts::default() };
    let outcome = limit_with(&plan, &run, &asked, parts, &handle, &mut |_| ()).expect("a search");
    assert_eq!(outcome.failures, [] as [&str; 0]);
    assert_eq!((outcome.limit.steps.len(), outcome.limit.at_least), (2, Some(2_000_000.0)));
    assert!(outcome.meta.nodes.is_empty());
    let told = commands(&commanded);
    let kinds: Vec<&str> = told.iter().filter_map(|own| own.split(' ').next()).collect();
    assert_eq!(
        kinds,
        ["Begin", "Written", "Written", "Release", "Begin", "Written", "Written", "Release"]
    );
}
