//! What an experiment shows, in sentences.

use squall_base::units::{counted, percent};

use crate::design::{Design, Factor};
use crate::measure::{Measure, Unit};
use crate::statistics::{Contrast, Effect, Scale, Statistics};

/// From how much more or less on a time is told as a multiple: "twice as long", not "100 % slower"; "50 % less time", not
/// "50 % faster", which would be read as two thirds.
const MUCH_MORE: f64 = 1.0;
const MUCH_LESS: f64 = -0.3;

/// Sentences about one measure: differences that are real, interactions that are real, factors of which nothing is seen,
/// drift, variants that vary more than others.
pub fn sentences(design: &Design, measure: &Measure, own: &Statistics) -> Vec<String> {
    let words = Words { design, measure, own };
    let (main, more): (Vec<&Effect>, Vec<&Effect>) =
        own.effects.iter().partition(|effect| effect.factors.len() == 1);
    let mut said: Vec<String> = main.iter().flat_map(|effect| words.real(effect)).collect();
    said.extend(more.into_iter().filter_map(|own| words.interaction(own)));
    said.extend(main.iter().filter_map(|effect| words.nothing(effect)));
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

    /// The differences of a factor's levels that are real, and those that cannot be told for want of runs.
    fn real(&self, effect: &Effect) -> Vec<String> {
        let [factor] = effect.factors.as_slice() else { return Vec::new() };
        let said = effect.contrasts.iter().filter_map(|own| {
            let [(level, other)] = own.levels.as_slice() else { return None };
            let (level, other) = (self.level(*factor, *level), self.level(*factor, *other));
            match own.contrast {
                None => Some(format!(
                    "{level} and {other} cannot be compared, as a variant has no valid run"
                )),
                Some(contrast) => {
                    contrast.is_real().then(|| self.difference(&contrast, &level, &other))
                }
            }
        });
        said.collect()
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
        let both = format!("{}, {}", simple(*beside)?, simple(*with)?);
        Some(format!("the effect of {name} depends on {of}: {levels} is {both}; {apart}"))
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
mod tests {
    use super::*;
    use crate::statistics::Sample;

    fn factor(name: &str, levels: [&str; 2]) -> Factor {
        Factor { name: name.into(), levels: levels.map(Into::into).to_vec() }
    }

    /// Sentences about four variants of which the second parser takes so many times as long, by chance that is drawn once.
    fn said(times: f64, noise: f64, drift: f64) -> Vec<String> {
        let design = Design::new(vec![
            factor("threads", ["virtual", "classic"]),
            factor("parser", ["own", "gson"]),
        ])
        .unwrap();
        let mut random = squall_base::random::Random::of(7, 1, 2, 3);
        let run = |variant: usize, block: usize, random: &mut squall_base::random::Random| {
            let slower = if design.levels(variant)[1] == 1 { times } else { 1.0 };
            slower * (drift * block as f64 + random.normal(0.0, noise)).exp()
        };
        let values = (0..4)
            .map(|own| (0..5).map(|block| Some(run(own, block, &mut random))).collect())
            .collect();
        let own = Statistics::new(&design, &Sample::new(Scale::Ratio, values), 1);
        sentences(&design, &Measure::new("mean(store)", "us"), &own)
    }

    #[test]
    fn what_is_real_is_said_with_its_interval() {
        let own = said(0.87, 0.01, 0.0);
        assert_eq!(own.len(), 2, "{own:#?}");
        assert!(
            own[0].starts_with("mean(store): gson is 1") && own[0].ends_with("%) faster than own"),
            "{own:#?}"
        );
        assert!(
            own[1].starts_with("mean(store): no difference larger than ")
                && own[1].ends_with("% can be seen between virtual and classic"),
            "{own:#?}"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_said_with_the_repeats_that_would_show_it() {
        let own = said(1.0, 0.2, 0.0);
        assert_eq!(own.len(), 2, "{own:#?}");
        for (own, levels) in own.iter().zip(["virtual and classic", "own and gson"]) {
            let begin =
                format!("mean(store): 5 repeats show no difference between {levels}, which may be");
            assert!(
                own.starts_with(&begin) && own.ends_with(" repeats would be needed to show 5%"),
                "{own}"
            );
        }
    }

    #[test]
    fn a_drift_is_said() {
        let own = said(1.0, 0.01, 0.05);
        assert!(
            own.iter().any(|own| own.starts_with("mean(store): the runs of the last block were ")
                && own.contains("%) slower than those of the first")),
            "{own:#?}"
        );
    }

    /// The sentences of a measure of these values: by variant of two times two, then by block.
    fn said_of(measure: &Measure, values: [[f64; 3]; 4]) -> Vec<String> {
        let design = Design::new(vec![
            factor("threads", ["virtual", "classic"]),
            factor("parser", ["own", "gson"]),
        ])
        .unwrap();
        let values = values.map(|own| own.map(Some).to_vec()).to_vec();
        sentences(
            &design,
            measure,
            &Statistics::new(&design, &Sample::new(measure.scale(), values), 1),
        )
    }

    /// Three runs of nearly a value, and each variant's in an order of its own.
    fn near(value: f64) -> [f64; 3] {
        let turn = (value as usize / 7) % 3;
        let mut own = [value, value * 1.001, value * 0.999];
        own.rotate_left(turn);
        own
    }

    /// What is said of a parser that changes a measure from 100 to this much.
    fn said_of_change(name: &str, unit: &str, of: f64, to: f64) -> String {
        let values = [of, to, of, to].map(near);
        said_of(&Measure::new(name, unit), values).swap_remove(0)
    }

    #[test]
    fn words_fit_the_measure() {
        for (name, unit, of, to, begin, end) in [
            ("mean", "us", 100.0, 87.0, "mean: gson is 13% (", "%) faster than own"),
            ("mean", "us", 100.0, 104.0, "mean: gson is 4% (", "%) slower than own"),
            ("mean", "us", 100.0, 20.0, "mean: gson takes 80% (", "%) less time than own"),
            ("mean", "us", 100.0, 320.0, "mean: gson takes 3.2 (", ") times as long as own"),
            (
                "rate",
                "per_second",
                100.0,
                113.0,
                "rate: 13% (",
                "%) higher with gson than with own",
            ),
            ("rate", "per_second", 100.0, 40.0, "rate: 60% (", "%) lower with gson than with own"),
            (
                "rate",
                "per_second",
                1.0,
                3.0,
                "rate: 3.0 (",
                ") times as high with gson as with own",
            ),
            ("rss(s)", "bytes", 1e6, 1.2e6, "rss(s): gson takes 20% (", "%) more than own"),
            ("cpu(s)", "share", 0.5, 0.4, "cpu(s): gson takes 20% (", "%) less CPU time than own"),
            (
                "error_rate",
                "share",
                0.05,
                0.07,
                "error_rate: 2 (",
                ") percentage points higher with gson than with own",
            ),
            ("count", "number", 100.0, 90.0, "count: 10% (", "%) less with gson than with own"),
        ] {
            let own = said_of_change(name, unit, of, to);
            assert!(own.starts_with(begin) && own.ends_with(end), "{own}");
        }
    }

    #[test]
    fn an_interaction_says_what_each_level_does() {
        let values = [near(100.0), near(100.0), near(100.0), near(120.0)];
        let own = said_of(&Measure::new("mean", "us"), values);
        let start = "mean: the effect of threads depends on parser: classic beside virtual is ";
        let found = own.iter().find_map(|own| own.strip_prefix(start));
        let found = found.unwrap_or_else(|| panic!("{own:#?}"));
        assert!(
            found.starts_with("0% slower with own, 20% slower with gson; these differ by 20% ("),
            "{found}"
        );
    }

    #[test]
    fn where_effects_cancel_out_no_difference_is_one_on_average() {
        let values = [near(100.0), near(120.0), near(120.0), near(100.0)];
        let own = said_of(&Measure::new("mean", "us"), values);
        assert!(
            own.iter().any(|own| own.ends_with(
                "can be seen between own and gson, on average over the values of threads"
            )),
            "{own:#?}"
        );
    }
}
