//! What is wrong with a plan, and how it is shown: the place, the line, what to do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use crate::secrets::{self, Secrets};
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
    pub message: String,
    pub span: Span,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), span, help: None }
    }

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

/// The files that a plan was read from, and what of them nobody is shown.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
    secrets: Box<Secrets>,
}

#[derive(Debug, Clone)]
struct Source {
    name: String,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
    /// What stands at a line and a column, where that is named and no line is quoted.
    elements: BTreeMap<(u32, u32), String>,
    /// What its own words call a secret, once somebody is shown a part of it.
    hidden: OnceLock<Hidden>,
}

/// Characters of a line that are shown around the place.
const SHOWN: usize = 160;
/// Most characters of a message that are shown: it may repeat what a plan says at length.
const MAX_MESSAGE: usize = 600;

impl Sources {
    /// Adds a file; returns its number for [`Span::file`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u16 {
        let text: String = text.into();
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(begins).collect();
        let (name, elements, hidden) = (name.into(), BTreeMap::new(), OnceLock::new());
        self.files.push(Source { name, text, lines, elements, hidden });
        (self.files.len() - 1) as u16
    }

    /// Adds a file whose elements people know by their names: a diagnostic at the place of one names it, and quotes no line.
    pub fn add_named(
        &mut self,
        name: impl Into<String>,
        elements: impl Iterator<Item = (Span, String)>,
    ) -> u16 {
        let file = self.add(name, "");
        self.files[usize::from(file)].elements =
            elements.map(|(place, name)| ((place.line, place.column), name)).collect();
        file
    }

    /// Keeps secrets out of all diagnostics.
    pub fn hide(&mut self, secrets: &Secrets) {
        self.secrets.extend(secrets);
    }

    /// The line of a place.
    pub(crate) fn line(&self, place: Span) -> Option<&str> {
        self.files.get(usize::from(place.file))?.line(place.line)
    }

    /// The name of the plan's own file, as it was asked for; those that it includes come after it.
    pub fn plan_file(&self) -> Option<&str> {
        self.files.first().map(|source| source.name.as_str())
    }

    /// Whether a file of that name is there.
    pub fn contains(&self, name: &str) -> bool {
        self.files.iter().any(|source| source.name == name)
    }

    /// A diagnostic as a person reads it, ending with a line end. Secrets are masked: those that are known, and
    /// what the file's own words call one.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let Span { file, line, column } = diagnostic.span;
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = String::new();
        let source = self.files.get(usize::from(file)).filter(|_| line > 0);
        let own = source.map(|source| source.values_of(line)).unwrap_or_default();
        let hits = |text: &str| {
            let mut hits = self.secrets.hits(text, false);
            hits.extend(own.hits(text, false));
            hits.extend(source.iter().flat_map(|source| source.hidden().values.hits(text, false)));
            hits.extend(secrets::credentials_in_urls(text));
            hits
        };
        // Cut when no secret is in it any more.
        let masked = |text: &str| shortened(secrets::replaced(text, &hits(text)));
        let message = masked(&diagnostic.message);
        // Writing to a String cannot fail.
        if let Some(source) = source {
            let element = source.elements.get(&(line, column));
            let element = element.map(|name| masked(name) + ": ").unwrap_or_default();
            let _ =
                writeln!(out, "{}:{line}:{column}: {severity}: {element}{message}", source.name);
            if let Some(quoted) = source.line(line).filter(|_| source.elements.is_empty()) {
                let mut hits = hits(quoted);
                hits.extend(source.hidden().in_line(line as usize - 1));
                quote(&mut out, line, column, quoted, &hits);
            }
        } else {
            let _ = writeln!(out, "{severity}: {message}");
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "   hint: {}", masked(help));
        }
        out
    }
}

/// Most values of a file that are looked for in all that is shown of it, and not in their places alone.
const MAX_HIDDEN_VALUES: usize = 100;

/// What of a file nobody is shown.
#[derive(Debug, Clone, Default)]
struct Hidden {
    /// Lines, from 0 and in order, and parts of them.
    places: Vec<(usize, Range<usize>)>,
    values: Secrets,
}

impl Hidden {
    fn in_line(&self, line: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let from = self.places.partition_point(|(own, _)| *own < line);
        let here = self.places[from..].iter().take_while(move |(own, _)| *own == line);
        here.map(|(_, place)| place.clone())
    }
}

impl Source {
    /// A line, from 1, without its end.
    fn line(&self, number: u32) -> Option<&str> {
        let begin = *self.lines.get(number as usize - 1)?;
        self.text[begin..].lines().next()
    }

    fn hidden(&self) -> &Hidden {
        self.hidden.get_or_init(|| {
            let places = secrets::in_source(&self.text);
            let mut values = Secrets::default();
            for (line, place) in places.iter().take(MAX_HIDDEN_VALUES) {
                self.add_value(&mut values, *line as u32 + 1, place);
            }
            Hidden { places, values }
        })
    }

    /// What nobody is shown of a line, from 1: messages about it may have it.
    fn values_of(&self, line: u32) -> Secrets {
        let mut values = Secrets::default();
        let places = self.hidden().in_line(line as usize - 1);
        places.for_each(|place| self.add_value(&mut values, line, &place));
        values
    }

    /// Adds what stands at a place of a line, from 1.
    fn add_value(&self, values: &mut Secrets, line: u32, place: &Range<usize>) {
        let line = self.line(line).unwrap_or_default();
        values.add(line.get(place.clone()).unwrap_or_default());
    }
}

/// The beginning and the end of a text, if it is long.
fn shortened(text: String) -> String {
    let length = text.chars().count();
    if length <= MAX_MESSAGE {
        return text;
    }
    let half = MAX_MESSAGE / 2;
    let (begin, end): (String, String) =
        (text.chars().take(half).collect(), text.chars().skip(length - half).collect());
    format!("{begin} … {end}")
}

/// The line without its secrets, and a mark under the place.
fn quote(out: &mut String, line: u32, column: u32, text: &str, hits: &[Range<usize>]) {
    let column = (column.max(1) - 1) as usize;
    // What stands before the place is masked first: it says where the place is then. One within a secret is
    // at its beginning.
    let mut at = text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
    while let Some(hit) = hits.iter().find(|hit| hit.start < at && at < hit.end) {
        at = hit.start;
    }
    let clipped = |from: usize, to: usize| -> Vec<Range<usize>> {
        let inside = hits.iter().filter(|hit| from <= hit.start && hit.end <= to);
        inside.map(|hit| hit.start - from..hit.end - from).collect()
    };
    let before = secrets::replaced(&text[..at], &clipped(0, at));
    let behind = secrets::replaced(&text[at..], &clipped(at, text.len()));
    let (column, text) = (before.chars().count(), &format!("{before}{behind}"));
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
    // Of a single letter nothing is left that could be like another.
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
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

/// `a, b and c`.
pub(crate) fn listed(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
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
    fn a_diagnostic_quotes_no_secret() {
        let mut sources = Sources::default();
        sources.add("shop.yaml", "vars: {api_token: abc, x: !, pin: {value: 12, secret: true}}\n");
        let mut known = Secrets::default();
        known.add("from-a-flag");
        sources.hide(&known);
        let quoted = "    1 | vars: {api_token: ***, x: !, pin: {value: ***, secret: true}}\n";
        for (column, space) in [(27, 26), (19, 18), (21, 18), (43, 42), (46, 46)] {
            let span = Span { file: 0, line: 1, column };
            let diagnostic = Diagnostic::error(span, "bad `from-a-flag`, `http://u:pw@h`");
            let shown = sources.render(&diagnostic.with_help("not from-a-flag"));
            let lines: Vec<&str> = shown.lines().collect();
            assert_eq!(
                lines[0],
                format!("shop.yaml:1:{column}: error: bad `***`, `http://u:***@h`")
            );
            assert_eq!(lines[1], quoted.trim_end());
            assert_eq!(lines[2].find('^'), Some(8 + space), "{column}: {shown}");
            assert_eq!(lines[3], "   hint: not ***");
        }
    }

    #[test]
    fn a_message_has_an_end() {
        let message = format!("unknown key `{}` in a request", "x".repeat(1 << 20));
        let shown = Sources::default().render(&Diagnostic::error(Span::default(), message));
        assert!(shown.len() < 700 && shown.starts_with("error: unknown key `xxx"), "{shown}");
        assert!(shown.ends_with("xxx` in a request\n"), "{shown}");
    }

    #[test]
    fn what_stands_behind_an_unclosed_variable_is_not_quoted() {
        let mut sources = Sources::default();
        sources.add("a.yaml", "get: /items/${id hunter2hunter2 and more\nget: /a/${b}/c${d\n");
        let shown = |line, column| {
            let span = Span { file: 0, line, column };
            sources.render(&Diagnostic::error(span, "unclosed `${`: expected `}`"))
        };
        assert!(shown(1, 13).contains("| get: /items/${id***\n"), "{}", shown(1, 13));
        assert!(shown(2, 14).contains("| get: /a/${b}/c${d\n"), "{}", shown(2, 14));
    }

    #[test]
    fn the_nearest_name() {
        assert_eq!(nearest("usrs", ["users", "ramp"].into_iter()), Some("users"));
        assert_eq!(nearest("thikn", ["think", "get"].into_iter()), Some("think"));
        assert_eq!(nearest("zebra", ["users", "ramp"].into_iter()), None);
        assert_eq!(nearest("b", ["x", "a"].into_iter()), None);
    }
}
