//! What a worker's event loop ([`squall_wire::run_loop`]) asks and tells its worker.

use squall_wire::LoopOwner;

use super::Worker;

impl LoopOwner for Worker {
    fn next_deadline(&self) -> u64 {
        self.next.get()
    }

    fn on_deadline(&self) {
        self.idle.notify_one();
    }

    fn on_iteration(&self, took_ns: u64) {
        self.recorder.own(|own| own.turn.record(took_ns / 1_000));
    }
}
