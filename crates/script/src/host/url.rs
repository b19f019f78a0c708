//! URLs, and what stands behind their `?`.

use url::{Url, form_urlencoded, quirks};

use crate::engine::{Call, Thrown, Value};

type Get = fn(&Url) -> &str;
type Set = fn(&mut Url, &str) -> Result<(), ()>;

/// The parts of a URL that are texts, and how each is set.
const PARTS: [(&str, Get, Set); 9] = [
    ("protocol", quirks::protocol, quirks::set_protocol),
    ("username", quirks::username, quirks::set_username),
    ("password", quirks::password, quirks::set_password),
    ("host", quirks::host, quirks::set_host),
    ("hostname", quirks::hostname, quirks::set_hostname),
    ("port", quirks::port, quirks::set_port),
    ("pathname", quirks::pathname, |own, new| {
        quirks::set_pathname(own, new);
        Ok(())
    }),
    ("search", quirks::search, |own, new| {
        quirks::set_search(own, new);
        Ok(())
    }),
    ("hash", quirks::hash, |own, new| {
        quirks::set_hash(own, new);
        Ok(())
    }),
];

fn parsed(text: &str, base: Option<&Url>) -> Result<Url, Thrown> {
    Url::options().base_url(base).parse(text).map_err(|error| {
        Thrown::new(format!("TypeError: `{text}` cannot be read as a URL: {error}"))
    })
}

/// All parts of a URL, as an object.
fn parts<'c>(call: &Call<'c>, own: &Url) -> Result<Value<'c>, Thrown> {
    let (scope, object) = (call.scope(), call.scope().object()?);
    object.set(c"href", scope.text(own.as_str())?)?;
    object.set(c"origin", scope.text(&quirks::origin(own))?)?;
    for (name, get, _) in PARTS {
        object.define(name, scope.text(get(own))?)?;
    }
    Ok(object)
}

pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    let url = scope.function("url", 2, |call| {
        let (text, base) = (call.argument(0).to_text()?, call.argument(1));
        let base = if base.is_undefined() { None } else { Some(parsed(&base.to_text()?, None)?) };
        parts(call, &parsed(&text, base.as_ref())?)
    });
    host.set(c"url", url?)?;
    // `urlWith(href, part, text)`: the parts of the URL with another one in it.
    let with = scope.function("urlWith", 3, |call| {
        let mut own = parsed(&call.argument(0).to_text()?, None)?;
        let (part, text) = (call.argument(1).to_text()?, call.argument(2).to_text()?);
        if let Some((_, _, set)) = PARTS.iter().find(|(name, _, _)| *name == part) {
            // What a part cannot be leaves it as it is.
            let _unchanged = set(&mut own, &text);
        }
        parts(call, &own)
    });
    host.set(c"urlWith", with?)?;
    let form = scope.function("formPairs", 1, |call| {
        let (scope, text) = (call.scope(), call.argument(0).to_text()?);
        let pairs = form_urlencoded::parse(text.as_bytes())
            .map(|(name, value)| scope.array(vec![scope.text(&name)?, scope.text(&value)?]));
        scope.array(pairs.collect::<Result<_, _>>()?)
    });
    host.set(c"formPairs", form?)?;
    let escaped = scope.function("formText", 1, |call| {
        let text = call.argument(0).to_text()?;
        let escaped: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        call.scope().text(&escaped)
    });
    host.set(c"formText", escaped?)?;
    Ok(())
}
