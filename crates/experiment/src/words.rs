//! What an experiment shows, in sentences.

use squall_base::units::{counted, percent};

use crate::design::Design;
use crate::statistics::{Contrast, Effect, Scale, Statistics};

/// The difference that is worth knowing of: if the repeats may not show it, more are advised.
const RELEVANT: f64 = 0.05;
/// The same of measures that are told as differences, such as an error rate.
const RELEVANT_DIFFERENCE: f64 = 0.005;

/// What a measure is, for words.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// As the experiment names it: `mean(store)`.
    pub name: String,
    pub direction: Direction,
}

/// What less of a measure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A time: less is faster.
    Time,
    /// Something that may be more or less, and means nothing by itself.
    Amount,
}

/// Sentences about one measure: each factor, interactions that are real, drift, variants that vary more than others.
pub fn sentences(design: &Design, measure: &Measure, own: &Statistics) -> Vec<String> {
    let words = Words { design, measure, own };
    let main = own.effects.iter().filter(|effect| effect.factors.len() == 1);
    let mut said: Vec<String> = main.flat_map(|effect| words.factor(effect)).collect();
    said.extend(
        own.effects
            .iter()
            .filter(|effect| effect.factors.len() == 2)
            .filter_map(|own| words.interaction(own)),
    );
    said.extend(words.drift());
    said.extend(words.noisy());
    said
}

struct Words<'w> {
    design: &'w Design,
    measure: &'w Measure,
    own: &'w Statistics,
}

impl Words<'_> {
    fn level(&self, factor: usize, level: usize) -> &str {
        &self.design.factors()[factor].levels[level]
    }

    fn repeats(&self) -> usize {
        self.own.cells.iter().map(|cell| cell.repeats).max().unwrap_or(0)
    }

    /// What a factor does: a sentence for each difference that is real, and one for the rest.
    fn factor(&self, effect: &Effect) -> Vec<String> {
        let [factor] = effect.factors.as_slice() else { return Vec::new() };
        let name = &self.measure.name;
        let (mut said, mut rest): (Vec<String>, Vec<Contrast>) = (Vec::new(), Vec::new());
        for own in &effect.contrasts {
            let [(level, other)] = own.levels.as_slice() else { continue };
            let (level, other) = (self.level(*factor, *level), self.level(*factor, *other));
            match own.contrast {
                None => said.push(format!(
                    "{name}: {level} and {other} cannot be compared: a variant has no valid run"
                )),
                Some(contrast) if contrast.is_real() => {
                    said.push(format!(
                        "{name}: {level} is {} than {other}",
                        self.difference(&contrast)
                    ));
                }
                Some(contrast) => rest.push(contrast),
            }
        }
        if !rest.is_empty() {
            said.push(self.nothing(*factor, &rest, said.is_empty()));
        }
        said
    }

    /// That a factor makes no difference which these repeats show, and how large one may be.
    fn nothing(&self, factor: usize, rest: &[Contrast], is_all: bool) -> String {
        let name = &self.measure.name;
        let factor = &self.design.factors()[factor];
        let subject = match (factor.levels.as_slice(), is_all) {
            ([one, two], _) => format!("{name}: between {one} and {two}"),
            (_, true) => format!("{name}: between the values of {}", factor.name),
            (_, false) => format!("{name}: between the other values of {}", factor.name),
        };
        let at_most: Option<Vec<f64>> = rest.iter().map(Contrast::at_most).collect();
        let Some(at_most) = at_most else {
            return format!("{subject} one repeat cannot tell a difference from chance");
        };
        let at_most = at_most.into_iter().fold(0.0, f64::max);
        let mut said =
            format!("{subject} no difference larger than {} can be seen", self.amount(at_most));
        let relevant = match self.own.scale {
            Scale::Ratio => RELEVANT,
            Scale::Difference => RELEVANT_DIFFERENCE,
        };
        let repeats = self.repeats();
        let hidden =
            |own: &&Contrast| own.detectable(repeats).is_some_and(|least| least > relevant);
        if let Some(widest) = rest
            .iter()
            .filter(hidden)
            .max_by_key(|own| own.repeats_for(relevant).unwrap_or(usize::MAX))
        {
            let needed = match widest.repeats_for(relevant) {
                Some(needed) => format!("{needed} would be needed"),
                None => "no number of repeats would do".to_owned(),
            };
            let shown = counted(repeats as u64, "repeat");
            said.push_str(&format!("; {shown} may not show {}: {needed}", self.amount(relevant)));
        }
        said
    }

    /// How the effect of one factor depends on another, where that is real.
    fn interaction(&self, effect: &Effect) -> Option<String> {
        let [one, two] = effect.factors.as_slice() else { return None };
        let real = effect
            .contrasts
            .iter()
            .filter_map(|own| Some((own, own.contrast.filter(Contrast::is_real)?)));
        let (own, contrast) = real.max_by(|a, b| a.1.value.abs().total_cmp(&b.1.value.abs()))?;
        let [first, second] = own.levels.as_slice() else { return None };
        let factors = self.design.factors();
        Some(format!(
            "{}: what {} does depends on {}: from {} to {}, {} changes by {} more than {} does",
            self.measure.name,
            factors[*one].name,
            factors[*two].name,
            self.level(*one, first.1),
            self.level(*one, first.0),
            self.level(*two, second.0),
            self.interval(&contrast),
            self.level(*two, second.1),
        ))
    }

    fn drift(&self) -> Option<String> {
        let drift = self.own.drift.filter(|drift| drift.is_real())?;
        let (low, high) = drift.interval?;
        Some(format!(
            "{}: the last block of runs is {} than the first, ({} to {}), in all variants: something changed meanwhile, and the \
             differences above are without it",
            self.measure.name,
            self.more(drift.value),
            self.amount(low),
            self.amount(high)
        ))
    }

    fn noisy(&self) -> Option<String> {
        let names: Vec<String> =
            self.own.noisy.iter().map(|variant| self.design.name(*variant)).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: runs of {} vary more than the others': look at them one by one",
                self.measure.name,
                names.join("; ")
            )
        })
    }

    /// `13 % (11 % to 15 %) faster`.
    fn difference(&self, contrast: &Contrast) -> String {
        let (low, high) = contrast.interval.unwrap_or((contrast.value, contrast.value));
        let ends = if contrast.value < 0.0 { (-high, -low) } else { (low, high) };
        format!(
            "{} ({} to {}) {}",
            self.amount(contrast.value.abs()),
            self.amount(ends.0),
            self.amount(ends.1),
            self.word(contrast.value)
        )
    }

    fn interval(&self, contrast: &Contrast) -> String {
        let (low, high) = contrast.interval.unwrap_or((contrast.value, contrast.value));
        format!("{} ({} to {})", self.amount(contrast.value), self.amount(low), self.amount(high))
    }

    fn more(&self, value: f64) -> String {
        format!("{} {}", self.amount(value.abs()), self.word(value))
    }

    fn word(&self, value: f64) -> &'static str {
        match (self.measure.direction, value < 0.0) {
            (Direction::Time, true) => "faster",
            (Direction::Time, false) => "slower",
            (Direction::Amount, true) => "less",
            (Direction::Amount, false) => "more",
        }
    }

    fn amount(&self, value: f64) -> String {
        match self.own.scale {
            Scale::Ratio => percent(value),
            Scale::Difference => format!("{value:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Factor;
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
        sentences(
            &design,
            &Measure { name: "mean(store)".into(), direction: Direction::Time },
            &own,
        )
    }

    #[test]
    fn what_is_real_is_said_with_its_interval() {
        let own = said(0.87, 0.01, 0.0);
        assert_eq!(own.len(), 2, "{own:#?}");
        assert!(
            own[0].contains("between virtual and classic no difference larger than"),
            "{own:#?}"
        );
        assert!(
            own[1].starts_with("mean(store): gson is 1") && own[1].ends_with("faster than own"),
            "{own:#?}"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_said_with_the_repeats_that_would_show_it() {
        let own = said(1.0, 0.2, 0.0);
        assert!(
            own.iter()
                .all(|own| own.contains("5 repeats may not show 5%")
                    && own.contains("would be needed")),
            "{own:#?}"
        );
    }

    #[test]
    fn a_drift_is_said() {
        let own = said(1.0, 0.01, 0.05);
        assert!(
            own.iter()
                .any(|own| own.contains("the last block of runs is") && own.contains("slower")),
            "{own:#?}"
        );
    }
}
