//! The kernel settings that published advice for load generators names: what they are here, what a plan needs of them, whether
//! the advice would raise or lower a limit here, and the least change that suffices. Pure but for reading `/proc`; nothing
//! is changed.

mod needed;
mod published;
mod settings;
#[cfg(test)]
mod tests;
mod values;

use squall_base::units::count;

use needed::{is_known, needed, ports_and_reuse};
use published::PUBLISHED;
pub use published::Source as AdviceSource;
use settings::{Measure, SETTINGS, Setting};
pub use values::KernelSettings;
use values::numbers;

use crate::available::Available;
use crate::capacity::Demand;

/// What is known of a kernel setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingReview {
    /// As `sysctl` names it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// What it is here; `None`: this kernel has none.
    pub here: Option<String>,
    /// What the plan needs of it, in words.
    pub need: String,
    /// Whether it is known to be enough.
    pub is_enough: bool,
    /// The least change with which the plan has what it needs; `None`: none is needed, or none suffices.
    pub change: Option<SettingChange>,
    /// What is advised, and what that would do here.
    pub advice: Vec<Advice>,
}

/// A change of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The command that makes it.
    pub command: String,
    /// The command that undoes it.
    pub undo: String,
}

/// A value that somebody advises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The value, as `sysctl` takes it.
    pub value: &'static str,
    /// Who advises it.
    pub source: AdviceSource,
    /// What it would do here.
    pub effect: AdviceEffect,
}

/// What a published value would do to a setting as it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceEffect {
    /// It would raise the limit.
    Raises,
    /// It would lower the limit.
    Lowers,
    /// It is what the setting is.
    Same,
    /// It would change what is no limit.
    Changes,
    /// This kernel has no such setting.
    NoSuchSetting,
}

impl AdviceEffect {
    /// In words; `is_enough`: what is here is known to be enough.
    pub fn words(self, is_enough: bool) -> &'static str {
        match self {
            AdviceEffect::Lowers => "would LOWER the limit here",
            AdviceEffect::Raises if is_enough => "would raise it without need",
            AdviceEffect::Raises => "would raise it",
            AdviceEffect::Same => "is what it is here",
            AdviceEffect::Changes if is_enough => "would change it without need",
            AdviceEffect::Changes => "would change it",
            AdviceEffect::NoSuchSetting => "has no effect: this kernel has no such setting",
        }
    }
}

impl KernelSettings {
    /// Looks at each setting. `demand`: of the plan, if there is one; `has`: what the machine has.
    pub fn review(&self, demand: Option<&Demand>, has: &Available) -> Vec<SettingReview> {
        SETTINGS.iter().map(|setting| self.review_of(setting, demand, has)).collect()
    }

    /// What a plan lacks that no change of a single setting gives it, in a sentence.
    pub fn beyond(&self, demand: &Demand) -> Option<String> {
        ports_and_reuse(self, demand).and_then(|own| own.beyond)
    }

    fn review_of(
        &self,
        setting: &Setting,
        demand: Option<&Demand>,
        has: &Available,
    ) -> SettingReview {
        let here = self.of(setting.name);
        let (need, wanted) = needed(self, setting.name, demand, has);
        let text = words(here);
        let change = wanted.filter(|_| !here.is_empty()).map(|value| SettingChange {
            command: command(setting.name, &value),
            undo: command(setting.name, &text),
        });
        let advice = PUBLISHED.iter().filter(|own| own.setting == setting.name).map(|own| Advice {
            value: own.value,
            source: own.source,
            effect: effect(setting.measure, here, &numbers(own.value)),
        });
        SettingReview {
            name: setting.name,
            about: setting.about,
            here: (!here.is_empty()).then(|| shown(setting.measure, here)),
            is_enough: change.is_none() && is_known(&need),
            need,
            change,
            advice: advice.collect(),
        }
    }
}

/// What a value would do to a setting.
fn effect(measure: Measure, here: &[u64], value: &[u64]) -> AdviceEffect {
    let size = |numbers: &[u64]| match (measure, numbers) {
        (Measure::Range, [low, high]) => Some((high + 1).saturating_sub(*low)),
        (Measure::Range, _) | (Measure::Choice, _) => None,
        (Measure::Most | Measure::Sizes, _) => numbers.last().copied(),
    };
    match (size(here), size(value)) {
        _ if here.is_empty() => AdviceEffect::NoSuchSetting,
        _ if here == value => AdviceEffect::Same,
        (Some(here), Some(value)) if value < here => AdviceEffect::Lowers,
        (Some(here), Some(value)) if value > here => AdviceEffect::Raises,
        // Sizes whose largest is the same.
        _ => AdviceEffect::Changes,
    }
}

/// Numbers as `sysctl` takes them.
fn words(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Numbers as a person reads them.
fn shown(measure: Measure, numbers: &[u64]) -> String {
    match (measure, numbers) {
        (Measure::Most, [u64::MAX | 0x7fff_ffff_ffff_ffff]) => "without limit".to_owned(),
        (Measure::Most, [only]) => count(*only),
        _ => words(numbers),
    }
}

fn command(name: &str, value: &str) -> String {
    match value.contains(' ') {
        true => format!("sudo sysctl -w {name}=\"{value}\""),
        false => format!("sudo sysctl -w {name}={value}"),
    }
}
