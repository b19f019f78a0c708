//! What names mean in templates and expressions: variables, cells of data rows, facts about the
//! user and the response, and the functions that look at the response.

use std::rc::Rc;
use std::sync::Arc;

use squall_extract::{Extractor, Spec};
use squall_metrics::{Place as RowPlace, PlaceId, RowKind};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BindError, Binder, Bound, Budget, FunctionId, Pattern};
use squall_plan::model::ResponseBody;
use squall_plan::template::Template;
use squall_plan::value::Value;

use super::compiler::Compiler;
use super::node::NODE_FACTS;
use super::op::GroupName;
use super::places::{Function, INTRINSICS, Intrinsic, Place};
use crate::parts::names;

/// Names that other tools, or other versions, have for facts about a response, and the plan's own.
const FOREIGN_FACTS: [(&str, &str); 8] = [
    ("size", "body_bytes"),
    ("saved", "body_hash"),
    ("code", "status"),
    ("status_code", "status"),
    ("latency", "duration"),
    ("response_time", "duration"),
    ("response", "body"),
    ("text", "body"),
];

/// What is meant by a fact about the response as other tools write it: `response.status`, `json.id`, `headers["x"]`.
fn foreign_fact(path: &[&str]) -> Option<String> {
    let theirs = |name: &str| FOREIGN_FACTS.iter().find(|(theirs, _)| *theirs == name);
    match path {
        ["response" | "res" | "resp" | "r", rest @ ..] if !rest.is_empty() => {
            let is_ours = INTRINSICS.iter().any(|(known, ..)| *known == rest[0]);
            let ours = is_ours.then(|| rest[0].to_owned());
            ours.or_else(|| foreign_fact(rest)).or_else(|| Some("body".to_owned()))
        }
        ["json", rest @ ..] => {
            let rest = if rest.is_empty() { "id".to_owned() } else { rest.join(".") };
            Some(format!("json(\"$.{rest}\")"))
        }
        ["headers" | "header", ..] => Some("header(\"x\")".to_owned()),
        ["cookies" | "cookie", ..] => Some("cookie(\"name\")".to_owned()),
        [name, ..] => theirs(name).map(|(_, ours)| (*ours).to_owned()),
        [] => None,
    }
}

/// What to do about a fact about a response where there is none: keep it in a variable first.
fn only_in_check(fact: &str) -> String {
    let (variable, operator) = match fact {
        "status" => ("code", "code == 200"),
        "body" => ("page", "page.contains(\"ok\")"),
        "duration" => ("took", "took < 300"),
        _ => return format!("`{fact}` is only known in a check of the request"),
    };
    format!(
        "`{fact}` is only known in a check: extract it from the request before, \
         `extract: {{{variable}: {fact}}}`, and write `{operator}`"
    )
}

impl Binder for Compiler<'_> {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        let name = path[0];
        if let Some((_, which, of_response)) = INTRINSICS.iter().find(|(known, ..)| *known == name)
            && (!of_response || self.sees_response)
            && !self.is_variable(name)
        {
            self.check_captured(*which)?;
            self.noticed.status |= *which == Intrinsic::Status;
            self.noticed.body |= matches!(which, Intrinsic::Body | Intrinsic::RawBody);
            self.noticed.sent |= which.is_of_request();
            return Ok(Bound::Slot(Place::Intrinsic(*which).slot(), 1));
        }
        self.used.insert(name.to_owned());
        if let Some(feed) = self.feed(name) {
            return self.cell(feed, path);
        }
        if let Some(value) = self.constants.get(name) {
            return Ok(Bound::Constant(value.clone(), 1));
        }
        match self.known_slot(name) {
            Some(slot) => Ok(Bound::Slot(slot, 1)),
            None => {
                let fact = self.options.node.fact(name);
                fact.map(|value| Bound::Constant(value, 1)).ok_or_else(|| self.unknown(path))
            }
        }
    }

    fn function(&mut self, name: &str, args: &[Option<Value>]) -> Result<FunctionId, BindError> {
        let function = match (name, args) {
            ("header", [_]) => Function::Header,
            ("trailer", [_]) => Function::Trailer,
            ("cookie", [_]) => Function::Cookie,
            ("json", []) => Function::JsonBody,
            ("is_json", []) => Function::IsJson,
            ("is_xml", []) => Function::IsXml,
            ("json", [Some(Value::Text(path))]) => Function::Found(self.found(&Spec::Json(path))?),
            ("json_all", [Some(Value::Text(path))]) => {
                Function::AllFound(self.found(&Spec::Json(path))?)
            }
            ("xpath", [Some(Value::Text(path))]) => {
                Function::Found(self.found(&Spec::XPath(path))?)
            }
            ("json" | "json_all", [_]) => {
                let message = format!("{name}() takes a literal JSONPath, such as \"$.id\"");
                return Err(BindError::new(message));
            }
            ("xpath", [_]) => {
                return Err(BindError::new("xpath() takes a literal XPath, such as \"//a/@href\""));
            }
            ("is_json" | "is_xml", _) => {
                return Err(BindError::new(format!("{name}() takes no argument")));
            }
            ("header" | "trailer" | "cookie" | "json" | "json_all" | "xpath", _) => {
                return Err(BindError::new(format!("{name}() takes one argument")));
            }
            _ => return Err(BindError::unknown_function(name)),
        };
        if !self.sees_response {
            return Err(BindError::new(format!(
                "{name}() reads a response: it can only be used in a check"
            )));
        }
        self.noticed.body |=
            !matches!(function, Function::Header | Function::Trailer | Function::Cookie);
        self.functions.push(function);
        Ok(FunctionId(self.functions.len() as u32 - 1))
    }

    fn pattern(&mut self, source: &str) -> Result<Pattern, BindError> {
        self.patterns.expression(source)
    }

    fn budget(&self) -> Rc<Budget> {
        self.budget.clone()
    }

    fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }
}

impl Compiler<'_> {
    /// What looks for something in a body.
    fn found(&mut self, spec: &Spec<'_>) -> Result<Arc<Extractor>, BindError> {
        let extractor = self.patterns.extractor(spec);
        extractor.map_err(|error| BindError::new(error.message))
    }

    /// The error for a name that stands for nothing, with the one that was most likely meant.
    fn unknown(&self, path: &[&str]) -> BindError {
        let name = path[0];
        let error = BindError::new(format!("unknown variable `{name}`"));
        if !self.hints() {
            return error;
        }
        let is_fact = |name: &str| {
            INTRINSICS.iter().any(|(known, _, of_response)| *of_response && *known == name)
        };
        if is_fact(name) {
            return error.with_help(only_in_check(name));
        }
        if let Some(ours) = foreign_fact(path).filter(|_| self.sees_response) {
            return error.with_help(format!("did you mean `{ours}`?"));
        }
        let facts =
            INTRINSICS.iter().filter(|(.., of_response)| !of_response || self.sees_response);
        let facts = facts.map(|(name, ..)| *name).chain(NODE_FACTS);
        BindError::unknown_variable(name, self.variables().chain(facts))
    }

    /// Whether the request at hand makes the hash, or the file, that something reads.
    pub(super) fn check_captured(&self, which: Intrinsic) -> Result<(), BindError> {
        let missing = match (which, self.response_body) {
            (Intrinsic::BodyHash, Some(ResponseBody::Hash(_)))
            | (Intrinsic::BodyFile, Some(ResponseBody::File(_))) => return Ok(()),
            (Intrinsic::BodyHash, _) => ("body_hash", "{hash: sha256}"),
            (Intrinsic::BodyFile, _) => ("body_file", "{file: PATH}"),
            _ => return Ok(()),
        };
        let (name, form) = missing;
        let message = format!("`{name}` is not known: the request does not ask for it");
        Err(BindError::new(message).with_help(format!("add `response_body: {form}`")))
    }

    fn cell(&mut self, feed: usize, path: &[&str]) -> Result<Bound, BindError> {
        let columns = self.feeds[feed].source.columns();
        let Some(name) = path.get(1) else {
            return Err(not_a_column(
                "is a row of data: name one of its columns,",
                path[0],
                columns,
            ));
        };
        let Some(column) = columns.iter().position(|column| column == name) else {
            let what = format!("has no column `{name}`: its columns are");
            return Err(not_a_column(&what, path[0], columns));
        };
        self.use_feed(feed);
        Ok(Bound::Slot(Place::Cell { feed, column }.slot(), 2))
    }

    /// Where rows of a kind count that the step at hand makes.
    pub(super) fn row_place(&mut self, kind: RowKind) -> PlaceId {
        let (scenario, group) = (self.scenario.clone(), self.groups.clone());
        let tags = self.inherit_tags().map(|()| self.tags.clone()).unwrap_or_default();
        self.names.place(&RowPlace { kind, scenario, group, tags })
    }

    /// The name of a group; `None` after an error was noted.
    pub(super) fn group_name(&mut self, name: &Template) -> Option<GroupName> {
        let name = self.template(name)?;
        Some(match name.constant() {
            Some(text) => GroupName::Known(self.name(RowKind::Group, &text)),
            None => GroupName::Made(name, self.row_place(RowKind::Group)),
        })
    }

    /// The number of a row of the step at hand, given now if it is new.
    pub(super) fn name(&mut self, kind: RowKind, name: &str) -> u32 {
        let place = self.row_place(kind);
        self.names.intern(place, &names::limited(name)).0
    }
}

/// Why a part of a row of data is none, and its columns: one whose name no expression can say has to get another.
fn not_a_column(what: &str, source: &str, columns: &[String]) -> BindError {
    let shown: Vec<String> =
        columns.iter().map(|name| format!("`{}`", name.escape_debug())).collect();
    let error = BindError::new(format!("`{source}` {what} {}", shown.join(", ")));
    match columns.iter().any(|name| !is_name(name)) {
        true => error.with_help(
            "columns with other names than letters, digits and `_` are used by the names that `header: [...]` gives \
             them, with `skip_header: true`",
        ),
        false => error,
    }
}

/// Whether an expression can name a column.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty() && text.chars().all(is_part)
}
