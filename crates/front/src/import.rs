//! What a front end is: how a text is recognised, and how it becomes a plan.

use std::path::{Path, PathBuf};

use squall_plan::files;
use squall_plan::yaml::{Loaded, PlanErrors};

use crate::values::Values;

/// The text of a plan, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanText {
    /// What messages call it: the file, as it was asked for.
    pub name: String,
    /// All of it.
    pub text: String,
    /// The folder that files in it are relative to.
    pub folder: PathBuf,
}

impl PlanText {
    /// Reads the file of a plan.
    ///
    /// # Errors
    /// It cannot be read; in a sentence with its name.
    pub fn read(path: &Path) -> Result<PlanText, String> {
        let name = path.display().to_string();
        let text = files::text(path).map_err(|why| format!("{name}: {why}"))?;
        // Absolute, so that a plan that is printed means the same wherever it then lies.
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = whole.parent().unwrap_or(Path::new("")).to_owned();
        Ok(PlanText { name, text, folder })
    }
}

/// Why a text did not become a plan.
#[derive(Debug)]
pub enum ImportError {
    /// It is no good plan: what is wrong with it, with the places.
    Plan(Box<PlanErrors>),
    /// It is none that squall reads, or not all of it can be run as it was meant; in a text for people.
    Refused(String),
}

/// What reads plans of one kind.
pub trait FrontEnd {
    /// Whether a text is one, by its content.
    fn sniff(&self, text: &str) -> bool;

    /// Makes a plan of a text: with the places of what it is made of, and notes on what may not mean what was meant.
    ///
    /// # Errors
    /// Not all of it can be run as it was meant, or it is no good plan.
    fn read(&self, plan: &PlanText, values: &Values) -> Result<Loaded, ImportError>;

    /// The elements of a plan, a line each, with what becomes of each; `None` if the format has no tree of its own, or the text
    /// is none.
    fn outline(&self, _: &PlanText, _: &Values) -> Option<String> {
        None
    }
}
