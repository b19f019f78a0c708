//! Answers that take their time.

use std::time::{Duration, Instant};

use super::call::Call;
use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;
use crate::random::Random;

/// Longest delay, in milliseconds: an hour.
pub(super) const LIMIT_MS: f64 = 3_600_000.0;

pub(super) async fn delay(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    // The clock starts when the request is there, not when its delay has been worked out.
    let arrived = Instant::now();
    let delay = choose(call, &call.worker.site.random)?;
    exchange.sleep_until(arrived + delay).await?;
    let mut response = Response::new(200);
    response.json(format_args!(r#"{{"delay_ms":{}}}"#, delay.as_secs_f64() * 1e3));
    exchange.respond(&response).await
}

/// The delay that the path and the query ask for.
fn choose(call: &Call<'_>, random: &Random) -> Result<Duration, String> {
    let ms = call.param_as(0).unwrap_or(f64::NAN);
    let spread = call.query_as("spread", 0.0)?;
    let sd = call.query_as("sd", ms / 4.0)?;
    if !(valid_ms(ms) && valid_ms(spread) && valid_ms(sd)) {
        return Err("a time must be a number of milliseconds from 0 to 3600000".to_owned());
    }
    let chosen = match call.query("dist").as_deref() {
        None | Some("fixed") => ms,
        Some("uniform") => ms + spread * random.unit(),
        Some("normal") => random.normal(ms, sd).max(0.0),
        Some("exponential") => random.exponential(ms),
        Some(_) => return Err("dist must be fixed, uniform, normal or exponential".to_owned()),
    };
    Ok(Duration::from_secs_f64(chosen / 1e3))
}

/// Whether this is a time in milliseconds that we are willing to wait.
pub(super) fn valid_ms(ms: f64) -> bool {
    (0.0..=LIMIT_MS).contains(&ms)
}

pub(super) async fn slow(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let time = if call.head.method == "POST" { 4000 } else { 3500 };
    exchange.sleep(Duration::from_millis(time)).await?;
    let mut response = Response::new(200);
    response.html("Slow", format_args!("<p>This took {time} ms.</p>"));
    exchange.respond(&response).await
}

pub(super) async fn uncacheable(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    exchange.sleep(Duration::from_secs(2)).await?;
    let mut response = Response::new(200);
    response.field("Cache-Control", "no-store");
    response.html("Uncacheable", format_args!("<p>This took 2000 ms, and will again.</p>"));
    exchange.respond(&response).await
}
