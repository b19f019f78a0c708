//! Headers that stay with the origin that the plan wrote them for: whoever a redirect leads to does not
//! learn a user's credentials. Pure.

use squall_plan::secrets::{Excerpt, Secrets};

/// Ends of names whose values say who somebody is: `X-Api-Key`, `X-AuthToken`, `Api_Secret`.
const WORDS: [&str; 14] = [
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "jwt",
    "key",
    "passwd",
    "password",
    "secret",
    "session",
    "sessionid",
    "signature",
    "token",
];

/// Whether a header of this name stays with its origin whatever its value: credentials by the end of their name, with
/// an `s` or a number behind it or not, and Host, which is the name of an origin.
pub(crate) fn by_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let end = name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    let name = &name[..end];
    let singular = name.strip_suffix(b"s").unwrap_or(name);
    let ends_with = |word: &str| [name, singular].iter().any(|own| own.ends_with(word.as_bytes()));
    name == b"host" || WORDS.iter().any(|word| ends_with(word))
}

/// Whether there is a secret in a header's value, in any form that requests give it.
pub(crate) fn holds_secret(value: &[u8], secrets: &Secrets) -> bool {
    let masked = secrets.mask_request(Excerpt { bytes: value, is_cut: false });
    masked != String::from_utf8_lossy(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_names() {
        for name in [
            "Authorization",
            "PROXY-AUTHORIZATION",
            "Cookie",
            "Host",
            "X-Api-Key",
            "Api-Key",
            "ApiKey",
            "api_key",
            "X-Auth-Token",
            "X-CSRF-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Amz-Security-Token",
            "Private-Token",
            "X-Vault-Token",
            "x-session",
            "X-Hub-Signature",
            "X-Auth",
            "X-AuthToken",
            "X-ApiToken",
            "X-CSRFToken",
            "AccessKey",
            "X-API-KEY2",
            "X-Credentials",
        ] {
            assert!(by_name(name.as_bytes()), "{name}");
        }
        for name in [
            "Accept",
            "Accept-Language",
            "X-Trace",
            "Hostess",
            "X-Forwarded-Host",
            "Referer",
            "X-Keys-Held",
            "Keep-Alive",
            "Tokens-Left",
            "Content-Type",
            "",
        ] {
            assert!(!by_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_secret_is_found_in_any_form() {
        let mut secrets = Secrets::default();
        secrets.add("TOPSECRET 123");
        secrets.add("abc");
        for value in ["v1=TOPSECRET 123", "TOPSECRET%20123", "VE9QU0VDUkVUIDEyMw==", "v=abc"] {
            assert!(holds_secret(value.as_bytes(), &secrets), "{value}");
        }
        for value in [&b"TOPSECRET"[..], b"abcd", b"", b"\xe9"] {
            assert!(!holds_secret(value, &secrets), "{value:?}");
        }
    }
}
