//! `/queue`: one of the site's queues, against which measured times can be held.

use std::time::{Duration, Instant};

use super::call::Call;
use super::delay::valid_ms;
use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;
use crate::site::queues::Kind;

const SERVER_LIMIT: usize = 10_000;

pub(super) async fn queue(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let arrived = Instant::now();
    let (start, service) = join(call, arrived)?;
    exchange.sleep_until(start + service).await?;
    let mut response = Response::new(200);
    response.json(format_args!(
        r#"{{"wait_us":{},"service_us":{}}}"#,
        (start - arrived).as_micros(),
        service.as_micros()
    ));
    exchange.respond(&response).await
}

/// When the service of this request starts, and how long it takes.
fn join(call: &Call<'_>, now: Instant) -> Result<(Instant, Duration), String> {
    let servers = call.query_as("servers", 1)?;
    if !(1..=SERVER_LIMIT).contains(&servers) {
        return Err(format!("servers must be a number from 1 to {SERVER_LIMIT}"));
    }
    let mean_ms = call.query_as("mean", 10.0)?;
    if !valid_ms(mean_ms) {
        return Err("mean must be a number of milliseconds from 0 to 3600000".to_owned());
    }
    let fixed = match call.query("dist").as_deref() {
        None | Some("exponential") => false,
        Some("fixed") => true,
        Some(_) => return Err("dist must be exponential or fixed".to_owned()),
    };
    let kind = Kind { servers, mean: Duration::from_secs_f64(mean_ms / 1e3), fixed };
    call.worker.site.queues.join(kind, now)
}
