//! Secrets for scripts. Plain data.

/// Secrets that a script may ask for: names and values, from a source of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretSource {
    /// `default`: the one of `secrets.get()`.
    pub name: String,
    pub secrets: Vec<(String, String)>,
}
