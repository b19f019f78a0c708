//! `/leak`: a target that gets worse and does not recover. Too many requests at once begin a leak; from then on
//! each request makes all later ones slower, whatever the load is.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::Call;
use super::delay::valid_ms;
use crate::http::exchange::{Exchange, Fault};
use crate::http::response::Response;

/// A response is never slower than this by the leak, in microseconds.
const LEAK_LIMIT: u64 = 60_000_000;

/// The leak of the site.
#[derive(Default)]
pub(crate) struct Leak {
    in_flight: AtomicU64,
    /// Microseconds by which each response is late.
    leaked: AtomicU64,
}

/// A request in flight; however it ends, it is one less.
struct InFlight<'l>(&'l Leak);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

impl Leak {
    /// Lets a request in: how much later its response is, in microseconds.
    fn enter(&self, most: u64, each: u64) -> (InFlight<'_>, u64) {
        let others = self.in_flight.fetch_add(1, Relaxed);
        let leaks = others >= most || self.leaked.load(Relaxed) > 0;
        let before = self.leaked.fetch_add(if leaks { each } else { 0 }, Relaxed);
        (InFlight(self), before.min(LEAK_LIMIT))
    }
}

pub(super) async fn leak(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let arrived = Instant::now();
    let mut response = Response::new(200);
    match choose(call) {
        Ok((ms, most, each)) => {
            let (_in_flight, late) = call.worker.site.leak.enter(most, each);
            exchange.sleep_until(arrived + ms + Duration::from_micros(late)).await?;
            response.json(format_args!(r#"{{"leaked_us":{late}}}"#));
            return exchange.respond(&response).await;
        }
        Err(reason) => response.error(400, format_args!("{reason}")),
    }
    exchange.respond(&response).await
}

/// The time of a response without a leak, the most requests at once, and what each leaks in microseconds.
fn choose(call: &Call<'_>) -> Result<(Duration, u64, u64), String> {
    let (ms, most, each) =
        (call.query_as("ms", 10.0)?, call.query_as("most", 20)?, call.query_as("each", 1.0)?);
    if !(valid_ms(ms) && valid_ms(each)) {
        return Err("ms and each must be numbers of milliseconds from 0 to 3600000".to_owned());
    }
    Ok((Duration::from_secs_f64(ms / 1e3), most, (each * 1e3) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_too_many_at_once_and_never_ends() {
        let leak = Leak::default();
        for _ in 0..100 {
            assert_eq!(leak.enter(2, 5).1, 0, "one at a time leaks nothing");
        }
        let at_once: Vec<_> = (0..3).map(|_| leak.enter(2, 5)).collect();
        assert_eq!(at_once.last().map(|(_, late)| *late), Some(0), "the third begins it");
        drop(at_once);
        assert_eq!(leak.enter(2, 5).1, 5);
        assert_eq!(leak.enter(2, 5).1, 10, "each makes the next one slower");
        leak.enter(2, 2 * LEAK_LIMIT);
        assert_eq!(leak.enter(2, 5).1, LEAK_LIMIT);
        assert_eq!(leak.in_flight.load(Relaxed), 0);
    }
}
