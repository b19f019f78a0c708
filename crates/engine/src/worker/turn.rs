//! How soon a worker that wakes gets its processor.

/// The shortest turn there is; the usual one is of some 3 ms.
const TURN_NANOS: u64 = 100_000;
const THIS_THREAD: libc::pid_t = 0;
const NO_FLAGS: libc::c_uint = 0;

/// Asks the kernel for short turns on the processor for the calling thread: who asks for a shorter turn than the thread
/// that has the processor gets it at once when it wakes, and sends in time (since Linux 6.12; without effect before). The share of
/// the processor stays what it is. A thread whose policy is not the usual one keeps its turns.
///
/// It may fail where calls are filtered: then turns are as long as they were.
pub(super) fn ask_for_short_ones() {
    let Some(mut scheduling) = scheduling() else { return };
    if scheduling.sched_policy != libc::SCHED_OTHER.cast_unsigned() {
        return;
    }
    scheduling.sched_runtime = TURN_NANOS;
    // SAFETY: the kernel reads as many bytes as `size` says, which is what it wrote there itself: no more than there are.
    // The call changes when the thread runs, and nothing in memory.
    unsafe { libc::syscall(libc::SYS_sched_setattr, THIS_THREAD, &raw const scheduling, NO_FLAGS) };
}

/// How the calling thread is scheduled (sched_getattr(2)).
fn scheduling() -> Option<libc::sched_attr> {
    const BYTES: libc::c_uint = size_of::<libc::sched_attr>() as libc::c_uint;
    // SAFETY: it has numbers alone, for which all bits 0 is a value.
    let mut found: libc::sched_attr = unsafe { std::mem::zeroed() };
    let place = &raw mut found;
    // SAFETY: the kernel writes at most `BYTES` bytes, the size of what `place` points to, which lives until after the call.
    let code =
        unsafe { libc::syscall(libc::SYS_sched_getattr, THIS_THREAD, place, BYTES, NO_FLAGS) };
    (code == 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_short_and_policy_and_priority_stay() {
        let before = scheduling().unwrap();
        ask_for_short_ones();
        ask_for_short_ones();
        let after = scheduling().unwrap();
        assert_eq!(
            (after.sched_policy, after.sched_nice, after.sched_priority),
            (before.sched_policy, before.sched_nice, before.sched_priority)
        );
        // A kernel that has no turns of a length of their own says 0.
        assert!([TURN_NANOS, 0].contains(&after.sched_runtime), "{}", after.sched_runtime);
    }
}
