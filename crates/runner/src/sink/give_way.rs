//! Threads that work once a second give way to the workers.

/// How much lower the priority is (nice(2)): beside a worker that never rests such a thread has a tenth of its processor, which is
/// ten times what a second of 200 names takes, and beside one that rests all that is left.
const LOWER_BY: i32 = 10;

/// Lowers the priority of the calling thread, which works for whoever looks at a run: a worker that wakes on the same
/// processor need not wait for it, and sends in time.
///
/// It is for threads that have little to do and may be late by some milliseconds. On Linux priorities are of threads.
pub fn give_way() {
    // It can always be lowered, unless calls are filtered: then it stays.
    let _ = rustix::process::nice(LOWER_BY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_gives_way_and_its_process_does_not() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let lowered = std::thread::spawn(move || {
            give_way();
            priority()
        });
        assert_eq!(lowered.join().unwrap(), (before + LOWER_BY).min(19));
        assert_eq!(priority(), before);
    }
}
