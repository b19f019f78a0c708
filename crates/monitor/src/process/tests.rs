//! Processes as recorded files of `/proc` have them, and real ones.

use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

/// A server with a worker, which has used so many ticks and written so many bytes.
fn record(root: &Path, ticks: u64, written: u64) {
    write(root, "proc/stat", "cpu  1 1\ncpu0 1 1\ncpu1 1 1\nintr 5\n");
    for (pid, parent, name) in [(50, 1, "server"), (51, 50, "worker")] {
        let stat = format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 3 0 900 0 25 0"
        );
        write(root, &format!("proc/{pid}/stat"), &stat);
        write(root, &format!("proc/{pid}/cmdline"), name);
        write(root, &format!("proc/{pid}/io"), &format!("read_bytes: 0\nwrite_bytes: {written}\n"));
        let status = "Uid:\t0\t0\t0\t0\nNSpid:\t50\nCpus_allowed_list:\t0-7\n";
        write(root, &format!("proc/{pid}/status"), status);
        write(root, &format!("proc/{pid}/limits"), "Max open files            1024  4096  files\n");
        write(root, &format!("proc/{pid}/fd/0"), "");
        write(root, &format!("proc/{pid}/cgroup"), "0::/shop\n");
    }
    write(root, "proc/50/fd/1", "");
    write(root, "sys/fs/cgroup/shop/cgroup.procs", "50\n51\n");
    write(root, "sys/fs/cgroup/shop/cpu.max", "50000 100000\n");
    write(root, "sys/fs/cgroup/shop/memory.max", "1000000\n");
}

#[test]
fn a_family_is_sampled_together() {
    let root = tempfile::tempdir().expect("a folder");
    let (root, system) = (root.path(), System::below(root.path()));
    record(root, 100, 4_096);
    let target = Target::Name("server".to_owned());
    let mut own = Processes::on(system, target, Arc::default());
    let mut samples = Samples::new("server");
    own.read(Duration::from_secs(1), &mut samples).expect("a sample");
    let first = samples.shown();
    let page = rustix::param::page_size() as f64;
    for (name, value) in [
        ("processes", 2.0),
        ("threads", 6.0),
        ("rss", 50.0 * page),
        ("memory_limit", 1e6),
        // Of 8 CPUs the host has 2, of which the quota allows a half.
        ("cpu_limit", 0.5),
        ("descriptors", 2.0),
        ("descriptors_limit", 1_024.0),
    ] {
        assert_eq!(first.get(name), Some(&value), "{name}: {first:?}");
    }
    assert!(!first.contains_key("cpu"), "{first:?}");
    record(root, 150, 8_192);
    own.read(Duration::from_secs(3), &mut samples).expect("a sample");
    let second = samples.shown();
    assert_eq!((second["cpu"], second["written_bytes"]), (0.5, 4_096.0));
    assert_eq!(own.remark(), None);
    std::fs::remove_dir_all(root.join("proc/50")).expect("it is there");
    std::fs::remove_dir_all(root.join("proc/51")).expect("it is there");
    let error = own.read(Duration::from_secs(4), &mut samples).expect_err("it has ended");
    assert!(samples.shown().is_empty(), "{error}");
}

/// A busy child of a shell, found by the shell's number.
#[test]
fn a_real_process_and_its_child_use_a_core() {
    let mut shell = Command::new("sh")
        .args(["-c", "sh -c 'while :; do :; done' & wait"])
        .stdin(Stdio::null())
        .spawn()
        .expect("a shell");
    let mut own = Processes::new(Target::Pid(shell.id()), Arc::default());
    let mut samples = Samples::new("shell");
    let start = Instant::now();
    let mut cpu = 0.0;
    // However busy the machine is, at some time it gets some CPU time.
    for _ in 0..300 {
        std::thread::sleep(Duration::from_millis(200));
        if own.read(start.elapsed(), &mut samples).is_ok() {
            let shown = samples.shown();
            cpu = shown.get("cpu").copied().unwrap_or(0.0);
            if cpu > 0.0 && shown["processes"] == 2.0 {
                break;
            }
        }
    }
    let family = own.pids().expect("they are there");
    for pid in family.into_iter().rev() {
        let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
    }
    let _ = shell.wait();
    assert!(cpu > 0.0);
    let error = own.read(start.elapsed(), &mut samples).expect_err("it has ended").to_string();
    assert!(error.contains("has ended"), "{error}");
}

/// Of a port, here that of the test itself.
#[test]
fn who_listens_has_a_queue() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut own = Processes::new(Target::Port(port), Arc::default());
    let mut samples = Samples::new("server");
    own.read(Duration::from_secs(1), &mut samples).expect("a sample");
    let shown = samples.shown();
    assert_eq!(shown.get(&format!("listen_queue{{port={port}}}")), Some(&0.0), "{shown:?}");
    assert!(shown["rss"] > 0.0 && shown["descriptors"] > 2.0, "{shown:?}");
}
