//! The terminal in a pty: this test program runs itself with one, as there is one terminal a process.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;

/// What the child is to do.
const TASK: &str = "SQUALL_LIVE_TEST_TASK";

/// What the child says on its standard output, which is no terminal, when it has given the terminal back.
const GIVEN_BACK: &str = "the terminal was given back";

/// The child: does its task with the terminal, if it has one.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let _typed = enter().expect("a terminal");
    match task.as_str() {
        "panic" => panic!("a made-up panic"),
        "flood" => {
            // As much as nobody would read.
            for _ in 0..1_000 {
                assert!(write(&[b'x'; 10_000]));
            }
            assert!(!is_drained(), "a pty holds less");
            restore();
            assert!(!is_shown() && !write(b"x"));
            println!("{GIVEN_BACK}");
        }
        other => panic!("no such task: {other}"),
    }
}

/// Starts the child in a pty; its other end. The standard output is a pipe.
fn start(task: &str) -> (Child, File, Termios) {
    let leader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pty");
    grantpt(&leader).and_then(|()| unlockpt(&leader)).expect("a pty");
    let path = ptsname(&leader, Vec::new()).expect("a name").into_string().expect("a path");
    // It does not become the terminal of this process, whose end would end the tests.
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let follower = rustix::fs::open(path, flags, Mode::empty()).expect("its other end");
    let follower = File::from(follower);
    let before = tcgetattr(&follower).expect("a terminal");
    let stream = || Stdio::from(follower.try_clone().expect("a descriptor"));
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["terminal::tests::child", "--exact", "--nocapture"])
        .env(TASK, task)
        .stdin(stream())
        .stdout(Stdio::piped())
        .stderr(stream())
        .spawn()
        .expect("this program runs");
    (child, File::from(leader), before)
}

/// Waits for the child's end. Whoever runs the tests ends one that has none.
fn end(mut child: Child) -> Option<i32> {
    child.wait().expect("a child").code()
}

#[test]
fn a_panic_is_reported_on_the_terminal_as_it_was() {
    let (child, mut leader, before) = start("panic");
    assert_eq!(end(child), Some(101), "a test that failed");
    let mut bytes = [0; 65_536];
    let read = leader.read(&mut bytes).expect("what it wrote");
    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what:?} in {text:?}"));
    assert!(at("\x1b[?1049h") < at("\x1b[?1049l"));
    assert!(at("\x1b[?1049l") < at("a made-up panic"), "{text:?}");
    let now = tcgetattr(&leader).expect("a terminal");
    assert_eq!((now.local_modes, now.input_modes), (before.local_modes, before.input_modes));
}

#[test]
fn a_terminal_that_does_not_read_holds_nobody_up() {
    let (mut child, mut leader, before) = start("flood");
    // Nothing is read from the pty before that is said: whoever waited for it would never say so.
    let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(said.any(|line| line.expect("text").contains(GIVEN_BACK)), "it ended before that");
    let now = tcgetattr(&leader).expect("a terminal");
    assert_eq!(now.local_modes, before.local_modes);
    let drain = std::thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while leader.read(&mut bytes).is_ok_and(|read| read > 0) {}
    });
    assert_eq!(said.filter(Result::is_err).count(), 0, "text to its end");
    assert_eq!(end(child), Some(0));
    drain.join().expect("it reads to the end");
}
