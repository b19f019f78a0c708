//! What a run leaves open.

use std::process::Command;
use std::time::Duration;

use squall_engine::{Control, RunOptions};
use squall_wire::Io;

use crate::common::{program, shared, target};

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux has it").count()
}

/// Says that the process has nothing else to do.
const ALONE: &str = "SQUALL_TEST_IS_ALONE";

/// A worker with a table of open files of its own cannot close what the others have in theirs. In a process of its own,
/// since it is the whole process that is looked at.
#[test]
fn runs_leave_nothing_open() {
    if std::env::var_os(ALONE).is_some() {
        return leaves_nothing_open();
    }
    let own = std::env::current_exe().expect("Linux knows it");
    let this = ["--exact", "own_files::runs_leave_nothing_open", "--nocapture"];
    let output = Command::new(own).args(this).env(ALONE, "").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

fn leaves_nothing_open() {
    let server = target();
    let program = program(&server, "load: {users: 4, iterations: 2}, steps: [{get: /}]");
    for io in [Io::Auto, Io::Epoll] {
        for own_files in [false, true] {
            let options = RunOptions { workers: 2, own_files, ..RunOptions::default() };
            let run = || {
                let shared = shared(&program, io);
                let ended = squall_engine::run(
                    program.clone(),
                    shared,
                    &options,
                    &Control::default(),
                    None,
                    |_| {},
                );
                assert_eq!(ended.expect("a run").failures, [""; 0]);
            };
            run(); // what is made once in a process is there now
            let before = open_files();
            (0..20).for_each(|_| run());
            // The target closes its ends of the connections a little later, four a run: those of the first run may
            // have been open before, but never as many as what twenty runs leave.
            let mut looks = 0..1_000;
            while open_files() > before {
                assert!(looks.next().is_some(), "{io:?}, own tables: {own_files}");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}
