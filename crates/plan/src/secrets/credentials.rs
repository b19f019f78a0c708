//! What says who somebody is, in headers and in the queries of URLs, known by the names. Pure.

use std::ops::Range;

/// Words of names whose values are credentials. A word may have others before it, `AccessKey`, and an `s`, `id` or a
/// number behind it.
const WORDS: [&str; 16] = [
    "apikey",
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "jwt",
    "key",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "session",
    "signature",
    "token",
];

/// Last words of names that say something about a credential, and have none: `X-Token-Type`.
const ABOUT: [&str; 21] = [
    "alg",
    "algorithm",
    "consent",
    "count",
    "expires",
    "expiry",
    "format",
    "held",
    "left",
    "length",
    "limit",
    "method",
    "mode",
    "name",
    "policy",
    "remaining",
    "required",
    "scheme",
    "status",
    "ttl",
    "type",
];

/// What is named with a key that opens nothing: `Idempotency-Key`.
const KEYS_OF: [&str; 14] = [
    "cache",
    "correlation",
    "dedup",
    "deduplication",
    "idempotence",
    "idempotency",
    "language",
    "message",
    "partition",
    "public",
    "routing",
    "shard",
    "surrogate",
    "websocket",
];

/// Whether a variable of this name is taken for a secret.
pub fn sounds_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["password", "passwd", "secret", "token", "api_key", "apikey", "credential", "private_key"];
    let name = name.to_ascii_lowercase();
    // `password_prefix` and the like are about a secret, and are none.
    WORDS.iter().any(|word| name.ends_with(word) || name.ends_with(&format!("{word}s")))
}

/// Whether an environment variable of this name is taken for a secret: more names than those of a plan's variables, since whoever
/// gave them wrote no plan. `PWD` is a folder.
pub fn env_sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let of_key = name.strip_suffix("_key").or(name.strip_suffix("_key_id"));
    let opens = of_key.is_some_and(|own| KEYS_OF.iter().all(|of| !own.ends_with(of)));
    opens
        || sounds_secret(&name)
        || ["_pass", "_pwd", "passphrase"].iter().any(|end| name.ends_with(end))
}

/// Whether the value of a header of this name is a credential: one of its words says so, `X-Api-Key`, `Session-Id`,
/// `X-Access-Key-Id`, and its last one does not say otherwise.
pub fn is_credential(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['-', '_', '.']).collect();
    if words.last().is_some_and(|last| ABOUT.contains(last)) {
        return false;
    }
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        says_credential(word) && !(is_key(word) && KEYS_OF.contains(&before))
    })
}

/// Whether a word is one of a credential's.
fn says_credential(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |own: &str| WORDS.iter().any(|word| own.ends_with(word));
    word == "sid"
        || [word.strip_suffix("id"), word.strip_suffix('s'), Some(word)]
            .into_iter()
            .flatten()
            .any(ends)
}

/// Whether a word is a key, and nothing more is known of it.
fn is_key(word: &str) -> bool {
    matches!(word, "key" | "keys")
}

/// The credentials in a header that is written out; none, if it has none.
pub(crate) fn of_header<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    if !is_credential(name) {
        return Vec::new();
    }
    let name = name.to_ascii_lowercase();
    if name.ends_with("authorization") {
        return vec![behind_scheme(value)];
    }
    let mut found = vec![value];
    if name.ends_with("cookie") {
        let pairs = value.split(';').filter_map(|pair| pair.split_once('='));
        found.extend(
            pairs.filter(|(name, _)| is_credential(name.trim())).map(|(_, own)| own.trim()),
        );
    }
    found
}

/// What stands behind the scheme of a header that authorizes: `Bearer TOKEN`.
fn behind_scheme(value: &str) -> &str {
    value.split_once(' ').map_or(value, |(_, credentials)| credentials)
}

/// Where the values of a URL's query stand whose names sound like secrets, `?access_token=VALUE`. What variables say is no
/// text of the plan's.
pub(crate) fn of_query(url: &str) -> Vec<Range<usize>> {
    let Some(begin) = url.find('?').map(|at| at + 1) else { return Vec::new() };
    let end = url[begin..].find('#').map_or(url.len(), |at| begin + at);
    let mut at = begin;
    let mut found = Vec::new();
    for pair in url[begin..end].split('&') {
        if let Some((name, value)) = pair.split_once('=')
            && sounds_secret(&name.replace('-', "_"))
            && !value.is_empty()
            && !value.contains("${")
        {
            let from = at + name.len() + 1;
            found.push(from..from + value.len());
        }
        at += pair.len() + 1;
    }
    found
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
            "X-Api-Key",
            "Api-Key",
            "ApiKey",
            "api_key",
            "Api-Key-V2",
            "X-Auth-Token",
            "X-CSRF-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Amz-Security-Token",
            "Private-Token",
            "X-Vault-Token",
            "x-session",
            "Session-Id",
            "X-SID",
            "PHPSESSIONID",
            "X-Hub-Signature",
            "X-Hub-Signature-256",
            "X-Auth",
            "X-Auth-User",
            "X-AuthToken",
            "X-ApiToken",
            "X-CSRFToken",
            "AccessKey",
            "X-Access-Key-Id",
            "X-API-KEY2",
            "X-Credentials",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in [
            "Accept",
            "Accept-Language",
            "Author",
            "X-Author",
            "Authority",
            "Cache-Key",
            "Content-Type",
            "Hostess",
            "Idempotency-Key",
            "Keep-Alive",
            "Referer",
            "Sec-WebSocket-Key",
            "Surrogate-Key",
            "Tokens-Left",
            "X-Cookie-Consent",
            "X-Forwarded-Host",
            "X-Keys-Held",
            "X-Side",
            "X-Token-Type",
            "X-Trace",
            "",
        ] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn environment_variables_are_secret_by_their_names() {
        for name in [
            "API_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "STRIPE_KEY",
            "DB_PASS",
            "DB_PWD",
            "K6_TLS_PASSPHRASE",
            "client_secret",
        ] {
            assert!(env_sounds_secret(name), "{name}");
        }
        for name in
            ["PWD", "OLDPWD", "KEYBOARD", "CACHE_KEY", "BYPASS", "DESKTOP_SESSION", "TOKEN_TYPE"]
        {
            assert!(!env_sounds_secret(name), "{name}");
        }
    }

    #[test]
    fn a_header_is_a_credential_but_for_its_scheme() {
        assert_eq!(of_header("Authorization", "Bearer abc"), ["abc"]);
        assert_eq!(of_header("X-Session", "a b"), ["a b"]);
        assert_eq!(of_header("Cookie", "sid=x1; theme=dark"), ["sid=x1; theme=dark", "x1"]);
        assert!(of_header("Accept", "a").is_empty());
    }

    #[test]
    fn values_of_a_query_are_secrets_by_their_names() {
        let of =
            |url: &'static str| of_query(url).into_iter().map(|hit| &url[hit]).collect::<Vec<_>>();
        assert_eq!(of("http://h/a?token=t-1&page=2&api-key=k#token=x"), ["t-1", "k"]);
        assert!(of("/?token=&token=${t}&tokens_left=1").is_empty());
        assert!(of("/token=1").is_empty());
    }
}
