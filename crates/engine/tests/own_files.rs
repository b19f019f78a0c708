//! What a run leaves open. In a binary of its own, since it is the whole process that is looked at.
#![cfg(target_os = "linux")]

mod common;

use squall_engine::{Control, RunOptions};
use squall_wire::Io;

use common::{program, shared, target};

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux has it").count()
}

/// A worker with a table of open files of its own cannot close what the others have in theirs.
#[test]
fn runs_leave_nothing_open() {
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
            // The target closes its ends of the connections a little later.
            let settled = || {
                let mut before = open_files();
                loop {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    match open_files() {
                        same if same == before => return same,
                        other => before = other,
                    }
                }
            };
            let before = settled();
            (0..20).for_each(|_| run());
            assert_eq!(settled(), before, "{io:?}, own tables: {own_files}");
        }
    }
}
