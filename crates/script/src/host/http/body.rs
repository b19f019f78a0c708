//! What scripts send: texts, bytes, forms, and forms with files.

use std::cell::Cell;
use std::fmt::Write as _;

use crate::engine::{Thrown, Value};

/// A body with the type that it has if the script names none.
pub(super) type Body = (Vec<u8>, Option<String>);

/// What is behind an object that `http.file` has made.
pub(super) struct File;

/// The bytes of a body. `forms`: how many forms with files there were; each has a boundary of its own.
pub(super) fn read(value: &Value<'_>, forms: &Cell<u64>) -> Result<Body, Thrown> {
    if value.is_nothing() {
        return Ok((Vec::new(), None));
    }
    if value.is_text() {
        return Ok((value.to_text()?.into_bytes(), None));
    }
    if let Some(bytes) = value.bytes()? {
        return Ok((bytes, None));
    }
    if !value.is_object() || value.is_array() || value.is_function() || is_file(value) {
        let own = if is_file(value) { "a file" } else { value.kind() };
        return Err(Thrown::new(format!(
            "TypeError: the body is {own}: expected a string, an ArrayBuffer, an object of form fields, or null; \
             JSON.stringify() makes a string"
        )));
    }
    let mut fields = Vec::new();
    for (name, value) in value.entries()? {
        match value.is_array() {
            true => fields.extend(value.elements()?.into_iter().map(|own| (name.clone(), own))),
            false => fields.push((name, value)),
        }
    }
    match fields.iter().any(|(_, value)| is_file(value)) {
        true => multipart(&fields, forms),
        false => form(&fields),
    }
}

fn is_file(value: &Value<'_>) -> bool {
    value.behind::<File>().is_some()
}

fn form(fields: &[(String, Value<'_>)]) -> Result<Body, Thrown> {
    let mut text = String::new();
    for (name, value) in fields {
        if !text.is_empty() {
            text.push('&');
        }
        encode(name, &mut text);
        text.push('=');
        encode(&value.to_text()?, &mut text);
    }
    Ok((text.into_bytes(), Some("application/x-www-form-urlencoded".to_owned())))
}

/// Appends a text as forms have it.
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                // A `String` takes whatever is written.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// A part of a form with files.
struct Part {
    head: String,
    bytes: Vec<u8>,
}

fn multipart(fields: &[(String, Value<'_>)], forms: &Cell<u64>) -> Result<Body, Thrown> {
    let parts = fields.iter().map(|(name, value)| part(name, value));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let boundary = loop {
        forms.set(forms.get() + 1);
        let boundary = format!("squall-form-{:016x}", forms.get());
        let is_in =
            |part: &Part| part.bytes.windows(boundary.len()).any(|own| own == boundary.as_bytes());
        if !parts.iter().any(is_in) {
            break boundary;
        }
    };
    let mut out = Vec::new();
    for Part { head, bytes } in &parts {
        out.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
        out.extend_from_slice(bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((out, Some(format!("multipart/form-data; boundary={boundary}"))))
}

fn part(name: &str, value: &Value<'_>) -> Result<Part, Thrown> {
    let head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
    if !is_file(value) {
        return Ok(Part { head, bytes: value.to_text()?.into_bytes() });
    }
    let (file, kind) = (value.get(c"filename")?.to_text()?, value.get(c"content_type")?.to_text()?);
    let data = value.get(c"data")?;
    let bytes = match data.bytes()? {
        Some(bytes) => bytes,
        None => data.to_text()?.into_bytes(),
    };
    let (file, kind) = (quoted(&file), kind.replace(['\r', '\n'], " "));
    Ok(Part { head: format!("{head}; filename=\"{file}\"\r\nContent-Type: {kind}"), bytes })
}

/// A name between quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
