//! Arguments and bodies of requests.

use squall_base::form;
use squall_plan::model::{Body, FormPart, FormPartContent, Request};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::Translator;
use super::links::Followed;
use super::reader::Reader;
use super::request::{Options, is_whole};
use super::texts::{TextPiece, literal};
use super::transfer::{Client, ContentType};
use crate::properties::elements;
use crate::scope::Scope;
use crate::tree::ElementId;

/// An argument of a request.
pub(super) struct Argument {
    pub name: Vec<TextPiece>,
    pub value: Vec<TextPiece>,
    /// Whether JMeter encodes it; otherwise it is taken as encoded.
    pub is_encoded_for: bool,
    /// Between name and value in a URL.
    pub equals: &'static str,
    /// The type that it has as a part of a body.
    pub content_type: String,
}

/// A file of a request.
struct Upload {
    path: Vec<TextPiece>,
    /// The field's name; empty for a file that is the whole body.
    field: Vec<TextPiece>,
    content_type: Vec<TextPiece>,
}

/// What texts are sent in where nothing is said.
const UTF_8: &str = "UTF-8";

/// Charsets by what Java calls them, which the WHATWG Encoding Standard has, too.
const CHARSETS: [&str; 29] = [
    "US-ASCII",
    "ISO-8859-1",
    "ISO-8859-2",
    "ISO-8859-4",
    "ISO-8859-5",
    "ISO-8859-7",
    "ISO-8859-13",
    "ISO-8859-15",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "KOI8-R",
    "KOI8-U",
    "GBK",
    "GB2312",
    "GB18030",
    "Big5",
    "Shift_JIS",
    "EUC-JP",
    "EUC-KR",
    "UTF-16",
    "UTF-16BE",
    "UTF-16LE",
];

impl Translator<'_> {
    /// Sets a request's URL and body; gives the type that JMeter says the body has.
    pub(super) fn content(
        &self,
        id: ElementId,
        options: &Options<'_>,
        held: &Scope,
        request: &mut Request,
    ) -> Option<ContentType> {
        let files = self.files(id, options);
        let arguments = self.arguments(id, options);
        let no_names = arguments.iter().all(|argument| argument.name.is_empty());
        let is_raw = options.flag("HTTPSampler.postBodyRaw") || !arguments.is_empty() && no_names;
        let has_parts = !files.is_empty() || options.flag("HTTPSampler.DO_MULTIPART_POST");
        let charset = self.charset(id, options);
        if let Some(link) = self.link(id, options, held, &arguments) {
            let is_plain = !is_raw && !has_parts;
            let of_link = (link, arguments, is_plain);
            return self.content_of_link(id, options, of_link, (charset, request));
        }
        let arguments = self.session_in_arguments(held, arguments, !is_raw && !has_parts);
        let in_url = matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS");
        if charset != UTF_8 && (!arguments.is_empty() || has_parts) {
            request.charset = Some(Spanned::new(charset.to_lowercase(), Span::default()));
            // JMeter encodes the percent signs of a form, and what is between parts, too.
            if charset.starts_with("UTF-16") && !is_raw {
                self.obstacle(id, format!("the content encoding `{charset}` of no raw body"));
            }
        }
        let query =
            if in_url && !is_raw { self.query(id, &arguments, request) } else { Vec::new() };
        let path = self.session_in_path(held, self.path(options), in_url);
        let has_query =
            path.iter().any(|piece| matches!(piece, TextPiece::Text(text) if text.contains('?')));
        let query = joined(query, if has_query { "&" } else { "?" });
        let is_fragment =
            |piece: &TextPiece| matches!(piece, TextPiece::Text(text) if text.contains('#'));
        if is_whole(&path) || path.iter().chain(&query).any(is_fragment) {
            // JMeter then ignores its arguments, or they are a part of what is not sent.
            request.query.clear();
        }
        let query = if is_whole(&path) { Vec::new() } else { query };
        request.url = self.template_of(id, &self.url(id, options, path, query));
        self.body(id, options, (arguments, files, is_raw), (charset, request))
    }

    /// The same of a request that may follow a link of the page before.
    fn content_of_link(
        &self,
        id: ElementId,
        options: &Options<'_>,
        (link, arguments, is_plain): (Followed, Vec<Argument>, bool),
        (charset, request): (String, &mut Request),
    ) -> Option<ContentType> {
        if !is_plain {
            self.obstacle(id, "an HTML Link Parser, as its body is a text, or has parts");
        }
        if charset != UTF_8 {
            self.obstacle(id, format!("an HTML Link Parser with the content encoding `{charset}`"));
        }
        let arguments = self.fields_of(id, &link, arguments);
        let in_url = matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS");
        let in_query = in_url.then_some(arguments.as_slice());
        let own = self.url(id, options, self.path(options), Vec::new());
        request.url = self.url_of_link(id, options, &link, (&own, in_query));
        let of_link = self.body_of_link(id, &link, &arguments);
        let content_type =
            self.body(id, options, (arguments, Vec::new(), false), (charset, &mut *request));
        if matches!(request.body, Body::Form(_)) {
            request.body = of_link;
        }
        content_type
    }

    /// Sets a request's body; gives its type.
    fn body(
        &self,
        id: ElementId,
        options: &Options<'_>,
        (arguments, files, is_raw): (Vec<Argument>, Vec<Upload>, bool),
        (charset, request): (String, &mut Request),
    ) -> Option<ContentType> {
        let is_multipart = options.flag("HTTPSampler.DO_MULTIPART_POST");
        let is_like_browsers = options.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART");
        match request.method.as_str() {
            // JMeter sends no files with these.
            "GET" if !is_raw => return None,
            "HEAD" | "OPTIONS" | "TRACE" => return None,
            _ => {}
        }
        if let [file] = files.as_slice()
            && file.field.is_empty()
        {
            request.body = self.file_body(id, file, self.client(id, options));
            let content_type = literal(&file.content_type).unwrap_or_default();
            return (!content_type.is_empty()).then(|| ContentType::Of(content_type.to_owned()));
        }
        if request.method != "GET" && (is_multipart || !files.is_empty()) {
            let client = self.client(id, options);
            if client == Client::Apache && files.iter().any(|file| file.content_type.is_empty()) {
                // JMeter does not send it.
                request.url = self.not_sent(id, "a file without a type");
            }
            if request.method != "POST" && client == Client::Java {
                self.obstacle(id, format!("a multipart body of {}", request.method));
            }
            if client == Client::Java && charset != UTF_8 {
                self.obstacle(id, format!("the content encoding `{charset}` of a multipart body"));
            }
            let how = (client, is_like_browsers, charset.as_str());
            request.body = self.multipart(id, &arguments, &files, how);
            return None;
        }
        if is_raw {
            self.raw(id, &arguments, request);
            Some(ContentType::Text(charset))
        } else {
            // Arguments of DELETE are in its URL as well.
            self.form(id, &arguments, request);
            Some(ContentType::Form(charset))
        }
    }

    /// What Java calls the charset of what is sent.
    fn charset(&self, id: ElementId, options: &Options<'_>) -> String {
        let given = options.constant("HTTPSampler.contentEncoding").unwrap_or_default();
        if given.is_empty() || ["utf-8", "utf8"].contains(&given.to_ascii_lowercase().as_str()) {
            return UTF_8.to_owned();
        }
        let known = CHARSETS.iter().find(|name| name.eq_ignore_ascii_case(&given));
        if known.is_none() {
            self.obstacle(id, format!("the content encoding `{given}`"));
        }
        known.map_or(given, |name| (*name).to_owned())
    }

    /// Files that are sent.
    fn files(&self, id: ElementId, options: &Options<'_>) -> Vec<Upload> {
        let mut found = Vec::new();
        for reader in options.readers() {
            let Some(files) = reader.inner("HTTPsampler.Files") else { continue };
            for properties in elements(files.list("HTTPFileArgs.files")) {
                let reader = Reader::new(self, id, properties);
                let pieces = |name| self.pieces(id, reader.source(name));
                let upload = Upload {
                    path: pieces("File.path"),
                    field: pieces("File.paramname"),
                    content_type: pieces("File.mimetype"),
                };
                reader.finish();
                // JMeter takes one without a path for none.
                if !upload.path.is_empty() {
                    found.push(upload);
                }
            }
            files.finish();
        }
        found
    }

    /// The path of a file as a template, unless it begins at the root: below the plan's folder, or with the client of
    /// Java where the program was started.
    fn file_path(&self, id: ElementId, file: &Upload, client: Client) -> Template {
        let mut pieces = file.path.clone();
        let started = self.constants.started_in().filter(|_| client == Client::Java);
        let folder = match started {
            Some(folder) => format!("{folder}/"),
            None => format!("{}/", self.folder.display()),
        };
        match pieces.first_mut() {
            Some(TextPiece::Text(text)) if text.starts_with('/') => {}
            Some(TextPiece::Text(text)) => *text = format!("{folder}{text}"),
            _ => pieces.insert(0, TextPiece::Text(folder)),
        }
        self.template_of(id, &pieces)
    }

    fn file_body(&self, id: ElementId, file: &Upload, client: Client) -> Body {
        let path = self.file_path(id, file, client);
        Body::File { path, decompress: false, replace: Vec::new() }
    }

    fn multipart(
        &self,
        id: ElementId,
        arguments: &[Argument],
        files: &[Upload],
        (client, is_like_browsers, charset): (Client, bool, &str),
    ) -> Body {
        let encoding = |name: &str| (!is_like_browsers).then(|| name.to_owned());
        let named = arguments.iter().filter(|argument| !argument.name.is_empty());
        // The client of Java does not look at what an argument's own type is.
        let content_type = |argument: &Argument| match client {
            Client::Apache => argument.content_type.clone(),
            Client::Java => "text/plain".to_owned(),
        };
        let mut parts: Vec<FormPart> = named
            .map(|argument| FormPart {
                name: self.template_of(id, &argument.name),
                content: FormPartContent::Text(self.template_of(id, &argument.value)),
                content_type: encoding(&format!("{}; charset={charset}", content_type(argument)))
                    .map(|text| Template::text(&text)),
                transfer_encoding: encoding("8bit"),
            })
            .collect();
        for file in files {
            parts.push(FormPart {
                name: self.template_of(id, &file.field),
                content: FormPartContent::File {
                    path: self.file_path(id, file, client),
                    filename: None,
                },
                content_type: Some(self.template_of(id, &file.content_type)),
                transfer_encoding: match client {
                    Client::Apache => encoding("binary"),
                    Client::Java => Some("binary".to_owned()),
                },
            });
        }
        Body::Multipart(parts)
    }

    fn arguments(&self, id: ElementId, options: &Options<'_>) -> Vec<Argument> {
        let mut found = Vec::new();
        for (number, reader) in options.readers().iter().enumerate() {
            let Some(arguments) = reader.inner("HTTPsampler.Arguments") else { continue };
            let list = arguments.list("Arguments.arguments");
            if number > 0 && !list.is_empty() && options.flag("HTTPSampler.postBodyRaw") {
                self.obstacle(id, "arguments of the request defaults behind a raw body");
            }
            for properties in elements(list) {
                found.push(self.argument(Reader::new(self, reader.element, properties)));
            }
            arguments.finish();
        }
        found
    }

    fn argument(&self, reader: Reader<'_>) -> Argument {
        let id = reader.element;
        reader.pass(&["Argument.desc", "HTTPArgument.use_equals"]);
        let content_type = reader.constant("HTTPArgument.content_type").unwrap_or_default();
        let equals = match reader.source("Argument.metadata") {
            "=" => "=",
            "" => "",
            other => {
                self.obstacle(id, format!("`{other}` between an argument's name and value"));
                "="
            }
        };
        let argument = Argument {
            name: self.pieces(id, reader.source("Argument.name")),
            value: self.pieces(id, reader.source("Argument.value")),
            is_encoded_for: reader.flag("HTTPArgument.always_encode", false),
            equals,
            content_type: if content_type.is_empty() {
                "text/plain".to_owned()
            } else {
                content_type
            },
        };
        reader.finish();
        argument
    }

    /// Arguments in a URL: what is encoded and comes last is a query of the request, all before it is text of its URL.
    fn query(
        &self,
        id: ElementId,
        arguments: &[Argument],
        request: &mut Request,
    ) -> Vec<Vec<TextPiece>> {
        let named = arguments.iter().filter(|argument| !argument.name.is_empty());
        let named: Vec<&Argument> = named.collect();
        let is_text =
            |argument: &&&Argument| !argument.is_encoded_for || argument.equals.is_empty();
        let texts =
            named.len() - named.iter().rev().take_while(|argument| !is_text(argument)).count();
        let (texts, queries) = named.split_at(texts);
        // JMeter has names in URLs in UTF-8 all the same.
        let is_beyond = |name: &[TextPiece]| literal(name).is_some_and(|name| !name.is_ascii());
        if request.charset.is_some() && queries.iter().any(|argument| is_beyond(&argument.name)) {
            self.obstacle(id, "a name in a URL that is not ASCII, in another charset");
        }
        for argument in queries {
            let pair = [&argument.name, &argument.value].map(|pieces| self.template_of(id, pieces));
            request.query.push(pair.into());
        }
        let written = texts.iter().map(|argument| {
            let equals = [TextPiece::Text(argument.equals.to_owned())];
            let (name, value) = match argument.is_encoded_for {
                true => {
                    let encoded = |pieces| self.encoded(id, pieces, request.charset.is_some());
                    (encoded(&argument.name), encoded(&argument.value))
                }
                false => (argument.name.clone(), argument.value.clone()),
            };
            [name, equals.into(), value].concat()
        });
        written.collect()
    }

    /// A text as forms have it, if it is known before the run.
    fn encoded(&self, id: ElementId, pieces: &[TextPiece], in_charset: bool) -> Vec<TextPiece> {
        match literal(pieces) {
            Some(text) if !in_charset || text.is_ascii() => {
                vec![TextPiece::Text(form::encoded(text))]
            }
            Some(_) => {
                self.obstacle(id, "an encoded argument in another charset before one that is not");
                Vec::new()
            }
            None => {
                self.obstacle(id, "an encoded argument before one that is not");
                Vec::new()
            }
        }
    }

    fn raw(&self, id: ElementId, arguments: &[Argument], request: &mut Request) {
        if arguments.iter().any(|argument| argument.is_encoded_for) {
            self.obstacle(id, "a raw body that is encoded");
        }
        let pieces: Vec<TextPiece> =
            arguments.iter().flat_map(|argument| argument.value.clone()).collect();
        request.body = Body::Text(self.template_of(id, &pieces));
    }

    fn form(&self, id: ElementId, arguments: &[Argument], request: &mut Request) {
        let charset = request.charset.as_ref().map_or("utf-8", |charset| &charset.value);
        let mut pairs = Vec::new();
        for argument in arguments.iter().filter(|argument| !argument.name.is_empty()) {
            // JMeter takes off the encoding that is there already, and then encodes.
            let pieces = |pieces: &[TextPiece]| match argument.is_encoded_for {
                true => self.template_of(id, pieces),
                false => self.template_of(id, &self.decoded(id, pieces, charset)),
            };
            pairs.push((pieces(&argument.name), pieces(&argument.value)));
        }
        request.body = Body::Form(pairs);
    }

    /// A text without the encoding of forms.
    fn decoded(&self, id: ElementId, pieces: &[TextPiece], charset: &str) -> Vec<TextPiece> {
        let decoded = pieces.iter().map(|piece| match piece {
            TextPiece::Text(text) => form_decoded(text, charset).map(TextPiece::Text),
            TextPiece::Expr(expression) => {
                Some(TextPiece::Expr(format!("form_decode(string({expression}))")))
            }
        });
        decoded.collect::<Option<_>>().unwrap_or_else(|| {
            self.obstacle(id, "an argument that is not encoded well");
            Vec::new()
        })
    }
}

/// The arguments of a URL with what is between them; nothing for none.
fn joined(arguments: Vec<Vec<TextPiece>>, first: &str) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    for (number, argument) in arguments.into_iter().enumerate() {
        let separator = if number == 0 { first } else { "&" };
        pieces.push(TextPiece::Text(separator.to_owned()));
        pieces.extend(argument);
    }
    pieces
}

/// The text that a form's name or value stands for, if it is one; of most charsets what is ASCII.
fn form_decoded(text: &str, charset: &str) -> Option<String> {
    let is_plain = !text.contains('%');
    let decoded = form::decode(text.as_bytes())?;
    match charset {
        "utf-8" => String::from_utf8(decoded).ok(),
        _ if is_plain || decoded.is_ascii() => String::from_utf8(decoded).ok(),
        "iso-8859-1" if text.is_ascii() => Some(decoded.into_iter().map(char::from).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_and_decoded() {
        let text = "a b+c&d=é~*-._";
        assert_eq!(form::encoded(text), "a+b%2Bc%26d%3D%C3%A9%7E*-._");
        assert_eq!(form_decoded(&form::encoded(text), "utf-8").as_deref(), Some(text));
        assert_eq!(
            ["%4", "%zz", "%ff"].map(|text| form_decoded(text, "utf-8")),
            [None, None, None]
        );
        for (text, charset, expected) in [
            ("%e9+%41", "iso-8859-1", Some("é A")),
            ("%e9", "windows-1251", None),
            ("й+%41", "windows-1251", None),
            ("й+a", "windows-1251", Some("й a")),
        ] {
            assert_eq!(form_decoded(text, charset).as_deref(), expected, "{text} {charset}");
        }
    }
}
