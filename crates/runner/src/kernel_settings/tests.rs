use std::fs;
use std::path::Path;

use super::*;

/// A machine as it was recorded: Debian 13, Linux 6.18, 2 GiB of memory.
const RECORDED: &[(&str, &str)] = &[
    ("sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("sys/net/ipv4/tcp_max_tw_buckets", "131072\n"),
    ("sys/net/ipv4/tcp_tw_reuse", "2\n"),
    ("sys/net/ipv4/tcp_fin_timeout", "60\n"),
    ("sys/net/ipv4/tcp_rmem", "4096\t131072\t33554432\n"),
    ("sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n"),
    ("sys/net/ipv4/tcp_max_syn_backlog", "2048\n"),
    ("sys/net/core/somaxconn", "4096\n"),
    ("sys/net/core/netdev_max_backlog", "1000\n"),
    ("sys/net/core/rmem_max", "4194304\n"),
    ("sys/net/core/wmem_max", "4194304\n"),
    ("sys/fs/file-max", "2466183\n"),
    ("sys/fs/nr_open", "1048576\n"),
    ("sys/fs/file-nr", "1167\t0\t2466183\n"),
    ("net/softnet_stat", "04d8a911 00000000 00000013\n0506347c 00000000 00000015\n"),
];

/// The recorded machine, with some of its files changed.
fn machine(changed: &[(&str, &str)]) -> KernelSettings {
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in RECORDED.iter().chain(changed) {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }
    KernelSettings::read(root.path())
}

fn has() -> Available {
    Available { files: 1_024, files_hard: 1_048_576, cpus: 2, tables: true, ..Available::default() }
}

/// A plan with a connection for each of so many iterations a second.
fn each_a_connection(rate: f64) -> Demand {
    let (connections, new_connections) = (500, Some(rate));
    Demand { connections, new_connections, sources: Some(1), ..Demand::default() }
}

fn of(reviews: Vec<SettingReview>, name: &str) -> SettingReview {
    reviews.into_iter().find(|own| own.name == name).expect("a setting")
}

/// The commands of all changes.
fn changes(here: &KernelSettings, demand: &Demand) -> Vec<String> {
    let reviews = here.review(Some(demand), &has());
    reviews.into_iter().filter_map(|own| own.change).map(|own| own.command).collect()
}

#[test]
fn published_values_lower_limits_of_the_recorded_machine() {
    let reviews = machine(&[]).review(None, &has());
    let mut lowered: Vec<(&str, &str)> = Vec::new();
    for own in &reviews {
        let lowers = own.advice.iter().filter(|one| one.effect == AdviceEffect::Lowers);
        lowered.extend(lowers.map(|one| (own.name, one.value)));
    }
    let expected = [
        ("net.ipv4.tcp_max_tw_buckets", "8192"),
        ("fs.nr_open", "300000"),
        ("fs.file-max", "300000"),
        ("fs.file-max", "70000"),
        ("net.ipv4.tcp_rmem", "4096 4096 16777216"),
    ];
    assert_eq!(lowered, expected);
    let recycle = of(reviews.clone(), "net.ipv4.tcp_tw_recycle");
    assert_eq!((recycle.here, recycle.change), (None, None));
    assert_eq!(recycle.advice[0].effect, AdviceEffect::NoSuchSetting);
    let same = of(reviews, "net.ipv4.tcp_wmem");
    assert_eq!(same.advice[0].effect, AdviceEffect::Same);
}

/// On a machine whose limits are lower than the advice, it raises them.
#[test]
fn the_same_advice_raises_limits_elsewhere() {
    let small = machine(&[("sys/fs/file-max", "65536\n"), ("sys/fs/nr_open", "65536\n")]);
    for name in ["fs.file-max", "fs.nr_open"] {
        let own = of(small.review(None, &has()), name);
        assert!(own.advice.iter().all(|one| one.effect == AdviceEffect::Raises), "{own:?}");
    }
}

#[test]
fn a_plan_that_fits_needs_no_change() {
    assert_eq!(changes(&machine(&[]), &each_a_connection(100.0)), [] as [&str; 0]);
}

#[test]
fn the_least_change_that_suffices_is_one() {
    let reuse = "sudo sysctl -w net.ipv4.tcp_tw_reuse=1";
    let here = machine(&[]);
    assert_eq!(changes(&here, &each_a_connection(3_000.0)), [reuse]);
    let reviews = here.review(Some(&each_a_connection(3_000.0)), &has());
    let undo = of(reviews, "net.ipv4.tcp_tw_reuse").change.map(|own| own.undo);
    assert_eq!(undo.as_deref(), Some("sudo sysctl -w net.ipv4.tcp_tw_reuse=2"));
    // Where reuse is not enough, the range is no wider than it has to be.
    let wide = Demand { connections: 40_000, ..each_a_connection(100.0) };
    let wider = "sudo sysctl -w net.ipv4.ip_local_port_range=\"15000 60999\"";
    assert_eq!(changes(&here, &wide), [wider]);
    let reviews = here.review(Some(&wide), &has());
    let undo = of(reviews, "net.ipv4.ip_local_port_range").change.map(|own| own.undo);
    let before = "sudo sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\"";
    assert_eq!(undo.as_deref(), Some(before));
    // Which it then is.
    let widened = machine(&[("sys/net/ipv4/ip_local_port_range", "15000 60999")]);
    assert_eq!(changes(&widened, &wide), [] as [&str; 0]);
    let narrower = machine(&[("sys/net/ipv4/ip_local_port_range", "15001 60999")]);
    assert_eq!(changes(&narrower, &wide).len(), 1);
}

#[test]
fn ports_that_are_reused_are_not_needed_twice() {
    let loopback = Demand { builtin: true, ..each_a_connection(3_000.0) };
    assert_eq!(changes(&machine(&[]), &loopback), [] as [&str; 0], "2 is enough on loopback");
    let reuses = machine(&[("sys/net/ipv4/tcp_tw_reuse", "1")]);
    assert_eq!(changes(&reuses, &each_a_connection(3_000.0)), [] as [&str; 0]);
}

#[test]
fn what_no_setting_gives_is_said() {
    let (here, much) = (machine(&[]), Demand { connections: 70_000, ..each_a_connection(0.0) });
    assert!(here.beyond(&much).is_some_and(|words| words.contains("70,000 local ports")));
    assert_eq!(here.beyond(&each_a_connection(3_000.0)), None);
    assert!(changes(&here, &much).iter().all(|own| !own.contains("ip_local_port_range")));
}

#[test]
fn files_are_raised_to_what_is_needed() {
    let small = machine(&[("sys/fs/file-max", "600\n"), ("sys/fs/nr_open", "520\n")]);
    let demand = each_a_connection(0.0);
    let own = demand.files_together(&has(), 2);
    let (table, all) = (format!("fs.nr_open={own}"), format!("fs.file-max={}", own + 1_167));
    let expected = [format!("sudo sysctl -w {table}"), format!("sudo sysctl -w {all}")];
    assert_eq!(changes(&small, &demand), expected);
}

#[test]
fn packets_that_were_dropped_ask_for_a_longer_queue() {
    let drops = machine(&[("net/softnet_stat", "04d8a911 0000000a 00\n0506347c 00000001 00\n")]);
    let own = of(drops.review(None, &has()), "net.core.netdev_max_backlog");
    assert!(own.need.starts_with("11 packets were dropped"), "{}", own.need);
    let command = own.change.map(|own| own.command);
    assert_eq!(command.as_deref(), Some("sudo sysctl -w net.core.netdev_max_backlog=2000"));
}

/// Such as another system than Linux, or a container that hides them.
#[test]
fn a_machine_that_says_nothing_is_told_nothing() {
    let nothing = KernelSettings::read(Path::new("/nonexistent"));
    assert_eq!(changes(&nothing, &each_a_connection(3_000.0)), [] as [&str; 0]);
    let broken =
        machine(&[("sys/net/ipv4/ip_local_port_range", "many\n"), ("net/softnet_stat", "x\n")]);
    assert_eq!(changes(&broken, &each_a_connection(3_000.0)), [] as [&str; 0]);
}
