//! Where the values of variables come from: the plan, files, the environment, flags. Later ones win.

use crate::json::Json;
use crate::secrets::{Secrets, sounds_secret};
use crate::template::Template;

/// Prefix of environment variables that are variables of plans.
const PREFIX: &str = "SQUALL_VAR_";

/// Values in place of the plan's own, weakest first.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// From `--env-file`.
    pub env_files: Vec<(String, String)>,
    /// From `SQUALL_VAR_*`, the prefix taken off.
    pub environment: Vec<(String, String)>,
    /// From `--set`.
    pub set: Vec<(String, String)>,
    /// What differs between the variants of an experiment: stronger than all others, and known to the plan whether its `vars`
    /// name it or not.
    pub factors: Vec<(String, Json)>,
    /// Whether the text is all there is: one from elsewhere, which must not read files of this machine.
    pub alone: bool,
}

impl LoadOptions {
    /// Values whose names sound like secrets, whatever a plan makes of them.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let all = self.env_files.iter().chain(&self.environment).chain(&self.set);
        all.filter(|(name, _)| sounds_secret(name)).for_each(|(_, value)| secrets.add(value));
        secrets
    }

    /// The values given for a variable, weakest first; texts are taken as they stand.
    pub(crate) fn given(&self, name: &str) -> impl Iterator<Item = Json> {
        let all = self.env_files.iter().chain(&self.environment).chain(&self.set);
        let given = all.map(|(own, value)| (own, typed(value)));
        let factors = self.factors.iter().map(|(own, value)| (own, value.clone()));
        given
            .chain(factors)
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// Numbers and bools are what they look like, all else is a text.
fn typed(value: &str) -> Json {
    match value {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => match value.parse::<i64>() {
            // A number that is written otherwise than it prints (007, +5) is a text.
            Ok(number) if number.to_string() == value => Json::Int(number),
            _ => Json::Text(Template::text(value)),
        },
    }
}

/// The variables of plans in an environment.
pub fn from_environment(all: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    all.filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_owned(), value))).collect()
}

/// Reads a file of `NAME=VALUE` lines; `#` begins a comment, `export` before a name and quotes around
/// a value are taken off.
///
/// # Errors
/// A line is none; the text names file and line.
pub fn parse_env_file(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((key, value)) = line.split_once('=') else {
            // What the line holds may be a secret.
            return Err(format!("{name}:{}:1: invalid line: expected NAME=VALUE", index + 1));
        };
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() {
            return Err(format!("{name}:{}:1: the name before `=` is empty", index + 1));
        }
        let unquoted =
            ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        values.push((key.to_owned(), unquoted.unwrap_or(value).to_owned()));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_files() {
        let text = "# c\nexport A=1\nB = \"two words\"\n\nC='x'\n";
        let values = parse_env_file("f", text).expect("good lines");
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "x")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(values, expected);
        assert_eq!(
            parse_env_file("f", "A=1\nB"),
            Err("f:2:1: invalid line: expected NAME=VALUE".to_owned())
        );
        for text in ["A=1\n=1", "\n = 1", "#\nexport =1"] {
            let empty = Err("f:2:1: the name before `=` is empty".to_owned());
            assert_eq!(parse_env_file("f", text), empty, "{text:?}");
        }
    }
}
