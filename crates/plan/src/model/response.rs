//! What is taken from a response, and what is asserted about it.

use serde_json::{Value, json};
use squall_base::units;

use super::Json;
use crate::expr::Expr;
use crate::keys::{
    self, At, Expression, Form, Key, Keys, Maybe, Plain, Shape, Short, Small, Templated, Text,
    Union, Unless, Word, record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// A value taken from a response into a variable.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Extract as "an extract" {
        /// The variable.
        #[key(no)]
        pub variable: Spanned<String>,
        /// Where the value comes from.
        #[key(no)]
        pub from: Extractor,
        /// Which match.
        #[key("match")]
        pub which: Match,
        /// The value if nothing matches, or null does.
        #[key(default "none: the request then fails as `extract`")]
        pub default: Option<Json>,
        /// A text to examine instead of the body; it may use values extracted before.
        #[key(default "the body")]
        pub of: Option<Template>,
        /// Whether it is also looked for in the responses that redirect: where the last one has nothing, the first
        /// that has it counts.
        pub redirects: bool,
        /// Whether it is also looked for in what the page loads: where the page has nothing, the first that has it, in
        /// the order of the page, counts. Until all is there it is the default, which it then must have.
        pub resources: bool,
    }
    named(variable variable)
    first(this, keys) {
        keys.union(&mut this.from, true);
    }
}

words! {
    /// Facts about a response that a word alone takes into a variable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fact {
        /// The status code.
        Status = "status",
        /// The body, as a text.
        Body = "body",
        /// The status line and the headers, each line with a line feed at its end.
        Head = "head",
        /// What the status line says beside the code.
        Reason = "reason",
        /// Its latency in milliseconds.
        Duration = "duration",
        /// The hash of the body, with `response_body: {hash: ...}`.
        BodyHash = "body_hash",
        /// The path of the file that the body was written to, with `response_body: {file: ...}`.
        BodyFile = "body_file",
        /// What a page leads to, as a list of maps: see [a page's links](plan.md#the-links-of-a-page).
        Links = "links",
    }
}

impl Short for Extract {
    type Form = <Fact as Plain>::Form;
    fn from_short(fact: Fact) -> Extract {
        let from = match fact {
            Fact::Status => Extractor::Status,
            Fact::Body => Extractor::Body,
            Fact::Head => Extractor::Head,
            Fact::Reason => Extractor::Reason,
            Fact::Duration => Extractor::Duration,
            Fact::BodyHash => Extractor::BodyHash,
            Fact::BodyFile => Extractor::BodyFile,
            Fact::Links => Extractor::Links,
        };
        Extract { from, ..Extract::default() }
    }
    fn short(&self) -> Option<Fact> {
        match self.from {
            Extractor::Status => Some(Fact::Status),
            Extractor::Body => Some(Fact::Body),
            Extractor::Head => Some(Fact::Head),
            Extractor::Reason => Some(Fact::Reason),
            Extractor::Duration => Some(Fact::Duration),
            Extractor::BodyHash => Some(Fact::BodyHash),
            Extractor::BodyFile => Some(Fact::BodyFile),
            Extractor::Links => Some(Fact::Links),
            _ => None,
        }
    }
}

/// Where an extracted value comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Extractor {
    /// Rust regex syntax over bytes.
    Regex {
        /// The pattern.
        pattern: Spanned<String>,
        /// In what it is looked for.
        within: Within,
        /// Group taken, 0 the whole match; default 1 where the pattern has a group, otherwise 0.
        group: Option<u32>,
    },
    /// The text between two literal texts.
    Between {
        /// Text before.
        left: Spanned<String>,
        /// Text after.
        right: Spanned<String>,
    },
    /// JSONPath, RFC 9535.
    Json(Spanned<String>),
    /// CSS selector: an attribute, or the text of the element.
    Css {
        /// The selector.
        selector: Spanned<String>,
        /// The attribute; `None`: the text.
        attr: Option<String>,
    },
    /// XPath 1.0 over HTML or XML. One that the user's variables decide is read anew each time.
    XPath(Template),
    /// A header of the response, by name.
    Header(String),
    /// A cookie set by the response, or in the user's jar, by name.
    Cookie(String),
    /// The status code.
    #[default]
    Status,
    /// The body, as a text.
    Body,
    /// The status line and the headers.
    Head,
    /// What the status line says beside the code.
    Reason,
    /// The latency in milliseconds.
    Duration,
    /// The hash of the body, with [`super::ResponseBody::Hash`].
    BodyHash,
    /// The path of the file that the body was written to, with [`super::ResponseBody::File`].
    BodyFile,
    /// What a page leads to: its links, forms and frames, each a map. What is no page leads nowhere.
    Links,
}

words! {
    /// A part of a response.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Within {
        /// The body.
        #[default]
        Body = "body",
        /// The status line and the headers, each line with a line feed at its end.
        Head = "head",
    }
}

impl Union for Extractor {
    fn variants() -> Vec<Extractor> {
        let text = Spanned::<String>::default;
        vec![
            Extractor::Regex { pattern: text(), within: Within::Body, group: None },
            Extractor::Between { left: text(), right: text() },
            Extractor::Json(text()),
            Extractor::Css { selector: text(), attr: None },
            Extractor::XPath(Template::default()),
            Extractor::Header(String::new()),
            Extractor::Cookie(String::new()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            Extractor::Regex { pattern, within, group } => {
                let about = "A regular expression (Rust's syntax) over bytes.";
                keys.key::<At<Text>>(pattern, Key::required("regex", about));
                let about = "Group of the regular expression; 0 is the whole match.";
                let default = Some("1, or 0 without groups");
                let key = Key { default, ..Key::new("group", about) };
                keys.key::<Maybe<Small<0, { u32::MAX }>>>(group, key);
                let about = "Where to look for the regular expression.";
                keys.key::<Unless<Word<Within>>>(
                    within,
                    Key { default: Some("body"), ..Key::new("in", about) },
                );
            }
            Extractor::Between { left, right } => {
                let mut both = (left.clone(), right.clone());
                let about = "The text between two literal texts: `[before, after]`.";
                keys.key::<Both>(&mut both, Key::required("between", about));
                (*left, *right) = both;
            }
            Extractor::Json(path) => {
                let about = "JSONPath (RFC 9535); the value keeps its type. `[??test]` filters the elements of an array, or \
                             an object itself.";
                keys.key::<At<Text>>(path, Key::required("json", about));
            }
            Extractor::Css { selector, attr } => {
                let about = "CSS selector of an element.";
                keys.key::<At<Text>>(selector, Key::required("css", about));
                let key = Key::new("attr", "Attribute of the element that `css` selects.");
                keys.key::<Maybe<Text>>(attr, Key { default: Some("its text"), ..key });
            }
            Extractor::XPath(path) => {
                let about =
                    "XPath 1.0 over HTML or XML; with variables it is read anew for each response.";
                keys.key::<Templated>(path, Key::required("xpath", about));
            }
            Extractor::Header(name) => {
                keys.key::<Text>(
                    name,
                    Key::required("header", "A header of the response, by name."),
                );
            }
            Extractor::Cookie(name) => {
                let about = "A cookie set by the response, or in the user's jar, by name.";
                keys.key::<Text>(name, Key::required("cookie", about));
            }
            // These are written as a word: see `Fact`.
            Extractor::Status
            | Extractor::Body
            | Extractor::Head
            | Extractor::Reason
            | Extractor::Duration
            | Extractor::BodyHash
            | Extractor::BodyFile
            | Extractor::Links => {}
        }
    }
}

/// Two texts in a list.
struct Both;

impl Form for Both {
    type Value = (Spanned<String>, Spanned<String>);
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Text), 2, 2)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value> {
        let texts: Vec<_> = node.items().into_iter().filter_map(|item| reader.text(item)).collect();
        let Ok([left, right]) = <[_; 2]>::try_from(texts) else {
            reader.error(node.span, "`between` takes two strings: [before, after]", "");
            return None;
        };
        Some((left, right))
    }
    fn print((left, right): &Self::Value) -> Value {
        json!([left.value, right.value])
    }
}

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Match {
    /// The first.
    #[default]
    First,
    /// The n-th, from 1.
    Nth(u32),
    /// The last.
    Last,
    /// All, as a list.
    All,
    /// Any, from the run's seed.
    Random,
}

words! {
    /// Which of several matches is taken, in a word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MatchWord {
        /// The first.
        First = "first",
        /// The last.
        Last = "last",
        /// All, as a list.
        All = "all",
        /// Any, from the run's seed.
        Random = "random",
    }
}

/// A word, or a number from 1.
pub(crate) struct WhichMatch;

type Nth = Small<1, { u32::MAX }>;

impl Form for WhichMatch {
    type Value = Match;
    fn shape() -> Shape {
        Shape::Either(vec![<MatchWord as Plain>::Form::shape(), Nth::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Match> {
        let text = reader.text(node)?;
        if text.value.starts_with(|c: char| c.is_ascii_digit()) {
            return Nth::read(reader, node).map(Match::Nth);
        }
        <MatchWord as Plain>::Form::read(reader, node).map(|word| match word {
            MatchWord::First => Match::First,
            MatchWord::Last => Match::Last,
            MatchWord::All => Match::All,
            MatchWord::Random => Match::Random,
        })
    }
    fn print(value: &Match) -> Value {
        match value {
            Match::First => json!("first"),
            Match::Nth(n) => json!(n),
            Match::Last => json!("last"),
            Match::All => json!("all"),
            Match::Random => json!("random"),
        }
    }
}

impl Plain for Match {
    type Form = WhichMatch;
}

record! {
    /// An assertion about a response.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Check as "a check" {
        /// Must be true.
        #[key(required [Assertion])]
        pub expr: Expr,
        /// Its name in reports.
        #[key(default "its text")]
        pub name: Option<String>,
        /// What is said of a request that fails it, with the response's facts and the user's variables; empty: nothing.
        #[key(default "its name and its text")]
        pub message: Option<Template>,
        /// Only count failures; they are not errors of the request.
        pub warn: bool,
        /// A text to examine instead of the body, by `body`, `body_bytes`, `json()` and `xpath()`.
        #[key(default "the body")]
        pub of: Option<Template>,
        /// Whether the responses that redirect must pass it, too.
        pub redirects: bool,
        /// Whether what the page loads must pass it, too.
        pub resources: bool,
    }
}

/// Facts about a response that are numbers.
const NUMBERS: [&str; 3] = ["status", "body_bytes", "duration"];

/// What to write in place of a text that a number is compared with.
fn number_instead(name: &str, text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    match (name, class.and_then(|digit| digit.parse::<u8>().ok())) {
        ("status", Some(digit @ 1..=5)) => {
            format!("write status >= {digit}00 && status < {}00", digit + 1)
        }
        ("duration", _) if units::parse_duration(text).is_ok() => {
            format!("write it without quotes, as in duration < {text}")
        }
        ("duration", _) => "compare it with a time, as in duration < 300ms".to_owned(),
        _ if is_number => format!("write it without quotes, as in {name} == {text}"),
        _ => format!("compare it with a number, as in {name} == 200"),
    }
}

/// An expression about a response.
pub(crate) struct Assertion;

impl Form for Assertion {
    type Value = Expr;
    fn shape() -> Shape {
        Shape::Expression
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Expr> {
        let expr = Expression::read(reader, node)?;
        if let Some((name, text, span)) = expr.compared_with_text(&NUMBERS) {
            let message =
                format!("`{name}` is a number, and is compared here with the text \"{text}\"");
            reader.warning(span, message, &number_instead(name, &text));
        }
        Some(expr)
    }
    fn print(value: &Expr) -> Value {
        Expression::print(value)
    }
}

/// The expression alone.
impl Short for Check {
    type Form = Assertion;
    fn from_short(expr: Expr) -> Check {
        Check { expr, ..Check::default() }
    }
    fn short(&self) -> Option<Expr> {
        let alone = Check { expr: self.expr.clone(), ..Check::default() };
        (*self == alone).then_some(alone.expr)
    }
}

/// The variables that extracts set.
pub(super) fn variables(extracts: &[Extract]) -> impl Iterator<Item = &str> {
    extracts.iter().map(|extract| extract.variable.value.as_str())
}

/// The form of extracts: under the names of their variables, of which a later one may be the same.
pub(crate) type Extracts = keys::InTurn<keys::ShortOr<Extract>>;
/// The form of checks.
pub(crate) struct Checks;

impl Form for Checks {
    type Value = Vec<Check>;
    fn shape() -> Shape {
        keys::Listed::<keys::ShortOr<Check>>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<Check>> {
        keys::Listed::<keys::ShortOr<Check>>::read(reader, node)
    }
    fn print(value: &Vec<Check>) -> Value {
        match value.as_slice() {
            [one] => keys::ShortOr::<Check>::print(one),
            several => several.iter().map(keys::ShortOr::<Check>::print).collect(),
        }
    }
    fn is_given(value: &Vec<Check>) -> bool {
        !value.is_empty()
    }
}
