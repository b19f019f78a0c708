//! The thread of a sink.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};

use super::inbox::{Message, Queue};
use crate::sink::event::EventKind;
use crate::sink::give_way::give_way;
use crate::sink::interface::{Sink, Start, Wanted};

/// A sink's thread: begins it, says how that went, and works.
pub(super) fn live(
    mut sink: Box<dyn Sink>,
    start: &Start,
    say: &Sender<io::Result<Wanted>>,
    inbox: &Receiver<Message>,
    queue: &Queue,
) {
    let wanted = sink.start(start);
    // What each exchange goes through must keep up with the workers; what is told once a second can wait for them.
    let can_wait = wanted.as_ref().is_ok_and(|own| own.exchanges.is_none() && !own.groups);
    let has_begun = wanted.is_ok();
    // Nobody may listen any more.
    if say.send(wanted).is_err() || !has_begun {
        return;
    }
    if can_wait {
        give_way();
    }
    work(&mut *sink, inbox, queue);
}

/// Takes what comes, until nothing more does, or nobody waits for it any more.
fn work(sink: &mut dyn Sink, inbox: &Receiver<Message>, queue: &Queue) {
    let mut is_finished = false;
    for message in inbox {
        if matches!(message, Message::End) || queue.is_given_up.load(Relaxed) {
            break;
        }
        let is_news =
            matches!(message, Message::Second(_) | Message::Event(_) | Message::Exchanges(_));
        let is_result = matches!(message, Message::Finish(_));
        if !(is_finished && is_news) {
            queue.taken.fetch_add(1, Relaxed);
            take(sink, message, queue);
        }
        is_finished |= is_result;
    }
}

fn take(sink: &mut dyn Sink, message: Message, queue: &Queue) {
    match message {
        Message::Second(second) => {
            queue.seconds.fetch_sub(1, Relaxed);
            queue.watch(|| sink.second(&second));
        }
        Message::Event(event) => {
            queue.events.fetch_sub(1, Relaxed);
            queue.watch(|| sink.event(&event));
        }
        Message::Exchanges(gathered) => {
            for (event, size) in &gathered.events {
                // What is left counts as lost.
                if queue.is_given_up.load(Relaxed) {
                    return;
                }
                queue.exchanges.fetch_sub(1, Relaxed);
                queue.exchange_bytes.fetch_sub(*size, Relaxed);
                let is_exchange = matches!(event.kind, EventKind::Exchange(_));
                queue.exchanges_told.fetch_add(u64::from(is_exchange), Relaxed);
                queue.taken.fetch_add(1, Relaxed);
                queue.watch(|| sink.event(event));
            }
            queue.spares.give(gathered.exchanges());
        }
        Message::Settle(done) => {
            // Who does not wait any more needs no word.
            let _ = done.send(());
        }
        Message::Finish(run) => queue.watch(|| sink.finish(&run)),
        Message::Amend(run) => queue.watch(|| sink.amend(&run)),
        Message::End => {}
    }
}
