//! Scripts that ask for nothing but what a machine is known to have: system properties, variables of the environment,
//! the folder of the plan. Plans find their files so (`${__BeanShell(System.getProperty("user.dir"))}`). Their values are
//! known before the run, wherever they are used.

use std::collections::BTreeMap;
use std::path::Path;

/// What the machine says that runs a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// System properties of Java: those of `-D`, and those that every Java has, such as `user.dir`.
    pub properties: BTreeMap<String, String>,
    /// Variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// Its name, if it is known.
    pub name: Option<String>,
    /// The address that its name has, if it has one.
    pub address: Option<String>,
}

impl Machine {
    /// The value of a script that asks for such things and puts texts between them; `None` if it does anything else.
    /// What is not set is nothing, as JMeter has it.
    pub(crate) fn value(&self, script: &str, folder: &Path) -> Option<String> {
        let mut statements = script.split(';').map(str::trim).filter(|own| !own.is_empty());
        let last = statements.next_back()?;
        if !statements.all(|statement| statement.starts_with("import ")) {
            return None;
        }
        let last = last.strip_prefix("return ").unwrap_or(last);
        let terms = terms(last)?;
        let values = terms.iter().map(|term| self.term(term.trim(), folder));
        let values: Vec<Option<String>> = values.collect::<Option<_>>()?;
        match values.as_slice() {
            [only] => Some(only.clone().unwrap_or_default()),
            // Java joins what is not there as this word.
            several => Some(several.iter().map(|own| own.as_deref().unwrap_or("null")).collect()),
        }
    }

    /// What a part of a script gives: `Some(None)` is what is not set.
    fn term(&self, term: &str, folder: &Path) -> Option<Option<String>> {
        if let Some(text) = quoted(term) {
            return Some(Some(text.to_owned()));
        }
        let term = term.strip_prefix("java.lang.").unwrap_or(term);
        let compact: String = term.split_whitespace().collect();
        match compact.strip_prefix("org.apache.jmeter.services.").unwrap_or(&compact) {
            "FileServer.getFileServer().getBaseDir()" => {
                return Some(Some(folder.display().to_string()));
            }
            "File.separator" | "java.io.File.separator" => return Some(Some("/".to_owned())),
            _ => {}
        }
        let argument = |function: &str| {
            let inner = term.strip_prefix(function)?.trim_start();
            inner.strip_prefix('(')?.strip_suffix(')').map(str::trim)
        };
        if let Some(names) = argument("System.getProperty") {
            let (name, without) = match names.split_once(',') {
                Some((name, without)) => (name, Some(quoted(without.trim())?.to_owned())),
                None => (names, None),
            };
            let value = self.properties.get(quoted(name.trim())?).cloned();
            return Some(value.or(without));
        }
        let name = quoted(argument("System.getenv")?)?;
        Some(self.environment.get(name).cloned())
    }
}

/// The parts of a script between its `+`; `None` if a text in it does not end.
fn terms(script: &str) -> Option<Vec<String>> {
    let mut terms = vec![String::new()];
    let mut within: Option<char> = None;
    for c in script.chars() {
        match (within, c) {
            (None, '+') => {
                terms.push(String::new());
                continue;
            }
            (None, '"' | '\'') => within = Some(c),
            (Some(quote), c) if c == quote => within = None,
            _ => {}
        }
        // One is there from the beginning.
        terms.last_mut()?.push(c);
    }
    within.is_none().then_some(terms)
}

/// The text between quotes, if there is nothing else, and nothing in it that would have to be read.
fn quoted(term: &str) -> Option<&str> {
    let inner = ['"', '\''].iter().find_map(|quote| {
        let inner = term.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains(*quote)).then_some(inner)
    })?;
    (!inner.contains(['\\', '$'])).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_ask_for_what_is_known() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let machine = Machine {
            properties: of(&[("user.dir", "/work")]),
            environment: of(&[("webapp", "shop.test")]),
            ..Machine::default()
        };
        for (script, expected) in [
            (r#"System.getProperty("user.dir")"#, Some("/work")),
            (r#" System.getenv("webapp") "#, Some("shop.test")),
            (r#"System.getenv("none");"#, Some("")),
            (r#"return java.lang.System.getenv('webapp');"#, Some("shop.test")),
            (r#"System.getProperty("none", "d")"#, Some("d")),
            (
                r#"System.getProperty('user.dir') + File.separator + "a+b.csv""#,
                Some("/work/a+b.csv"),
            ),
            (r#""x" + System.getenv("none")"#, Some("xnull")),
            (
                "import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();",
                Some("/plans"),
            ),
            ("File.separator", Some("/")),
            ("new Date()", None),
            (r#"System.exit(1); System.getenv("webapp")"#, None),
            (r#"System.getenv("${name}")"#, None),
            (r#"System.getenv("open)"#, None),
            ("", None),
        ] {
            assert_eq!(machine.value(script, Path::new("/plans")).as_deref(), expected, "{script}");
        }
    }
}
