//! A plan of another tool's file as a person would write it in YAML. Nothing is written that would be read as another plan.

use std::path::Path;

use squall_jmeter::simplify;
use squall_plan::model::Plan;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded};

use crate::jmx::Translated;

impl Translated {
    /// The plan in YAML, to the letter.
    pub fn exact(&self) -> String {
        yaml::print(&self.plan, false)
    }

    /// The plan in YAML, as one to maintain, with paths relative to a folder.
    pub fn readable(&self, folder: &Path) -> String {
        readable(&self.plan, folder)
    }
}

/// A plan in YAML, as one to maintain, with paths relative to a folder.
pub fn readable(plan: &Plan, folder: &Path) -> String {
    let load = |text: &str| yaml::load_str("plan", text, folder, &LoadOptions::default());
    // The plan as it is read again: what is not read is printed to the letter.
    let exact = yaml::print(plan, false);
    let Ok(Loaded { mut plan, .. }) = load(&exact) else { return exact };
    simplify(&mut plan);
    let is_same = |text: &str| load(text).is_ok_and(|read| read.plan == plan);
    let mut short = plan.clone();
    for data in &mut short.data {
        if let Ok(below) = data.file.value.strip_prefix(folder) {
            data.file.value = below.to_owned();
        }
    }
    let mut text = yaml::print(&short, false);
    if !is_same(&text) {
        text = yaml::print(&plan, false);
    }
    if !is_same(&text) {
        return exact;
    }
    // What begins with the folder is a path if it can do without. The root is at the begin of each.
    if folder == Path::new("/") {
        return text;
    }
    let prefix = format!("{}/", folder.display());
    let mut at = 0;
    while let Some(found) = text[at..].find(&prefix) {
        let (before, behind) = text.split_at(at + found);
        let shorter = format!("{before}{}", &behind[prefix.len()..]);
        at += found;
        match is_same(&shorter) {
            true => text = shorter,
            false => at += prefix.len(),
        }
    }
    text
}
