//! The session that a server hands on in its pages (HTTP URL Re-writing Modifier): found in each response, and put into the
//! next request.

use squall_plan::model::{Extract, Extractor, Json, Match, Request, StepKind, Within};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::Translator;
use super::body::Argument;
use super::texts::{TextPiece, literal, quoted};
use crate::scope::Scope;
use crate::tree::ElementId;

const CLASS: &str = "URLRewritingModifier";

/// What such an element asks for.
struct Rewriting {
    id: ElementId,
    name: String,
    /// The hidden variables that hold what was found in the last response; null before the first.
    found: Vec<String>,
    /// That of the session that is sent.
    sent: String,
    /// Whether the session is behind the path, and not an argument.
    in_path: bool,
    /// Between its name and its value in the path.
    equals: &'static str,
    ends_at_query: bool,
    /// Whether the last one that was found stays.
    is_kept: bool,
    is_encoded_for: bool,
}

impl Rewriting {
    fn pattern(&self) -> String {
        match self.in_path {
            true => in_path(&self.name, self.equals, self.ends_at_query),
            false => in_arguments(&self.name),
        }
    }
}

/// Where a page has the session behind a path: the one group.
fn in_path(name: &str, equals: &str, ends_at_query: bool) -> String {
    let end = if ends_at_query { "?" } else { "" };
    format!(r#";{}{equals}([^"'<>&\s;{end}]*)"#, regex_syntax::escape(name))
}

/// Where a page has it as an argument, or as a field of a form: the one group of three that takes part.
fn in_arguments(name: &str) -> String {
    let name = regex_syntax::escape(name);
    let (begin, value) = (r"\s[Nn][Aa][Mm][Ee]\s*=\s*", r"\s[vV][Aa][Ll][Uu][Ee]\s*=\s*");
    let (name_is, value_is) =
        (format!(r#"{begin}["']{name}["']"#), format!(r#"{value}["']([^"']*)["']"#));
    let of_url = format!(r#"[;?&]{name}=([^"'<>&\s;\\]*)"#);
    format!("{of_url}|{name_is}[^>]*{value_is}|{value_is}[^>]*{name_is}")
}

impl Translator<'_> {
    fn rewriting(&self, id: ElementId) -> Option<Rewriting> {
        let reader = self.read(id);
        let name = reader.constant("argument_name");
        let flag = |name: &str| reader.flag(name, false);
        let in_path = flag("path_extension");
        let hidden = |part| self.names.hidden_of("session", id, part);
        let groups = if in_path { 1 } else { 3 };
        let rewriting = Rewriting {
            id,
            name: name?,
            found: (1..=groups).map(hidden).collect(),
            sent: hidden(0),
            in_path,
            equals: if flag("path_extension_no_equals") { "" } else { "=" },
            ends_at_query: flag("path_extension_no_questionmark"),
            is_kept: flag("cache_value"),
            is_encoded_for: flag("encode"),
        };
        reader.finish();
        Some(rewriting)
    }

    fn rewritings(&self, elements: &[ElementId]) -> Vec<Rewriting> {
        let own = elements.iter().filter(|id| self.class(**id) == CLASS);
        own.filter_map(|id| self.rewriting(*id)).collect()
    }

    /// Every response is searched for what some element asks for: any may be the one before a sampler in its scope.
    pub(super) fn find_sessions(&self, request: &mut Request) {
        for rewriting in self.rewritings(self.scopes.of_class(CLASS)) {
            for (group, variable) in (1..).zip(&rewriting.found) {
                self.hold(variable);
                request.extract.push(Extract {
                    variable: Spanned::new(variable.clone(), Span::default()),
                    from: Extractor::Regex {
                        pattern: Spanned::new(rewriting.pattern(), Span::default()),
                        within: Within::Body,
                        group: Some(group),
                    },
                    which: Match::First,
                    default: Some(Json::Text(Template::default())),
                    ..Extract::default()
                });
            }
        }
    }

    /// What the session of the next request is.
    pub(super) fn session(&self, id: ElementId) -> Vec<StepKind> {
        let Some(rewriting) = self.rewriting(id) else { return Vec::new() };
        let Rewriting { found, sent, .. } = &rewriting;
        self.hold(sent);
        let value = found.join(" + ");
        let value = match rewriting.is_kept {
            true => format!("({value} == \"\" ? ({sent} == null ? \"\" : {sent}) : {value})"),
            false => value,
        };
        // Before the first response there is none, and the request stays as it is.
        vec![self.set(id, sent, &format!("{} == null ? {sent} : {value}", found[0]))]
    }

    /// Puts the session into the path of a request.
    pub(super) fn session_in_path(
        &self,
        held: &Scope,
        mut path: Vec<TextPiece>,
        in_url: bool,
    ) -> Vec<TextPiece> {
        for rewriting in self.rewritings(&held.pre_processors).iter().filter(|own| own.in_path) {
            let sent = &rewriting.sent;
            let behind = format!(";{}{}", rewriting.name, rewriting.equals);
            let mark = format!(";{}", rewriting.name);
            match literal(&path).map(str::to_owned) {
                // JMeter makes arguments of the query, the session being part of the last one.
                Some(text) if in_url && text.contains('?') => {
                    self.obstacle(rewriting.id, "a path with a query");
                }
                // The one that is there goes.
                Some(text) if text.contains(&mark) => {
                    let (before, rest) = text.split_once(&mark).unwrap_or((&text, ""));
                    let query = text.find('?').map_or("", |at| &text[at..]);
                    let new = format!("{} + {sent}", quoted(&format!("{query}{behind}")));
                    let old = quoted(&format!("{mark}{rest}"));
                    path = vec![
                        TextPiece::Text(before.to_owned()),
                        TextPiece::Expr(format!("({sent} == null ? {old} : {new})")),
                    ];
                }
                Some(_) => path.push(TextPiece::Expr(format!(
                    "({sent} == null ? \"\" : {} + {sent})",
                    quoted(&behind)
                ))),
                None => self.obstacle(rewriting.id, "a path that only the run knows"),
            }
        }
        path
    }

    /// Puts the session into the arguments of a request. An argument whose name is empty is not sent.
    pub(super) fn session_in_arguments(
        &self,
        held: &Scope,
        mut arguments: Vec<Argument>,
        has_pairs: bool,
    ) -> Vec<Argument> {
        for rewriting in self.rewritings(&held.pre_processors).iter().filter(|own| !own.in_path) {
            if !has_pairs {
                self.obstacle(
                    rewriting.id,
                    "an argument of a request whose body is a text, or has parts",
                );
            }
            let sent = &rewriting.sent;
            let name = quoted(&rewriting.name);
            for argument in &mut arguments {
                if literal(&argument.name) == Some(&rewriting.name) {
                    let kept = format!("({sent} == null ? {name} : \"\")");
                    argument.name = vec![TextPiece::Expr(kept)];
                }
            }
            let value = match rewriting.is_encoded_for {
                true => sent.clone(),
                // It is taken for encoded, and encoded anew.
                false => format!("form_decode({sent})"),
            };
            arguments.push(Argument {
                name: vec![TextPiece::Expr(format!("({sent} == null ? \"\" : {name})"))],
                value: vec![TextPiece::Expr(format!("({sent} == null ? \"\" : {value})"))],
                is_encoded_for: true,
                equals: "=",
                content_type: "text/plain".to_owned(),
            });
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_where_pages_have_it() {
        let found = |pattern: &str, text: &str| {
            let pattern = regex_automata::meta::Regex::new(pattern).expect("a pattern");
            let mut groups = pattern.create_captures();
            pattern.captures(text, &mut groups);
            let group = groups.iter().skip(1).flatten().next()?;
            Some(text[group.range()].to_owned())
        };
        let of_path = in_path("s.id", "=", true);
        assert_eq!(found(&of_path, "<a href='/a;s.id=x1?y'>").as_deref(), Some("x1"));
        assert_eq!(found(&of_path, "<a href='/a;sxid=x1?y'>"), None);
        let whole = in_path("s.id", "", false);
        assert_eq!(found(&whole, "<a href='/a;s.idx1?y'>").as_deref(), Some("x1?y"));
        for text in [
            "<a href='/a?b=c&s.id=x1&y'>",
            "<input name='s.id' type=\"hidden\" VALUE = \"x1\">",
            "<input value='x1' name=\"s.id\">",
        ] {
            assert_eq!(found(&in_arguments("s.id"), text).as_deref(), Some("x1"), "{text}");
        }
    }
}
