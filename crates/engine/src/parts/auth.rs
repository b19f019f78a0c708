//! HTTP Digest (RFC 7616): MD5, SHA-256 and SHA-512-256, their -sess variants, qop auth and auth-int, and
//! its elder sister without qop (RFC 2069). Pure.

use std::fmt::Write as _;

use md5::Md5;
use sha2::{Digest, Sha256, Sha512_256};
use squall_base::hex::hex;

/// What servers have asked a user for: one challenge an origin, which is a protection space of its own.
#[derive(Debug, Default)]
pub(crate) struct Challenges(Vec<(u64, Box<Challenge>)>);

/// Most challenges that are remembered: a server asks again whose challenge is not.
const MOST_CHALLENGES: usize = 64;

impl Challenges {
    /// The challenge of an origin, by its number.
    pub(crate) fn of(&mut self, origin: u64) -> Option<&mut Challenge> {
        self.0.iter_mut().find(|(own, _)| *own == origin).map(|(_, challenge)| &mut **challenge)
    }

    /// Notes an origin's challenge in the place of its last one, or of the oldest of all if there are many.
    pub(crate) fn put(&mut self, origin: u64, challenge: Challenge) {
        match self.of(origin) {
            Some(own) => *own = challenge,
            None => {
                if self.0.len() == MOST_CHALLENGES {
                    self.0.remove(0);
                }
                self.0.push((origin, Box::new(challenge)));
            }
        }
    }
}

/// A server's challenge, and how often it was responded to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    session: bool,
    qop: Qop,
    /// Whether the user's name is sent as a hash.
    userhash: bool,
    /// Whether the server says that the credentials were right, and only its nonce too old.
    stale: bool,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512Of256,
}

impl Algorithm {
    fn hash(self, parts: &[&[u8]]) -> String {
        fn all<D: Digest>(parts: &[&[u8]]) -> String {
            let mut digest = D::new();
            parts.iter().for_each(|part| digest.update(part));
            hex(&digest.finalize())
        }
        match self {
            Algorithm::Md5 => all::<Md5>(parts),
            Algorithm::Sha256 => all::<Sha256>(parts),
            Algorithm::Sha512Of256 => all::<Sha512_256>(parts),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Algorithm::Md5 => "MD5",
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha512Of256 => "SHA-512-256",
        }
    }
}

/// What is protected: nothing but the request line, that and the client's nonce, or the body too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Qop {
    None,
    Auth,
    AuthInt,
}

/// Who asks for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub method: &'a str,
    pub uri: &'a str,
    /// The body that is sent; `None`: it is read while it is sent.
    pub body: Option<&'a [u8]>,
    /// Chance for the client's nonce.
    pub chance: u64,
}

impl Challenge {
    /// Reads the values of WWW-Authenticate lines; takes the strongest challenge that it knows.
    pub(crate) fn strongest<'a>(
        lines: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Challenge, &'static str> {
        let known = lines.flat_map(challenges).filter_map(Challenge::new);
        let strongest = known.reduce(|a, b| if b.algorithm > a.algorithm { b } else { a });
        strongest.ok_or("the server offers no Digest that squall knows")
    }

    /// A challenge as it was sent, if it is a Digest that is known here.
    fn new(offered: Offered) -> Option<Challenge> {
        if !offered.scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let get = |name: &str| offered.get(name).map(str::to_owned);
        let is_true =
            |name: &str| offered.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let name = offered.get("algorithm").unwrap_or("MD5").to_ascii_lowercase();
        let (name, session) = match name.strip_suffix("-sess") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let algorithm = match name {
            "md5" => Algorithm::Md5,
            "sha-256" => Algorithm::Sha256,
            "sha-512-256" => Algorithm::Sha512Of256,
            _ => return None,
        };
        let qop = match offered.get("qop") {
            None => Qop::None,
            Some(words) => {
                let has =
                    |word: &str| words.split(',').any(|own| own.trim().eq_ignore_ascii_case(word));
                // Bodies are hashed only for servers that want nothing else.
                match (has("auth"), has("auth-int")) {
                    (true, _) => Qop::Auth,
                    (false, true) => Qop::AuthInt,
                    (false, false) => return None,
                }
            }
        };
        Some(Challenge {
            realm: get("realm").unwrap_or_default(),
            nonce: get("nonce")?,
            opaque: get("opaque"),
            algorithm,
            session,
            qop,
            userhash: is_true("userhash"),
            stale: is_true("stale"),
            count: 0,
        })
    }

    /// Whether the server says that only the nonce was wrong.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    /// The value of the Authorization line for the next request.
    ///
    /// # Errors
    /// The server wants the body to be a part of it, and that is not known before it is sent.
    pub(crate) fn authorize(&mut self, asking: Asking<'_>) -> Result<String, &'static str> {
        let Asking { user, password, method, uri, body, chance } = asking;
        let hash = |text: &str| self.algorithm.hash(&[text.as_bytes()]);
        let count = self.count + 1;
        let cnonce = format!("{chance:016x}");
        let mut secret = hash(&format!("{user}:{}:{password}", self.realm));
        if self.session {
            secret = hash(&format!("{secret}:{}:{cnonce}", self.nonce));
        }
        let qop = match self.qop {
            Qop::None => None,
            Qop::Auth => Some("auth"),
            Qop::AuthInt => Some("auth-int"),
        };
        let request = match self.qop {
            Qop::AuthInt => {
                let body = body.ok_or(
                    "the server wants a digest of the body (qop=auth-int), and this one is read while it is sent",
                )?;
                hash(&format!("{method}:{uri}:{}", self.algorithm.hash(&[body])))
            }
            Qop::None | Qop::Auth => hash(&format!("{method}:{uri}")),
        };
        let nonce = &self.nonce;
        let response = hash(&match qop {
            Some(qop) => format!("{secret}:{nonce}:{count:08x}:{cnonce}:{qop}:{request}"),
            None => format!("{secret}:{nonce}:{request}"),
        });
        let hashed = self.userhash.then(|| hash(&format!("{user}:{}", self.realm)));
        let mut value = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{uri}\", response=\"{response}\"",
            quoted(hashed.as_deref().unwrap_or(user)),
            quoted(&self.realm),
            quoted(nonce)
        );
        let session = if self.session { "-sess" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(value, ", algorithm={}{session}", self.algorithm.name());
        if qop.is_some() || self.session {
            let _ = write!(value, ", cnonce=\"{cnonce}\"");
        }
        if let Some(qop) = qop {
            let _ = write!(value, ", qop={qop}, nc={count:08x}");
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(value, ", opaque=\"{}\"", quoted(opaque));
        }
        if self.userhash {
            value.push_str(", userhash=true");
        }
        self.count = count;
        Ok(value)
    }
}

/// What stands between double quotes (RFC 9110, section 5.6.4).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A challenge as a server offers it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Offered {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Offered {
    fn get(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let found = parameters.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The challenges of a WWW-Authenticate line (RFC 9110, section 11.6.1): schemes, each with parameters or
/// with a token68, all with commas between them. A word with `=` behind it is a parameter, one without
/// begins the next challenge. What fits nowhere is passed over.
fn challenges(line: &[u8]) -> Vec<Offered> {
    let line = String::from_utf8_lossy(line);
    let (mut found, mut rest) = (Vec::<Offered>::new(), &*line);
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let Some(first) = rest.chars().next() else { return found };
        let word = taken(&mut rest, |c| !",= \t\"".contains(c));
        if word.is_empty() {
            // A quote or an equals sign where a word should be.
            let skipped = if first == '"' { quoted_string(&mut rest).len() } else { 0 };
            rest = if skipped == 0 { rest.strip_prefix(first).unwrap_or(rest) } else { rest };
            continue;
        }
        let Some(value) = rest.trim_start_matches([' ', '\t']).strip_prefix('=') else {
            found.push(Offered { scheme: word.to_owned(), parameters: Vec::new() });
            continue;
        };
        rest = value.trim_start_matches([' ', '\t']);
        let value = match rest.starts_with('"') {
            true => quoted_string(&mut rest),
            false => taken(&mut rest, |c| !", \t".contains(c)).to_owned(),
        };
        // The padding of a token68 makes a parameter without value, which nobody asks for.
        if let Some(challenge) = found.last_mut() {
            challenge.parameters.push((word.to_owned(), value));
        }
    }
}

/// Takes the characters off the beginning of a text that are wanted.
fn taken<'a>(rest: &mut &'a str, wanted: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    word
}

/// Takes a quoted string off the beginning of a text, which begins with a quote: what it says. One that
/// does not end goes to the end of the text.
fn quoted_string(rest: &mut &str) -> String {
    let mut said = String::new();
    let mut characters = rest.char_indices().skip(1);
    let end = loop {
        match characters.next() {
            None => break rest.len(),
            Some((at, '"')) => break at + 1,
            Some((_, '\\')) => said.extend(characters.next().map(|(_, c)| c)),
            Some((_, c)) => said.push(c),
        }
    };
    *rest = &rest[end..];
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &str = r#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALG, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#;

    const ASKING: Asking<'static> = Asking {
        user: "Mufasa",
        password: "Circle of Life",
        method: "GET",
        uri: "/dir/index.html",
        body: Some(b""),
        chance: 7,
    };

    fn strongest(lines: &[&str]) -> Result<Challenge, &'static str> {
        Challenge::strongest(lines.iter().map(|line| line.as_bytes()))
    }

    fn sha(text: String) -> String {
        hex(&Sha256::digest(text))
    }

    /// RFC 7616, section 3.9.1, whose client nonce is not a number: its hashes are taken apart.
    #[test]
    fn the_response_is_built_as_the_rfc_says() {
        let mut state = strongest(&[&CHALLENGE.replace("ALG", "SHA-256")]).expect("a challenge");
        let value = state.authorize(ASKING).expect("a body");
        let a1 = sha("Mufasa:http-auth@example.org:Circle of Life".to_owned());
        assert_eq!(a1, "7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232");
        let a2 = sha("GET:/dir/index.html".to_owned());
        assert_eq!(a2, "9a3fdae9a622fe8de177c24fa9c070f2b181ec85e15dcbdc32e10c82ad450b04");
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let expected = sha(format!("{a1}:{nonce}:00000001:0000000000000007:auth:{a2}"));
        assert!(value.contains(&format!("response=\"{expected}\"")), "{value}");
        assert!(value.contains("nc=00000001") && value.contains("opaque=\"FQhe/"));
        assert!(state.authorize(ASKING).expect("a body").contains("nc=00000002"));
    }

    /// The hash of the name is that of RFC 7616, section 3.9.2 (with the correction of its erratum 4897).
    #[test]
    fn sha_512_256_and_a_hashed_name() {
        let line = r#"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true"#;
        let mut state = strongest(&[line]).expect("a challenge");
        let value =
            state.authorize(Asking { user: "J\u{e4}s\u{f8}n Doe", ..ASKING }).expect("a body");
        let name = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b";
        assert!(value.starts_with(&format!("Digest username=\"{name}\"")), "{value}");
        assert!(value.contains("algorithm=SHA-512-256") && value.ends_with(", userhash=true"));
    }

    #[test]
    fn auth_int_alone_hashes_the_body() {
        let line = r#"Digest realm="r", nonce="n", qop=auth-int, algorithm=SHA-256"#;
        let mut state = strongest(&[line]).expect("a challenge");
        let asking = Asking { method: "POST", body: Some(b"a=1"), ..ASKING };
        let value = state.authorize(asking).expect("a body");
        let a1 = sha("Mufasa:r:Circle of Life".to_owned());
        let a2 = sha(format!("POST:/dir/index.html:{}", sha("a=1".to_owned())));
        let expected = sha(format!("{a1}:n:00000001:0000000000000007:auth-int:{a2}"));
        assert!(value.contains(&format!("response=\"{expected}\"")), "{value}");
        assert!(value.contains("qop=auth-int"));
        assert!(state.authorize(Asking { body: None, ..asking }).is_err());
        let mut auth = strongest(&[&CHALLENGE.replace("ALG", "MD5")]).expect("a challenge");
        assert!(auth.authorize(Asking { body: None, ..asking }).is_ok(), "auth goes first");
    }

    #[test]
    fn the_strongest_challenge_is_taken() {
        let named = |name| CHALLENGE.replace("ALG", name);
        let (md5, sha, sha512) = (named("MD5"), named("SHA-256"), named("SHA-512-256"));
        let all = [md5.as_str(), "Basic realm=\"x\"", &sha512, &sha];
        let algorithm = |lines: &[&str]| strongest(lines).map(|challenge| challenge.algorithm);
        assert_eq!(algorithm(&all), Ok(Algorithm::Sha512Of256));
        assert_eq!(algorithm(&[&all.join(", ")]), Ok(Algorithm::Sha512Of256), "in one line");
        assert_eq!(algorithm(&[&sha, &md5]), Ok(Algorithm::Sha256));
        let none =
            ["Basic realm=\"x\"", "Digest realm=x", "Digest nonce=x, qop=other", "Negotiate"];
        assert!(strongest(&none).is_err());
        let unknown = "Digest nonce=a, algorithm=SHA-1024, Digest nonce=b";
        assert_eq!(strongest(&[unknown]).map(|challenge| challenge.nonce), Ok("b".to_owned()));
    }

    #[test]
    fn a_line_is_taken_apart_at_its_challenges() {
        for (line, expected) in [
            ("Basic realm=\"a, Digest nonce=b\"", vec!["Basic realm=a, Digest nonce=b"]),
            (
                r#"NTLM, Digest realm="a \"b\" \\", nonce=c ,Bearer"#,
                vec!["NTLM", r#"Digest realm=a "b" \;nonce=c"#, "Bearer"],
            ),
            (
                "Negotiate YWJj/+==, Digest nonce = \"x\"",
                vec!["Negotiate YWJj/+==", "Digest nonce=x"],
            ),
            (", ,Digest nonce=a realm=b", vec!["Digest nonce=a;realm=b"]),
            ("Digest nonce=\"never ends", vec!["Digest nonce=never ends"]),
            ("Digest stale=, nonce=\"\"", vec!["Digest stale=;nonce="]),
            ("= \"x\" a=b", vec![]),
            ("", vec![]),
        ] {
            let show = |challenge: Offered| {
                let pairs =
                    challenge.parameters.iter().map(|(name, value)| format!("{name}={value}"));
                let pairs = pairs.collect::<Vec<_>>().join(";");
                format!("{} {pairs}", challenge.scheme).trim_end().to_owned()
            };
            let found: Vec<_> = challenges(line.as_bytes()).into_iter().map(show).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn each_origin_has_a_challenge_of_its_own() {
        let nonce =
            |text: &str| strongest(&[&format!("Digest nonce={text}")]).expect("a challenge");
        let mut all = Challenges::default();
        all.put(1, nonce("a"));
        all.put(2, nonce("b"));
        all.put(1, nonce("c"));
        let known = [0, 1, 2].map(|origin| all.of(origin).map(|challenge| challenge.nonce.clone()));
        assert_eq!(known, [None, Some("c".to_owned()), Some("b".to_owned())]);
        (3..1_000).for_each(|origin| all.put(origin, nonce("d")));
        assert_eq!((all.0.len(), all.of(2).is_some(), all.of(999).is_some()), (64, false, true));
        assert!(
            strongest(&["Digest nonce=a, stale=TRUE"]).is_ok_and(|challenge| challenge.is_stale())
        );
    }

    #[test]
    fn any_line_is_a_challenge_or_none() {
        use proptest::prelude::*;
        proptest!(|(line in "(Digest )?([a-z]{0,3}[=,\" \\\\]{0,3}){0,12}|Digest [ -~]{0,60}|\\PC{0,20}")| {
            let written = format!("{line}, Digest nonce=\"n\"");
            for text in [&line, &written] {
                if let Ok(mut state) = strongest(&[text]) {
                    let value = state.authorize(ASKING).expect("a body");
                    let read = challenges(value.as_bytes());
                    prop_assert_eq!(read.len(), 1, "{}", value);
                    prop_assert_eq!(read[0].get("nonce"), Some(state.nonce.as_str()));
                    prop_assert_eq!(read[0].get("realm"), Some(state.realm.as_str()));
                }
            }
        });
    }
}
