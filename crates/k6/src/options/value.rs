//! Reads values of options: what was expected of one that is something else is said with its name and with where it was
//! given. Pure.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use squall_base::units::parse_duration;
use squall_plan::diagnostic::nearest;

/// Most characters of a value that a message shows.
const MOST_SHOWN: usize = 60;

/// Where an option was given; the weakest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In a file of `--config`, by its name.
    Config(String),
    /// In what the script exports as `options`.
    Script,
    /// In a variable of the environment.
    Environment(&'static str),
    /// On the command line, by its flag.
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Config(file) => f.write_str(file),
            Source::Script => f.write_str("the script's options"),
            Source::Environment(name) => f.write_str(name),
            Source::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// What is wrong with an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError {
    /// Its name, with the keys that lead to the value: `scenarios.browse.vus`.
    pub name: String,
    pub source: Source,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option `{}` ({}): {}", self.name, self.source, self.message)
    }
}

/// A value of an option, or within one.
#[derive(Debug, Clone)]
pub(crate) struct At<'v> {
    pub value: &'v Value,
    pub name: String,
    pub source: &'v Source,
}

impl<'v> At<'v> {
    /// What is wrong with it, and what to do.
    pub fn refused(&self, message: impl Into<String>) -> OptionError {
        let (name, source) = (self.name.clone(), self.source.clone());
        OptionError { name, source, message: message.into() }
    }

    /// It is something other than what was expected.
    pub fn expected(&self, what: &str) -> OptionError {
        let mut shown: String = self.value.to_string();
        if let Some((at, _)) = shown.char_indices().nth(MOST_SHOWN) {
            shown.truncate(at);
            shown.push_str("...");
        }
        self.refused(format!("expected {what}, found {shown}"))
    }

    /// A value of a mapping by its key; `None`: it is not there, or null. Capitals do not matter, as in k6, which reads options
    /// with Go's `encoding/json`.
    pub fn key(&self, key: &str) -> Option<At<'v>> {
        let map = self.value.as_object()?;
        let alike = || map.iter().find(|(own, _)| own.eq_ignore_ascii_case(key));
        let value = map.get(key).or_else(|| Some(alike()?.1)).filter(|own| !own.is_null())?;
        Some(At { value, name: format!("{}.{key}", self.name), source: self.source })
    }

    /// The keys and values of a mapping, without those that are null.
    pub fn map(&self) -> Result<Vec<(String, At<'v>)>, OptionError> {
        let map = self.value.as_object().ok_or_else(|| self.expected("a mapping"))?;
        let keys = map.keys().filter_map(|key| Some((key.clone(), self.key(key)?)));
        Ok(keys.collect())
    }

    /// The items of a list.
    pub fn list(&self) -> Result<Vec<At<'v>>, OptionError> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let item =
            |(at, value)| At { value, name: format!("{}[{at}]", self.name), source: self.source };
        Ok(list.iter().enumerate().map(item).collect())
    }

    /// Refuses keys other than these.
    pub fn only(&self, known: &[&str]) -> Result<(), OptionError> {
        let is_known = |key: &str| known.iter().any(|own| own.eq_ignore_ascii_case(key));
        let unknown = self.map()?.into_iter().find(|(key, _)| !is_known(key));
        let Some((key, at)) = unknown else { return Ok(()) };
        let near = nearest(&key, known.iter().copied());
        let help = near.map_or_else(
            || format!("expected one of {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(at.refused(format!("unknown key: {help}")))
    }

    /// A whole number from `least` on.
    pub fn count(&self, least: u64) -> Result<u64, OptionError> {
        let whole = |own: f64| own.fract() == 0.0 && (0.0..=1e15).contains(&own);
        // In JavaScript 10.0 is a whole number.
        let count = self
            .value
            .as_u64()
            .or_else(|| self.value.as_f64().filter(|own| whole(*own)).map(|own| own as u64));
        let count = count.filter(|own| *own >= least);
        count.ok_or_else(|| self.expected(&format!("a whole number from {least} on")))
    }

    /// A time: a text with units, or a number of ms.
    pub fn time(&self) -> Result<Duration, OptionError> {
        let read = match self.value {
            Value::Number(ms) => ms.as_f64().and_then(millis),
            Value::String(text) => match text.trim().parse::<f64>() {
                Ok(ms) => millis(ms),
                Err(_) => parse_duration(text).ok(),
            },
            _ => None,
        };
        read.ok_or_else(|| self.expected("a time, such as \"1m30s\", or a number of ms"))
    }

    /// A time of at least a second.
    pub fn length(&self) -> Result<Duration, OptionError> {
        let time = self.time()?;
        match time < Duration::from_secs(1) {
            true => Err(self.expected("a time of at least 1s")),
            false => Ok(time),
        }
    }

    /// A text.
    pub fn text(&self) -> Result<&'v str, OptionError> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// A text, or a number or boolean as the text that it is.
    pub fn as_text(&self) -> Result<String, OptionError> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(self.value.to_string()),
            _ => Err(self.expected("a text")),
        }
    }

    /// `true` or `false`.
    pub fn switch(&self) -> Result<bool, OptionError> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// One of some words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, OptionError> {
        let found = words.iter().find(|(word, _)| self.value.as_str() == Some(word));
        let names = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map(|(_, own)| *own).ok_or_else(|| self.expected(&format!("one of {}", names())))
    }

    /// Names and texts.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, OptionError> {
        let pair = |(key, at): (String, At<'_>)| Ok((key, at.as_text()?));
        self.map()?.into_iter().map(pair).collect()
    }
}

fn millis(ms: f64) -> Option<Duration> {
    (ms >= 0.0).then(|| Duration::try_from_secs_f64(ms / 1_000.0).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(value: &Value) -> At<'_> {
        At { value, name: "x".to_owned(), source: &Source::Script }
    }

    #[test]
    fn times_are_texts_or_milliseconds() {
        for (value, ms) in [
            (json!("1m30s"), 90_000),
            (json!("1.5h"), 5_400_000),
            (json!("250"), 250),
            (json!(1500), 1_500),
            (json!("1d"), 86_400_000),
            (json!("0s"), 0),
        ] {
            assert_eq!(at(&value).time(), Ok(Duration::from_millis(ms)), "{value}");
        }
        for value in [json!("-1s"), json!(-1), json!("soon"), json!([1]), json!("NaN")] {
            assert!(at(&value).time().is_err(), "{value}");
        }
    }

    #[test]
    fn what_was_expected_is_said_with_the_place() {
        let value = json!({"vus": "many", "duraton": 1});
        let own = at(&value).key("vus").map(|own| own.count(1));
        let error = own.expect("a key").expect_err("a text").to_string();
        let expected = "option `x.vus` (the script's options): expected a whole number from 1 on, found \"many\"";
        assert_eq!(error, expected);
        let error = at(&value).only(&["vus", "duration"]).expect_err("unknown").to_string();
        assert!(error.ends_with("unknown key: did you mean `duration`?"), "{error}");
        assert_eq!(at(&json!(10.0)).count(1), Ok(10));
        let value = json!({"startvus": 3, "VUs": 1, "vus": 2});
        let own = at(&value);
        assert_eq!(own.only(&["startVUs", "vus"]), Ok(()));
        let count = |key| own.key(key).map(|own| own.count(1));
        assert_eq!((count("startVUs"), count("vus")), (Some(Ok(3)), Some(Ok(2))));
        assert!(at(&json!(1.5)).count(0).is_err());
    }
}
