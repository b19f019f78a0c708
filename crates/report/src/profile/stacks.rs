//! Stacks, and how many samples were in each. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

/// Most functions of a stack that are kept: the innermost.
const MAX_DEPTH: usize = 256;
/// Most different stacks; what is in others counts for [`OTHERS`].
const MAX_STACKS: usize = 100_000;
const OTHERS: &str = "[other stacks]";
/// In place of the functions that were left out.
const CUT: &str = "[cut]";

/// Stacks of functions, each from the outermost to the innermost one and joined by `;`, with the samples in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stacks(BTreeMap<String, u64>);

/// A function by the samples in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HotFunction {
    pub name: String,
    /// In the function itself.
    pub own: u64,
    /// In it and in what it called.
    pub total: u64,
}

impl Stacks {
    /// Adds samples in a stack, whose innermost function comes first.
    pub fn add<'a>(&mut self, innermost_first: impl IntoIterator<Item = &'a str>, samples: u64) {
        let mut all: Vec<String> =
            innermost_first.into_iter().take(MAX_DEPTH + 1).map(clean).collect();
        if all.is_empty() {
            return;
        }
        if all.len() > MAX_DEPTH {
            all[MAX_DEPTH] = CUT.to_owned();
        }
        all.reverse();
        let mut stack = all.join(";");
        if self.0.len() >= MAX_STACKS && !self.0.contains_key(&stack) {
            stack = OTHERS.to_owned();
        }
        *self.0.entry(stack).or_default() += samples;
    }

    /// Adds those of another profile.
    pub fn merge(&mut self, others: &Stacks) {
        for (stack, samples) in &others.0 {
            self.add(stack.rsplit(';'), *samples);
        }
    }

    /// Reads what [`Stacks::folded`] has written; lines of another form are left out.
    pub fn parse(folded: &str) -> Stacks {
        let mut all = Stacks::default();
        for line in folded.lines() {
            let parts = line.rsplit_once(' ');
            let Some((stack, samples)) =
                parts.and_then(|(stack, number)| Some((stack, number.parse::<u32>().ok()?)))
            else {
                continue;
            };
            all.add(stack.rsplit(';'), u64::from(samples));
        }
        all
    }

    /// A line for each stack, as flame graphs of other tools are made of.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        for (stack, samples) in &self.0 {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{stack} {samples}");
        }
        text
    }

    /// How many samples were taken.
    pub fn samples(&self) -> u64 {
        self.0.values().fold(0, |sum, own| sum.saturating_add(*own))
    }

    /// Each stack, from the outermost function on, with its samples.
    pub(super) fn each(&self) -> impl Iterator<Item = (std::str::Split<'_, char>, u64)> {
        self.0.iter().map(|(stack, samples)| (stack.split(';'), *samples))
    }

    /// The functions with most samples in themselves, at most so many.
    pub fn hottest(&self, most: usize) -> Vec<HotFunction> {
        let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (stack, samples) in self.each() {
            let names: Vec<&str> = stack.collect();
            if let Some(last) = names.last() {
                all.entry(last).or_default().0 += samples;
            }
            // A function that calls itself counts once.
            for name in names.into_iter().collect::<BTreeSet<_>>() {
                all.entry(name).or_default().1 += samples;
            }
        }
        let mut all: Vec<HotFunction> = all
            .into_iter()
            .filter(|(_, (own, _))| *own > 0)
            .map(|(name, (own, total))| HotFunction { name: name.to_owned(), own, total })
            .collect();
        all.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.name.cmp(&b.name)));
        all.truncate(most);
        all
    }
}

/// A name that breaks no line and no stack.
fn clean(name: &str) -> String {
    let good = |c: char| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    };
    name.chars().take(400).map(good).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_ranked_by_their_own_samples() {
        let mut all = Stacks::default();
        all.add(["hash", "serve", "main"], 60);
        all.add(["serve", "main"], 10);
        // It calls itself.
        all.add(["walk", "walk", "main"], 30);
        assert_eq!(all.folded(), "main;serve 10\nmain;serve;hash 60\nmain;walk;walk 30\n");
        assert_eq!(Stacks::parse(&all.folded()), all);
        let mut both = Stacks::parse("main;serve 5\n");
        both.merge(&all);
        assert_eq!((both.samples(), both.folded().starts_with("main;serve 15\n")), (105, true));
        let of = |own: &HotFunction| (own.name.clone(), own.own, own.total);
        let found: Vec<_> = all.hottest(2).iter().map(of).collect();
        assert_eq!(found, [("hash".to_owned(), 60, 60), ("walk".to_owned(), 30, 30)]);
        assert_eq!(of(&all.hottest(9)[2]), ("serve".to_owned(), 10, 70));
        assert_eq!(all.hottest(9).len(), 3, "in main itself there was none");
    }

    #[test]
    fn hostile_names_and_deep_stacks_stay_within_bounds() {
        let mut all = Stacks::default();
        all.add(["a;b\n1"], 1);
        assert_eq!(all.folded(), "a:b 1 1\n");
        let deep: Vec<String> = (0..1_000).map(|n| format!("f{n}")).collect();
        let mut all = Stacks::default();
        all.add(deep.iter().map(String::as_str), 1);
        let text = all.folded();
        assert!(text.starts_with("[cut];f255;") && text.ends_with(";f0 1\n"), "{text}");
        let mut all = Stacks::default();
        (0..MAX_STACKS + 5).for_each(|n| all.add([format!("f{n}").as_str()], 1));
        assert_eq!(all.0[OTHERS], 5);
        all.add([], 1);
        assert_eq!(all.samples(), MAX_STACKS as u64 + 5);
        assert_eq!(Stacks::parse("no number\n\nmain x\n").samples(), 0);
    }
}
