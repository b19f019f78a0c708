//! Makes the result of an experiment from its runs.

use squall_experiment::{
    Cell, Contrast, Design, Effect, Factor, Measure, Sample, Scale, Statistics, TooLarge, sentences,
};

use super::document::{
    EXPERIMENT_SCHEMA, ExperimentAbout, ExperimentCell, ExperimentComparison, ExperimentContrast,
    ExperimentDifference, ExperimentEffect, ExperimentFactor, ExperimentMeasure, ExperimentReason,
    ExperimentResult, ExperimentRun, ExperimentServer, ExperimentVariant,
};
use crate::fleet::Machine;

impl ExperimentResult {
    /// What these runs show. Runs of variants or with values that the design does not have are as if they had failed.
    ///
    /// # Errors
    /// The factors have more combinations than an experiment may have variants.
    pub fn new(
        about: ExperimentAbout,
        factors: Vec<ExperimentFactor>,
        measures: &[Measure],
        runs: Vec<ExperimentRun>,
    ) -> Result<ExperimentResult, TooLarge> {
        let of =
            |own: &ExperimentFactor| Factor { name: own.name.clone(), levels: own.levels.clone() };
        let design = Design::new(factors.iter().map(of).collect())?;
        let mut result = ExperimentResult {
            schema: EXPERIMENT_SCHEMA,
            variants: variants(&design, &about, &runs),
            about,
            factors,
            ..ExperimentResult::default()
        };
        for (at, measure) in measures.iter().enumerate() {
            let sample = sample(&design, measure.scale(), at, &runs);
            let own = Statistics::new(&design, &sample, measures.len());
            result.add(&design, measure, &own);
        }
        result.runs = runs;
        Ok(result)
    }

    /// The same with the machines that generated the load, and with what was started for each run.
    #[must_use]
    pub fn with(self, machine: Vec<Machine>, servers: Vec<ExperimentServer>) -> ExperimentResult {
        ExperimentResult { machine, servers, ..self }
    }

    /// Adds what is said of a measure.
    fn add(&mut self, design: &Design, measure: &Measure, own: &Statistics) {
        let relevant = measure.relevant(own);
        self.measures.push(ExperimentMeasure {
            name: measure.name().to_owned(),
            unit: measure.unit().label().to_owned(),
            scale: own.scale.label().to_owned(),
            sentences: sentences(design, measure, own),
            drift: own.drift.map(|drift| ExperimentDifference {
                value: drift.value,
                low: drift.interval.map(|ends| ends.0),
                high: drift.interval.map(|ends| ends.1),
                is_real: drift.is_real(),
                ..ExperimentDifference::default()
            }),
            share_of_higher: own.shares.higher,
            share_of_blocks: own.shares.blocks,
            share_of_chance: own.shares.chance,
            noisy: own.noisy.iter().map(|variant| design.name(*variant)).collect(),
        });
        for (variant, cell) in self.variants.iter_mut().zip(&own.cells) {
            variant.cells.push(of_cell(measure, cell));
        }
        let effects = own.effects.iter().map(|effect| of_effect(design, measure, effect, relevant));
        self.effects.extend(effects);
        self.comparisons.extend(own.pairs.iter().map(|pair| ExperimentComparison {
            measure: measure.name().to_owned(),
            first: design.name(pair.of),
            second: design.name(pair.with),
            difference: pair.contrast.map(|own| of_contrast(&own, relevant)),
        }));
    }
}

/// Whether a run has values of a variant that there is.
fn is_valid(design: &Design, run: &ExperimentRun) -> bool {
    run.failed.is_none() && (run.variant as usize) < design.variants()
}

fn sample(design: &Design, scale: Scale, measure: usize, runs: &[ExperimentRun]) -> Sample {
    let valid = || runs.iter().filter(|run| is_valid(design, run));
    let blocks = valid().map(|run| run.block as usize + 1).max().unwrap_or(0);
    let mut values = vec![vec![None; blocks]; design.variants()];
    for run in valid() {
        values[run.variant as usize][run.block as usize] =
            run.values.get(measure).copied().flatten();
    }
    Sample::new(scale, values)
}

/// The variants, without their values.
fn variants(
    design: &Design,
    about: &ExperimentAbout,
    runs: &[ExperimentRun],
) -> Vec<ExperimentVariant> {
    let blocks = runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
    // With an end that depends on the intervals, nobody knows before how many there will be; and of what was interrupted, the
    // rest is to come.
    let asked = match about.relative_error.is_some() || !about.finished {
        true => blocks.min(about.repeats),
        false => about.repeats,
    };
    let one = |variant: usize| {
        let own = || runs.iter().filter(|run| run.variant as usize == variant);
        let repeats = own().filter(|run| is_valid(design, run)).count() as u64;
        let why = own().filter_map(|run| Some((run, run.failed.as_deref()?)));
        let rules =
            own().flat_map(|run| run.counted_invalid.iter().map(move |rule| (run, rule.as_str())));
        let levels = design.factors().iter().zip(design.levels(variant));
        ExperimentVariant {
            name: design.name(variant),
            levels: levels.map(|(factor, level)| factor.levels[level].clone()).collect(),
            repeats,
            failed: own().filter(|run| run.failed.is_some()).count() as u64,
            missing: asked.saturating_sub(repeats),
            why: reasons(why),
            counted_invalid: reasons(rules),
            cells: Vec::new(),
        }
    };
    (0..design.variants()).map(one).collect()
}

/// Reasons of runs, each kind once: what differs only in its numbers is of one kind.
fn reasons<'r>(all: impl Iterator<Item = (&'r ExperimentRun, &'r str)>) -> Vec<ExperimentReason> {
    let kind = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.' || c == ',', "");
    let mut found: Vec<(String, ExperimentReason)> = Vec::new();
    for (run, text) in all {
        match found.iter_mut().find(|(own, _)| *own == kind(text)) {
            Some((_, reason)) => reason.runs += 1,
            None => {
                let (text, folder) = (text.to_owned(), run.folder.clone());
                let reason = ExperimentReason { text, runs: 1, first: run.number, folder };
                found.push((kind(&reason.text), reason));
            }
        }
    }
    found.into_iter().map(|(_, reason)| reason).collect()
}

fn of_cell(measure: &Measure, cell: &Cell) -> ExperimentCell {
    ExperimentCell {
        measure: measure.name().to_owned(),
        value: cell.value,
        low: cell.interval.map(|ends| ends.0),
        high: cell.interval.map(|ends| ends.1),
        repeats: cell.repeats as u64,
    }
}

fn of_effect(
    design: &Design,
    measure: &Measure,
    effect: &Effect,
    relevant: f64,
) -> ExperimentEffect {
    let factors = || effect.factors.iter().map(|at| &design.factors()[*at]);
    let contrasts = effect.contrasts.iter().map(|own| {
        let levels = factors().zip(&own.levels);
        let names = levels.map(|(factor, (level, other))| {
            (factor.levels[*level].clone(), factor.levels[*other].clone())
        });
        ExperimentContrast {
            levels: names.collect(),
            difference: own.contrast.map(|own| of_contrast(&own, relevant)),
        }
    });
    ExperimentEffect {
        measure: measure.name().to_owned(),
        factors: factors().map(|factor| factor.name.clone()).collect(),
        assumes: effect.assumes.label().to_owned(),
        share: effect.share,
        p: effect.p,
        is_real: effect.is_real(),
        contrasts: contrasts.collect(),
    }
}

fn of_contrast(own: &Contrast, relevant: f64) -> ExperimentDifference {
    ExperimentDifference {
        value: own.value,
        low: own.interval.map(|ends| ends.0),
        high: own.interval.map(|ends| ends.1),
        is_real: own.is_real(),
        p: own.p,
        repeats_needed: own.repeats_for(relevant).map(|repeats| repeats as u64),
    }
}
