//! What plans ask of the machine that they run on, by the few scripts that everybody writes for it: environment
//! variables, and the folders of the plan and of the program. No I/O: what is known is given.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The machine that a plan runs on, as far as plans ask for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// Environment variables.
    pub environment: BTreeMap<String, String>,
    /// The folder that the program was started in.
    pub working_folder: PathBuf,
    /// The folder of the plan.
    pub plan_folder: PathBuf,
}

impl Machine {
    /// What a script gives that asks for something of the machine, and does nothing else. An environment variable that
    /// is not there is an empty text, as JMeter's functions have it.
    pub(crate) fn answer(&self, script: &str) -> Option<String> {
        let mut rest = script.trim();
        while let Some(import) = rest.strip_prefix("import ") {
            rest = import.split_once(';')?.1.trim_start();
        }
        let asked = rest.strip_prefix("return ").unwrap_or(rest).trim_end_matches(';');
        // White space says nothing outside of quotes, and names of variables have none.
        let asked: String = asked.split_whitespace().collect();
        let asked = asked.strip_prefix("java.lang.").unwrap_or(&asked);
        match asked {
            "File.separator" | "java.io.File.separator" => return Some("/".to_owned()),
            "FileServer.getFileServer().getBaseDir()"
            | "org.apache.jmeter.services.FileServer.getFileServer().getBaseDir()" => {
                let folder = self.working_folder.join(&self.plan_folder);
                return Some(folder.display().to_string().trim_end_matches('/').to_owned());
            }
            _ => {}
        }
        let name = argument(asked, "System.getenv")
            .map(|name| self.environment.get(name).cloned().unwrap_or_default());
        let of_java = || match argument(asked, "System.getProperty")? {
            "user.dir" => Some(self.working_folder.display().to_string()),
            "file.separator" => Some("/".to_owned()),
            _ => None,
        };
        name.or_else(of_java)
    }
}

/// The text that a function is called with.
fn argument<'s>(call: &'s str, function: &str) -> Option<&'s str> {
    let inner = call.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')')?;
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    (!text.contains([quote, '\\'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_ask_for_the_machine_are_answered() {
        let machine = Machine {
            environment: BTreeMap::from([("HOST".to_owned(), "shop".to_owned())]),
            working_folder: "/work".into(),
            plan_folder: "plans".into(),
        };
        for (script, expected) in [
            (" System.getenv( \"HOST\" ) ", Some("shop")),
            ("return System.getenv('NONE');", Some("")),
            ("System.getProperty(\"user.dir\")", Some("/work")),
            (
                "import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();",
                Some("/work/plans"),
            ),
            ("File.separator", Some("/")),
            ("System.getenv(\"A\") + \"B\"", None),
            ("System.getProperty(\"user.name\")", None),
            ("1 + 1", None),
        ] {
            assert_eq!(machine.answer(script).as_deref(), expected, "{script}");
        }
    }
}
