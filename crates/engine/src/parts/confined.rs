//! Headers that stay with the origin that the plan wrote them for: whoever a redirect leads to does not
//! learn a user's credentials. Pure.

use squall_plan::secrets::{Excerpt, Secrets, is_credential};

/// Whether a header of this name stays with its origin whatever its value: credentials, and Host, which is the name of
/// an origin.
pub(crate) fn by_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("host") || is_credential(name)
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
    fn credentials_and_the_host_are_known_by_their_names() {
        for (name, is_confined) in
            [("HOST", true), ("X-Api-Key-V2", true), ("X-Forwarded-Host", false), ("Accept", false)]
        {
            assert_eq!(by_name(name), is_confined, "{name}");
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
