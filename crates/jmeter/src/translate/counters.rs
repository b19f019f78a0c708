//! Counters and random variables: numbers, in Java's format for decimal numbers.

use squall_plan::model::{DataFormat, DataSource, Json, Numbers, Share, StepKind};
use squall_plan::span::Spanned;

use super::Translator;
use super::decimal::DecimalFormat;
use super::texts::{TextPiece, quoted, whole};
use crate::tree::ElementId;

impl Translator<'_> {
    /// A counter as a source of numbers.
    pub(super) fn counter(&self, id: ElementId) -> Option<DataSource> {
        let reader = self.read(id);
        let number = |name, without| reader.number(name, without);
        let from = number("CounterConfig.start", 0);
        let (to, step) = (number("CounterConfig.end", i64::MAX), number("CounterConfig.incr", 1));
        let is_per_user = reader.flag("CounterConfig.per_user", false);
        reader.pass(&["CounterConfig.name", "CounterConfig.format"]);
        reader.pass(&["CounterConfig.reset_on_tg_iteration"]);
        reader.finish();
        let (from, to, step) = (from?, to?, step?);
        let (Ok(start), Ok(step)) = (u64::try_from(from), u64::try_from(step)) else {
            self.obstacle(id, "numbers below 0");
            return None;
        };
        // A counter that is above its end begins anew; so does one that never moves.
        let end = if to < from || step == 0 { from } else { to };
        let numbers = Numbers {
            from: start,
            to: u64::try_from(end).ok().filter(|_| end != i64::MAX),
            step: step.max(1),
        };
        Some(DataSource {
            format: DataFormat::Numbers(numbers),
            share: if is_per_user { Share::User } else { Share::All },
            ..DataSource::default()
        })
    }

    /// Whether a counter begins anew with each iteration of its group.
    pub(super) fn begins_anew(&self, id: ElementId) -> bool {
        let flag = |name| self.tree.element(id).properties.flag(name, false);
        flag("CounterConfig.per_user") && flag("CounterConfig.reset_on_tg_iteration")
    }

    /// A counter of each user that begins anew with each iteration of its group.
    pub(super) fn counter_anew(&self, id: ElementId) -> Vec<StepKind> {
        let reader = self.read(id);
        let from = reader.number("CounterConfig.start", 0);
        let to = reader.number("CounterConfig.end", i64::MAX);
        let step = reader.number("CounterConfig.incr", 1);
        let (name, format) =
            (reader.source("CounterConfig.name"), reader.source("CounterConfig.format"));
        reader.pass(&["CounterConfig.per_user", "CounterConfig.reset_on_tg_iteration"]);
        reader.finish();
        let (Some(from), Some(to), Some(step)) = (from, to, step) else { return Vec::new() };
        let (seen, number) = (self.held("turn", id, 0), self.held("turn", id, 1));
        // It goes on from what it was, unless that was in another iteration, or is above its end.
        let limit = to.saturating_sub(step);
        let next =
            format!("{seen} == iteration && {number} <= {limit} ? {number} + {step} : {from}");
        let mut steps = vec![self.set(id, &number, &next), self.set(id, &seen, "iteration")];
        let value = self.formatted(id, name, number, format);
        steps.extend((!value.is_empty()).then_some(StepKind::Set(value)));
        steps
    }

    pub(super) fn counter_value(
        &self,
        id: ElementId,
        source: &DataSource,
    ) -> Vec<(Spanned<String>, Json)> {
        let properties = &self.tree.element(id).properties;
        let name = properties.text("CounterConfig.name").unwrap_or_default();
        let format = properties.text("CounterConfig.format").unwrap_or_default();
        let number = format!("{}.number", source.name.value);
        self.formatted(id, name, number, format)
    }

    pub(super) fn random_value(&self, id: ElementId) -> Vec<(Spanned<String>, Json)> {
        let reader = self.read(id);
        let bound = |name| whole(&self.pieces(id, reader.source(name)));
        let (low, high) = (bound("minimumValue"), bound("maximumValue"));
        let (name, format) = (reader.source("variableName"), reader.source("outputFormat"));
        // Chance follows from the run's seed, and each user has its own.
        reader.pass(&["perThread", "randomSeed"]);
        reader.finish();
        let (Some(low), Some(high)) = (low, high) else {
            self.obstacle(id, "bounds other than whole numbers");
            return Vec::new();
        };
        if let (Ok(low), Ok(high)) = (low.parse::<i64>(), high.parse::<i64>())
            && low > high
        {
            self.obstacle(id, "a smallest number above the largest");
        }
        self.formatted(id, name, format!("random({low}, {high})"), format)
    }

    /// A variable with a number, as a text in Java's format for decimal numbers.
    fn formatted(
        &self,
        id: ElementId,
        name: &str,
        number: String,
        format: &str,
    ) -> Vec<(Spanned<String>, Json)> {
        let text = |text: String| (!text.is_empty()).then_some(TextPiece::Text(text));
        let pieces = match (format, DecimalFormat::parse(format)) {
            // JMeter has texts alone: what compares the variable with one finds it.
            ("", _) => vec![TextPiece::Expr(format!("string({number})"))],
            (_, Some(format)) => {
                let number = match format.digits {
                    0 | 1 => number,
                    digits => format!("pad(string({number}), {digits}, {})", quoted("0")),
                };
                let number = Some(TextPiece::Expr(number));
                [text(format.before), number, text(format.after)].into_iter().flatten().collect()
            }
            (_, None) => {
                self.obstacle(id, format!("the format `{format}`"));
                return Vec::new();
            }
        };
        self.value(id, name, &pieces).into_iter().collect()
    }
}
