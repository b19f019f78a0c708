//! The parts of an exchange as people see them, without secrets.

use squall_engine::Exchange;
use squall_plan::secrets::{Excerpt, Secrets};

/// What was sent.
pub fn request(exchange: &Exchange, secrets: &Secrets) -> String {
    let is_cut = exchange.request_bytes > exchange.request.len();
    secrets.mask_request(Excerpt { bytes: &exchange.request, is_cut })
}

/// The head of the response.
pub fn head(exchange: &Exchange, secrets: &Secrets) -> String {
    secrets.mask_response(Excerpt { bytes: &exchange.head, is_cut: false })
}

/// The beginning of the response's body.
pub fn body(exchange: &Exchange, secrets: &Secrets) -> String {
    let is_cut = exchange.body_bytes > exchange.body.len() as u64;
    secrets.mask_response(Excerpt { bytes: &exchange.body, is_cut })
}
