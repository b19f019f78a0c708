//! What an experiment shows, in sentences.

use squall_base::units::{counted, percent};

use crate::design::{Design, Factor};
use crate::measure::{Measure, Unit};
use crate::statistics::{Assumes, Contrast, Effect, Scale, Statistics};

/// From how much more or less on a time is told as a multiple: "twice as long", not "100 % slower"; "50 % less time", not
/// "50 % faster", which would be read as two thirds.
const MUCH_MORE: f64 = 1.0;
const MUCH_LESS: f64 = -0.3;
/// Most variants that are named in a sentence.
const MAX_NAMED: usize = 5;

/// Sentences about one measure: differences that are real, interactions that are real, factors of which nothing is seen,
/// what variants without a value leave open, drift, variants that vary more than others.
pub fn sentences(design: &Design, measure: &Measure, own: &Statistics) -> Vec<String> {
    let words = Words { design, measure, own };
    let (main, more): (Vec<&Effect>, Vec<&Effect>) =
        own.effects.iter().partition(|effect| effect.factors.len() == 1);
    let mut said: Vec<String> = main.iter().flat_map(|effect| words.real(effect)).collect();
    said.extend(more.into_iter().filter_map(|own| words.interaction(own)));
    said.extend(main.iter().filter_map(|effect| words.nothing(effect)));
    said.extend(words.missing());
    said.extend(words.drift());
    said.extend(words.noisy());
    for own in &mut said {
        *own = format!("{}: {own}", measure.name());
    }
    said
}

struct Words<'w> {
    design: &'w Design,
    measure: &'w Measure,
    own: &'w Statistics,
}

impl Words<'_> {
    fn level(&self, factor: usize, level: usize) -> String {
        self.design.level(factor, level)
    }

    fn repeats(&self) -> usize {
        self.own.cells.iter().map(|cell| cell.repeats).max().unwrap_or(0)
    }

    /// The differences of a factor's levels that are real.
    fn real(&self, effect: &Effect) -> Vec<String> {
        let [factor] = effect.factors.as_slice() else { return Vec::new() };
        let said = effect.contrasts.iter().filter_map(|own| {
            let [(level, other)] = own.levels.as_slice() else { return None };
            let contrast = own.contrast.filter(Contrast::is_real)?;
            let (level, other) = (self.level(*factor, *level), self.level(*factor, *other));
            Some(self.difference(&contrast, &level, &other))
        });
        said.collect()
    }

    /// Which variants have no value, how effects are estimated without them, and which cannot be.
    fn missing(&self) -> Option<String> {
        let cells = self.own.cells.iter().enumerate();
        let (there, gone): (Vec<_>, Vec<_>) = cells.partition(|(_, cell)| cell.value.is_some());
        if there.is_empty() || gone.is_empty() {
            return None;
        }
        let mut names: Vec<String> =
            gone.iter().take(MAX_NAMED).map(|(variant, _)| self.design.name(*variant)).collect();
        if gone.len() > MAX_NAMED {
            names.push(format!("{} more", gone.len() - MAX_NAMED));
        }
        let mut said = format!("no run has a value of {}", names.join("; "));
        if let [_] = self.own.effects.as_slice() {
            return Some(said + ", so that nothing can be compared with it");
        }
        let which = |is_meant: &dyn Fn(&Effect) -> bool| {
            let own = self.own.effects.iter().filter(|own| is_meant(own));
            own.map(|own| self.subject(own)).collect::<Vec<_>>().join(", ")
        };
        let is_told = |own: &Effect| own.contrasts.iter().all(|own| own.contrast.is_some());
        for (assumes, what) in [
            (Assumes::NoInteractions, "as if no factor's effect depended on another"),
            (Assumes::NoHigherInteractions, "as if there were no interactions of three factors"),
        ] {
            let told = which(&|own| own.assumes == assumes && is_told(own));
            if !told.is_empty() {
                said += &format!("; {told}: estimated from the other variants, {what}");
            }
        }
        let open = which(&|own| !is_told(own));
        if !open.is_empty() {
            said += &format!("; {open}: the other variants do not tell all of it");
        }
        Some(said)
    }

    /// `threads`, `threads x parser`.
    fn subject(&self, effect: &Effect) -> String {
        let names = effect.factors.iter().map(|own| self.design.factors()[*own].name.as_str());
        names.collect::<Vec<_>>().join(" x ")
    }

    /// That a factor makes no difference which these repeats show, and how large one may be.
    fn nothing(&self, effect: &Effect) -> Option<String> {
        let [factor] = effect.factors.as_slice() else { return None };
        let all = effect.contrasts.iter().filter_map(|own| own.contrast);
        let rest: Vec<Contrast> = all.filter(|own| !own.is_real()).collect();
        if rest.is_empty() {
            return None;
        }
        let average = self.average(*factor);
        let Factor { name, levels } = &self.design.factors()[*factor];
        let is_all = rest.len() == effect.contrasts.len();
        let between = match (levels.len(), is_all) {
            (2, _) => {
                let [one, two] = [0, 1].map(|level| self.level(*factor, level));
                format!("between {one} and {two}{average}")
            }
            (_, true) => format!("between the values of {name}{average}"),
            (_, false) => format!("between the other values of {name}{average}"),
        };
        let at_most: Option<Vec<f64>> = rest.iter().map(Contrast::at_most).collect();
        let Some(at_most) = at_most else {
            return Some(format!("one repeat cannot tell a difference {between} from chance"));
        };
        let at_most = self.amount(at_most.into_iter().fold(0.0, f64::max));
        let relevant = self.measure.relevant(self.own);
        let repeats = self.repeats();
        let is_hidden =
            |own: &&Contrast| own.detectable(repeats).is_some_and(|least| least > relevant);
        let needed = |own: &Contrast| own.repeats_for(relevant).unwrap_or(usize::MAX);
        Some(match rest.iter().filter(is_hidden).map(needed).max() {
            None => format!("no difference larger than {at_most} can be seen {between}"),
            Some(needed) => {
                let shown = counted(repeats as u64, "repeat");
                let advice = match needed {
                    usize::MAX => "more than 10,000 repeats would be".to_owned(),
                    needed => format!("{} would be", counted(needed as u64, "repeat")),
                };
                format!(
                    "{shown} show no difference {between}, which may be up to {at_most}; {advice} needed to show {}",
                    self.amount(relevant)
                )
            }
        })
    }

    /// Over which factors a factor's effect is a mean of different ones.
    fn average(&self, factor: usize) -> String {
        let real = self.own.effects.iter().filter(|own| own.factors.len() == 2 && own.is_real());
        let others = real.filter(|own| own.factors.contains(&factor));
        let others = others.flat_map(|own| own.factors.iter().filter(|own| **own != factor));
        let names: Vec<&str> =
            others.map(|other| self.design.factors()[*other].name.as_str()).collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(", on average over the values of {}", names.join(" and ")),
        }
    }

    /// How the effect of one factor depends on another, where that is real.
    fn interaction(&self, effect: &Effect) -> Option<String> {
        let [one, two] = effect.factors.as_slice() else { return None };
        let real = effect
            .contrasts
            .iter()
            .filter_map(|own| Some((own, own.contrast.filter(Contrast::is_real)?)));
        let (own, contrast) = real.max_by(|a, b| a.1.value.abs().total_cmp(&b.1.value.abs()))?;
        let [(level, other), (with, beside)] = own.levels.as_slice() else { return None };
        let (name, of) = (&self.design.factors()[*one].name, &self.design.factors()[*two].name);
        let (low, high) = ends(&contrast);
        let apart =
            format!("these differ by {}", self.with_interval(contrast.value.abs(), (low, high)));
        let simple = |at: usize| -> Option<String> {
            let by = self.simple((*one, *level, *other), (*two, at))?;
            Some(format!("{} with {}", self.more(by), self.level(*two, at)))
        };
        let levels = format!("{} beside {}", self.level(*one, *level), self.level(*one, *other));
        let both = match (simple(*beside), simple(*with)) {
            (Some(beside), Some(with)) => format!("{levels} is {beside}, {with}"),
            _ => {
                let [beside, with] = [*beside, *with].map(|at| self.level(*two, at));
                format!("{levels} with {beside}, and with {with}")
            }
        };
        Some(format!("the effect of {name} depends on {of}: {both}; {apart}"))
    }

    /// How much more a level of one factor has than another, at one level of a second factor and over all levels of the rest.
    fn simple(
        &self,
        (one, level, other): (usize, usize, usize),
        (two, at): (usize, usize),
    ) -> Option<f64> {
        let mean = |own: usize| -> Option<f64> {
            let variants = (0..self.design.variants()).filter(|variant| {
                let levels = self.design.levels(*variant);
                levels[one] == own && levels[two] == at
            });
            let values = variants.map(|variant| {
                let value = self.own.cells[variant].value?;
                Some(if self.own.scale == Scale::Ratio { value.ln() } else { value })
            });
            let values: Vec<f64> = values.collect::<Option<_>>()?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        let by = mean(level)? - mean(other)?;
        Some(if self.own.scale == Scale::Ratio { by.exp_m1() } else { by })
    }

    fn drift(&self) -> Option<String> {
        let drift = self.own.drift.filter(|drift| drift.is_real())?;
        let (low, high) = drift.interval?;
        let ends = if drift.value < 0.0 { (-high, -low) } else { (low, high) };
        Some(format!(
            "the runs of the last block were {} {} than those of the first, in all variants; the differences between variants \
             are without that",
            self.with_interval(drift.value.abs(), ends),
            self.word(drift.value),
        ))
    }

    fn noisy(&self) -> Option<String> {
        let names: Vec<String> =
            self.own.noisy.iter().map(|variant| self.design.name(*variant)).collect();
        (!names.is_empty()).then(|| {
            let names = names.join("; ");
            format!(
                "the runs of {names} vary more than those of other variants: look at each of them"
            )
        })
    }

    /// `gson is 13% (11% to 15%) faster than own`.
    fn difference(&self, contrast: &Contrast, level: &str, other: &str) -> String {
        let Contrast { value, .. } = *contrast;
        let amount = self.with_interval(value.abs(), ends(contrast));
        let is_ratio = self.own.scale == Scale::Ratio;
        if is_ratio && value >= MUCH_MORE {
            return self.multiple(contrast, level, other);
        }
        let word = self.word(value);
        match self.measure.unit() {
            Unit::Time if is_ratio && value <= MUCH_LESS => {
                format!("{level} takes {amount} less time than {other}")
            }
            Unit::Time => format!("{level} is {amount} {word} than {other}"),
            Unit::Bytes => format!("{level} takes {amount} {word} than {other}"),
            Unit::Share if self.measure.is_cpu() => {
                format!("{level} takes {amount} {word} CPU time than {other}")
            }
            Unit::Rate | Unit::Share => format!("{amount} {word} with {level} than with {other}"),
            Unit::Number => format!("{amount} {word} with {level} than with {other}"),
        }
    }

    /// `gson takes 2.4 (2.3 to 2.5) times as long as own`.
    fn multiple(&self, contrast: &Contrast, level: &str, other: &str) -> String {
        let times = |more: f64| {
            let times = 1.0 + more;
            if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") }
        };
        let (low, high) = ends(contrast);
        let times = format!("{} ({} to {}) times", times(contrast.value), times(low), times(high));
        match self.measure.unit() {
            Unit::Time => format!("{level} takes {times} as long as {other}"),
            Unit::Rate => format!("{times} as high with {level} as with {other}"),
            Unit::Share if self.measure.is_cpu() => {
                format!("{level} takes {times} as much CPU time as {other}")
            }
            _ => format!("{times} as much with {level} as with {other}"),
        }
    }

    fn more(&self, value: f64) -> String {
        format!("{} {}", self.amount(value.abs()), self.word(value))
    }

    fn word(&self, value: f64) -> &'static str {
        let words = match self.measure.unit() {
            Unit::Time => ["faster", "slower"],
            Unit::Rate => ["lower", "higher"],
            Unit::Share if !self.measure.is_cpu() => ["lower", "higher"],
            Unit::Share | Unit::Bytes | Unit::Number => ["less", "more"],
        };
        words[usize::from(value >= 0.0)]
    }

    /// `13% (11% to 15%)`, `1.2 (0.8 to 1.6) percentage points`.
    fn with_interval(&self, value: f64, (low, high): (f64, f64)) -> String {
        let (unit, show) = self.shown();
        format!("{} ({} to {}){unit}", show(value), show(low), show(high))
    }

    fn amount(&self, value: f64) -> String {
        let (unit, show) = self.shown();
        format!("{}{unit}", show(value))
    }

    /// What stands behind an amount, and how its number is written.
    fn shown(&self) -> (&'static str, Box<dyn Fn(f64) -> String>) {
        let unit = self.measure.unit();
        match (self.own.scale, unit) {
            (Scale::Ratio, _) => ("", Box::new(rough)),
            (Scale::Difference, Unit::Share) => {
                (" percentage points", Box::new(|value| rough(value).replace('%', "")))
            }
            (Scale::Difference, _) => ("", Box::new(move |value| unit.show(value))),
        }
    }
}

/// The ends of the interval of a difference, in the order of their sizes.
fn ends(contrast: &Contrast) -> (f64, f64) {
    let (low, high) = contrast.interval.unwrap_or((contrast.value, contrast.value));
    if contrast.value < 0.0 { (-high, -low) } else { (low, high) }
}

/// A share with two digits: an interval says more of how exact it is than a third.
fn rough(share: f64) -> String {
    let digits = match share.abs() * 100.0 {
        size if size >= 9.95 => 100.0,
        size if size >= 0.995 => 1_000.0,
        _ => 10_000.0,
    };
    percent((share * digits).round() / digits)
}

#[cfg(test)]
mod tests;
