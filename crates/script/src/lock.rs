//! The lock file of a script: what each URL that it imports has given, by its hash, so that nobody runs other code than what was
//! looked at. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use squall_base::hex::hex;

/// The name of the lock file of a script: the folder that it is in is the script's root.
pub const LOCK: &str = "squall.lock";
/// The folder beside it that has what the URLs have given: in plain sight, so that one decides whether it is committed.
pub(crate) const MODULES: &str = "squall_modules";
/// The version of the file's form.
const VERSION: u32 = 1;
/// Most letters of a URL that are taken into the name of a file.
const LONGEST: usize = 80;

/// What URLs have given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    /// By URL.
    pub modules: BTreeMap<String, Locked>,
}

/// What one URL has given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Locked {
    /// SHA-256 of it, in hexadecimal.
    pub sha256: String,
    /// The file that has it, relative to that of the lock.
    pub file: String,
}

impl Default for Lock {
    fn default() -> Lock {
        Lock { version: VERSION, modules: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the text of a lock file; an empty one locks nothing.
    ///
    /// # Errors
    /// It is something else, with line and column.
    pub fn parse(text: &str) -> Result<Lock, String> {
        if text.trim().is_empty() {
            return Ok(Lock::default());
        }
        let lock: Lock = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(format!("version {other} of a lock file: this squall knows {VERSION}")),
        }
    }

    /// The text of the file.
    pub fn print(&self) -> String {
        // Texts and numbers always have a JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl Locked {
    /// What a URL has given just now.
    pub fn new(url: &str, bytes: &[u8]) -> Locked {
        Locked { sha256: sha256(bytes), file: format!("{MODULES}/{}", file_name(url)) }
    }
}

/// SHA-256, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The name of the file for a URL: one recognises it, and no two URLs have the same.
fn file_name(url: &str) -> String {
    let named = url.split_once("://").map_or(url, |(_, rest)| rest);
    let named = named.split_once('?').map_or(named, |(path, _)| path);
    let end = [".ts", ".mts", ".cts"].into_iter().find(|end| named.ends_with(end)).unwrap_or(".js");
    let named = named.strip_suffix(end).unwrap_or(named);
    let letter = |own: char| match own {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => own,
        _ => '_',
    };
    let shown: String = named.chars().take(LONGEST).map(letter).collect();
    format!("{shown}-{}{end}", &sha256(url.as_bytes())[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_as_it_is_written() {
        let mut lock = Lock::default();
        let own = "https://a.example/x/1.0/index.js";
        lock.modules.insert(own.to_string(), Locked::new(own, b"export const a = 1"));
        assert_eq!(Lock::parse(&lock.print()), Ok(lock.clone()));
        assert_eq!(Lock::parse("\n"), Ok(Lock::default()));
        let locked = &lock.modules[own];
        assert!(Locked::new(own, b"").sha256.starts_with("e3b0c44298fc1c14"));
        assert!(locked.file.starts_with("squall_modules/a.example_x_1.0_index-"), "{locked:?}");
        for (text, said) in [
            ("{", "line 1 column 1"),
            ("{\"version\": 2, \"modules\": {}}", "version 2"),
            ("{\"version\": 1, \"modules\": {}, \"other\": 1}", "other"),
        ] {
            let error = Lock::parse(text).expect_err(text);
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn files_have_names_of_their_own() {
        let all = [
            "https://a.example/x.js",
            "https://a.example/x.js?v=2",
            "https://a.example/x/y.ts",
            "https://a.example/x_y.ts",
            "https://a.example/X.js",
            "https://[::1]/..%2f..%2fx.js",
        ];
        let names: std::collections::BTreeSet<String> =
            all.iter().map(|own| file_name(own).to_ascii_lowercase()).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        assert!(names.iter().all(|own| !own.contains(['/', '%', '[']) && !own.starts_with('.')));
        assert!(file_name(all[2]).ends_with(".ts"));
        assert!(file_name(&format!("https://a.example/{}", "x".repeat(5_000))).len() < 120);
    }
}
