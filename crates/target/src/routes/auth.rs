//! Routes behind HTTP authentication: Basic (RFC 7617), Digest (RFC 7616), Bearer (RFC 6750).

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use ring::digest::{SHA256, digest as ring_digest};

use super::call::Call;
use super::pages::is_password;
use crate::http::response::Response;
use squall_base::hex::Hex;

const REALM: &str = "squall";

fn welcome(scheme: &str, user: &str, response: &mut Response) {
    let user = serde_json::Value::from(user);
    response.json(format_args!(r#"{{"authenticated":true,"scheme":"{scheme}","user":{user}}}"#));
}

/// The credentials of the request, if they are for this scheme.
fn credentials<'c>(call: &Call<'c>, scheme: &str) -> Option<&'c str> {
    let (given, rest) = call.head.field("authorization")?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then_some(rest.trim())
}

pub(super) fn basic(call: &Call<'_>, response: &mut Response) {
    match basic_user(call) {
        Some(user) => welcome("basic", &user, response),
        None => {
            let challenge = format_args!("Basic realm=\"{REALM}\", charset=\"UTF-8\"");
            response.field("WWW-Authenticate", challenge);
            response.error(401, format_args!("Basic credentials are required"));
        }
    }
}

/// The user of the request's Basic credentials, if they are right.
fn basic_user(call: &Call<'_>) -> Option<String> {
    let decoded = STANDARD.decode(credentials(call, "basic")?).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let right = match (call.param(0), call.param(1)) {
        (Some(u), Some(p)) => user == u && password == p,
        _ => is_password(user, password),
    };
    right.then(|| user.to_owned())
}

pub(super) fn bearer(call: &Call<'_>, response: &mut Response) {
    let token = credentials(call, "bearer");
    let right = token.is_some_and(|token| match call.param(0) {
        Some(wanted) => token == wanted,
        None => token.starts_with("token-"),
    });
    if right {
        return welcome("bearer", token.unwrap_or_default(), response);
    }
    let error = if token.is_some() { ", error=\"invalid_token\"" } else { "" };
    response.field("WWW-Authenticate", format_args!("Bearer realm=\"{REALM}\"{error}"));
    response.error(401, format_args!("a Bearer token is required"));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Sha256,
    Md5,
}

impl Algorithm {
    const ALL: &[Algorithm] = &[Algorithm::Sha256, Algorithm::Md5];

    fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Md5 => "MD5",
        }
    }

    fn named(name: &str) -> Option<Algorithm> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    fn hash(self, text: impl Display) -> String {
        let text = text.to_string();
        match self {
            Algorithm::Sha256 => Hex(ring_digest(&SHA256, text.as_bytes()).as_ref()).to_string(),
            Algorithm::Md5 => Hex(&Md5::digest(text.as_bytes())).to_string(),
        }
    }
}

/// What the query says about the challenge.
struct Terms {
    /// The algorithms offered, best first.
    offered: &'static [Algorithm],
    lifetime_ms: u64,
    uses: u32,
}

impl Terms {
    fn read(call: &Call<'_>) -> Result<Terms, String> {
        let offered = match call.query("algorithm") {
            None => Algorithm::ALL,
            Some(name) => {
                let at = Algorithm::ALL.iter().position(|a| Some(*a) == Algorithm::named(&name));
                let at = at.ok_or("algorithm must be SHA-256 or MD5")?;
                &Algorithm::ALL[at..=at]
            }
        };
        Ok(Terms {
            offered,
            lifetime_ms: call.query_as("lifetime", 60_000)?,
            uses: call.query_as("uses", u32::MAX)?,
        })
    }
}

/// Why credentials are not accepted.
#[derive(Debug, PartialEq, Eq)]
enum Denial {
    /// None, or wrong ones.
    Wrong,
    /// Right ones with a nonce that has had its time or its uses.
    Stale,
}

pub(super) fn digest(call: &Call<'_>, response: &mut Response) {
    let terms = match Terms::read(call) {
        Ok(terms) => terms,
        Err(reason) => return response.error(400, format_args!("{reason}")),
    };
    let denial = match digest_user(call, &terms) {
        Ok(user) => return welcome("digest", &user, response),
        Err(denial) => denial,
    };
    let nonce = make_nonce(call);
    let stale = if denial == Denial::Stale { ", stale=true" } else { "" };
    for algorithm in terms.offered {
        let name = algorithm.name();
        let challenge = format_args!(
            "Digest realm=\"{REALM}\", qop=\"auth\", algorithm={name}, nonce=\"{nonce}\"{stale}"
        );
        response.field("WWW-Authenticate", challenge);
    }
    response.error(401, format_args!("Digest credentials are required"));
}

/// Milliseconds since the start, a random number, and our signature of both.
fn make_nonce(call: &Call<'_>) -> String {
    let now = call.worker.site.started.elapsed().as_millis();
    let text = format!("{now:x}.{:016x}", call.worker.site.random.bits());
    let signature = call.worker.site.signer.sign("nonce", &text);
    format!("{text}.{signature}")
}

/// When a nonce of ours was made, and its random number.
fn read_nonce(call: &Call<'_>, nonce: &str) -> Option<(u64, u64)> {
    let (text, signature) = nonce.rsplit_once('.')?;
    let (made, number) = text.split_once('.')?;
    let ours = call.worker.site.signer.verify("nonce", text, signature);
    let parts = (u64::from_str_radix(made, 16).ok()?, u64::from_str_radix(number, 16).ok()?);
    ours.then_some(parts)
}

/// The user of the request's Digest credentials, if they are right and fresh.
fn digest_user(call: &Call<'_>, terms: &Terms) -> Result<String, Denial> {
    let sent = credentials(call, "digest").and_then(Credentials::read).ok_or(Denial::Wrong)?;
    let password = match (call.param(0), call.param(1)) {
        (Some(user), Some(password)) if user == sent.username => password.into_owned(),
        (Some(_), Some(_)) => return Err(Denial::Wrong),
        _ => format!("secret-{}", sent.username),
    };
    let algorithm = sent.algorithm.filter(|algorithm| terms.offered.contains(algorithm));
    let algorithm = algorithm.ok_or(Denial::Wrong)?;
    let expected = sent.expected(algorithm, call.head.method, &password);
    let (made, number) = read_nonce(call, &sent.nonce).ok_or(Denial::Wrong)?;
    let right = sent.realm == REALM
        && sent.qop == "auth"
        && sent.uri == call.head.target
        && sent.response.eq_ignore_ascii_case(&expected);
    let count = sent.count().filter(|_| right).ok_or(Denial::Wrong)?;
    let age = call.worker.site.started.elapsed().as_millis().saturating_sub(made.into());
    if age > terms.lifetime_ms.into() || count > terms.uses {
        return Err(Denial::Stale);
    }
    let mut nonces = call.worker.site.nonces.lock();
    let highest = nonces.entry(number);
    if count <= *highest {
        return Err(Denial::Stale);
    }
    *highest = count;
    Ok(sent.username)
}

/// What a client sends for Digest.
#[derive(Debug, Default)]
struct Credentials {
    username: String,
    realm: String,
    nonce: String,
    uri: String,
    response: String,
    qop: String,
    nc: String,
    cnonce: String,
    /// MD5 when the client does not say; `None` when it names one we do not know.
    algorithm: Option<Algorithm>,
}

impl Credentials {
    fn read(text: &str) -> Option<Credentials> {
        let mut sent = Credentials { algorithm: Some(Algorithm::Md5), ..Credentials::default() };
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            let (value, after) = read_value(after.trim_start())?;
            match name.trim().to_ascii_lowercase().as_str() {
                "username" => sent.username = value,
                "realm" => sent.realm = value,
                "nonce" => sent.nonce = value,
                "uri" => sent.uri = value,
                "response" => sent.response = value,
                "qop" => sent.qop = value,
                "nc" => sent.nc = value,
                "cnonce" => sent.cnonce = value,
                "algorithm" => sent.algorithm = Algorithm::named(&value),
                _ => {}
            }
            rest = after.trim_start().trim_start_matches(',').trim_start();
        }
        Some(sent)
    }

    /// The use count: eight hexadecimal digits, from 1.
    fn count(&self) -> Option<u32> {
        let count = u32::from_str_radix(&self.nc, 16).ok()?;
        (self.nc.len() == 8 && count > 0).then_some(count)
    }

    /// The response that the right password gives (RFC 7616, 3.4.1).
    fn expected(&self, algorithm: Algorithm, method: &str, password: &str) -> String {
        let Credentials { username, realm, nonce, uri, qop, nc, cnonce, .. } = self;
        let secret = algorithm.hash(format_args!("{username}:{realm}:{password}"));
        let request = algorithm.hash(format_args!("{method}:{uri}"));
        algorithm.hash(format_args!("{secret}:{nonce}:{nc}:{cnonce}:{qop}:{request}"))
    }
}

/// Reads a token or a quoted string, and returns it with what follows.
fn read_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        let (token, rest) = text.split_at(end);
        return Some((token.trim().to_owned(), rest));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of RFC 7616, section 3.9.1.
    fn example(algorithm: &str, response: &str) -> Credentials {
        let text = format!(
            "username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", \
             algorithm={algorithm}, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
             nc=00000001, cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, \
             response=\"{response}\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        );
        Credentials::read(&text).unwrap()
    }

    #[test]
    fn the_examples_of_the_standard_are_right() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let sent = example(algorithm, response);
            let named = sent.algorithm.unwrap();
            assert_eq!(named.name(), algorithm);
            assert_eq!(sent.expected(named, "GET", "Circle of Life"), sent.response);
            assert_ne!(sent.expected(named, "GET", "Circle of Strife"), sent.response);
            assert_eq!(sent.count(), Some(1));
        }
    }

    #[test]
    fn quotes_and_escapes() {
        let sent = Credentials::read(r#"username="a \"b\", c" , nc=1,realm=x"#).unwrap();
        assert_eq!(sent.username, "a \"b\", c");
        assert_eq!((sent.realm.as_str(), sent.count()), ("x", None));
        assert!(Credentials::read("username=\"open").is_none());
    }

    proptest! {
        #[test]
        fn any_credentials_are_survived(text in "[ -~]{0,60}") {
            let _ = Credentials::read(&text);
        }
    }
}
