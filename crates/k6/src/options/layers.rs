//! Options from everywhere: `--config` file, script, environment, command line, of which a later one is stronger. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use squall_plan::diagnostic::nearest;

use super::table::{Kind, Known, OPTIONS, known};
use super::value::{At, OptionError, Source};

/// What decides over how many users there are and when: one of them in a stronger place replaces all of weaker ones.
const OF_LOAD: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

/// Options, each with where it was given.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    given: BTreeMap<&'static str, (Source, Value)>,
    /// What was given and will not be as it was meant, in sentences.
    pub warnings: Vec<String>,
}

impl Layers {
    /// Adds what a script or a `--config` file has: a mapping of options. Call in the order of strength, the weakest first.
    ///
    /// # Errors
    /// It is something else.
    pub fn add_map(&mut self, source: &Source, value: &Value) -> Result<(), OptionError> {
        let whole = At { value, name: "options".to_owned(), source };
        let mut layer = Vec::new();
        for (name, at) in whole.map()? {
            match known(&name) {
                Some(own) => layer.push((own.name, source.clone(), at.value.clone())),
                None => {
                    let near = nearest(&name, OPTIONS.iter().map(|own| own.name));
                    let help = near.map(|near| format!("; did you mean `{near}`?"));
                    let help = help.unwrap_or_default();
                    self.warnings
                        .push(format!("option `{name}` ({source}): unknown, and ignored{help}"));
                }
            }
        }
        self.add(layer);
        Ok(())
    }

    /// Adds what the environment has.
    ///
    /// # Errors
    /// A value is not what its option takes.
    pub fn add_environment(&mut self, environment: &[(String, String)]) -> Result<(), OptionError> {
        let mut layer = Vec::new();
        for (name, text) in environment {
            let own = OPTIONS.iter().find(|own| own.variable == name && !text.is_empty());
            let Some(own) = own else { continue };
            let source = Source::Environment(own.variable);
            let value = value_of(own, &source, std::slice::from_ref(text))?;
            layer.push((own.name, source, value));
        }
        self.add(layer);
        Ok(())
    }

    /// Adds what was typed: options by their names in a script, with the texts of their flags.
    ///
    /// # Errors
    /// A value is not what its option takes.
    pub fn add_flags(
        &mut self,
        flags: &[(&'static Known, Vec<String>)],
    ) -> Result<(), OptionError> {
        let mut layer = Vec::new();
        for (own, texts) in flags {
            let source = Source::Flag(own.flag);
            let value = value_of(own, &source, texts)?;
            layer.push((own.name, source, value));
        }
        self.add(layer);
        Ok(())
    }

    fn add(&mut self, layer: Vec<(&'static str, Source, Value)>) {
        if layer.iter().any(|(name, ..)| OF_LOAD.contains(name)) {
            let replaced =
                self.given.remove("scenarios").filter(|(source, _)| *source == Source::Script);
            if replaced.is_some()
                && let Some((name, source, _)) = layer.iter().find(|own| OF_LOAD.contains(&own.0))
            {
                self.warnings
                    .push(format!("option `{name}` ({source}) replaces the script's scenarios"));
            }
            OF_LOAD.iter().for_each(|name| drop(self.given.remove(name)));
        }
        self.given.extend(layer.into_iter().map(|(name, source, value)| (name, (source, value))));
    }

    /// All options that were given, by their names in scripts.
    pub fn to_json(&self) -> Value {
        let all = self.given.iter().map(|(name, (_, value))| ((*name).to_owned(), value.clone()));
        Value::Object(all.collect())
    }

    /// The value of an option; `None`: it was not given.
    pub(crate) fn get(&self, name: &str) -> Option<At<'_>> {
        let (source, value) = self.given.get(name)?;
        Some(At { value, name: name.to_owned(), source })
    }

    /// An option as it is read; `None`: it was not given.
    pub(crate) fn read<'a, T>(
        &'a self,
        name: &str,
        read: impl FnOnce(&At<'a>) -> Result<T, OptionError>,
    ) -> Result<Option<T>, OptionError> {
        self.get(name).map(|at| read(&at)).transpose()
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> Result<bool, OptionError> {
        Ok(self.read(name, At::switch)?.unwrap_or_default())
    }
}

/// The value that texts are.
fn value_of(own: &Known, source: &Source, texts: &[String]) -> Result<Value, OptionError> {
    let written = json!(texts.join(","));
    let at = At { value: &written, name: own.name.to_owned(), source };
    let last = texts.last().map(|text| text.trim()).unwrap_or_default();
    let parts = || {
        texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|own| !own.is_empty())
    };
    let split =
        |text: &str, by: char| text.split_once(by).map(|(a, b)| (a.to_owned(), b.to_owned()));
    match own.kind {
        Kind::Number => {
            let number = last.parse::<u64>().ok();
            number.map(Value::from).ok_or_else(|| at.expected("a whole number"))
        }
        Kind::Switch => match last.to_ascii_lowercase().as_str() {
            "true" | "1" | "t" => Ok(json!(true)),
            "false" | "0" | "f" => Ok(json!(false)),
            _ => Err(at.expected("true or false")),
        },
        Kind::Text | Kind::Debug => Ok(json!(last)),
        Kind::List => Ok(parts().collect()),
        Kind::Stages => {
            let stage = |text: &str| {
                let (duration, target) = split(text, ':')?;
                Some(json!({"duration": duration, "target": target.trim().parse::<u64>().ok()?}))
            };
            let stages: Option<Vec<Value>> = parts().map(stage).collect();
            stages.map(Value::from).ok_or_else(|| at.expected("stages such as 30s:10,1m:20"))
        }
        Kind::Pairs => {
            let pair = |text: &str| split(text, '=').map(|(name, value)| (name, json!(value)));
            let pairs: Option<Map<String, Value>> = parts().map(pair).collect();
            pairs.map(Value::from).ok_or_else(|| at.expected("name=value"))
        }
        Kind::Json => {
            let read = serde_json::from_str(last);
            // A version of TLS alone is a word.
            read.or_else(
                |error| if last.starts_with(['{', '[']) { Err(error) } else { Ok(json!(last)) },
            )
            .map_err(|error| at.refused(format!("expected JSON: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(name: &str, texts: &[&str]) -> (&'static Known, Vec<String>) {
        (known(name).expect("an option"), texts.iter().map(|own| (*own).to_owned()).collect())
    }

    #[test]
    fn a_flag_is_stronger_than_the_environment_than_the_script_than_a_file() {
        let mut own = Layers::default();
        let all = |value: u64| json!({"batch": value, "maxRedirects": value, "batchPerHost": value, "rps": value});
        own.add_map(&Source::Config("c.json".to_owned()), &all(1)).expect("options");
        own.add_map(&Source::Script, &json!({"batch": 2, "maxRedirects": 2, "batchPerHost": 2}))
            .expect("options");
        let environment =
            [("K6_BATCH", "3"), ("K6_MAX_REDIRECTS", "3"), ("PATH", "x"), ("K6_RPS", "")];
        let environment: Vec<_> = environment.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
        own.add_environment(&environment).expect("options");
        own.add_flags(&[flag("batch", &["4"])]).expect("options");
        let found = |name: &str| own.get(name).and_then(|at| at.value.as_u64());
        assert_eq!(found("batch"), Some(4));
        assert_eq!(found("maxRedirects"), Some(3));
        assert_eq!(found("batchPerHost"), Some(2));
        assert_eq!(found("rps"), Some(1));
        assert_eq!(own.get("batch").map(|at| at.source.to_string()).as_deref(), Some("--batch"));
        assert_eq!(own.get("rps").map(|at| at.source.to_string()).as_deref(), Some("c.json"));
    }

    #[test]
    fn what_decides_over_the_load_replaces_all_of_weaker_places() {
        let mut own = Layers::default();
        let script = json!({"scenarios": {"a": {}}, "vus": 3});
        own.add_map(&Source::Script, &script).expect("options");
        own.add_flags(&[flag("duration", &["5s"])]).expect("options");
        assert!(own.get("scenarios").is_none() && own.get("duration").is_some());
        assert!(own.get("vus").is_some(), "the number of users stays");
        assert_eq!(
            own.warnings,
            ["option `duration` (--duration) replaces the script's scenarios"]
        );
    }

    #[test]
    fn texts_become_what_scripts_write() {
        let mut own = Layers::default();
        own.add_flags(&[
            flag("stages", &["5s:1,10s:20", "1m:0"]),
            flag("tags", &["a=b", "c=d=e"]),
            flag("summaryTrendStats", &["avg,p(95)"]),
            flag("throw", &["true"]),
            flag("tlsVersion", &["tls1.2"]),
            flag("hosts", &["{\"a\": \"1.2.3.4\"}"]),
        ])
        .expect("options");
        let found = |name: &str| own.get(name).map(|at| at.value.clone()).unwrap_or_default();
        let stages = json!([{"duration": "5s", "target": 1}, {"duration": "10s", "target": 20}, {"duration": "1m", "target": 0}]);
        assert_eq!(found("stages"), stages);
        assert_eq!(found("tags"), json!({"a": "b", "c": "d=e"}));
        assert_eq!(found("summaryTrendStats"), json!(["avg", "p(95)"]));
        assert_eq!(found("throw"), json!(true));
        assert_eq!(found("tlsVersion"), json!("tls1.2"));
        assert_eq!(found("hosts"), json!({"a": "1.2.3.4"}));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_flag_or_the_variable() {
        let error = |name: &str, text: &str| {
            let found = Layers::default().add_flags(&[flag(name, &[text])]);
            found.expect_err(text).to_string()
        };
        assert_eq!(
            error("vus", "-1"),
            "option `vus` (--vus): expected a whole number, found \"-1\""
        );
        assert!(error("stages", "5s").contains("(--stage): expected stages such as 30s:10,1m:20"));
        assert!(error("tags", "a").contains("expected name=value"));
        assert!(error("throw", "maybe").contains("expected true or false"));
        assert!(error("hosts", "{").contains("expected JSON"));
        let mut own = Layers::default();
        own.add_map(&Source::Script, &json!({"dration": "5s"})).expect("options");
        let said = "option `dration` (the script's options): unknown, and ignored; did you mean `duration`?";
        assert_eq!(own.warnings, [said]);
        own.add_map(&Source::Script, &json!({"Duration": "5s"})).expect("options");
        assert_eq!(own.warnings.len(), 1, "capitals do not matter");
        assert!(own.add_map(&Source::Script, &json!([1])).is_err());
    }
}
