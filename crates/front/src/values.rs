//! Values that are given to a plan from outside, by name: variables of a plan in YAML, properties of a JMeter plan.

use std::collections::BTreeMap;
use std::path::Path;

use squall_k6::script::SecretSource;
use squall_plan::model::{Isolation, Json};
use squall_plan::{files, vars};

/// Values in place of a plan's own. Those of files are the weakest, then those of the environment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    /// From files, in their order: of a name that stands twice the last value counts.
    pub files: Vec<(String, String)>,
    pub environment: Vec<(String, String)>,
    /// Given one by one: a plan says which of these it does not know.
    pub given: Vec<(String, String)>,
    /// What differs between the variants of an experiment: stronger than all others, and known to a plan that does not
    /// define it.
    pub factors: Vec<(String, Json)>,
    /// Java's system properties, for a JMeter plan.
    pub system: BTreeMap<String, String>,
    /// What a script finds in `__ENV`, beside what files have.
    pub env: Vec<(String, String)>,
    /// What `k6/secrets` gives to scripts.
    pub secrets: Vec<SecretSource>,
    /// Whether what is not supported is left out, and the rest taken.
    pub skips_unsupported: bool,
    /// What users of scripts have in common, in place of what the plan says.
    pub isolation: Option<Isolation>,
}

impl Values {
    /// Adds one that is given as `NAME=VALUE`.
    ///
    /// # Errors
    /// It is not written like that.
    pub fn give(&mut self, text: &str) -> Result<(), String> {
        self.given.push(named(text)?);
        Ok(())
    }

    /// Adds one for `__ENV` of a script, that is given as `NAME=VALUE`.
    ///
    /// # Errors
    /// It is not written like that.
    pub fn give_env(&mut self, text: &str) -> Result<(), String> {
        self.env.push(named(text)?);
        Ok(())
    }

    /// Adds secrets for scripts, as k6's `--secret-source` names their sources.
    ///
    /// # Errors
    /// A text has another form, or a file cannot be read.
    pub fn give_secrets(&mut self, sources: &[String]) -> Result<(), String> {
        self.secrets = squall_k6::secrets::sources(sources)?;
        Ok(())
    }

    /// Adds those of a file of `NAME=VALUE` lines, as shells read them.
    ///
    /// # Errors
    /// It cannot be read, or a line is none.
    pub fn add_env_file(&mut self, path: &Path) -> Result<(), String> {
        let text = text(path)?;
        self.files.extend(vars::parse_env_file(&path.display().to_string(), &text)?);
        Ok(())
    }

    /// Adds those of a file of properties, as Java reads them.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn add_properties(&mut self, path: &Path) -> Result<(), String> {
        self.files.extend(properties(path)?);
        Ok(())
    }

    pub(crate) fn by_name(&self) -> BTreeMap<String, String> {
        let factors = self.factors.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let given = self.files.iter().chain(&self.environment).chain(&self.given).cloned();
        given.chain(factors).collect()
    }
}

fn named(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        // What is no name may be a secret.
        let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        return Err(format!("`{name}`: expected NAME=VALUE"));
    };
    Ok((name.to_owned(), value.to_owned()))
}

/// The properties in a file, as Java reads them.
///
/// # Errors
/// It cannot be read.
pub fn properties(path: &Path) -> Result<Vec<(String, String)>, String> {
    text(path).map(|text| squall_jmeter::parse_properties(&text))
}

fn text(path: &Path) -> Result<String, String> {
    files::text(path).map_err(|why| format!("{}: {why}", path.display()))
}
