//! What an error of the `h2` crate means for a request.

use h2::Reason;

use super::state::{ConnectionState, Marks};
use crate::error::Error;

/// What an error of the `h2` crate means for a request, whose stream it is known on.
pub(super) fn error(
    state: &ConnectionState,
    why: h2::Error,
    marks: &Marks,
    stream: Option<u32>,
) -> Error {
    if state.is_text.get() {
        return Error::not_http2("it speaks HTTP/1");
    }
    if let Some(why) = state.too_much.get() {
        return Error::not_http2(why);
    }
    let reason = why.reason().unwrap_or(Reason::NO_ERROR);
    let said = state.farewell.borrow();
    let said = || said.as_deref().map_or_else(|| format!("{reason:?}"), str::to_owned);
    if why.is_reset() && why.is_remote() {
        return Error::stream_reset(&format!("{reason:?}"), reason == Reason::REFUSED_STREAM);
    }
    if why.is_library() && (why.is_reset() || why.is_go_away()) {
        return Error::not_http2(&format!("{why} ({reason:?})"));
    }
    if stream.is_some_and(|stream| state.refuses(stream)) || stream.is_none() && why.is_go_away() {
        return Error::going_away(&said());
    }
    if why.is_go_away() {
        return Error::stream_reset(&format!("{}, with the connection", said()), false);
    }
    match why.get_io() {
        Some(_) if state.closed.get() => {
            let error = Error::closed(marks.bytes_in, marks.first_byte_ns > 0);
            match state.last_stream.get() {
                Some(_) => error.behind(&format!("GOAWAY, {}", said())),
                None => error,
            }
        }
        Some(error) => Error::io(error),
        None => Error::http2(&why.to_string()),
    }
}
