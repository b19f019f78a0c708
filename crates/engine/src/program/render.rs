//! Requests to bytes, or to the fields of HTTP/2: the same code renders a constant request once before
//! the run and one with variables each time, and [`render_head`] alone says what a head consists of,
//! whoever writes it.

use std::borrow::Cow;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use squall_base::form;
use squall_extract::Charset;
use squall_plan::expr::{Budget, EvalError, Scope};
use squall_plan::secrets::Secrets;
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;
use squall_wire::{Fields, Http, Proxy};

use super::call::{Across, AuthOp, BodyOp, CallOp, ContentOp, HeaderOp, Prepared, UrlOp};
use super::compiler::Compiler;
use super::constant_scope::ConstantScope;
use super::ops::JsonOp;
use crate::parts::confined;

/// What identifies squall to servers.
const USER_AGENT: &str = concat!("squall/", env!("CARGO_PKG_VERSION"));

/// How answers may be packed, where that is asked for: as browsers say it.
const ENCODINGS: &str = "gzip, deflate, br, zstd";

/// The empty line that ends a head.
pub(crate) const END_OF_HEAD: &[u8] = b"\r\n";

/// Where a request goes, as its head says it.
pub(crate) struct Destination<'a> {
    pub method: &'a str,
    /// `host` or `host:port`.
    pub authority: &'a str,
    pub path: &'a [u8],
    /// Whether it goes over TLS.
    pub tls: bool,
    /// The proxy that reads this head: it wants the absolute form, and its own credentials.
    pub proxy: Option<&'a Proxy>,
    /// Whether the body goes along: a redirect may leave it behind.
    pub with_body: bool,
    /// Where it is another origin than that which the plan's request is for: the secrets that no header takes there.
    pub withheld: Option<&'a Secrets>,
}

/// Renders a request now if nothing in it depends on the user; `None` otherwise.
pub(crate) fn prepare(compiler: &Compiler<'_>, call: &CallOp) -> Option<Prepared> {
    let UrlOp::Static { origin, path } = &call.url else { return None };
    let content = &call.content;
    let constant = BoundTemplate::is_constant;
    let all = content.headers.iter().all(|header| constant(&header.value))
        && call.query.iter().all(|(name, value)| constant(name) && constant(value))
        && is_constant(&content.body)
        && match &content.auth {
            AuthOp::None => true,
            AuthOp::Basic { user, password } => constant(user) && constant(password),
            AuthOp::Bearer(token) => constant(token),
            AuthOp::Digest { .. } => false,
        };
    // Once what is known before the run is too much to be kept, all else is rendered when it is sent.
    if !all || compiler.budget.exceeded().is_some() {
        return None;
    }
    let mut target = path.to_vec();
    append_query(call, &ConstantScope::new(0), &mut target).ok()?;
    let origin = &compiler.origins[*origin as usize];
    let proxy = compiler.proxy_toward(origin, call.via.as_deref())?;
    let destination = Destination {
        method: &call.method,
        authority: &origin.authority(),
        path: &target,
        tls: origin.is_tls(),
        proxy: proxy.as_deref().filter(|_| !origin.is_tls()),
        with_body: true,
        withheld: None,
    };
    let mut prepared = prepared(content, &destination).ok()?;
    compiler.budget.keep(target.len() + prepared.bytes.len()).ok()?;
    if compiler.http() != Http::V1 {
        let (length, scope) = (prepared.body().len() as u64, ConstantScope::new(0));
        let mut fields = FieldWriter::default();
        render_head(content, &destination, length, None, &scope, &mut fields).ok()?;
        // What HTTP/2 cannot say is said of each request when it is rendered.
        prepared.fields = Some(fields.finish().ok()?);
    }
    Some(prepared)
}

/// A request of constants, rendered for HTTP/1.1.
///
/// # Errors
/// It is not of constants.
pub(crate) fn prepared(
    content: &ContentOp,
    destination: &Destination<'_>,
) -> Result<Prepared, EvalError> {
    let scope = ConstantScope::new(0);
    let (mut bytes, mut body) = (Vec::new(), Vec::new());
    render_body(&content.body, content.charset, &scope, &mut body)?;
    render_head(content, destination, body.len() as u64, None, &scope, &mut bytes)?;
    let head_end = bytes.len();
    bytes.extend_from_slice(END_OF_HEAD);
    let body_at = bytes.len();
    bytes.extend_from_slice(&body);
    let (path, bytes) = (destination.path.into(), bytes.into());
    Ok(Prepared { path, bytes, head_end, body_at, fields: None })
}

/// Whether a body is made in memory of what is known before the run.
pub(crate) fn is_constant(body: &BodyOp) -> bool {
    let constant = BoundTemplate::is_constant;
    match body {
        BodyOp::None => true,
        BodyOp::Text(text) => constant(text),
        BodyOp::Json(json) => matches!(json, JsonOp::Constant(_)),
        BodyOp::Form(pairs) => pairs.iter().all(|(name, value)| constant(name) && constant(value)),
        BodyOp::File(_) | BodyOp::Replaced(..) | BodyOp::Multipart(..) => false,
    }
}

/// Appends the request's query parameters to a path.
pub(crate) fn append_query(
    call: &CallOp,
    scope: &dyn Scope,
    path: &mut Vec<u8>,
) -> Result<(), EvalError> {
    let separator = if path.contains(&b'?') { b'&' } else { b'?' };
    append_pairs(&call.query, Some(separator), (call.content.charset, scope), path)
}

/// Appends pairs with `&` between them, and something before the first. One without a name is left out.
fn append_pairs(
    pairs: &[(BoundTemplate, BoundTemplate)],
    first: Option<u8>,
    (charset, scope): (Option<Charset>, &dyn Scope),
    out: &mut Vec<u8>,
) -> Result<(), EvalError> {
    let (mut separator, mut text) = (first, Vec::new());
    for (name, value) in pairs {
        text.clear();
        name.render(scope, &mut text)?;
        if text.is_empty() {
            continue;
        }
        out.extend(separator);
        separator = Some(b'&');
        append_pair(&text, value, (charset, scope), out)?;
    }
    Ok(())
}

fn append_pair(
    name: &[u8],
    value: &BoundTemplate,
    (charset, scope): (Option<Charset>, &dyn Scope),
    out: &mut Vec<u8>,
) -> Result<(), EvalError> {
    form::encode(&in_charset(charset, name), out);
    out.push(b'=');
    let mut text = Vec::new();
    value.render(scope, &mut text)?;
    form::encode(&in_charset(charset, &text), out);
    Ok(())
}

/// A text in the encoding that is asked for.
pub(crate) fn in_charset(charset: Option<Charset>, text: &[u8]) -> Cow<'_, [u8]> {
    charset.map_or(Cow::Borrowed(text), |charset| charset.encode(text))
}

/// Writes a head in the form of a protocol.
pub(crate) trait HeadWriter {
    /// The head begins. `own_host`: the plan gives the Host header.
    fn begin(&mut self, destination: &Destination<'_>, own_host: bool);

    /// A field may come, whose name ends with `: `: `value` appends its value, and says whether there is
    /// one. That may not end its line: what follows would be a header of somebody else's making.
    fn field_if(
        &mut self,
        name: &[u8],
        value: impl FnOnce(&mut Vec<u8>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError>;

    /// As [`HeadWriter::field_if`], of a value that there is.
    fn field(
        &mut self,
        name: &[u8],
        value: impl FnOnce(&mut Vec<u8>) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        self.field_if(name, |out| value(out).map(|()| true))
    }

    /// As [`HeadWriter::field`], of a value that is there.
    fn line(&mut self, name: &[u8], text: &str) -> Result<(), EvalError> {
        self.field(name, |out| {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        })
    }
}

/// HTTP/1.1: lines, without the empty one at the end.
impl HeadWriter for Vec<u8> {
    fn begin(&mut self, destination: &Destination<'_>, own_host: bool) {
        self.extend_from_slice(destination.method.as_bytes());
        self.push(b' ');
        if destination.proxy.is_some() {
            self.extend_from_slice(b"http://");
            self.extend_from_slice(destination.authority.as_bytes());
        }
        self.extend_from_slice(destination.path);
        self.extend_from_slice(b" HTTP/1.1\r\n");
        if !own_host {
            self.extend_from_slice(b"Host: ");
            self.extend_from_slice(destination.authority.as_bytes());
            self.extend_from_slice(b"\r\n");
        }
    }

    fn field_if(
        &mut self,
        name: &[u8],
        value: impl FnOnce(&mut Vec<u8>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError> {
        let line = self.len();
        self.extend_from_slice(name);
        let from = self.len();
        if !value(self)? {
            self.truncate(line);
            return Ok(());
        }
        keep_in_line(&mut self[from..]);
        self.extend_from_slice(b"\r\n");
        Ok(())
    }
}

/// HTTP/2: fields. What that cannot say is told at the end.
#[derive(Default)]
pub(crate) struct FieldWriter {
    fields: Option<Fields>,
    refused: Option<String>,
    value: Vec<u8>,
}

impl FieldWriter {
    /// Goes on with a head that was written before.
    pub(crate) fn onto(fields: Fields) -> Self {
        FieldWriter { fields: Some(fields), ..FieldWriter::default() }
    }

    /// The head.
    ///
    /// # Errors
    /// Why HTTP/2 cannot say it.
    pub(crate) fn finish(self) -> Result<Fields, String> {
        match (self.refused, self.fields) {
            (None, Some(fields)) => Ok(fields),
            (why, _) => Err(why.unwrap_or_default()),
        }
    }

    fn refuse(&mut self, why: String) {
        self.refused.get_or_insert(why);
    }
}

impl HeadWriter for FieldWriter {
    fn begin(&mut self, to: &Destination<'_>, _: bool) {
        match Fields::new(to.method, to.tls, to.authority, to.path) {
            Ok(fields) => self.fields = Some(fields),
            Err(why) => self.refuse(why),
        }
    }

    fn field_if(
        &mut self,
        name: &[u8],
        value: impl FnOnce(&mut Vec<u8>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError> {
        self.value.clear();
        if !value(&mut self.value)? {
            return Ok(());
        }
        keep_in_line(&mut self.value);
        let name = name.strip_suffix(b": ").unwrap_or(name);
        let pushed = self.fields.as_mut().map_or(Ok(()), |fields| fields.push(name, &self.value));
        pushed.unwrap_or_else(|why| self.refuse(why));
        Ok(())
    }
}

/// Replaces what would end a header's line.
fn keep_in_line(value: &mut [u8]) {
    for byte in value {
        if matches!(byte, b'\r' | b'\n' | 0) {
            *byte = b' ';
        }
    }
}

/// Renders a head. `length` is the body's, where there may be one; `content_type` that of a body which
/// makes its own.
pub(crate) fn render_head(
    content: &ContentOp,
    destination: &Destination<'_>,
    length: u64,
    content_type: Option<&str>,
    scope: &dyn Scope,
    out: &mut impl HeadWriter,
) -> Result<(), EvalError> {
    let is_of_body = |header: &HeaderOp| {
        header.name.get(..8).is_some_and(|begin| begin.eq_ignore_ascii_case(b"content-"))
    };
    let goes = |header: &HeaderOp| {
        (destination.with_body || !is_of_body(header))
            && (destination.withheld.is_none() || header.across != Across::Never)
    };
    let headers = || content.headers.iter().filter(|header| goes(header));
    let has = |name: &[u8]| headers().any(|own| own.name.eq_ignore_ascii_case(name));
    out.begin(destination, has(b"host: "));
    if let Some(value) = destination.proxy.and_then(Proxy::authorization) {
        out.line(b"Proxy-Authorization: ", &value)?;
    }
    if content.default_headers && !has(b"user-agent: ") {
        out.line(b"User-Agent: ", USER_AGENT)?;
    }
    if content.default_headers && !has(b"accept: ") {
        out.line(b"Accept: ", "*/*")?;
    }
    if content.compression && !has(b"accept-encoding: ") {
        out.line(b"Accept-Encoding: ", ENCODINGS)?;
    }
    for header in headers() {
        write_header(header, destination.withheld, scope, out)?;
    }
    if let Some(content_type) = content_type
        && !has(b"content-type: ")
    {
        out.line(b"Content-Type: ", content_type)?;
    }
    if destination.withheld.is_none() || content.auth_follows {
        authorize(&content.auth, scope, out)?;
    }
    if expects_body(destination.method, length) && !has(b"content-length: ") {
        out.field(b"Content-Length: ", |out| {
            // Writing to a Vec cannot fail.
            let _ = write!(out, "{length}");
            Ok(())
        })?;
    }
    Ok(())
}

/// Writes a header of the plan's, unless it would take one of these secrets along.
fn write_header(
    header: &HeaderOp,
    withheld: Option<&Secrets>,
    scope: &dyn Scope,
    out: &mut impl HeadWriter,
) -> Result<(), EvalError> {
    let Some(secrets) = withheld.filter(|_| header.across == Across::UnlessSecret) else {
        return out.field(&header.name, |out| header.value.render(scope, out));
    };
    let mut value = Vec::new();
    header.value.render(scope, &mut value)?;
    if confined::holds_secret(&value, secrets) {
        return Ok(());
    }
    out.field(&header.name, |out| {
        out.extend_from_slice(&value);
        Ok(())
    })
}

/// Whether the length is said: always with a body, and for methods that usually have one.
fn expects_body(method: &str, length: u64) -> bool {
    length > 0 || matches!(method, "POST" | "PUT" | "PATCH")
}

fn authorize(auth: &AuthOp, scope: &dyn Scope, out: &mut impl HeadWriter) -> Result<(), EvalError> {
    match auth {
        // Digest is added by the caller, who knows the server's challenge.
        AuthOp::None | AuthOp::Digest { .. } => Ok(()),
        AuthOp::Basic { user, password } => {
            let mut credentials = Vec::new();
            user.render(scope, &mut credentials)?;
            credentials.push(b':');
            password.render(scope, &mut credentials)?;
            let value = format!("Basic {}", STANDARD.encode(credentials));
            out.line(b"Authorization: ", &value)
        }
        AuthOp::Bearer(token) => {
            let mut text = Vec::new();
            token.render(scope, &mut text)?;
            text.retain(|byte| !matches!(byte, b'\r' | b'\n'));
            out.line(b"Authorization: ", &format!("Bearer {}", String::from_utf8_lossy(&text)))
        }
    }
}

/// Renders a body that is made in memory; files and multipart are streams, and render to nothing.
pub(crate) fn render_body(
    body: &BodyOp,
    charset: Option<Charset>,
    scope: &dyn Scope,
    out: &mut Vec<u8>,
) -> Result<(), EvalError> {
    match body {
        BodyOp::None | BodyOp::File(_) | BodyOp::Replaced(..) | BodyOp::Multipart(..) => {}
        BodyOp::Text(text) => match charset {
            None => text.render(scope, out)?,
            Some(charset) => {
                let mut whole = Vec::new();
                text.render(scope, &mut whole)?;
                out.extend_from_slice(&charset.encode(&whole));
            }
        },
        BodyOp::Json(json) => json.write(scope, out)?,
        BodyOp::Form(pairs) => append_pairs(pairs, None, (charset, scope), out)?,
    }
    Ok(())
}

impl JsonOp {
    /// Its value, with all variables filled in.
    pub(crate) fn value(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        Ok(match self {
            JsonOp::Constant(value) => value.clone(),
            JsonOp::Text(text) => text.value(scope)?,
            JsonOp::List(items) => Value::List(
                items.iter().map(|item| item.value(scope)).collect::<Result<Vec<_>, _>>()?.into(),
            ),
            JsonOp::Map(entries) => {
                let mut map = std::collections::BTreeMap::new();
                for (key, value) in entries {
                    let mut text = Vec::new();
                    key.render(scope, &mut text)?;
                    let key = String::from_utf8_lossy(&text).into_owned();
                    map.insert(key.into(), value.value(scope)?);
                }
                Value::Map(map.into())
            }
        })
    }

    /// The same, before the run.
    pub(crate) fn value_within(
        &self,
        scope: &dyn Scope,
        budget: &Budget,
    ) -> Result<Value, EvalError> {
        Ok(match self {
            JsonOp::Constant(value) => value.clone(),
            JsonOp::Text(text) => text.value_within(scope, budget)?,
            JsonOp::List(items) => {
                let items = items.iter().map(|item| item.value_within(scope, budget));
                Value::List(items.collect::<Result<Vec<_>, _>>()?.into())
            }
            JsonOp::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let mut text = Vec::new();
                    key.render_within(scope, budget, &mut text)?;
                    let key = String::from_utf8_lossy(&text).into_owned();
                    Ok((key.into(), value.value_within(scope, budget)?))
                });
                Value::Map(entries.collect::<Result<squall_plan::value::Map, EvalError>>()?.into())
            }
        })
    }

    /// Writes it as JSON text, keys in the plan's order.
    pub(crate) fn write(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<(), EvalError> {
        match self {
            JsonOp::Constant(value) => value.write_json(out),
            JsonOp::Text(text) => text.value(scope)?.write_json(out),
            JsonOp::List(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(scope, out)?;
                }
                out.push(b']');
            }
            JsonOp::Map(entries) => {
                out.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    let mut text = Vec::new();
                    key.render(scope, &mut text)?;
                    Value::Text(String::from_utf8_lossy(&text).into()).write_json(out);
                    out.push(b':');
                    value.write(scope, out)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_ends_its_line() {
        let mut text = Vec::new();
        text.line(b"A: ", "x\r\nB:\0y").expect("nothing to evaluate");
        assert_eq!(text, b"A: x  B: y\r\n");
        let fields = Fields::new("GET", false, "localhost", b"/").expect("fields");
        let mut writer = FieldWriter::onto(fields);
        writer.line(b"A: ", "x\r\nB:\0y").expect("nothing to evaluate");
        let text = writer.finish().expect("fields").text();
        assert!(text.ends_with(b"\r\na: x  B: y\r\n\r\n"), "{}", String::from_utf8_lossy(&text));
    }
}
