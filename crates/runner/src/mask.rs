//! The parts of a request and its response, and what is judged of them, as people see them, without secrets.

use squall_engine::ExchangeCopy;
use squall_plan::secrets::{Excerpt, Secrets};

/// Where it went.
pub fn url(hop: &ExchangeCopy, secrets: &Secrets) -> String {
    secrets.mask_own(&hop.url)
}

/// What was sent.
pub fn request(hop: &ExchangeCopy, secrets: &Secrets) -> String {
    let is_cut = hop.request_bytes > hop.request.len() as u64;
    secrets.mask_request(Excerpt { bytes: &hop.request, is_cut })
}

/// The head of the response.
pub fn head(hop: &ExchangeCopy, secrets: &Secrets) -> String {
    secrets.mask_response(Excerpt { bytes: &hop.head, is_cut: false })
}

/// The beginning of the response's body.
pub fn body(hop: &ExchangeCopy, secrets: &Secrets) -> String {
    let is_cut = hop.body_bytes > hop.body.len() as u64;
    secrets.mask_response(Excerpt { bytes: &hop.body, is_cut })
}

/// A threshold as it is written: what stands between its parentheses without secrets, as are the names of the rows
/// that it judges. Its limit stays: a number may look like a secret.
pub fn threshold(text: &str, secrets: &Secrets) -> String {
    let open = text.find('(').map(|open| open + 1);
    let inner = open.zip(text.rfind(')')).filter(|(open, close)| open <= close);
    match inner {
        Some((open, close)) => {
            let names = secrets.mask(&text[open..close]);
            format!("{}{names}{}", &text[..open], &text[close..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_was_cut_shows_no_beginning_of_a_secret() {
        let mut secrets = Secrets::default();
        secrets.add("SeCrEtVaLuE99");
        let hop = |body_bytes| ExchangeCopy {
            body: b"AAA SeCr".to_vec(),
            body_bytes,
            ..ExchangeCopy::default()
        };
        assert_eq!(body(&hop(17), &secrets), "AAA ***");
        assert_eq!(body(&hop(8), &secrets), "AAA SeCr");
    }

    #[test]
    fn a_threshold_shows_no_secret_and_keeps_its_limit() {
        let mut secrets = Secrets::default();
        ["SeCrEtVaLuE99", "100000"].iter().for_each(|secret| secrets.add(secret));
        for (text, shown) in [
            ("count(nm SeCrEtVaLuE99) >= 100000", "count(nm ***) >= 100000"),
            ("p99(\"a (SeCrEtVaLuE99)\", team: 100000) < 1s", "p99(\"a (***)\", team: ***) < 1s"),
            ("count >= 100000", "count >= 100000"),
            (")(", ")("),
        ] {
            assert_eq!(threshold(text, &secrets), shown);
        }
        for text in ["count(nm ***) >= 0", "p99(\"a (***)\", team: ***) < 1s"] {
            assert!(squall_analysis::Threshold::parse(text).is_ok(), "{text}");
        }
    }
}
