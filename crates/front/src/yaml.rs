//! Plans in squall's own YAML, and in JSON, which is YAML too.

use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded};

use crate::import::{FrontEnd, ImportError, PlanText};
use crate::jmx;
use crate::values::Values;

/// Reads plans in YAML.
#[derive(Debug, Clone, Copy)]
pub struct Yaml;

impl FrontEnd for Yaml {
    /// Whatever is not XML: its reader knows best what is wrong with it.
    fn sniff(&self, text: &str) -> bool {
        !jmx::is_xml(text)
    }

    fn read(&self, plan: &PlanText, values: &Values) -> Result<Loaded, ImportError> {
        let Values { files, environment, given, .. } = values.clone();
        let values = LoadOptions { env_files: files, environment, set: given };
        yaml::load_str(&plan.name, &plan.text, &plan.folder, &values)
            .map_err(|errors| ImportError::Plan(Box::new(errors)))
    }
}
