//! Errors as they come: by name and kind, with when they came and an example. Pure.

use squall_base::escape_control;
use squall_metrics::{ErrorKind, RowKey};
use squall_runner::Second;

use super::rows;

/// Most kinds of errors and names that are shown one by one.
const MAX_PROBLEMS: usize = 500;
/// Most characters of an example.
const MAX_EXAMPLE: usize = 2_000;

/// Errors of a kind under a name.
#[derive(Debug)]
pub struct Problem {
    /// What bears the name, as a person reads it.
    pub label: String,
    pub scenario: String,
    /// The kind, as in results.
    pub kind: ErrorKind,
    /// How many there were.
    pub count: u64,
    /// Those of the last second.
    pub lately: u64,
    /// The seconds of the load in which the first and the last one came.
    pub seen: Option<(u32, u32)>,
    /// The first one in words, without control characters.
    pub example: Option<String>,
    name: String,
}

#[derive(Debug, Default)]
pub struct Problems {
    all: Vec<Problem>,
    /// Errors that are not in any of them.
    left_out: u64,
    /// Requests that were errors.
    errors: u64,
    /// Requests that could not be sent: why is among the kinds, but the target was asked for nothing.
    not_sent: u64,
}

impl Problems {
    pub fn add(&mut self, second: &Second) {
        let number = second.second;
        // A second that comes again adds to what it had.
        let is_later = |problem: &Problem| problem.seen.is_none_or(|(_, last)| last < number);
        self.all.iter_mut().filter(|own| is_later(own)).for_each(|own| own.lately = 0);
        for row in second.rows.iter().filter(|row| row.key.place.kind.is_request()) {
            self.errors += row.stats.errors;
            self.not_sent += row.stats.not_sent;
            for (kind, count) in &row.stats.error_kinds {
                let Some(own) = self.find(&row.key, *kind) else {
                    self.left_out += count;
                    continue;
                };
                own.count += count;
                own.lately += count;
                own.seen = Some((own.seen.map_or(number, |(first, _)| first), number));
            }
        }
    }

    /// Meets a kind of error under a name; an example of it may follow before its second does.
    pub fn meet(&mut self, key: &RowKey, kind: &str) {
        if let Some(kind) = ErrorKind::from_label(kind) {
            self.find(key, kind);
        }
    }

    /// Notes an example; only the first one is kept.
    pub fn example(&mut self, scenario: &str, name: &str, kind: ErrorKind, text: &str) {
        let is_it =
            |own: &Problem| own.kind == kind && own.name == name && own.scenario == scenario;
        let at = self.all.iter().position(is_it);
        let at = at.or_else(|| {
            let key = RowKey::new(squall_metrics::RowKind::Request, scenario, name);
            self.push(&key, kind)
        });
        let Some(own) = at.map(|at| &mut self.all[at]) else { return };
        if own.example.is_none() {
            let text: String = text.chars().take(MAX_EXAMPLE).collect();
            own.example = Some(escape_control(&text).replace('\t', "    "));
        }
    }

    fn find(&mut self, key: &RowKey, kind: ErrorKind) -> Option<&mut Problem> {
        let is_it = |own: &Problem| {
            own.kind == kind && own.name == key.name && own.scenario == key.place.scenario
        };
        let at = self.all.iter().position(is_it).or_else(|| self.push(key, kind))?;
        Some(&mut self.all[at])
    }

    fn push(&mut self, key: &RowKey, kind: ErrorKind) -> Option<usize> {
        if self.all.len() >= MAX_PROBLEMS {
            return None;
        }
        self.all.push(Problem {
            label: rows::label(key),
            scenario: key.place.scenario.clone(),
            kind,
            count: 0,
            lately: 0,
            seen: None,
            example: None,
            name: key.name.clone(),
        });
        Some(self.all.len() - 1)
    }

    /// All, in the order in which they came.
    pub fn all(&self) -> &[Problem] {
        &self.all
    }

    /// Errors of kinds and names that are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// All requests that were errors, without those that could not be sent.
    pub fn total(&self) -> u64 {
        self.errors
    }

    /// All requests that could not be sent.
    pub fn not_sent(&self) -> u64 {
        self.not_sent
    }
}
