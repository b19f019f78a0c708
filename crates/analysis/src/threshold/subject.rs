//! What a threshold is about: `(login)`, `("GET /", scenario: buyer)`, `(kind: group)`, `(login, phase: connect)`,
//! `(login, team: a)`, `(bought, country: at)`. The only grammar for that.
//!
//! What is not one of the words `scenario`, `kind`, `group`, `phase` and `monitor` is a tag; `tag.phase: x` is one in any
//! case, and a name with such a colon in it stands in quotes.
//!
//! A name that several kinds of rows have means requests first, see [`RowKind::ALL`]; `kind:` says otherwise, and
//! `group checkout` is short for `checkout, kind: group`.
//! The rows of a name in several scenarios and groups count together, unless `scenario:` or `group:` narrows
//! them down.

use squall_metrics::{MONITOR_TAG, PHASES, RowKind, Selector};

/// What a threshold is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Subject {
    /// As it was written, without the parentheses.
    pub text: String,
    pub selector: Selector,
    /// The place of a phase in [`PHASES`]; `None`: the whole latency.
    pub phase: Option<usize>,
    /// The monitor of the target that samples the metric of that name, a tag of it.
    pub monitor: Option<String>,
}

impl Subject {
    /// Whether it is all requests.
    pub fn is_all(&self) -> bool {
        *self == Subject::default()
    }

    /// The metric that a monitor of the target samples, and which monitor.
    pub fn sampled(&self) -> Option<(&str, &str)> {
        Some((self.selector.metric()?, self.monitor.as_deref()?))
    }

    /// Takes its name for that of the monitor that samples a metric: `cpu(server)` is about `(cpu, monitor: server)`.
    pub fn of_monitor(&mut self, metric: &str) -> Result<(), String> {
        let Subject { selector, monitor, .. } = self;
        let name = selector.name.replace(metric.to_owned()).or_else(|| monitor.clone());
        let is_twice = monitor.is_some() && monitor != &name;
        match name.filter(|_| !is_twice) {
            Some(name) if monitor.is_none() => {
                selector.tags.push((MONITOR_TAG.to_owned(), name.clone()));
                *monitor = Some(name);
                Ok(())
            }
            Some(_) => Ok(()),
            None if is_twice => Err("the monitor is given twice".to_owned()),
            None => Err(format!("`{metric}` needs the name of a monitor, as in {metric}(server)")),
        }
    }

    /// Reads it from the beginning of a text, and returns what follows. Without parentheses it is all requests.
    pub fn parse(text: &str) -> Result<(Subject, &str), String> {
        let Some(inner) = text.strip_prefix('(') else { return Ok((Subject::default(), text)) };
        let mut subject = Subject::default();
        let mut rest = inner.trim_start();
        if key(rest).is_none() {
            let (name, after) = value(rest)?;
            // In quotes, it is all name.
            let group = name.strip_prefix("group ").filter(|_| rest.starts_with('g'));
            let name = group.map_or(name, str::trim_start);
            if name.is_empty() {
                return Err("the name is empty".to_owned());
            }
            subject.selector.kind = group.map(|_| RowKind::Group);
            subject.selector.name = Some(name.to_owned());
            rest = after;
        }
        while let Some((word, after)) = key(rest.trim_start_matches([',', ' '])) {
            let after = after.trim_start();
            // A tag may have an empty value, in quotes.
            let may_be_empty = word.starts_with("tag.") && after.starts_with(['"', '\'']);
            let (own, after) = value(after)?;
            if own.is_empty() && !may_be_empty {
                return Err(format!("the {word} is empty"));
            }
            subject.narrow(word, own)?;
            rest = after;
        }
        let after = rest.strip_prefix(')').ok_or("expected `)` after the name")?;
        inner[..inner.len() - rest.len()].trim().clone_into(&mut subject.text);
        Ok((subject, after))
    }

    fn narrow(&mut self, word: &str, own: &str) -> Result<(), String> {
        let Subject { selector, phase, monitor, .. } = self;
        let twice = match word {
            "scenario" => selector.scenario.replace(own.to_owned()).is_some(),
            "group" => selector.group.replace(own.to_owned()).is_some(),
            "kind" => {
                let kind = RowKind::from_label(own).ok_or_else(|| {
                    let kinds = RowKind::ALL.map(|(_, label)| label).join(", ");
                    format!("unknown kind `{own}`: expected one of {kinds}")
                })?;
                selector.kind.replace(kind).is_some()
            }
            "phase" => {
                let at = PHASES.iter().position(|phase| *phase == own);
                let at = at.ok_or_else(|| {
                    format!("unknown phase `{own}`: expected one of {}", PHASES.join(", "))
                })?;
                phase.replace(at).is_some()
            }
            MONITOR_TAG => {
                selector.tags.push((word.to_owned(), own.to_owned()));
                monitor.replace(own.to_owned()).is_some()
            }
            _ => {
                let tag = word.strip_prefix("tag.").unwrap_or(word);
                let twice = selector.tags.iter().any(|(known, _)| known == tag);
                selector.tags.push((tag.to_owned(), own.to_owned()));
                twice
            }
        };
        if twice { Err(format!("`{word}` is given twice")) } else { Ok(()) }
    }
}

/// A key with its colon at the beginning of a text, and what follows. Behind that of a tag is a space, so that
/// `http://host/` is none.
fn key(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(':')?;
    let word = word.trim_end();
    let is_tag = |word: &str| {
        word.strip_prefix("tag.").is_some_and(|tag| {
            !tag.is_empty() && tag.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
        })
    };
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let known = ["scenario", "kind", "group", "phase", MONITOR_TAG].contains(&word) || is_tag(word);
    let is_word = known || (is_name(word) && rest.starts_with(char::is_whitespace));
    is_word.then_some((word, rest))
}

/// A value, in quotes or up to the closing parenthesis or to a comma before a further key, and what follows.
fn value(text: &str) -> Result<(&str, &str), String> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &text[1..];
        let end = inner.find(quote).ok_or("the closing quote is missing")?;
        return Ok((&inner[..end], inner[end + 1..].trim_start()));
    }
    let close = text.find(')').ok_or("the closing parenthesis is missing")?;
    let commas = text[..close].match_indices(',').map(|(at, _)| at);
    let is_end = |at: &usize| key(text[at + 1..].trim_start()).is_some();
    let end = commas.into_iter().find(is_end).unwrap_or(close);
    Ok((text[..end].trim_end(), &text[end..]))
}
