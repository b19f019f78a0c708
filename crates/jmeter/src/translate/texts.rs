//! JMeter's texts as templates and expressions: what is known before the run is put in its place, variables that are
//! set while it runs become ours, and what nobody sets stays as it was written.

use squall_plan::diagnostic::Diagnostic;
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::Translator;
use crate::constants::is_of_start;
use crate::functions;
use crate::text::{Part, Text};
use crate::tree::ElementId;

/// The number of a thread within its group, from 1.
pub(super) const THREAD: &str = "user + 1";

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPiece {
    /// As it stands; never empty.
    Text(String),
    /// What an expression gives.
    Expr(String),
}

impl Translator<'_> {
    /// The value of a text that is known before the run.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn constant(&self, source: &str) -> Result<String, String> {
        let pieces = self.split(source)?;
        let known = literal(&pieces).map(str::to_owned);
        known.ok_or_else(|| format!("`{source}`, which is known only while the plan runs,"))
    }

    /// A text in pieces; an obstacle if one of its functions has no equal, which is then left out.
    pub(super) fn pieces(&self, element: ElementId, source: &str) -> Vec<TextPiece> {
        self.split(source).unwrap_or_else(|what| {
            self.obstacle(element, what);
            Vec::new()
        })
    }

    /// A text as a template.
    pub(super) fn template(&self, element: ElementId, source: &str) -> Template {
        self.template_of(element, &self.pieces(element, source))
    }

    /// Pieces as a template.
    pub(super) fn template_of(&self, element: ElementId, pieces: &[TextPiece]) -> Template {
        parsed(pieces).unwrap_or_else(|error| {
            self.obstacle(element, error.message);
            Template::default()
        })
    }

    /// The pieces of a text, those that are texts joined; or what of it has no equal.
    pub(super) fn split(&self, source: &str) -> Result<Vec<TextPiece>, String> {
        // Where nothing can be replaced the text stays as it was written.
        let text =
            Text::parse(source, &functions::is_function).unwrap_or_else(|_| Text::literal(source));
        let pieces = text.parts.iter().map(|part| match part {
            Part::Literal(text) => Ok(TextPiece::Text(text.clone())),
            Part::Variable(name) => self.variable(name),
            Part::Call(call) => self.call(call),
        });
        Ok(merged(pieces.collect::<Result<_, _>>()?))
    }

    pub(super) fn variable(&self, name: &str) -> Result<TextPiece, String> {
        if let Some(variable) = self.names.variable(name) {
            return Ok(TextPiece::Expr(variable.to_owned()));
        }
        let unset = quoted(&format!("${{{name}}}"));
        if let Some(one) = self.names.one_of_matches(name, &unset) {
            return Ok(TextPiece::Expr(one));
        }
        if name == "JMeterThread.last_sample_ok" {
            return Ok(TextPiece::Expr("last_ok".to_owned()));
        }
        let is_of_jmeter = is_of_start(name) || name.starts_with("__jm__");
        if is_of_jmeter || self.names.is_made_beside(name) {
            return Err(format!("the variable `{name}`"));
        }
        match self.constants.known(name) {
            Some(Some(value)) => Ok(TextPiece::Text(value.to_owned())),
            Some(None) => Err(format!("the variable `{name}`, whose value a function gives")),
            None => Ok(TextPiece::Text(format!("${{{name}}}"))),
        }
    }
}

/// The same pieces, with texts joined that follow each other, and without those that are empty.
pub(super) fn merged(pieces: Vec<TextPiece>) -> Vec<TextPiece> {
    pieces.into_iter().fold(Vec::new(), |mut joined, piece| {
        match (joined.last_mut(), piece) {
            (_, TextPiece::Text(text)) if text.is_empty() => {}
            (Some(TextPiece::Text(last)), TextPiece::Text(text)) => last.push_str(&text),
            (_, piece) => joined.push(piece),
        }
        joined
    })
}

/// The text of pieces that are known before the run.
pub(super) fn literal(pieces: &[TextPiece]) -> Option<&str> {
    match pieces {
        [] => Some(""),
        [TextPiece::Text(text)] => Some(text),
        _ => None,
    }
}

/// A whole number as an expression: one that is written, or the value of a variable.
pub(super) fn whole(pieces: &[TextPiece]) -> Option<String> {
    match pieces {
        [TextPiece::Text(text)] => text.trim().parse::<i64>().ok().map(|number| number.to_string()),
        [TextPiece::Expr(expression)] => Some(format!("int({expression})")),
        _ => None,
    }
}

/// Pieces as a template.
///
/// # Errors
/// One of its expressions is too long, or too deep.
pub(super) fn parsed(pieces: &[TextPiece]) -> Result<Template, Diagnostic> {
    Template::parse(&template_source(pieces), Span::default())
}

/// Pieces as the source of a template.
fn template_source(pieces: &[TextPiece]) -> String {
    let mut source = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            TextPiece::Text(text) => {
                let escaped = text.replace("${", "$${");
                let before = matches!(pieces.get(index + 1), Some(TextPiece::Expr(_)));
                match escaped.strip_suffix('$').filter(|_| before) {
                    // Together with what follows it would be an escaped `${`.
                    Some(rest) => source.push_str(&format!("{rest}${{\"$\"}}")),
                    None => source.push_str(&escaped),
                }
            }
            TextPiece::Expr(expression) => source.push_str(&format!("${{{expression}}}")),
        }
    }
    source
}

/// Pieces as an expression that gives a text.
pub(super) fn expression(pieces: &[TextPiece]) -> String {
    let terms: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            TextPiece::Text(text) => quoted(text),
            TextPiece::Expr(expression) => format!("string({expression})"),
        })
        .collect();
    if terms.is_empty() { quoted("") } else { terms.join(" + ") }
}

/// A text as a literal of an expression.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_templates_that_mean_the_same() {
        let text = |text: &str| TextPiece::Text(text.to_owned());
        let expr = |text: &str| TextPiece::Expr(text.to_owned());
        for (pieces, expected) in [
            (vec![], ""),
            (vec![text("a${b}")], "a$${b}"),
            (vec![text("a$"), expr("b")], "a${\"$\"}${b}"),
            (vec![text("{"), expr("b"), text("}$")], "{${b}}$"),
        ] {
            let source = template_source(&pieces);
            assert_eq!(source, expected);
            let template = Template::parse(&source, Span::default()).expect("a template");
            assert_eq!(template.source(), expected);
        }
        assert_eq!(expression(&[text("a\"\\\n"), expr("b")]), r#""a\"\\\n" + string(b)"#);
        assert_eq!(expression(&[]), "\"\"");
    }
}
