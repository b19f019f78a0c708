//! What another program says. It may repeat a secret in whatever form: broken over lines, in other case, in hexadecimal,
//! encoded over and over. Pure.

use squall_base::form::percent_decoded;

use super::forms::Pattern;
use super::{Excerpt, SHORTEST, Secrets};

/// How often percent-encoding is undone.
const DECODINGS: usize = 3;
/// White space as JSON and programs write it.
const ESCAPED: [&str; 3] = ["\\r", "\\n", "\\t"];

impl Secrets {
    /// What another program says, masked as a request is. `None`: it has a secret still, or the beginning of one where it was cut,
    /// in a form that does not say where it begins and ends: none of it may be shown.
    pub fn mask_foreign(&self, excerpt: Excerpt<'_>) -> Option<String> {
        let masked = self.mask_request(excerpt);
        let bare = bare(masked.as_bytes());
        let has =
            |form: &String| bare.contains(form) || excerpt.is_cut && ends_with_begun(&bare, form);
        let is_clean = !self.texts.iter().any(|secret| bare_forms(secret).iter().any(has));
        is_clean.then_some(masked)
    }
}

/// A secret in each encoding, as [`bare`] leaves it. One that has little else than punctuation has none.
fn bare_forms(secret: &str) -> Vec<String> {
    let in_base64 = Pattern::in_base64(secret).into_iter().map(|own| own.text().to_string());
    let in_hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let all = [secret.to_owned(), in_hex].into_iter().chain(in_base64);
    all.map(|form| bare(form.as_bytes())).filter(|form| form.chars().count() >= SHORTEST).collect()
}

/// The letters and digits of a text, the letters small, with percent-encoding undone and without escaped white space.
fn bare(text: &[u8]) -> String {
    let decoded = (0..DECODINGS).fold(text.to_vec(), |text, _| percent_decoded(&text));
    let text = String::from_utf8_lossy(&decoded).into_owned();
    let text = ESCAPED.iter().fold(text, |text, escaped| text.replace(escaped, ""));
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text ends with so much of the beginning of another that this is no chance.
fn ends_with_begun(text: &str, other: &str) -> bool {
    let mut ends = other.char_indices().map(|(at, _)| at).skip(SHORTEST - 2);
    ends.any(|end| text.ends_with(&other[..end]))
}
