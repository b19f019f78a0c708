//! Headers that stay with the origin that the plan wrote them for: whoever a redirect leads to does not
//! learn a user's credentials. Pure.

/// Last words of names whose values say who somebody is: `X-Api-Key`, `X-Auth-Token`, `Api_Secret`.
const WORDS: [&str; 16] = [
    "apikey",
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "credentials",
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

/// Whether a header of this name stays with its origin whatever its value: credentials by their name, and
/// Host, which is the name of an origin.
pub(crate) fn by_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(|byte| matches!(byte, b'-' | b'_' | b'.')).next().unwrap_or_default();
    name == b"host" || WORDS.iter().any(|word| word.as_bytes() == last)
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
}
