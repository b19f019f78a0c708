//! Requests: what is sent, and what becomes of the response's body.

use serde_json::{Map, Value, json};

use super::http_options::Resources;
use super::response::{Checks, Extracts, variables};
use super::step::kind::{Kind, Needs};
use super::tags::{Tagged, Tags};
use super::{Check, Extract, HttpOptions, Json};
use crate::keys::{
    self, Any, At, Choice, Chosen, Form, Headers, Key, Keys, Like, Looks, Maybe, Naming, NotEmpty,
    Of, Pairs, Plain, RequestUrl, Shape, Short, ShortOr, Size, Templated, Text, Union, Word,
    record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// A request as the plan gives it.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Request as "a request" {
        /// Method, upper case.
        #[key(no)]
        pub method: String,
        /// Absolute URL, or a path joined to the target.
        #[key(no)]
        pub url: Template,
        /// Name under which it is counted.
        #[key(default "method and path, what was an expression as `{name}`; the host too where the URL names another than the target's")]
        pub name: Option<Template>,
        /// Tags of its row, known before the run, with those of the groups and the scenario around it.
        #[key([Tagged])]
        pub tags: Tags,
        /// Query parameters added to the URL, percent-encoded; a list repeats the parameter.
        #[key([Pairs])]
        pub query: Vec<(Template, Template)>,
        /// Headers; a list repeats the header.
        #[key([Headers])]
        pub headers: Vec<(Template, Template)>,
        /// Body.
        #[key(no)]
        pub body: Body,
        /// The encoding of a text body, the texts of a form and `query`, such as `windows-1251`, `utf-16le`, `gbk`: a label of the
        /// WHATWG Encoding Standard. What it does not have is sent as `?`.
        #[key([Maybe<At<Like<Text, NotEmpty>>>] default "utf-8")]
        pub charset: Option<Spanned<String>>,
        /// How it is made and judged, where `defaults` may say it too.
        #[key(flat)]
        pub http: HttpOptions,
        /// The value of the header `Cookie` where the user has no cookie for the URL; no further than to the first
        /// URL's origin.
        #[key(default "none")]
        pub cookie_otherwise: Option<Template>,
        /// What becomes of the response's body.
        #[key(default "what checks and extracts need is kept")]
        pub response_body: Option<ResponseBody>,
        /// Whether it counts; one that does not is left out of all rows and totals, whatever its outcome.
        #[key(default "true")]
        pub counted: Option<bool>,
        /// Values taken from the response, in order.
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions about the response, in order, after the extracts.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
    first(this, keys) {
        let mut line = Line { method: this.method.clone(), url: this.url.clone() };
        keys.union(&mut line, true);
        (this.method, this.url) = (line.method, line.url);
        keys.union(&mut this.body, false);
    }
}

/// The methods that are keys.
const METHODS: [(&str, &str, &str); 7] = [
    ("get", "GET", "GET this URL: an absolute one, or a path joined to the target."),
    ("post", "POST", "POST to this URL."),
    ("put", "PUT", "PUT to this URL."),
    ("patch", "PATCH", "PATCH this URL."),
    ("delete", "DELETE", "DELETE this URL."),
    ("head", "HEAD", "HEAD of this URL."),
    ("options", "OPTIONS", "OPTIONS of this URL."),
];

record! {
    /// The request line of any method.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Line as "a request line" {
        /// Method.
        #[key(required [Method])]
        pub method: String,
        /// URL.
        #[key(required [Like<Templated, RequestUrl>])]
        pub url: Template,
    }
}

impl Union for Line {
    fn variants() -> Vec<Line> {
        let line = |method: &str| Line { method: method.to_owned(), url: Template::default() };
        METHODS.iter().map(|(_, method, _)| line(method)).chain([Line::default()]).collect()
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match METHODS.iter().find(|(_, method, _)| *method == self.method) {
            Some((name, _, about)) => {
                keys.key::<Like<Templated, RequestUrl>>(&mut self.url, Key::required(name, about))
            }
            None => keys.key::<Of<Line>>(self, Key::required("request", "Any method.")),
        }
    }
}

/// The name of a method, in capitals.
struct Method;

impl Form for Method {
    type Value = String;
    fn shape() -> Shape {
        Shape::Pattern(Looks {
            name: "a method",
            pattern: "^[A-Za-z0-9-]+$",
            numbers: Some((0, u64::MAX)),
        })
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<String> {
        let method = reader.text(node)?;
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if method.value.is_empty() || !method.value.chars().all(is_good) {
            let message = format!("invalid method `{}`", method.value);
            reader.error(method.span, message, "use letters, digits and `-`");
        }
        Some(method.value.to_ascii_uppercase())
    }
    fn print(value: &String) -> Value {
        json!(value)
    }
}

/// What becomes of the body of a response while it is received, in constant memory and whatever its
/// size. Where a request gives none, so much is kept as its checks and extracts need.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseBody {
    /// It is counted and discarded.
    Discard,
    /// It is hashed; checks and extracts know the hash, in hexadecimal, as `body_hash`.
    Hash(HashAlgorithm),
    /// It is hashed, and the hash, in hexadecimal, takes its place: checks and extracts see that text as `body`. Where
    /// nothing was received it is empty.
    Digest(HashAlgorithm),
    /// Only so many bytes of its beginning are kept, as `body`.
    Keep(u64),
    /// It is written to a file, which replaces one of that name; checks and extracts know its path as
    /// `body_file`.
    File(Template),
}

impl Union for ResponseBody {
    fn variants() -> Vec<ResponseBody> {
        vec![
            ResponseBody::Hash(HashAlgorithm::Sha256),
            ResponseBody::Digest(HashAlgorithm::Sha256),
            ResponseBody::Keep(0),
            ResponseBody::File(Template::default()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            ResponseBody::Hash(algorithm) => {
                let about = "Hash of the body, known as `body_hash`, in hexadecimal.";
                keys.key::<Word<HashAlgorithm>>(algorithm, Key::required("hash", about));
            }
            ResponseBody::Digest(algorithm) => {
                let about = "Hash of the body, in hexadecimal, that takes its place: `body`, patterns and paths see that \
                             text; of an empty body it is empty.";
                keys.key::<Word<HashAlgorithm>>(algorithm, Key::required("digest", about));
            }
            ResponseBody::Keep(bytes) => {
                let about = "How much of the beginning of the body is kept as `body`; the rest is discarded.";
                keys.key::<Size>(bytes, Key::required("keep", about));
            }
            ResponseBody::File(path) => {
                let about = "A file that the body is written to, relative to the working directory; its \
                             path is known as `body_file`.";
                keys.key::<Templated>(path, Key::required("file", about));
            }
            // That is written as a word: see `BodyUse`.
            ResponseBody::Discard => {}
        }
    }
}

impl Choice for ResponseBody {
    const TITLE: &'static str = "response_body";
}

/// `discard`, or a mapping.
pub(crate) struct BodyUse;

impl Form for BodyUse {
    type Value = ResponseBody;
    fn shape() -> Shape {
        let discard = vec![("discard", "The body is counted and discarded.")];
        Shape::Either(vec![Shape::Words(discard), Chosen::<ResponseBody>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<ResponseBody> {
        const EXPECTED: &str =
            "discard, {hash: sha256}, {digest: sha256}, {keep: 64KiB} or {file: PATH}";
        if node.is_map() {
            return Chosen::<ResponseBody>::read(reader, node);
        }
        let text = reader.text(node)?;
        if text.value == "discard" {
            return Some(ResponseBody::Discard);
        }
        let known =
            <HashAlgorithm as keys::Words>::WORDS.iter().find(|(name, ..)| *name == text.value);
        let hint = known.map(|(name, ..)| format!("did you mean `{{hash: {name}}}`?"));
        let message = format!("invalid response_body `{}`: expected {EXPECTED}", text.value);
        reader.error(text.span, message, &hint.unwrap_or_default());
        None
    }
    fn print(value: &ResponseBody) -> Value {
        match value {
            ResponseBody::Discard => json!("discard"),
            other => Chosen::<ResponseBody>::print(other),
        }
    }
}

impl Plain for ResponseBody {
    type Form = BodyUse;
}

words! {
    /// How a body is hashed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HashAlgorithm {
        /// RFC 1321.
        Md5 = "md5",
        /// FIPS 180-4.
        Sha256 = "sha256",
        /// XXH3 with 64 bits, the fastest: against accidents, not against people.
        Xxh3 = "xxh3",
    }
}

/// What a request carries.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// A text.
    Text(Template),
    /// A file, sent as a stream, with values in the place of markers.
    File {
        /// The file.
        path: Template,
        /// Whether it is compressed with gzip and sent decompressed.
        decompress: bool,
        /// Texts in it, and what is sent in their place.
        replace: Vec<(Spanned<String>, Template)>,
    },
    /// JSON; sets `Content-Type: application/json`.
    Json(Json),
    /// A form; sets `Content-Type: application/x-www-form-urlencoded`.
    Form(Vec<(Template, Template)>),
    /// RFC 7578 form data.
    Multipart(Vec<FormPart>),
}

impl Union for Body {
    fn variants() -> Vec<Body> {
        let text = Body::Text(Template::default());
        vec![text, Body::Json(Json::Null), Body::Form(Vec::new()), Body::Multipart(Vec::new())]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            Body::None => {}
            Body::Text(_) | Body::File { .. } => {
                keys.key::<TextOrFile>(self, Key::required("body", "Body: a text, or a file."));
            }
            Body::Json(json) => {
                let about = "JSON body; sets `Content-Type: application/json`. A single `${...}` keeps its type.";
                keys.key::<Any>(json, Key::required("json", about));
            }
            Body::Form(pairs) => {
                let about = "Form body; sets `Content-Type: application/x-www-form-urlencoded`. A list \
                             repeats the field.";
                keys.key::<Pairs>(pairs, Key::required("form", about));
            }
            Body::Multipart(parts) => {
                let about =
                    "Multipart form body (RFC 7578): texts, or mappings. A list repeats the field.";
                keys.key::<Parts>(parts, Key::required("multipart", about));
            }
        }
    }
}

record! {
    /// A body from a file, sent as a stream.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct BodyFile as "a body" {
        /// The file, sent as a stream whatever its size. Its path may have expressions, whose values stay below
        /// the folder before them.
        #[key(required [keys::TemplatedPath])]
        pub file: Template,
        /// Whether the file is compressed with gzip and sent decompressed.
        pub decompress: bool,
        /// Texts in the file, and what is sent in their place.
        #[key([keys::Names<Templated, false>])]
        pub replace: Vec<(Spanned<String>, Template)>,
    }
}

/// A text, or a file.
struct TextOrFile;

impl Form for TextOrFile {
    type Value = Body;
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Text, Of::<BodyFile>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Body> {
        if !node.is_map() {
            return Templated::read(reader, node).map(Body::Text);
        }
        let BodyFile { file, decompress, replace } = Of::<BodyFile>::read(reader, node)?;
        for (marker, _) in replace.iter().filter(|(marker, _)| marker.value.is_empty()) {
            reader.error(marker.span, "the text to replace cannot be empty", "");
        }
        Some(Body::File { path: file, decompress, replace })
    }
    fn print(value: &Body) -> Value {
        match value {
            Body::Text(text) => Templated::print(text),
            Body::File { path, decompress, replace } => Of::<BodyFile>::print(&BodyFile {
                file: path.clone(),
                decompress: *decompress,
                replace: replace.clone(),
            }),
            _ => Value::Null,
        }
    }
}

record! {
    /// A part of a multipart body.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct FormPart as "a part" {
        /// Field name.
        #[key(no)]
        pub name: Template,
        /// What it holds.
        #[key(no)]
        pub content: FormPartContent,
        /// Content type.
        pub content_type: Option<Template>,
        /// `Content-Transfer-Encoding`, which says how it is encoded and encodes nothing.
        #[key([Maybe<Text>])]
        pub transfer_encoding: Option<String>,
    }
    first(this, keys) {
        keys.union(&mut this.content, true);
    }
}

/// What a part of a multipart body holds.
#[derive(Debug, Clone, PartialEq)]
pub enum FormPartContent {
    /// A text.
    Text(Template),
    /// A file, sent as a stream.
    File {
        /// The file.
        path: Template,
        /// The name sent; the file's own unless given.
        filename: Option<Template>,
    },
}

impl Default for FormPartContent {
    fn default() -> Self {
        FormPartContent::Text(Template::default())
    }
}

impl Union for FormPartContent {
    fn variants() -> Vec<FormPartContent> {
        let file = FormPartContent::File { path: Template::default(), filename: None };
        vec![FormPartContent::default(), file]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            FormPartContent::Text(text) => {
                keys.key::<Templated>(text, Key::required("text", "A text."));
            }
            FormPartContent::File { path, filename } => {
                let about = "A file, sent as a stream. Its path may have expressions, whose values stay below the \
                             folder before them.";
                keys.key::<keys::TemplatedPath>(path, Key::required("file", about));
                let key = Key::new("filename", "The file's name as it is sent.");
                keys.key::<Maybe<Templated>>(filename, Key { default: Some("its own"), ..key });
            }
        }
    }
}

impl FormPart {
    /// The same under another name.
    fn named(self, name: &Template) -> FormPart {
        FormPart { name: name.clone(), ..self }
    }
}

/// A text alone.
impl Short for FormPart {
    type Form = Templated;
    fn from_short(text: Template) -> FormPart {
        FormPart { content: FormPartContent::Text(text), ..FormPart::default() }
    }
    fn short(&self) -> Option<Template> {
        match &self.content {
            FormPartContent::Text(text)
                if *self == FormPart::from_short(text.clone()).named(&self.name) =>
            {
                Some(text.clone())
            }
            _ => None,
        }
    }
}

/// Parts under their names; a list gives a name several times.
struct Parts;

impl Form for Parts {
    type Value = Vec<FormPart>;
    fn shape() -> Shape {
        let part = Box::new(ShortOr::<FormPart>::shape());
        Shape::Names(Box::new(Shape::List(part, 0, usize::MAX)), Naming::ANY)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<FormPart>> {
        let mut parts = Vec::new();
        for (name, node) in reader.names(node) {
            let Some(name) = reader.good(Template::parse(&name.value, name.span)) else { continue };
            for item in node.items() {
                let part = ShortOr::<FormPart>::read(reader, item);
                parts.extend(part.map(|part| FormPart { name: name.clone(), ..part }));
            }
        }
        Some(parts)
    }
    fn print(value: &Vec<FormPart>) -> Value {
        let mut map: Map<String, Value> = Map::new();
        for part in value {
            let value = ShortOr::<FormPart>::print(part);
            keys::repeat(&mut map, part.name.source(), value);
        }
        Value::Object(map)
    }
}

impl Request {
    /// A GET without anything else.
    pub fn get(url: Template) -> Request {
        Request { method: "GET".to_owned(), url, ..Request::default() }
    }
}

impl<S> Kind<S> for Request {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.extend(variables(&self.extract));
    }

    fn needs(&self, inherited: Option<&Resources>) -> Needs {
        // Those of the resources that its page loads.
        let resources = self.http.resources.as_ref().or(inherited).filter(|own| own.load);
        let connections = resources.map_or(1, |own| u64::from(own.limit));
        let is_file = |part: &&FormPart| matches!(part.content, FormPartContent::File { .. });
        let sent = match &self.body {
            Body::File { .. } => 1,
            Body::Multipart(parts) => parts.iter().filter(is_file).count() as u64,
            Body::None | Body::Text(_) | Body::Json(_) | Body::Form(_) => 0,
        };
        let written = u64::from(matches!(self.response_body, Some(ResponseBody::File(_))));
        Needs { exchanges: 1, connections, files: sent + written }
    }
}
