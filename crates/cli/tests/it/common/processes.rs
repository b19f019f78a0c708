//! Processes that tests watch, signal, stop and wait for. Nothing here gives up: whoever runs the tests ends one that hangs,
//! and a limit of its own would only fail on a busy machine.

use std::io::Read;
use std::process::{Child, Command};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Waits until something is so, which may need the process: fails if that ends before.
pub fn until(child: &mut Child, mut is: impl FnMut() -> bool) {
    while !is() {
        let ended = child.try_wait().expect("a child");
        if let Some(status) = ended.filter(|_| !is()) {
            let mut said = String::new();
            if let Some(errors) = &mut child.stderr {
                errors.read_to_string(&mut said).expect("text");
            }
            panic!("it ended too early, with {status}: {said}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
}

/// Stops a process, and waits until all of its threads stand still.
pub fn stop(child: &Child) {
    signal(child, "STOP");
    let is_still = |thread: std::fs::DirEntry| {
        let status = std::fs::read_to_string(thread.path().join("status"));
        // One that has ended meanwhile (or waits for us to ask how) stands still, too.
        let ways = ["\nState:\tT", "\nState:\tZ", "\nState:\tX"];
        status.map_or(true, |status| ways.iter().any(|way| status.contains(way)))
    };
    let threads = || std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("a process");
    while !threads().all(|thread| is_still(thread.expect("an entry"))) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Lets a stopped process go on.
pub fn go_on(child: &Child) {
    signal(child, "CONT");
}

/// What holds servers of a test's own up until the test opens it.
#[derive(Default)]
pub struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    /// Returns once it is open.
    pub fn pass(&self) {
        let is_open = self.is_open.lock().expect("no panic");
        drop(self.changed.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
    }

    pub fn open(&self) {
        *self.is_open.lock().expect("no panic") = true;
        self.changed.notify_all();
    }
}
