//! Keeps secrets out of everything that people or programs are shown.

use serde_json::json;

use crate::model::{Json, Plan};
use crate::value::Value;

/// What stands for a secret.
const MASK: &str = "***";

/// Texts that no output may show, in the forms that requests give them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Longest first, so that none hides a part of another.
    texts: Vec<String>,
}

impl Secrets {
    /// Adds a text, and how it stands in URLs, forms and JSON.
    pub fn add(&mut self, secret: &str) {
        let quoted = json!(secret).to_string();
        let percent = percent_encode(secret);
        let form = percent.replace("%20", "+");
        let within_json = quoted[1..quoted.len() - 1].to_owned();
        for form in [secret.to_owned(), percent, form, within_json] {
            if !form.is_empty() && !self.texts.contains(&form) {
                self.texts.push(form);
            }
        }
        self.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    /// Adds all texts and numbers of a value.
    pub fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::List(items) => items.iter().for_each(|item| self.add_value(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.add_value(value)),
            Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Bytes(_) => {
                self.add(&value.to_string());
            }
        }
    }

    /// A text with stars in place of each secret.
    pub fn mask(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| match text.contains(secret) {
            true => text.replace(secret, MASK),
            false => text,
        })
    }
}

/// A text as a URL's query holds it (RFC 3986, section 2.1).
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a variable of this name is taken for a secret.
pub fn sounds_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["password", "passwd", "secret", "token", "api_key", "apikey", "credential", "private_key"];
    let name = name.to_ascii_lowercase();
    // `password_prefix` and the like are about a secret, and are none.
    WORDS.iter().any(|word| name.ends_with(word) || name.ends_with(&format!("{word}s")))
}

impl Plan {
    /// What the plan itself says of its secret variables. What they come to is known to whoever
    /// evaluates them.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        for var in self.vars.iter().chain(own).filter(|var| var.is_secret()) {
            add_literals(&var.value, &mut secrets);
        }
        secrets
    }
}

fn add_literals(json: &Json, secrets: &mut Secrets) {
    match json {
        Json::Text(text) => text.literal().into_iter().for_each(|text| secrets.add(text)),
        Json::List(items) => items.iter().for_each(|item| add_literals(item, secrets)),
        Json::Map(entries) => entries.iter().for_each(|(_, value)| add_literals(value, secrets)),
        Json::Int(number) => secrets.add(&number.to_string()),
        Json::Float(number) => secrets.add(&number.to_string()),
        Json::Null | Json::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_in_all_its_forms() {
        let mut secrets = Secrets::default();
        secrets.add("a b&\"c");
        secrets.add("a b&\"cdef");
        secrets.add("");
        for (text, masked) in [
            ("x a b&\"c y", "x *** y"),
            ("?q=a%20b%26%22c&r", "?q=***&r"),
            ("q=a+b%26%22c", "q=***"),
            (r#"{"q": "a b&\"c"}"#, r#"{"q": "***"}"#),
            ("a b&\"cdef", "***"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(secrets.mask(text), masked);
        }
    }

    #[test]
    fn names_of_secrets() {
        assert!(sounds_secret("DB_PASSWORD") && sounds_secret("tokens"));
        assert!(!sounds_secret("password_prefix"));
    }
}
