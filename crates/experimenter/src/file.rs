//! The file of an experiment.

use std::path::{Path, PathBuf};

use squall_front::Values;
use squall_plan::files;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{LoadedExperiment, load_experiment};

/// The text of an experiment, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentText {
    /// The file, as it was asked for.
    pub name: String,
    pub text: String,
    /// The folder that files in it are relative to, absolute.
    pub folder: PathBuf,
}

impl ExperimentText {
    /// Reads the file of an experiment.
    ///
    /// # Errors
    /// It cannot be read; in a sentence with its name.
    pub fn read(path: &Path) -> Result<ExperimentText, String> {
        let name = path.display().to_string();
        let text = files::text(path).map_err(|why| format!("{name}: {why}"))?;
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = whole.parent().unwrap_or(Path::new("")).to_owned();
        Ok(ExperimentText { name, text, folder })
    }

    /// Reads the experiment in it.
    ///
    /// # Errors
    /// It is no good experiment: what is wrong, with the places.
    pub(crate) fn load(&self, options: &LoadOptions) -> Result<LoadedExperiment, String> {
        load_experiment(&self.name, &self.text, &self.folder, options).map_err(|errors| {
            errors.diagnostics.iter().map(|own| errors.sources.render(own)).collect()
        })
    }

    /// What a plan in the file is read with.
    pub(crate) fn options(&self, values: &Values) -> LoadOptions {
        let Values { files, environment, given, factors, .. } = values.clone();
        LoadOptions { env_files: files, environment, set: given, factors, alone: false }
    }
}
