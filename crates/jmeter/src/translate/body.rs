//! Arguments and bodies of requests.

use squall_plan::model::{Body, Request};

use super::Translator;
use super::reader::Reader;
use super::request::{Options, illegal, is_whole};
use super::texts::{Piece, literal};
use crate::properties::elements;
use crate::tree::ElementId;

/// An argument of a request.
struct Argument {
    name: Vec<Piece>,
    value: Vec<Piece>,
    /// Whether JMeter encodes it; otherwise it is taken as encoded.
    is_encoded_for: bool,
    /// Between name and value in a URL.
    equals: &'static str,
}

/// The type of a raw body, unless the plan gives another.
const OF_TEXT: &str = "text/plain; charset=UTF-8";
/// The type of a form.
const OF_FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";

impl Translator<'_> {
    /// Sets a request's URL and body; gives the type that JMeter says the body has.
    pub(super) fn content(
        &self,
        id: ElementId,
        options: &Options<'_>,
        request: &mut Request,
    ) -> Option<String> {
        self.files(id, options);
        let arguments = self.arguments(id, options);
        let no_names = arguments.iter().all(|argument| argument.name.is_empty());
        let is_raw = options.flag("HTTPSampler.postBodyRaw") || !arguments.is_empty() && no_names;
        let in_url = matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS");
        let query =
            if in_url && !is_raw { self.query(id, &arguments, request) } else { Vec::new() };
        let path = self.path(id, options);
        let has_query =
            path.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('?')));
        if let Some(what) = query.iter().flatten().find_map(illegal) {
            self.obstacle(id, what);
        }
        let query = joined(query, if has_query { "&" } else { "?" });
        if is_whole(&path) {
            // JMeter then ignores its arguments.
            request.query.clear();
            request.url = self.template_of(id, &path);
        } else {
            let url = [vec![Piece::Text(self.origin(id, options))], path, query].concat();
            request.url = self.template_of(id, &url);
        }
        match request.method.as_str() {
            "HEAD" | "OPTIONS" => None,
            _ if is_raw => self.raw(id, &arguments, request),
            "GET" => None,
            // Arguments of DELETE are in its URL as well.
            _ => self.form(id, &arguments, request),
        }
    }

    /// Files that would be sent.
    fn files(&self, id: ElementId, options: &Options<'_>) {
        for reader in options.readers() {
            let Some(files) = reader.inner("HTTPsampler.Files") else { continue };
            if !files.list("HTTPFileArgs.files").is_empty() {
                self.obstacle(id, "files that are sent");
            }
            files.finish();
        }
    }

    fn arguments(&self, id: ElementId, options: &Options<'_>) -> Vec<Argument> {
        let mut found = Vec::new();
        for (number, reader) in options.readers().iter().enumerate() {
            let Some(arguments) = reader.inner("HTTPsampler.Arguments") else { continue };
            let list = arguments.list("Arguments.arguments");
            if number > 0 && !list.is_empty() {
                self.obstacle(id, "arguments of the request defaults");
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
        // The type is that of a part of a multipart body.
        reader.pass(&["Argument.desc", "HTTPArgument.content_type"]);
        let equals = match (
            reader.source("Argument.metadata"),
            reader.flag("HTTPArgument.use_equals", true),
        ) {
            ("=", _) => "=",
            ("", false) => "",
            (other, _) => {
                self.obstacle(id, format!("`{other}` between an argument's name and value"));
                "="
            }
        };
        let argument = Argument {
            name: self.pieces(id, reader.source("Argument.name")),
            value: self.pieces(id, reader.source("Argument.value")),
            is_encoded_for: reader.flag("HTTPArgument.always_encode", false),
            equals,
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
    ) -> Vec<Vec<Piece>> {
        let named = arguments.iter().filter(|argument| !argument.name.is_empty());
        let named: Vec<&Argument> = named.collect();
        let is_text =
            |argument: &&&Argument| !argument.is_encoded_for || argument.equals.is_empty();
        let texts =
            named.len() - named.iter().rev().take_while(|argument| !is_text(argument)).count();
        let (texts, queries) = named.split_at(texts);
        for argument in queries {
            let pair = [&argument.name, &argument.value].map(|pieces| self.template_of(id, pieces));
            request.query.push(pair.into());
        }
        let written = texts.iter().map(|argument| {
            let equals = [Piece::Text(argument.equals.to_owned())];
            let (name, value) = match argument.is_encoded_for {
                true => (self.encoded(id, &argument.name), self.encoded(id, &argument.value)),
                false => (argument.name.clone(), argument.value.clone()),
            };
            [name, equals.into(), value].concat()
        });
        written.collect()
    }

    /// A text as forms have it, if it is known before the run.
    fn encoded(&self, id: ElementId, pieces: &[Piece]) -> Vec<Piece> {
        match literal(pieces) {
            Some(text) => vec![Piece::Text(form_encoded(text))],
            None => {
                self.obstacle(id, "an encoded argument before one that is not");
                Vec::new()
            }
        }
    }

    fn raw(&self, id: ElementId, arguments: &[Argument], request: &mut Request) -> Option<String> {
        if arguments.iter().any(|argument| argument.is_encoded_for) {
            self.obstacle(id, "a raw body that is encoded");
        }
        let pieces: Vec<Piece> =
            arguments.iter().flat_map(|argument| argument.value.clone()).collect();
        request.body = Body::Text(self.template_of(id, &pieces));
        Some(OF_TEXT.to_owned())
    }

    fn form(&self, id: ElementId, arguments: &[Argument], request: &mut Request) -> Option<String> {
        let mut pairs = Vec::new();
        for argument in arguments.iter().filter(|argument| !argument.name.is_empty()) {
            // JMeter takes off the encoding that is there already, and then encodes.
            let pieces = |pieces: &[Piece]| match argument.is_encoded_for {
                true => self.template_of(id, pieces),
                false => self.template_of(id, &self.decoded(id, pieces)),
            };
            pairs.push((pieces(&argument.name), pieces(&argument.value)));
        }
        request.body = Body::Form(pairs);
        Some(OF_FORM.to_owned())
    }

    /// A text without the encoding of forms.
    fn decoded(&self, id: ElementId, pieces: &[Piece]) -> Vec<Piece> {
        let decoded = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => form_decoded(text).map(Piece::Text),
            Piece::Expr(expression) => {
                Some(Piece::Expr(format!("form_decode(string({expression}))")))
            }
        });
        decoded.collect::<Option<_>>().unwrap_or_else(|| {
            self.obstacle(id, "an argument that is not encoded well");
            Vec::new()
        })
    }
}

/// The arguments of a URL with what is between them; nothing for none.
fn joined(arguments: Vec<Vec<Piece>>, first: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, argument) in arguments.into_iter().enumerate() {
        let separator = if number == 0 { first } else { "&" };
        pieces.push(Piece::Text(separator.to_owned()));
        pieces.extend(argument);
    }
    pieces
}

/// A text as `application/x-www-form-urlencoded` has it, in UTF-8.
fn form_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The text that such an encoding stands for, if it is one.
fn form_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_and_decoded() {
        let text = "a b+c&d=é~*-._";
        assert_eq!(form_encoded(text), "a+b%2Bc%26d%3D%C3%A9%7E*-._");
        assert_eq!(form_decoded(&form_encoded(text)).as_deref(), Some(text));
        assert_eq!(
            (form_decoded("%4"), form_decoded("%zz"), form_decoded("%ff")),
            (None, None, None)
        );
    }
}
