//! `/leak`: a target that gets worse and does not recover. Too many requests at once begin a leak; from then on
//! each request makes all later ones slower, whatever the load is.

use std::time::{Duration, Instant};

use super::call::Call;
use super::delay::valid_ms;
use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;

pub(super) async fn leak(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let arrived = Instant::now();
    let (ms, most, each) = choose(call)?;
    let (_in_flight, late) = call.worker.site.leak.enter(most, each);
    exchange.sleep_until(arrived + ms + Duration::from_micros(late)).await?;
    let mut response = Response::new(200);
    response.json(format_args!(r#"{{"leaked_us":{late}}}"#));
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
