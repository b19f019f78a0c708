//! Plans in squall's own YAML, and in JSON, which is YAML too.

use squall_plan::vars::LoadOptions;
use squall_plan::yaml;

use crate::import::{Import, ImportError, PlanText};
use crate::values::Values;

/// Reads a plan in YAML.
pub(crate) fn read(plan: &PlanText, values: &Values) -> Import {
    let Values { files, environment, given, factors, skips_unsupported, .. } = values.clone();
    if skips_unsupported {
        let why =
            format!("{}: --skip-unsupported is for JMeter plans, and this is none", plan.name);
        return Import::of(Err(ImportError::Refused(why)));
    }
    let values = LoadOptions { env_files: files, environment, set: given, factors, alone: false };
    let loaded = yaml::load_str(&plan.name, &plan.text, &plan.folder, &values);
    Import::of(loaded.map_err(|errors| ImportError::Plan(Box::new(errors))))
}
