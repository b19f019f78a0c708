//! The host as recorded files have it.

use std::path::Path;

use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

/// A host after so many seconds.
fn record(root: &Path, second: u64) {
    let (busy, idle) = (30 * second, 70 * second);
    let stat = format!(
        "cpu  {busy} 0 {busy} {idle} {idle} 0 0 0 0 0\ncpu0 {busy} 0 {busy} 0 0 0 0 0 0 0\ncpu1 0 0 0 {idle} {idle} 0 0 0 0 0\nintr 1\n"
    );
    write(root, "proc/stat", &stat);
    let memory = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\nSwapTotal:  10 kB\nSwapFree: 8 kB\n";
    write(root, "proc/meminfo", memory);
    let pressure = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", second * 250_000);
    write(root, "proc/pressure/io", &pressure);
    let (sectors, busy) = (second * 100, second * 400);
    let disks = format!(
        "   8       0 sda 5 0 {sectors} 9 5 0 {sectors} 9 0 {busy} 9 0 0\n   8       1 sda1 5 0 {sectors} 9 5 0 {sectors} 9 0 {busy} 9\n   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
    );
    write(root, "proc/diskstats", &disks);
    write(root, "sys/block/sda/size", "1");
    write(root, "sys/block/loop0/size", "1");
    let bytes = second * 1_000;
    let devices = format!(
        "Inter-|\n face |\n    lo: {bytes} 1 0 0 0 0 0 0 {bytes} 1 0 0 0 0 0 0\n  eth0: {bytes} 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
    );
    write(root, "proc/net/dev", &devices);
    write(root, "sys/class/net/eth0/speed", "1000\n");
    let retransmits = second * 3;
    write(
        root,
        "proc/net/snmp",
        &format!("Tcp: RtoMin CurrEstab RetransSegs\nTcp: 200 12 {retransmits}\n"),
    );
    let overflows = second * 156;
    write(
        root,
        "proc/net/netstat",
        &format!("TcpExt: ListenOverflows ListenDrops\nTcpExt: {overflows} {overflows}\n"),
    );
    write(root, "proc/net/sockstat", "sockets: used 9\nTCP: inuse 3 orphan 0 tw 2 alloc 4 mem 1\n");
    write(root, "proc/sys/net/ipv4/ip_local_port_range", "40000\t40009\n");
    let line = |port: u16, to: &str| format!("   0: 0100007F:{port:04X} {to} 06 0:0 0:0 0 0 0 0\n");
    let table = [
        line(40_000, "0100007F:0050"),
        line(40_001, "0100007F:0050"),
        line(40_002, "0100007F:0051"),
        line(80, "0100007F:0050"),
    ];
    write(root, "proc/net/tcp", &format!("  sl\n{}", table.concat()));
}

#[test]
fn a_host_is_read_from_the_files_of_its_kernel() {
    let root = tempfile::tempdir().expect("a folder");
    let mut own = Host { system: System::below(root.path()), ..Host::default() };
    let mut samples = Samples::new("host");
    own.read(Duration::from_secs(1), &mut samples).expect_err("there is nothing");
    record(root.path(), 1);
    own.read(Duration::from_secs(1), &mut samples).expect("a sample");
    assert!(!samples.shown().contains_key("cpu"));
    record(root.path(), 3);
    own.read(Duration::from_secs(3), &mut samples).expect("a sample");
    let shown = samples.shown();
    for (name, value) in [
        ("cpu", 0.3),
        ("cpu_user", 0.15),
        ("cpu_system", 0.15),
        ("cpu_iowait", 0.35),
        ("cpu_steal", 0.0),
        ("cpu_core{core=0}", 1.0),
        ("cpu_core{core=1}", 0.0),
        ("memory_used", 600.0 * 1024.0),
        ("memory_limit", 1000.0 * 1024.0),
        ("swap_used", 2.0 * 1024.0),
        ("pressure_io", 0.25),
        ("disk_busy{disk=sda}", 0.4),
        ("disk_read_bytes{disk=sda}", 51_200.0),
        ("network_in_bytes{interface=eth0}", 1_000.0),
        ("network_out_bytes{interface=lo}", 1_000.0),
        ("network_limit{interface=eth0}", 125e6),
        ("tcp_established", 12.0),
        ("tcp_time_wait", 2.0),
        ("tcp_retransmits", 3.0),
        ("listen_overflows", 156.0),
        ("ports_used", 2.0),
        ("ports_limit", 10.0),
    ] {
        let found = shown.get(name).copied().unwrap_or(f64::NAN);
        assert!((found - value).abs() < 1e-9, "{name}: {found}, {shown:?}");
    }
    assert!(shown.keys().all(|name| !name.contains("sda1") && !name.contains("loop0")));
}

/// All that is sampled of this host is in the table of names.
#[test]
fn this_host_has_only_names_of_the_table() {
    let (mut own, mut samples) = (Host::default(), Samples::new("host"));
    let known = own.names();
    for second in 1..3 {
        own.read(Duration::from_secs(second), &mut samples).expect("a sample");
    }
    let shown = samples.shown();
    assert!(shown["memory_used"] > 0.0 && shown.contains_key("cpu"), "{shown:?}");
    for name in shown.keys() {
        let name = name.split('{').next().unwrap_or_default();
        assert!(known.iter().any(|own| own == name), "{name}");
    }
}
