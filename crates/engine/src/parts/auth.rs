//! HTTP Digest (RFC 7616): MD5 and SHA-256, their -sess variants, qop=auth.

use std::fmt::Write as _;

use md5::Md5;
use sha2::{Digest, Sha256};
use squall_base::hex::hex;

/// What a user knows of a server's challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DigestState {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    session: bool,
    qop: bool,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Algorithm {
    Md5,
    Sha256,
}

/// Who asks for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub method: &'a str,
    /// The request target.
    pub uri: &'a str,
    /// Chance for the client's nonce.
    pub chance: u64,
}

impl DigestState {
    /// Reads the values of WWW-Authenticate lines; takes the strongest challenge that it knows.
    pub(crate) fn of<'a>(
        lines: impl Iterator<Item = &'a [u8]>,
    ) -> Result<DigestState, &'static str> {
        let challenges = lines.filter_map(|line| challenge(&String::from_utf8_lossy(line)));
        let strongest = challenges.reduce(|a, b| if b.algorithm > a.algorithm { b } else { a });
        strongest.ok_or("the server offers no Digest that squall knows")
    }

    /// The value of the Authorization line for the next request.
    pub(crate) fn authorize(&mut self, asking: Asking<'_>) -> String {
        self.count += 1;
        let hash = |text: &str| match self.algorithm {
            Algorithm::Md5 => hex(&Md5::digest(text)),
            Algorithm::Sha256 => hex(&Sha256::digest(text)),
        };
        let cnonce = format!("{:016x}", asking.chance);
        let Asking { user, password, method, uri, .. } = asking;
        let mut secret = hash(&format!("{user}:{}:{password}", self.realm));
        if self.session {
            secret = hash(&format!("{secret}:{}:{cnonce}", self.nonce));
        }
        let request = hash(&format!("{method}:{uri}"));
        let response = if self.qop {
            hash(&format!("{secret}:{}:{:08x}:{cnonce}:auth:{request}", self.nonce, self.count))
        } else {
            hash(&format!("{secret}:{}:{request}", self.nonce))
        };
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut value = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{uri}\", response=\"{response}\"",
            quoted(user),
            quoted(&self.realm),
            quoted(&self.nonce)
        );
        let name = match (self.algorithm, self.session) {
            (Algorithm::Md5, false) => "MD5",
            (Algorithm::Md5, true) => "MD5-sess",
            (Algorithm::Sha256, false) => "SHA-256",
            (Algorithm::Sha256, true) => "SHA-256-sess",
        };
        // Writing to a String cannot fail.
        let _ = write!(value, ", algorithm={name}");
        if self.qop || self.session {
            let _ = write!(value, ", cnonce=\"{cnonce}\"");
        }
        if self.qop {
            let _ = write!(value, ", qop=auth, nc={:08x}", self.count);
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(value, ", opaque=\"{}\"", quoted(opaque));
        }
        value
    }
}

/// One challenge, if it is a Digest that is known here.
fn challenge(line: &str) -> Option<DigestState> {
    let (scheme, rest) = line.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("digest") {
        return None;
    }
    let fields = fields(rest);
    let get = |name: &str| {
        fields
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    };
    let name = get("algorithm").unwrap_or_else(|| "MD5".to_owned()).to_ascii_lowercase();
    let (name, session) = match name.strip_suffix("-sess") {
        Some(name) => (name, true),
        None => (name.as_str(), false),
    };
    let algorithm = match name {
        "md5" => Algorithm::Md5,
        "sha-256" => Algorithm::Sha256,
        _ => return None,
    };
    let qop =
        get("qop").map(|qop| qop.split(',').any(|word| word.trim().eq_ignore_ascii_case("auth")));
    if qop == Some(false) {
        return None; // only auth-int
    }
    Some(DigestState {
        realm: get("realm").unwrap_or_default(),
        nonce: get("nonce")?,
        opaque: get("opaque"),
        algorithm,
        session,
        qop: qop.unwrap_or(false),
        count: 0,
    })
}

/// `name=value, name="quoted \" value"`.
fn fields(mut text: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.trim_matches(|c: char| c == ',' || c.is_whitespace()).to_owned();
        let rest = rest.trim_start();
        let mut value = String::new();
        text = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut escaped = false;
                let end = quoted.char_indices().find(|(_, c)| {
                    let ends = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    if !ends && !escaped {
                        value.push(*c);
                    }
                    ends
                });
                end.map_or("", |(at, _)| &quoted[at + 1..])
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                value.push_str(rest[..end].trim());
                &rest[end..]
            }
        };
        fields.push((name, value));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &str = r#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALG, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#;

    /// RFC 7616, section 3.9.1, whose client nonce is not a number: its hashes are taken apart.
    #[test]
    fn the_response_is_built_as_the_rfc_says() {
        let line = CHALLENGE.replace("ALG", "SHA-256");
        let mut state = DigestState::of([line.as_bytes()].into_iter()).expect("a challenge");
        let asking = Asking {
            user: "Mufasa",
            password: "Circle of Life",
            method: "GET",
            uri: "/dir/index.html",
            chance: 7,
        };
        let value = state.authorize(asking);
        let sha = |text: String| hex(&Sha256::digest(text));
        let a1 = sha("Mufasa:http-auth@example.org:Circle of Life".to_owned());
        assert_eq!(a1, "7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232");
        let a2 = sha("GET:/dir/index.html".to_owned());
        assert_eq!(a2, "9a3fdae9a622fe8de177c24fa9c070f2b181ec85e15dcbdc32e10c82ad450b04");
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let expected = sha(format!("{a1}:{nonce}:00000001:0000000000000007:auth:{a2}"));
        assert!(value.contains(&format!("response=\"{expected}\"")), "{value}");
        assert!(value.contains("nc=00000001") && value.contains("opaque=\"FQhe/"));
        assert!(state.authorize(asking).contains("nc=00000002"));
    }

    #[test]
    fn the_strongest_challenge_is_taken() {
        let (md5, sha) = (CHALLENGE.replace("ALG", "MD5"), CHALLENGE.replace("ALG", "SHA-256"));
        let lines = ["Basic realm=\"x\"".as_bytes(), sha.as_bytes(), md5.as_bytes()];
        assert_eq!(
            DigestState::of(lines.into_iter()).map(|state| state.algorithm),
            Ok(Algorithm::Sha256)
        );
        assert!(DigestState::of([b"Basic realm=\"x\"".as_slice()].into_iter()).is_err());
    }

    #[test]
    fn any_line_is_a_challenge_or_none() {
        use proptest::prelude::*;
        proptest!(|(line in "Digest [ -~]{0,60}")| {
            if let Ok(mut state) = DigestState::of([line.as_bytes()].into_iter()) {
                state.authorize(Asking { user: "a", password: "b", method: "GET", uri: "/", chance: 1 });
            }
        });
    }
}
