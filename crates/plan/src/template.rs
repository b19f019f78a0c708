//! Texts with `${...}` in them: split once, bound once, rendered often. `$${` is a literal `${`.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::expr::{Binder, BoundExpr, EvalError, Expr, Scope};
use crate::span::Span;
use crate::value::Value;

/// A text with expressions in it, as it was written.
#[derive(Debug, Clone, Default)]
pub struct Template {
    source: String,
    span: Span,
    parts: Vec<TemplatePart>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// As it stands.
    Text(String),
    /// `${...}`
    Expr(Expr),
}

impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        self.source == other.source
    }
}

impl Template {
    /// Splits a text that begins at `span`.
    ///
    /// # Errors
    /// An expression in it is none, or does not end.
    pub fn parse(source: &str, span: Span) -> Result<Template, Diagnostic> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        let (mut place, mut placed) = (span, 0);
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                text.push_str(before);
                text.push_str("${");
                rest = &after[2..];
                continue;
            }
            text.push_str(before);
            let inner = &after[2..];
            let at = source.len() - after.len();
            place = place_of(place, &source[placed..at]);
            placed = at;
            let end = end_of(inner).ok_or_else(|| {
                Diagnostic::error(place, "unclosed `${`: expected `}`")
                    .with_help("write `$${` for a literal `${`")
            })?;
            if !text.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut text)));
            }
            parts.push(TemplatePart::Expr(Expr::parse(&inner[..end], place.later(2))?));
            rest = &inner[end + 1..];
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(TemplatePart::Text(text));
        }
        Ok(Template { source: source.to_owned(), span, parts })
    }

    /// A text that is taken as it stands.
    pub fn text(text: &str) -> Template {
        let parts =
            if text.is_empty() { Vec::new() } else { vec![TemplatePart::Text(text.to_owned())] };
        Template { source: text.replace("${", "$${"), span: Span::default(), parts }
    }

    /// The path that it is, relative to a folder unless it begins as an absolute one.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Template {
        let is_absolute = matches!(self.parts.first(), Some(TemplatePart::Text(text)) if Path::new(text).is_absolute());
        // With a `/` at its end, unless it is empty.
        let folder = folder.join("").display().to_string();
        if is_absolute || folder.is_empty() {
            return self;
        }
        self.source.insert_str(0, &folder.replace("${", "$${"));
        match self.parts.first_mut() {
            Some(TemplatePart::Text(text)) => text.insert_str(0, &folder),
            _ => self.parts.insert(0, TemplatePart::Text(folder)),
        }
        self
    }

    /// What is left of it without its first parts.
    #[must_use]
    pub fn behind(&self, parts: usize) -> Template {
        let parts = self.parts.iter().skip(parts).cloned().collect();
        Template { source: self.source.clone(), span: self.span, parts }
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Its parts.
    pub fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// The text, if there is no expression in it.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Binds its expressions.
    ///
    /// # Errors
    /// A name or function is not known.
    pub fn bind(&self, binder: &mut dyn Binder) -> Result<BoundTemplate, Diagnostic> {
        let mut parts: Vec<BoundPart> = Vec::new();
        for part in &self.parts {
            let part = match part {
                TemplatePart::Text(text) => BoundPart::Text(text.as_str().into()),
                TemplatePart::Expr(expr) => {
                    let program = expr.bind(binder)?;
                    match program.constant() {
                        // Null has no text: rendering it is an error, of who renders it. Bytes are no
                        // text that could be joined with others.
                        Some(value)
                            if self.parts.len() > 1
                                && !matches!(value, Value::Null | Value::Bytes(_)) =>
                        {
                            BoundPart::Text(value.to_string().into())
                        }
                        _ => BoundPart::Expr(program, label(expr.source())),
                    }
                }
            };
            match (parts.last_mut(), part) {
                (Some(BoundPart::Text(last)), BoundPart::Text(text)) => {
                    *last = format!("{last}{text}").into()
                }
                (_, part) => parts.push(part),
            }
        }
        Ok(BoundTemplate { parts: parts.into() })
    }
}

/// The last name of a dotted one, for names of requests: `people.name` is `name`.
fn label(source: &str) -> Arc<str> {
    let simple = source.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let last = source.rsplit('.').next().unwrap_or_default();
    if simple && last.starts_with(char::is_alphabetic) { last.into() } else { "id".into() }
}

/// The place behind a text that begins at `span`.
fn place_of(span: Span, before: &str) -> Span {
    let lines = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32;
    if lines == 0 {
        return span.later(last as usize);
    }
    Span { line: span.line + lines as u32, column: last + 1, ..span }
}

/// Where the `}` stands that ends an expression: not within a text or inner braces.
fn end_of(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A template bound to slots, with what is constant rendered. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BoundTemplate {
    parts: Arc<[BoundPart]>,
}

/// A part of a bound template.
#[derive(Debug, Clone)]
pub enum BoundPart {
    /// As it stands.
    Text(Arc<str>),
    /// An expression, and a label for it.
    Expr(BoundExpr, Arc<str>),
}

impl BoundTemplate {
    /// A text.
    pub fn literal(text: &str) -> BoundTemplate {
        BoundTemplate { parts: [BoundPart::Text(text.into())].into() }
    }

    /// Its parts.
    pub fn parts(&self) -> &[BoundPart] {
        &self.parts
    }

    /// The text, if it does not depend on anything.
    pub fn constant(&self) -> Option<String> {
        match &*self.parts {
            [] => Some(String::new()),
            [BoundPart::Text(text)] => Some(text.to_string()),
            [BoundPart::Expr(program, _)] => {
                program.constant().filter(|value| **value != Value::Null).map(Value::to_string)
            }
            _ => None,
        }
    }

    /// The value, if it does not depend on anything. A single `${...}` keeps the type of its value.
    pub fn constant_value(&self) -> Option<Value> {
        match &*self.parts {
            [] => Some(Value::text("")),
            [BoundPart::Text(text)] => Some(Value::Text(text.clone())),
            [BoundPart::Expr(program, _)] => program.constant().cloned(),
            _ => None,
        }
    }

    /// Appends the text.
    ///
    /// # Errors
    /// An expression cannot be evaluated, or is null.
    pub fn render(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<(), EvalError> {
        for part in &*self.parts {
            match part {
                BoundPart::Text(text) => out.extend_from_slice(text.as_bytes()),
                BoundPart::Expr(program, _) => program.render(scope, out)?,
            }
        }
        Ok(())
    }

    /// The text, which is only looked at: of a single part it is borrowed from where it lies, all else is
    /// made in `room`.
    ///
    /// # Errors
    /// As [`BoundTemplate::render`].
    pub fn text_in<'a>(
        &'a self,
        scope: &'a dyn Scope,
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], EvalError> {
        match &*self.parts {
            [BoundPart::Text(text)] => Ok(text.as_bytes()),
            [BoundPart::Expr(program, _)] => program.text_in(scope, room),
            _ => {
                room.clear();
                self.render(scope, room)?;
                Ok(room)
            }
        }
    }

    /// Appends the text for a person to read, with `null` for what has no value. Returns whether all has.
    ///
    /// # Errors
    /// An expression cannot be evaluated.
    pub fn show(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<bool, EvalError> {
        let mut all = true;
        for part in &*self.parts {
            match part {
                BoundPart::Text(text) => out.extend_from_slice(text.as_bytes()),
                BoundPart::Expr(program, _) => all &= program.show(scope, out)?,
            }
        }
        Ok(all)
    }

    /// The value: a single `${...}` keeps the type of its value, all else is a text.
    ///
    /// # Errors
    /// An expression cannot be evaluated, needs a variable that was never given a value, or is null
    /// where it is a part of a text.
    pub fn value(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        if let [BoundPart::Expr(program, _)] = &*self.parts {
            return program.eval(scope);
        }
        let mut text = Vec::new();
        self.render(scope, &mut text)?;
        Ok(Value::text(String::from_utf8_lossy(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(source: &str) -> Vec<String> {
        let template = Template::parse(source, Span::default()).expect(source);
        let show = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Expr(expr) => format!("<{}>", expr.source()),
        };
        template.parts().iter().map(show).collect()
    }

    #[test]
    fn texts_are_split() {
        assert_eq!(parts("/item/${id}?q=${a + 'x}'}"), ["/item/", "<id>", "?q=", "<a + 'x}'>"]);
        assert_eq!(parts("a $ b $${c} {d}"), ["a $ b ${c} {d}"]);
        assert_eq!(parts("${ {'a': 1}.a }"), ["< {'a': 1}.a >"]);
        assert_eq!(parts(""), Vec::<String>::new());
    }

    #[test]
    fn a_path_is_relative_to_its_folder() {
        let within = |source: &str, folder: &str| {
            let template = Template::parse(source, Span::default()).expect(source);
            let path = template.within(Path::new(folder));
            // As it is printed it is read again.
            let again = Template::parse(path.source(), Span::default()).expect("a template");
            assert_eq!(path.parts, again.within(Path::new("/elsewhere")).parts, "{source}");
            parts(path.source())
        };
        assert_eq!(within("a.bin", "/plans"), ["/plans/a.bin"]);
        assert_eq!(within("a/${x}.bin", "/plans/"), ["/plans/a/", "<x>", ".bin"]);
        assert_eq!(within("${x}", "/$${plans"), ["/$${plans/", "<x>"]);
        assert_eq!(within("/a/${x}", "/plans"), ["/a/", "<x>"]);
        let path = Template::parse("a${x}b${y}", Span::default()).expect("a template");
        assert_eq!(path.clone().within(Path::new("")), path);
        assert_eq!(path.behind(2).parts, path.parts[2..]);
    }

    #[test]
    fn an_error_has_its_place() {
        let span = Span { file: 0, line: 3, column: 5 };
        let error = Template::parse("ab${1 +}", span).expect_err("no expression");
        assert_eq!((error.span.line, error.span.column), (3, 12));
        assert!(
            Template::parse("a${b", span).expect_err("no end").message.contains("unclosed `${`")
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(source in "[ -~ü\n]{0,40}") {
            let _ = Template::parse(&source, Span::default());
        }

        #[test]
        fn a_text_stands_for_itself(text in "[ -~]{0,20}") {
            let again = Template::parse(Template::text(&text).source(), Span::default());
            // Not so for a `$` right before a `${`, which is read as its escape.
            if !text.contains("$$") {
                let again = again.expect("a text");
                prop_assert_eq!(again.literal(), Some(text.as_str()));
            }
        }
    }
}
