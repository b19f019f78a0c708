use super::*;
use crate::load_step::tests::step;
use crate::sampled::StepMetric;

/// Levels of a search whose target breaks above 100/s.
const LEVELS: [f64; 6] = [10.0, 40.0, 90.0, 110.0, 160.0, 640.0];

fn metric(name: &str, value: f64) -> StepMetric {
    let (monitor, name) = ("server".to_owned(), name.to_owned());
    StepMetric { monitor, name, tags: Vec::new(), count: 4, mean: value, max: value }
}

/// The metrics of a level.
type At<'a> = &'a dyn Fn(f64) -> Vec<StepMetric>;

fn steps(at: At<'_>) -> Vec<LoadStep> {
    let one = |level| LoadStep {
        monitored: at(level),
        ..step(level, if level > 100.0 { 3.0 } else { 0.5 })
    };
    LEVELS.into_iter().map(one).collect()
}

fn words(at: At<'_>) -> Vec<String> {
    let seen = Saturation::of(&steps(at), LevelKind::Rate).expect("it broke");
    seen.words()
}

/// What is certain.
fn certain(at: At<'_>) -> Vec<String> {
    let seen = Saturation::of(&steps(at), LevelKind::Rate).expect("it broke");
    let certain = seen.findings.into_iter().filter(|own| own.is_certain);
    certain.map(|own| own.metric).collect()
}

/// The part of what a target does at most that it has to do.
fn busy(level: f64) -> f64 {
    (level / 100.0).min(1.0)
}

#[test]
fn a_cpu_that_is_full_is_named_with_its_evidence() {
    let at = |level| vec![metric("cpu", 0.99 * busy(level)), metric("cpu_limit", 1.0)];
    assert_eq!(words(&at), ["CPU of server was full: 0.99 of 1 core at 110/s, and 0.89 at 90.0/s"]);
    // The host's is a share of all its cores.
    let host = |level| vec![metric("cpu", busy(level))];
    assert_eq!(words(&host), ["CPU of server was full: 100% at 110/s, and 90% at 90.0/s"]);
}

/// One that is as full without load is so for other reasons, and one that is not full is not named.
#[test]
fn what_does_not_rise_with_the_load_or_has_room_is_not_named() {
    assert_eq!(certain(&|_| vec![metric("cpu", 0.99), metric("cpu_limit", 1.0)]), [] as [&str; 0]);
    let half = |level| vec![metric("cpu", 0.6 * busy(level)), metric("cpu_limit", 1.0)];
    let said = words(&half);
    assert!(
        said[0].starts_with("nothing that was measured was full; closest to it was CPU"),
        "{said:?}"
    );
    assert!(said[0].contains("0.60 of 1 core") && said.len() == 1, "{said:?}");
    // Falls, and is full once by chance.
    let noise = |level: f64| {
        let value = if level == 110.0 { 0.97 } else { 0.9 - level / 1_000.0 };
        vec![metric("cpu", value), metric("cpu_limit", 1.0)]
    };
    assert_eq!(certain(&noise), [] as [&str; 0]);
}

/// Whose it is, is not known of a host's: those of a process that is watched decide.
#[test]
fn the_cpu_of_a_host_may_be_full_of_others() {
    let host = |value| StepMetric { monitor: "host".to_owned(), ..metric("cpu", value) };
    let at = |level| {
        let own = vec![metric("cpu", 0.2 * busy(level)), metric("cpu_limit", 2.0)];
        [own, vec![host(busy(level))]].concat()
    };
    assert_eq!(certain(&at), [] as [&str; 0]);
    assert_eq!(certain(&|level| vec![host(busy(level))]), ["cpu"]);
}

/// The same values at two levels only are no rise.
#[test]
fn few_levels_are_not_certain() {
    let at = |level| vec![metric("cpu", 0.99 * busy(level)), metric("cpu_limit", 1.0)];
    let few: Vec<LoadStep> = steps(&at).into_iter().skip(2).take(2).collect();
    assert_eq!(Saturation::of(&few, LevelKind::Rate).map(|own| own.findings), Some(Vec::new()));
    let few: Vec<LoadStep> = steps(&at).into_iter().skip(1).step_by(2).take(2).collect();
    let seen = Saturation::of(&few, LevelKind::Rate).expect("it broke");
    assert_eq!((seen.findings.len(), seen.findings[0].is_certain), (1, false));
}

#[test]
fn a_pool_is_full_if_all_of_it_is_in_use() {
    let pool = |level: f64| {
        let active = (20.0 * busy(level)).min(20.0);
        let waiting = if level > 100.0 { level - 100.0 } else { 0.0 };
        vec![metric("pool_active", active), metric("pool_waiting", waiting)]
    };
    let bounded = |level| [pool(level), vec![metric("pool_limit", 20.0)]].concat();
    let said = words(&bounded);
    assert_eq!(
        said[0],
        "all 20 of pool of server were in use, and 10 waited at 110/s, and 0 waited at 90.0/s"
    );
    // Without the limit it is a sign only.
    let said = words(&pool);
    assert!(said[0].starts_with("nothing that was measured was certainly full"), "{said:?}");
    assert!(
        said[1].contains("20 of pool of server were in use at 110/s and never more"),
        "{said:?}"
    );
    // What waits although there is room waits for something else.
    let roomy = |level| [pool(level), vec![metric("pool_limit", 50.0)]].concat();
    assert_eq!(certain(&roomy), [] as [&str; 0]);
    let alone = |level| pool(level).split_off(1);
    assert!(words(&alone)[1].contains("what they wait for is not measured"));
}

#[test]
fn garbage_collection_comes_before_the_cpu_that_it_takes() {
    let at = |level| {
        let gc = metric("gc_share", 0.4 * busy(level).powi(8));
        vec![metric("cpu", busy(level)), metric("cpu_limit", 1.0), gc]
    };
    assert_eq!(certain(&at), ["gc_share", "cpu"]);
    let expected =
        "garbage collection stopped server for 40% of the time at 110/s, and 17.2% at 90.0/s";
    assert_eq!(words(&at)[0], expected);
}

/// One that is busy may have room, if nobody waits for it.
#[test]
fn a_disk_is_full_if_it_is_waited_for() {
    let at = |waited: f64| {
        move |level| {
            let tags = vec![("disk".to_owned(), "vda".to_owned())];
            let busy_disk = StepMetric { tags, ..metric("disk_busy", 0.85 * busy(level)) };
            vec![busy_disk, metric("pressure_io", waited * busy(level))]
        }
    };
    let said = words(&at(0.9));
    let expected =
        "disk vda of server was busy, and tasks waited for disks: 85% and 90% of the time at 110/s";
    assert!(said[0].starts_with(expected), "{said:?}");
    assert_eq!(certain(&at(0.3)), [] as [&str; 0]);
    assert!(
        words(&at(0.3))[1].contains("disk vda of server was high: 85%"),
        "{:?}",
        words(&at(0.3))
    );
}

#[test]
fn a_queue_is_full_last() {
    let at = |level| {
        let over = if level > 100.0 { 31.2 } else { 0.0 };
        let queue = if level > 100.0 { 9.0 } else { 0.0 };
        let port = |name, value| {
            let tags = vec![("port".to_owned(), "8080".to_owned())];
            StepMetric { tags, ..metric(name, value) }
        };
        let queue = vec![port("listen_queue", queue), port("listen_queue_limit", 8.0)];
        [queue, vec![metric("listen_overflows", over)]].concat()
    };
    assert_eq!(certain(&at), ["listen_queue", "listen_overflows"]);
    let said = words(&at);
    let full = "the listen queue of port 8080 of server was full: 9 of 8";
    assert!(said[0].contains(full), "{said:?}");
    assert!(said[1].contains("overflowed 312 times at 110/s, and 0 times at 90.0/s"), "{said:?}");
    let both =
        |level| [at(level), vec![metric("cpu", busy(level)), metric("cpu_limit", 1.0)]].concat();
    assert_eq!(certain(&both)[0], "cpu");
}

/// Such as Python's: two cores are there, and one is used.
#[test]
fn one_thing_at_a_time_is_a_sign() {
    let at = |level| vec![metric("cpu", busy(level)), metric("cpu_limit", 2.0)];
    assert_eq!(certain(&at), [] as [&str; 0]);
    let said = words(&at);
    assert!(said[1].contains("CPU of server stayed at 1.00 of 2 cores from 110/s on"), "{said:?}");
}

/// Throughput is flat beyond the knee, and so is all that follows it: that says nothing.
#[test]
fn what_follows_throughput_is_no_sign() {
    let at = |level| {
        let cpu = [metric("cpu", 0.2 * busy(level)), metric("cpu_limit", 2.0)];
        let switches = metric("context_switches", 900.0 * busy(level));
        [cpu.to_vec(), vec![switches, metric("orders_done", 100.0 * busy(level))]].concat()
    };
    let said = words(&at);
    assert!(said.len() == 1 && said[0].contains("a lock, a limit within the program"), "{said:?}");
}

#[test]
fn what_is_not_known_is_not_said() {
    let of = |steps: &[LoadStep]| Saturation::of(steps, LevelKind::Rate);
    assert_eq!(of(&steps(&|_| Vec::new())), None, "no monitors");
    let at = |level| vec![metric("cpu", busy(level)), metric("cpu_limit", 1.0)];
    let met: Vec<LoadStep> = steps(&at).into_iter().filter(LoadStep::met).collect();
    assert_eq!(of(&met), None, "it did not break");
    let generator = |own: LoadStep| match own.met() {
        true => own,
        false => LoadStep { generator: vec!["cpu".to_owned()], ..own },
    };
    let generator: Vec<LoadStep> = steps(&at).into_iter().map(generator).collect();
    assert_eq!(of(&generator), None, "squall was the limit");
    // A monitor that fails under load.
    let gap = |level| if level > 100.0 { Vec::new() } else { at(level) };
    assert!(words(&gap)[0].starts_with("not known"), "{:?}", words(&gap));
}
