//! Assertions as checks.

use squall_plan::expr::Expr;
use squall_plan::model::{Check, Request};
use squall_plan::span::Span;

use super::Translator;
use super::json::JSON_PATH_ASSERTION;
use super::pattern::{self, Subject};
use super::texts::{TextPiece, expression, literal, merged, quoted};
use super::told::{self, Told, known};
use crate::properties::PropertyValue;
use crate::scope::Scope;
use crate::tree::ElementId;

/// What a response assertion does with its patterns, as the bits of its number.
const MATCHES: i64 = 1;
const CONTAINS: i64 = 2;
const NOT: i64 = 4;
const EQUALS: i64 = 8;
const SUBSTRING: i64 = 16;
const OR: i64 = 32;

/// What JMeter calls the data of a request: its method and URL, its body, and its cookies.
const REQUEST_DATA: &str = "(sent_method + \" \" + sent_url + \"\\n\" \
    + (sent_method in [\"HEAD\", \"OPTIONS\", \"TRACE\"] ? \"\" \
    : \"\\n\" + sent_method + \" data:\\n\" + string(sent_body) + \"\\n\") \
    + (sent_cookies == \"\" ? \"\\n[no cookies]\" : \"\\nCookie Data:\\n\" + sent_cookies) + \"\\n\")";

const SENT_TEXT: &str = "string(sent_body)";

impl Translator<'_> {
    /// Sets a request's checks.
    pub(super) fn checks(&self, held: &Scope, request: &mut Request) {
        let mut reads_status = false;
        for id in &held.assertions {
            let mut looks = Check::default();
            let told = match self.class(*id) {
                "ResponseAssertion" => self.response(*id, request, &mut reads_status, &mut looks),
                "DurationAssertion" => self.duration(*id, request, &mut looks),
                "JSONPathAssertion" | JSON_PATH_ASSERTION => {
                    self.json_path(*id, request, &mut looks)
                }
                "SizeAssertion" => self.size(*id, request, &mut looks),
                "JMESPathAssertion" => self.jmes_path(*id),
                "XMLAssertion" => self.xml(*id),
                "MD5HexAssertion" => self.md5_hex(*id),
                "XPathAssertion" | "XPath2Assertion" => self.xpath(*id, request, &mut looks),
                _ => Vec::new(),
            };
            self.add_checks(*id, told, &looks, request);
        }
        // Where a check reads the status, nothing else judges it; JMeter always does, unless it is told not to.
        if reads_status && request.http.status_errors != Some(false) {
            let expr = Expr::parse("status < 400", Span::default());
            let of_status =
                |check: &Check| check.resources && check.expr.source().contains("status");
            let resources = request.check.iter().any(of_status);
            // This is an expression.
            let check = expr.ok().map(|expr| Check { expr, resources, ..told::untold() });
            request.check.splice(0..0, check);
        }
    }

    /// Adds what an assertion asserts.
    fn add_checks(&self, id: ElementId, told: Vec<Told>, looks: &Check, request: &mut Request) {
        let name = Some(self.tree.element(id).name.clone()).filter(|name| !name.is_empty());
        for (source, message) in told {
            let check = Check { name: name.clone(), message, ..looks.clone() };
            self.check(id, &source, check, request);
        }
    }

    pub(super) fn check(&self, id: ElementId, source: &str, check: Check, request: &mut Request) {
        match Expr::parse(source, Span::default()) {
            Ok(expr) => request.check.push(Check { expr, ..check }),
            Err(error) => self.obstacle(id, error.message),
        }
    }

    /// That there is what a path leads to, or not; or that what it asserts holds.
    fn xpath(&self, id: ElementId, request: &Request, looks: &mut Check) -> Vec<Told> {
        let reader = self.read(id);
        *looks = self.asserts_of_one(&reader, request);
        let path = reader.constant("XPath.xpath").unwrap_or_default();
        let is_negated = reader.flag("XPath.negate", false);
        reader.given("XPath.namespaces", "namespaces of its own");
        // What is not read by Tidy is read as XML.
        let is_xml = self.class(id) == "XPath2Assertion" || !reader.flag("XPath.tolerant", false);
        // How documents are read, and what is said of those that are not well-formed.
        for how in ["validate", "tolerant", "namespace", "whitespace", "quiet", "report_errors"] {
            reader.pass(&[&format!("XPath.{how}")]);
        }
        reader.pass(&["XPath.show_warnings", "XPath.download_dtds"]);
        reader.finish();
        if let Some(of) = looks.of.take() {
            looks.of = Some(if is_xml { self.as_xml(id, &of) } else { of });
        }
        if path.trim().is_empty() {
            self.obstacle(id, "a path of nothing");
            return Vec::new();
        }
        // There is something if that is true, and of what is true or false it is that.
        let found = format!("xpath({})", quoted(&format!("boolean({})", path.trim())));
        let words = told::of_xpath(&path, is_negated, self.class(id) == "XPath2Assertion");
        // Nothing is in an empty response, and that is no reason to pass.
        let test = format!("body != \"\" && {found} == {}", !is_negated);
        vec![(test, self.words_of("body", &words))]
    }

    fn size(&self, id: ElementId, request: &Request, looks: &mut Check) -> Vec<Told> {
        let reader = self.read(id);
        *looks = self.asserts_of_one(&reader, request);
        let limit = reader.number("SizeAssertion.size", 0);
        let operator = reader.number("SizeAssertion.operator", 1);
        let variable = reader.source("Scope.variable");
        let subject = match reader.source("Assertion.test_field") {
            // It is no size, but the number that the variable holds.
            _ if looks.of.is_some() => "int(string(body))",
            "" | "SizeAssertion.response_network_size" => "head_bytes + body_bytes",
            "SizeAssertion.response_headers" => "head_bytes",
            "SizeAssertion.response_data" => "body_bytes",
            "SizeAssertion.response_code" => "size(string(status))",
            "SizeAssertion.response_message" => "size(reason)",
            field => {
                self.obstacle(id, format!("the field `{field}`"));
                return Vec::new();
            }
        };
        reader.finish();
        let signs = ["==", "!=", ">", "<", ">=", "<="];
        let operator = operator.and_then(|number| usize::try_from(number - 1).ok());
        let Some((operator, sign)) = operator.and_then(|at| Some((at, signs.get(at)?))) else {
            self.obstacle(id, "the comparison");
            return Vec::new();
        };
        let Some(limit) = limit else { return Vec::new() };
        let words = told::of_size(subject, operator, limit);
        let test = format!("{subject} {sign} {limit}");
        if looks.of.is_none() {
            return vec![(test, self.words(&words))];
        }
        let is_number = "body.matches(\"^[+-]?[0-9]{1,18}$\")";
        let none = quoted(&format!("Error parsing variable name: {variable} value: "));
        let said = format!("{is_number} ? {} : {none} + body", expression(&words));
        vec![(format!("{is_number} && {test}"), self.words(&[TextPiece::Expr(said)]))]
    }

    fn duration(&self, id: ElementId, request: &Request, looks: &mut Check) -> Vec<Told> {
        let reader = self.read(id);
        *looks = self.asserts_of_one(&reader, request);
        let limit = reader.number("DurationAssertion.duration", 0);
        reader.finish();
        // JMeter takes 0 for no limit, and counts whole milliseconds.
        let limit = limit.filter(|limit| *limit > 0);
        let told = |limit: i64| {
            let words = self.words(&told::of_duration(limit));
            (format!("duration < {}", limit.saturating_add(1)), words)
        };
        limit.into_iter().map(told).collect()
    }

    fn response(
        &self,
        id: ElementId,
        request: &mut Request,
        reads_status: &mut bool,
        looks: &mut Check,
    ) -> Vec<Told> {
        let reader = self.read(id);
        *looks = self.asserts_of(&reader, request);
        let own = reader.source("Assertion.custom_message");
        let own = (!own.is_empty()).then(|| self.pieces(id, own));
        if reader.flag("Assertion.assume_success", false) {
            if looks.resources {
                self.obstacle(id, "resources of a page whose status is ignored");
            }
            request.http.status_errors = Some(false);
            // It undoes what failed before it.
            request.check.clear();
            *reads_status = false;
        }
        let field = reader.source("Assertion.test_field");
        let kind = reader.number("Assertion.test_type", 0).unwrap_or_default();
        let patterns = reader.list("Asserion.test_strings").iter();
        let patterns: Vec<&str> = patterns
            .filter_map(|item| match &item.value {
                PropertyValue::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let variable = looks.of.as_ref().map(|_| reader.source("Scope.variable"));
        reader.finish();
        let subject = match field {
            _ if looks.of.is_some() => "body",
            "Assertion.response_data" => "body",
            "Assertion.response_code" => {
                *reads_status = true;
                "string(status)"
            }
            "Assertion.response_headers" => "head",
            "Assertion.response_message" => "reason",
            "Assertion.request_headers" => "sent_headers",
            "Assertion.sample_label" => "sent_url",
            // What others than requests over HTTP sent is a text.
            "Assertion.request_data" if request.url.source().is_empty() => SENT_TEXT,
            "Assertion.request_data" => {
                self.refuse_files(id, request);
                REQUEST_DATA
            }
            _ => {
                self.obstacle(id, format!("the field `{field}`"));
                return Vec::new();
            }
        };
        let (tests, patterns): (Vec<String>, Vec<Vec<TextPiece>>) = patterns
            .iter()
            .filter_map(|pattern| {
                let pieces = self.pieces(id, pattern);
                Some((self.test(id, subject, kind, &pieces)?, pieces))
            })
            .unzip();
        let text = |pattern: &Vec<TextPiece>, marks: Marks| {
            fail_text((field, subject), variable, (kind, marks), pattern)
        };
        // A code is always there, and of what must not be there an empty response has nothing.
        let is_there = kind & NOT != 0 || subject == "string(status)";
        let told = |words: &[TextPiece]| match (own.as_deref().unwrap_or(words), is_there) {
            (words, true) => self.words(words),
            (words, false) => self.words_of(subject, words),
        };
        match (kind & OR != 0, kind & NOT != 0) {
            (true, _) if tests.is_empty() => {
                self.obstacle(id, "an assertion of nothing");
                Vec::new()
            }
            (true, _) => {
                let words = |marks: Marks| {
                    let each = patterns.iter().map(|own| [text(own, marks), known("\t")].concat());
                    merged(each.flatten().collect())
                };
                // Of many texts at once it takes too much to mark what is not the same in them.
                let said = told(&words(Marks::Set)).or_else(|| told(&words(Marks::None)));
                vec![(tests.join(" || "), said)]
            }
            // An empty response fails it all the same.
            (false, false) if tests.is_empty() => {
                vec![(format!("{subject} != \"\""), self.words_of(subject, &[]))]
            }
            (false, _) => {
                let said = patterns.iter().map(|own| told(&text(own, Marks::Set)));
                tests.into_iter().zip(said).collect()
            }
        }
    }

    /// What one pattern asserts.
    fn test(
        &self,
        id: ElementId,
        subject: &str,
        kind: i64,
        pieces: &[TextPiece],
    ) -> Option<String> {
        let is_negated = kind & NOT != 0;
        let known = literal(pieces);
        let (test, holds_of_nothing) = match kind & (MATCHES | CONTAINS | EQUALS | SUBSTRING) {
            SUBSTRING => (
                format!("{subject}.contains({})", expression(pieces)),
                known.is_none_or(str::is_empty),
            ),
            EQUALS => {
                (format!("{subject} == {}", expression(pieces)), known.is_none_or(str::is_empty))
            }
            kind @ (MATCHES | CONTAINS) => {
                let within = match (kind, subject) {
                    (MATCHES, _) => Subject::Whole,
                    (_, "body" | "head" | "sent_headers" | REQUEST_DATA | SENT_TEXT) => {
                        Subject::Lines
                    }
                    _ => Subject::Line,
                };
                let Some(known) = known else {
                    let pattern = pattern::regex_of_pieces(pieces, within);
                    let pattern = pattern.map_err(|what| self.obstacle(id, what)).ok()?;
                    let pattern = if kind == MATCHES { whole(&pattern) } else { pattern };
                    let test = format!("{subject}.matches({pattern})");
                    return Some(of_something(subject, is_negated, true, &test));
                };
                let pattern = pattern::regex(known, within);
                let pattern = pattern.map_err(|what| self.obstacle(id, what)).ok()?;
                let pattern = if kind == MATCHES { format!(r"\A(?:{pattern})\z") } else { pattern };
                (
                    format!("{subject}.matches({})", quoted(&pattern)),
                    pattern::matches_nothing(&pattern),
                )
            }
            _ => {
                self.obstacle(id, format!("`{kind}` as what is tested"));
                return None;
            }
        };
        Some(of_something(subject, is_negated, holds_of_nothing, &test))
    }
}

/// Whether what is not the same in two texts is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    Set,
    None,
}

/// What JMeter says where a pattern does not hold of a field, or of a variable.
fn fail_text(
    (field, subject): (&str, &str),
    variable: Option<&str>,
    (kind, marks): (i64, Marks),
    pattern: &[TextPiece],
) -> Vec<TextPiece> {
    let named = match (variable, field) {
        (Some(variable), _) => format!("variable({variable})"),
        (None, field) => match field.trim_start_matches("Assertion.") {
            "response_data" => "text",
            "response_code" => "code",
            "response_message" => "message",
            "request_headers" => "request headers",
            "request_data" => "request data",
            "response_headers" => "headers",
            _ => "URL",
        }
        .to_owned(),
    };
    let expected = match kind {
        CONTAINS | SUBSTRING => "expected to contain",
        MATCHES => "expected to match",
        EQUALS => "expected to equal",
        kind if kind == NOT | CONTAINS || kind == NOT | SUBSTRING => "expected not to contain",
        kind if kind == NOT | MATCHES => "expected not to match",
        kind if kind == NOT | EQUALS => "expected not to equal",
        _ => "expected something using",
    };
    let begin = known(format!("Test failed: {named} {expected} /"));
    let shown = match (kind & EQUALS, marks) {
        (0, _) => pattern.to_vec(),
        (_, Marks::Set) => told::of_unequal(subject, pattern),
        (_, Marks::None) => told::unmarked(subject, pattern),
    };
    merged([begin, shown, known("/")].concat())
}

/// A test of a response that has something: of an empty one JMeter asserts nothing, and it fails, or passes if the test
/// is negated.
fn of_something(subject: &str, is_negated: bool, holds_of_nothing: bool, test: &str) -> String {
    match (is_negated, holds_of_nothing) {
        (false, false) => test.to_owned(),
        (false, true) => format!("({subject} != \"\" && {test})"),
        (true, false) => format!("!({test})"),
        (true, true) => format!("({subject} == \"\" || !({test}))"),
    }
}

/// A pattern, as an expression, for all of a text.
pub(super) fn whole(pattern: &str) -> String {
    format!("{} + {pattern} + {}", quoted(r"\A(?:"), quoted(r")\z"))
}
