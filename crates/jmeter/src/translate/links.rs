//! The link or form of the page before that a request goes to (HTML Link Parser): what the request says of itself are
//! patterns, and one of the links that match all of them takes its place.

use squall_base::form;
use squall_plan::model::Body;
use squall_plan::template::Template;

use super::Translator;
use super::body::Argument;
use super::pattern::{self, Subject};
use super::request::Options;
use super::texts::{TextPiece, expression, literal, quoted};
use crate::scope::Scope;
use crate::tree::ElementId;

/// The pre-processor that has a request follow a link.
pub(super) const CLASS: &str = "AnchorModifier";
/// The hidden variable that has where the last page leads to.
pub(super) const LEADS_TO: &str = "reply_8";
/// A link, a field and a text, in expressions over all of them.
const LINK: &str = "each_8";
const FIELD: &str = "each_9";
const TEXT: &str = "each_10";
/// The parts of a query that have a name.
const NAMED: &str = "^[^=]";
/// The name and the value of such a part.
const PAIR: &str = "(?s)^([^=]*)=?(.*)$";

/// The link that a request follows: the hidden variable that has it, null if there is none.
pub(super) struct Followed(String);

impl Followed {
    /// Whether it is a form, of which the request has fields.
    fn is_form(&self) -> String {
        format!("({0} != null && {0}.element == \"form\")", self.0)
    }

    /// Whether it is another link, whose query takes the place of all arguments.
    fn is_other(&self) -> String {
        format!("({0} != null && {0}.element != \"form\")", self.0)
    }

    /// The parts of its query, as it would be sent.
    fn parts(&self) -> String {
        format!("split({}.query, \"&\").filter({TEXT}, {TEXT}.matches({}))", self.0, quoted(NAMED))
    }

    /// Its path, by the rules of Java: a query alone is one of the folder.
    fn path(link: &str) -> String {
        let folder = format!("find_all({link}.path, \"^.*/\")[0][0]");
        format!("({link}.href.startsWith(\"?\") ? {folder} : {link}.path)")
    }
}

impl Translator<'_> {
    /// Chooses the link that a request follows, before it.
    pub(super) fn link(
        &self,
        id: ElementId,
        options: &Options<'_>,
        held: &Scope,
        arguments: &[Argument],
    ) -> Option<Followed> {
        let parsers: Vec<_> =
            held.pre_processors.iter().filter(|id| self.class(**id) == CLASS).collect();
        let (parser, others) = parsers.split_first()?;
        if !others.is_empty() {
            self.obstacle(**parser, "several of them for one request");
        }
        if held.pre_processors.iter().any(|id| self.class(*id) == "URLRewritingModifier") {
            self.obstacle(**parser, "an HTTP URL Re-writing Modifier beside it");
        }
        self.read(**parser).finish();
        self.hold(LEADS_TO);
        let link = self.held_by_call("link");
        let tests = self.tests(id, options, arguments);
        let tests = tests.map_err(|what| self.obstacle(**parser, what)).ok()?.join(" && ");
        let found = format!("{LEADS_TO}.filter({LINK}, {tests})");
        self.before(**parser, &link, &format!("{LEADS_TO} == null ? null : {}", one_of(&found)));
        Some(Followed(link))
    }

    /// A value that is set before the request.
    fn before(&self, id: ElementId, variable: &str, value: &str) {
        let set = self.add_setting(|_| self.set(id, variable, value));
        set.unwrap_or_else(|what| self.obstacle(id, what));
    }

    /// What a link has to be.
    fn tests(
        &self,
        id: ElementId,
        options: &Options<'_>,
        arguments: &[Argument],
    ) -> Result<Vec<String>, String> {
        let pieces = |name: &str| options.pieces(&format!("HTTPSampler.{name}"));
        let mut protocol = pieces("protocol");
        if protocol.is_empty() {
            protocol.push(TextPiece::Text("http".to_owned()));
        }
        let mut tests = vec![
            format!("{LINK}.element in [\"a\", \"form\", \"frame\"]"),
            // JMeter passes forms by that do not say where they are sent.
            format!("{LINK}.href != null"),
            like(&format!("{LINK}.scheme"), &protocol, "")?,
        ];
        let host = pieces("domain");
        if !host.is_empty() {
            let is_like = like(&format!("{LINK}.host"), &host, "")?;
            tests.push(match literal(&host) {
                Some(_) => is_like,
                None => format!("({} == \"\" || {is_like})", expression(&host)),
            });
        }
        let path = pieces("path").into_iter().map(|piece| match piece {
            TextPiece::Text(text) => TextPiece::Text(text.replace(' ', "%20")),
            other => other,
        });
        tests.push(like(&Followed::path(LINK), &path.collect::<Vec<_>>(), "/*")?);
        let named = arguments.iter().filter(|argument| !argument.name.is_empty());
        let has = named.map(|argument| {
            let name = expression(&argument.name);
            let pattern = match literal(&argument.name) {
                Some(name) => quoted(&pattern::regex(name, Subject::Line)?),
                None => pattern::regex_of_pieces(&argument.name, Subject::Line)?,
            };
            Ok(format!("({TEXT}.contains({name} + \"=\") || {TEXT}.matches({pattern}))"))
        });
        let has = has.collect::<Result<Vec<String>, String>>()?;
        if options.pieces("HTTPSampler.path").iter().any(|piece| {
            matches!(piece, TextPiece::Text(text) if text.starts_with("http://") || text.starts_with("https://"))
        }) {
            self.obstacle(id, "a whole URL as the path of a link");
        }
        if !has.is_empty() {
            let fields = format!("{FIELD}.name + \"=\" + {FIELD}.value");
            let fields = format!("join({LINK}.fields.map({FIELD}, \"&\" + {fields}), \"\")");
            let query = format!("{} + {fields}", decoded(&format!("{LINK}.query")));
            tests.push(format!("[{query}].all({TEXT}, {})", has.join(" && ")));
        }
        Ok(tests)
    }

    /// The arguments of a request that follows a form: each is the first field left that it matches, by name and value.
    pub(super) fn fields_of(
        &self,
        id: ElementId,
        link: &Followed,
        arguments: Vec<Argument>,
    ) -> Vec<Argument> {
        if arguments.is_empty() {
            return arguments;
        }
        let left = self.held_by_call("link");
        let pair = |index: u8| format!("find_all({TEXT}, {})[0][{index}]", quoted(PAIR));
        let of_query = link.parts();
        let of_query =
            format!("{of_query}.map({TEXT}, {{\"name\": {}, \"value\": {}}})", pair(1), pair(2));
        let of_form = format!(
            "{}.fields.map({FIELD}, {{\"name\": {FIELD}.name, \"value\": {FIELD}.value}})",
            link.0
        );
        self.before(id, &left, &format!("{} ? {of_query} + {of_form} : []", link.is_form()));
        let arguments = arguments.into_iter().map(|argument| {
            let is_like = |part: &str, pieces: &[TextPiece]| {
                let is_like = like(&format!("{FIELD}.{part}"), pieces, "");
                is_like.map_err(|what| self.obstacle(id, what)).ok()
            };
            let (Some(name), Some(value)) =
                (is_like("name", &argument.name), is_like("value", &argument.value))
            else {
                return argument;
            };
            let field = self.held_by_call("link");
            self.before(id, &field, &one_of(&format!("{left}.filter({FIELD}, {name} && {value})")));
            self.before(id, &left, &format!("{left}.filter({FIELD}, {FIELD} != {field})"));
            let part = |part: &str, own: &[TextPiece]| {
                let own = expression(own);
                vec![TextPiece::Expr(format!("({field} == null ? {own} : {field}.{part})"))]
            };
            let (name, value) = (part("name", &argument.name), part("value", &argument.value));
            Argument { name, value, ..argument }
        });
        arguments.collect()
    }

    /// The URL of a request that may follow a link: `url` without one, and the arguments behind it, if they are sent there.
    pub(super) fn url_of_link(
        &self,
        id: ElementId,
        options: &Options<'_>,
        link: &Followed,
        (url, arguments): (&[TextPiece], Option<&[Argument]>),
    ) -> Template {
        self.any_host.set(true);
        let Followed(name) = link;
        let scheme = [TextPiece::Expr(format!("{name}.scheme"))];
        let port = self.port(id, &scheme, &options.pieces("HTTPSampler.port"));
        let port = expression(&port.into_iter().collect::<Vec<_>>());
        let target =
            format!("{name}.scheme + \"://\" + {name}.host + ({port}) + {}", Followed::path(name));
        let base = TextPiece::Expr(format!("({name} == null ? {} : {target})", expression(url)));
        let Some(arguments) = arguments else { return self.template_of(id, &[base]) };
        let query = format!("({} ? join({}, \"&\") : {})", link.is_other(), link.parts(), {
            let encoded = |pieces: &[TextPiece]| match literal(pieces) {
                Some(text) => quoted(&form::encoded(text)),
                None => format!("form_encode({})", expression(pieces)),
            };
            sent(arguments, |argument| match argument.is_encoded_for {
                true => (encoded(&argument.name), encoded(&argument.value)),
                false => (expression(&argument.name), expression(&argument.value)),
            })
        });
        let has_query =
            url.iter().any(|piece| matches!(piece, TextPiece::Text(text) if text.contains('?')));
        let first = match has_query {
            true => format!("({name} == null ? \"&\" : \"?\")"),
            false => quoted("?"),
        };
        let behind = format!("[{query}].map({TEXT}, {TEXT} == \"\" ? \"\" : {first} + {TEXT})[0]");
        self.template_of(id, &[base, TextPiece::Expr(behind)])
    }

    /// The form that such a request sends.
    pub(super) fn body_of_link(
        &self,
        id: ElementId,
        link: &Followed,
        arguments: &[Argument],
    ) -> Body {
        let pair = |index: u8| {
            let part = format!("find_all({TEXT}, {})[0][{index}]", quoted(PAIR));
            format!("form_encode({})", decoded(&part))
        };
        let of_link = format!("{}.map({TEXT}, {} + \"=\" + {})", link.parts(), pair(1), pair(2));
        // JMeter takes off the encoding that is there already, and then encodes.
        let own = sent(arguments, |argument| {
            let encoded = |pieces: &[TextPiece]| match argument.is_encoded_for {
                true => format!("form_encode({})", expression(pieces)),
                false => format!("form_encode({})", decoded(&expression(pieces))),
            };
            (encoded(&argument.name), encoded(&argument.value))
        });
        let body = format!("{} ? join({of_link}, \"&\") : {own}", link.is_other());
        Body::Text(self.template_of(id, &[TextPiece::Expr(body)]))
    }
}

/// One element of a list, at random; null if there is none.
fn one_of(list: &str) -> String {
    format!("[{list}].map({TEXT}, size({TEXT}) == 0 ? null : choice({TEXT}))[0]")
}

/// Whether a text is another, or matches it as a pattern.
fn like(value: &str, pieces: &[TextPiece], before: &str) -> Result<String, String> {
    let pattern = match literal(pieces) {
        Some(text) => {
            let pattern = pattern::regex(&format!("{before}{text}"), Subject::Whole)?;
            quoted(&format!(r"\A(?:{pattern})\z"))
        }
        None => {
            let before = [TextPiece::Text(before.to_owned())];
            let pieces = [&before, pieces].concat();
            let pattern = pattern::regex_of_pieces(&pieces, Subject::Whole)?;
            format!(r#""\\A(?:" + {pattern} + ")\\z""#)
        }
    };
    Ok(format!("({value} == {} || {value}.matches({pattern}))", expression(pieces)))
}

/// A text without the encoding of forms, if it is encoded well.
fn decoded(text: &str) -> String {
    let is_good = quoted("^([^%]|%[0-9A-Fa-f]{2})*$");
    format!("[{text}].map({FIELD}, {FIELD}.matches({is_good}) ? form_decode({FIELD}) : {FIELD})[0]")
}

/// Arguments with what is between them, as an expression; those without a name are not sent. `of`: the name and the
/// value of one as they are sent.
fn sent(arguments: &[Argument], of: impl Fn(&Argument) -> (String, String)) -> String {
    let named = arguments.iter().filter(|argument| !argument.name.is_empty());
    let parts = named.map(|argument| {
        let (name, value) = of(argument);
        let part = format!("{name} + {} + {value}", quoted(argument.equals));
        match literal(&argument.name) {
            Some(_) => part,
            None => format!("({} == \"\" ? \"\" : {part})", expression(&argument.name)),
        }
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return quoted("");
    }
    format!("join([{}].filter({TEXT}, {TEXT} != \"\"), \"&\")", parts.join(", "))
}
