//! Texts with `${...}` in them: split once, bound once, rendered often. `$${` is a literal `${`.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::expr::{Binder, BoundExpr, Budget, EvalError, Expr, Scope, too_much};
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

    /// The program that it is: the path of one where it has a `/`, relative to a folder as [`Template::within`] has it,
    /// otherwise a name that is sought on the PATH. One that begins with an expression stays as it is.
    #[must_use]
    pub fn program_within(self, folder: &Path) -> Template {
        let has_folder =
            |part: &TemplatePart| matches!(part, TemplatePart::Text(text) if text.contains('/'));
        let begins = matches!(self.parts.first(), Some(TemplatePart::Text(_)));
        if begins && self.parts.iter().any(has_folder) { self.within(folder) } else { self }
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

    pub fn span(&self) -> Span {
        self.span
    }

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
        let budget = binder.budget();
        let mut parts: Vec<BoundPart> = Vec::new();
        let mut text = String::new();
        for part in &self.parts {
            let expr = match part {
                TemplatePart::Text(own) => {
                    text.push_str(own);
                    continue;
                }
                TemplatePart::Expr(expr) => expr,
            };
            let program = expr.bind(binder)?;
            let joined = program.constant().filter(|value| self.parts.len() > 1 && is_text(value));
            let joined = joined.filter(|value| {
                let is_known = budget.exceeded().is_some();
                let kept = !is_known && budget.keep(value.weight()).is_ok();
                if let (false, Some(bound)) = (is_known, budget.exceeded()) {
                    binder.warn(too_much(bound, expr.span()));
                }
                kept
            });
            match joined {
                Some(Value::Text(own)) => text.push_str(own),
                Some(value) => text.push_str(&value.to_string()),
                None => {
                    if !text.is_empty() {
                        parts.push(BoundPart::Text(std::mem::take(&mut text).into()));
                    }
                    parts.push(BoundPart::Expr(program, label(expr.source())));
                }
            }
        }
        if !text.is_empty() {
            parts.push(BoundPart::Text(text.into()));
        }
        Ok(BoundTemplate { parts: parts.into() })
    }
}

/// Whether a constant can be joined with others to a text. Null has no text: rendering it is an error, of who
/// renders it. Bytes are no text that could be joined with others.
fn is_text(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bytes(_))
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
    Text(Arc<str>),
    /// An expression, and a label for it.
    Expr(BoundExpr, Arc<str>),
}

impl BoundTemplate {
    pub fn literal(text: &str) -> BoundTemplate {
        BoundTemplate { parts: [BoundPart::Text(text.into())].into() }
    }

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

    /// Whether its text does not depend on anything.
    pub fn is_constant(&self) -> bool {
        match &*self.parts {
            [] | [BoundPart::Text(_)] => true,
            [BoundPart::Expr(program, _)] => {
                program.constant().is_some_and(|value| *value != Value::Null)
            }
            _ => false,
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

    /// The same, before the run.
    ///
    /// # Errors
    /// As [`BoundTemplate::value`]; and the budget is not enough.
    pub fn value_within(&self, scope: &dyn Scope, budget: &Budget) -> Result<Value, EvalError> {
        if let [BoundPart::Expr(program, _)] = &*self.parts {
            return program.eval_within(scope, budget);
        }
        let mut text = Vec::new();
        self.render_within(scope, budget, &mut text)?;
        Ok(Value::text(String::from_utf8_lossy(&text)))
    }

    /// Appends the text, before the run.
    ///
    /// # Errors
    /// As [`BoundTemplate::render`]; and the budget is not enough.
    pub fn render_within(
        &self,
        scope: &dyn Scope,
        budget: &Budget,
        out: &mut Vec<u8>,
    ) -> Result<(), EvalError> {
        for part in &*self.parts {
            match part {
                BoundPart::Text(text) => out.extend_from_slice(text.as_bytes()),
                BoundPart::Expr(program, _) => program.render_within(scope, budget, out)?,
            }
        }
        Ok(())
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
    fn a_program_with_a_folder_is_relative_to_that_of_the_plan() {
        for (source, expected) in [
            ("./prog.sh", "/plans/./prog.sh"),
            ("bin/${x}", "/plans/bin/${x}"),
            ("v${n}/prog", "/plans/v${n}/prog"),
            ("prog.sh", "prog.sh"),
            ("prog-${x}", "prog-${x}"),
            ("${x}/prog", "${x}/prog"),
            ("/bin/${x}", "/bin/${x}"),
        ] {
            let program = Template::parse(source, Span::default()).expect(source);
            let program = program.program_within(Path::new("/plans"));
            assert_eq!(program.source(), expected);
            let again = Template::parse(program.source(), Span::default()).expect("a template");
            assert_eq!(again.program_within(Path::new("/elsewhere")).source(), expected);
        }
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

    /// Knows `big` alone, a text of 8 MiB.
    struct Big(std::rc::Rc<Budget>, usize);

    impl Binder for Big {
        fn variable(&mut self, _: &[&str]) -> Result<crate::expr::Bound, crate::expr::BindError> {
            Ok(crate::expr::Bound::Constant(Value::text("x".repeat(8 << 20)), 1))
        }

        fn function(
            &mut self,
            name: &str,
            _: &[Option<Value>],
        ) -> Result<crate::expr::FunctionId, crate::expr::BindError> {
            Err(crate::expr::BindError::unknown_function(name))
        }

        fn budget(&self) -> std::rc::Rc<Budget> {
            self.0.clone()
        }

        fn warn(&mut self, _: Diagnostic) {
            self.1 += 1;
        }
    }

    #[test]
    fn constants_are_joined_up_to_a_bound() {
        let template = Template::parse("a${big}b", Span::default()).expect("a template");
        let mut world = Big(std::rc::Rc::new(Budget::of_constants()), 0);
        let bound: Vec<BoundTemplate> =
            (0..12).map(|_| template.bind(&mut world).expect("known")).collect();
        assert_eq!(bound.iter().filter(|own| own.is_constant()).count(), 7);
        assert_eq!(world.1, 1, "it is said once");
        assert!(bound.iter().all(|own| own.is_constant() == own.constant().is_some()));
        assert_eq!(bound[11].parts().len(), 3, "they are joined in the run");
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
