//! The parts of a request and its response as people see them, without secrets.

use squall_engine::Hop;
use squall_plan::secrets::{Excerpt, Secrets};

/// Where it went.
pub fn url(hop: &Hop, secrets: &Secrets) -> String {
    secrets.mask_own(&hop.url)
}

/// What was sent.
pub fn request(hop: &Hop, secrets: &Secrets) -> String {
    let is_cut = hop.request_bytes > hop.request.len() as u64;
    secrets.mask_request(Excerpt { bytes: &hop.request, is_cut })
}

/// The head of the response.
pub fn head(hop: &Hop, secrets: &Secrets) -> String {
    secrets.mask_response(Excerpt { bytes: &hop.head, is_cut: false })
}

/// The beginning of the response's body.
pub fn body(hop: &Hop, secrets: &Secrets) -> String {
    let is_cut = hop.body_bytes > hop.body.len() as u64;
    secrets.mask_response(Excerpt { bytes: &hop.body, is_cut })
}
