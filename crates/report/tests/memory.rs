//! How much memory a report takes whose run has written long lines of log and of host metrics. In a binary of its own, since it
//! is the whole process that is looked at.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;

use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};
use squall_report::{Details, Meta, RunFolder, document, html, load_folder_to_draw};

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line =
        status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line of peak memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Adds so many lines to a file.
fn add(path: &Path, lines: u32, line: impl Fn(u32) -> String) {
    let file = OpenOptions::new().append(true).open(path).expect("it is there");
    let mut file = BufWriter::new(file);
    (0..lines).for_each(|number| writeln!(file, "{}", line(number)).expect("room"));
    file.flush().expect("room");
}

/// The peak of the process after a report of the run in a folder, as a page.
fn peak_of_report(folder: &Path) -> u64 {
    let (run, _) = load_folder_to_draw(folder).expect("a run");
    let details = Details::of(&run, Some(folder));
    assert_eq!(details.missing, Vec::<String>::new());
    let page = html(&document(&run), &details);
    assert!(page.contains("line 7 ") && run.host.series().len() <= 1_200);
    peak()
}

#[test]
fn a_report_takes_no_more_memory_for_a_longer_log() {
    let base = tempfile::tempdir().expect("a folder");
    let meta = Meta::default();
    let mut folder = RunFolder::create(base.path(), &meta, "name: x\n").expect("a folder");
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "GET /"));
    slice.record(NameId(0), &Sample::ok(1_000));
    folder.slice(&slice);
    let log = |number: u32| {
        format!("{{\"second\":0,\"worker\":0,\"text\":\"line {number} {}\"}}", "x".repeat(200))
    };
    let host = |number: u32| {
        format!("{{\"second\":{number}.5,\"open_files\":9,\"padding\":\"{}\"}}", "x".repeat(200))
    };
    let (log_path, host_path) = (folder.path().join("log.jsonl"), folder.path().join("host.jsonl"));
    add(&log_path, 1_000, log);
    add(&host_path, 3_000, host);
    let before = peak_of_report(folder.path());
    // 50 MB each.
    add(&log_path, 200_000, log);
    add(&host_path, 200_000, host);
    let grown = peak_of_report(folder.path()) - before;
    assert!(grown < 8 << 10, "{grown} KiB");
}
