//! Room in a queue whose other end may be slower than what fills it: messages of a run's stream are read only as long as there
//! is some. Until then they stay stored in the server, so that nothing is lost, and the machine goes on with all else.

use std::sync::Arc;

use tokio::sync::watch;

/// How much waits in a queue, and how much may. Clones are of the same queue.
#[derive(Debug, Clone)]
pub struct Room {
    waiting: Arc<watch::Sender<usize>>,
    most: usize,
}

impl Room {
    /// Of a queue in which so many bytes may wait before nothing more is read for it.
    pub fn of(most: usize) -> Room {
        Room { waiting: Arc::new(watch::Sender::new(0)), most }
    }

    /// So many bytes go into the queue. They may be more than there is room for: what is read already is not thrown away.
    pub fn fill(&self, bytes: usize) {
        self.waiting.send_modify(|waiting| *waiting = waiting.saturating_add(bytes));
    }

    /// So many bytes were taken out of it.
    pub fn free(&self, bytes: usize) {
        self.waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(bytes));
    }

    /// Nobody takes anything any more, and nothing waits: what is read from now on is not wanted.
    pub fn clear(&self) {
        self.waiting.send_replace(0);
    }

    /// Ends when there is some.
    pub async fn is_there(&self) {
        // It ends with an error only without the sender, which this has.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting < self.most).await;
    }
}

/// That of a queue without a limit.
impl Default for Room {
    fn default() -> Room {
        Room::of(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn is_there(room: &Room) -> bool {
        pin!(room.is_there()).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn there_is_room_until_it_is_full_and_again_when_it_was_emptied() {
        let room = Room::of(10);
        room.fill(9);
        assert!(is_there(&room));
        room.fill(100);
        assert!(!is_there(&room));
        room.free(99);
        assert!(!is_there(&room), "ten wait");
        room.free(1);
        assert!(is_there(&room));
        room.fill(10);
        room.clear();
        assert!(is_there(&room));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn who_waits_for_room_is_woken() {
        let room = Room::of(1);
        room.fill(1);
        let waits = tokio::spawn({
            let room = room.clone();
            async move { room.is_there().await }
        });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        room.free(1);
        waits.await.expect("no panic");
    }
}
