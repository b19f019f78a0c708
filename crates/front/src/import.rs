//! What a front end is: what is given to it, and what it makes of that.

use std::path::{Path, PathBuf};

use squall_plan::files;
use squall_plan::yaml::{Loaded, PlanErrors};

use crate::values::Values;

/// The text of a plan, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanText {
    /// What messages call it: the file, as it was asked for.
    pub name: String,
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

/// What became of a text.
#[derive(Debug)]
pub struct Import {
    /// The plan: with the places of what it is made of, and notes on what may not mean what was meant.
    pub plan: Result<Loaded, ImportError>,
    /// Its elements, a line each, with what becomes of each; `None` if the format has no tree of its own, or the text is none.
    pub outline: Option<String>,
}

impl Import {
    /// What nothing is said of but this.
    pub(crate) fn of(plan: Result<Loaded, ImportError>) -> Import {
        Import { plan, outline: None }
    }
}

/// What recognises texts of one kind.
pub(crate) trait FrontEnd {
    /// Makes a plan of a text; `None` if it is none of this kind, by its content.
    fn read(&self, plan: &PlanText, values: &Values) -> Option<Import>;
}
