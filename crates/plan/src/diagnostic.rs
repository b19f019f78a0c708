//! What is wrong with a plan, and how it is shown: the place, the line, what to do.

use std::fmt::Write as _;

use crate::span::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The plan cannot run.
    Error,
    /// It can, but may not mean what was meant.
    Warning,
}

/// Something wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), span, help: None }
    }

    /// A warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// The same with what to do; an empty text adds nothing.
    pub fn with_help(mut self, help: &str) -> Diagnostic {
        if !help.is_empty() {
            self.help = Some(help.to_owned());
        }
        self
    }
}

/// The files that a plan was read from: names and texts.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<(String, String)>);

/// Characters of a line that are shown around the place.
const SHOWN: usize = 160;

impl Sources {
    /// Adds a file; returns its number for [`Span::file`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u16 {
        self.0.push((name.into(), text.into()));
        (self.0.len() - 1) as u16
    }

    /// Whether a file of that name is there.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// A diagnostic as a person reads it, ending with a line end.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let Span { file, line, column } = diagnostic.span;
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = String::new();
        // Writing to a String cannot fail.
        let source = self.0.get(usize::from(file)).filter(|_| line > 0);
        if let Some((name, text)) = source {
            let _ = writeln!(out, "{name}:{line}:{column}: {severity}: {}", diagnostic.message);
            if let Some(quoted) = text.lines().nth(line as usize - 1) {
                quote(&mut out, line, column, quoted);
            }
        } else {
            let _ = writeln!(out, "{severity}: {}", diagnostic.message);
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "   hint: {help}");
        }
        out
    }
}

/// The line, and a mark under the place.
fn quote(out: &mut String, line: u32, column: u32, text: &str) {
    let column = (column.max(1) - 1) as usize;
    let from = column.saturating_sub(SHOWN / 2);
    let shown: String =
        text.chars().skip(from).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let word = text.chars().skip(column).take_while(|c| c.is_alphanumeric() || *c == '_').count();
    let (space, mark) = (" ".repeat(column - from), "^".repeat(word.max(1)));
    let _ = writeln!(out, "{line:5} | {shown}\n      | {space}{mark}");
}

/// The known name that was most likely meant.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    let near = known
        .filter(|other| {
            other.len() >= length.saturating_sub(limit) && other.len() <= 4 * (length + limit)
        })
        .map(|other| (distance(name, other), other))
        .filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Edits from one word to another: insertions, deletions, replacements (Wagner and Fischer, 1974) and
/// swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_the_place() {
        let mut sources = Sources::default();
        sources.add("shop.yaml", "name: shop\nload: {usrs: 5}\n");
        let span = Span { file: 0, line: 2, column: 8 };
        let diagnostic =
            Diagnostic::error(span, "unknown key `usrs`").with_help("did you mean `users`?");
        assert_eq!(
            sources.render(&diagnostic),
            "shop.yaml:2:8: error: unknown key `usrs`\n    2 | load: {usrs: 5}\n      |        ^^^^\n   \
             hint: did you mean `users`?\n"
        );
    }

    #[test]
    fn the_nearest_name() {
        assert_eq!(nearest("usrs", ["users", "ramp"].into_iter()), Some("users"));
        assert_eq!(nearest("thikn", ["think", "get"].into_iter()), Some("think"));
        assert_eq!(nearest("zebra", ["users", "ramp"].into_iter()), None);
    }
}
