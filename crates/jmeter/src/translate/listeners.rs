//! Listeners that write their samples to a file, as files of samples of the plan. Those that stand in a controller or below
//! a sampler are passed by, as all are that only draw.

use squall_plan::model::{SampleFile, SampleForm, WhichSamples};
use squall_plan::span::Spanned;

use super::Translator;
use crate::properties::PropertyValue;
use crate::tree::ElementId;

impl Translator<'_> {
    /// Adds the files of the listeners directly below the plan, or below a thread group that became this scenario. As in
    /// JMeter one file that several write has each sample once.
    pub(super) fn sample_files(
        &self,
        around: ElementId,
        scenario: Option<&str>,
        files: &mut Vec<SampleFile>,
    ) {
        for id in self.tree.enabled_children(around) {
            let Some(file) = self.sample_file(id, scenario) else { continue };
            match files.iter_mut().find(|own| own.file == file.file) {
                Some(own) => join(own, file),
                None => files.push(file),
            }
        }
    }

    /// The file of a listener, if it has one whose name is known before the run.
    fn sample_file(&self, id: ElementId, scenario: Option<&str>) -> Option<SampleFile> {
        if self.class(id) != "ResultCollector" {
            return None;
        }
        let properties = &self.tree.element(id).properties;
        let written = properties.given("filename")?;
        let name = self.as_main_thread(|| self.constant(written));
        let name = name.ok().filter(|name| !name.trim().is_empty())?;
        // It is relative to where the program was started, or to the plan.
        let file = match name.strip_prefix("~/") {
            Some(rest) => self.folder.join(rest).display().to_string(),
            None => name,
        };
        let is_xml = match properties.get("saveConfig") {
            Some(PropertyValue::Fields(fields)) => {
                fields.iter().any(|(field, value)| field == "xml" && value.trim() == "true")
            }
            _ => {
                let form = self.constants.property_value("jmeter.save.saveservice.output_format");
                form.is_some_and(|form| form.trim() == "xml")
            }
        };
        let only = match ["error_logging", "success_only_logging"]
            .map(|own| properties.flag(&format!("ResultCollector.{own}"), false))
        {
            [true, false] => WhichSamples::Errors,
            [false, true] => WhichSamples::Successes,
            _ => WhichSamples::All,
        };
        let named = |text: &str| Spanned::new(text.to_owned(), self.place(id));
        Some(SampleFile {
            file: named(&file),
            form: if is_xml { SampleForm::JtlXml } else { SampleForm::Jtl },
            only,
            scenarios: scenario.map(named).into_iter().collect(),
            append: true,
        })
    }
}

/// Has one file take what another of its name would.
fn join(file: &mut SampleFile, other: SampleFile) {
    if file.only != other.only {
        file.only = WhichSamples::All;
    }
    match file.scenarios.is_empty() || other.scenarios.is_empty() {
        true => file.scenarios.clear(),
        false => {
            let more = other.scenarios.into_iter().filter(|own| !file.scenarios.contains(own));
            let more: Vec<_> = more.collect();
            file.scenarios.extend(more);
        }
    }
}
