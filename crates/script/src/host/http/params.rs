//! What a script says of a request beside what is sent: an object, of which each property is read here.

use std::time::Duration;

use super::prepared::Draft;
use crate::engine::{Thrown, Value};
use crate::host::jars::Jar;
use crate::http::{BodyKind, Encoding};

/// Statuses that a script expects.
pub(super) struct Expected(pub Vec<(u16, u16)>);

/// What is wrong with a property of params.
fn wrong(name: &str, own: &Value<'_>, expected: &str) -> Thrown {
    let shown = match own.is_text() || own.is_number() {
        true => own.to_text().map(|text| format!("{text:?}")).unwrap_or_default(),
        false => own.kind().to_owned(),
    };
    Thrown::new(format!("TypeError: params.{name} is {shown}: expected {expected}"))
}

/// Reads params into a request. What has no properties, such as a text that was meant to be a body, says nothing, as in k6
/// (`parseRequest` in `js/modules/k6/http/request.go`).
pub(super) fn read(params: &Value<'_>, into: &mut Draft) -> Result<(), Thrown> {
    if !params.is_object() {
        return Ok(());
    }
    for (name, value) in params.entries()? {
        // What is undefined or null says nothing, but for a callback, where null means that any status will do.
        if value.is_undefined() || value.is_nothing() && name != "responseCallback" {
            continue;
        }
        property(&name, &value, into)?;
    }
    Ok(())
}

fn property(name: &str, own: &Value<'_>, into: &mut Draft) -> Result<(), Thrown> {
    let params = &mut into.head.params;
    match name {
        "headers" => {
            for (header, value) in object(name, own)? {
                let value = value.to_text()?;
                into.header(&header, value)?;
            }
        }
        "tags" => {
            for (tag, value) in object(name, own)? {
                let value = value.to_text()?;
                match tag.as_str() {
                    "name" => into.head.name = Some(value),
                    _ => params.tags.push((tag, value)),
                }
            }
        }
        "cookies" => {
            for (cookie, value) in object(name, own)? {
                params.cookies.push(read_cookie(cookie, &value)?);
            }
        }
        "timeout" => params.timeout = Some(timeout(own)?),
        "redirects" => {
            let number = if own.is_number() { own.to_number()? } else { f64::NAN };
            if number.fract() != 0.0 || !(0.0..=1e6).contains(&number) {
                return Err(wrong(name, own, "a whole number from 0 on"));
            }
            params.redirects = Some(number as u32);
        }
        "responseType" => {
            params.body = match own.to_text()?.as_str() {
                "text" => BodyKind::Text,
                "binary" => BodyKind::Binary,
                "none" => BodyKind::None,
                _ => return Err(wrong(name, own, "\"text\", \"binary\" or \"none\"")),
            };
        }
        "responseCallback" => params.expected = Some(expected(own)?),
        "auth" => params.auth = Some(auth(own)?),
        "compression" => params.compression = compression(own)?,
        "jar" => {
            let jar = own.behind::<Jar>();
            let expected = "what http.cookieJar() or new http.CookieJar() has made";
            params.jar = jar.ok_or_else(|| wrong(name, own, expected))?.number;
        }
        "throw" => into.throws = own.is_true(),
        // k6 takes whatever else an object has, as programs hand on params of their own.
        _ => {}
    }
    Ok(())
}

fn object<'v>(name: &str, own: &Value<'v>) -> Result<Vec<(String, Value<'v>)>, Thrown> {
    match own.is_object() && !own.is_array() && !own.is_function() {
        true => own.entries(),
        false => Err(wrong(name, own, "an object")),
    }
}

fn read_cookie(name: String, own: &Value<'_>) -> Result<(String, String, bool), Thrown> {
    if !own.is_object() {
        return Ok((name, own.to_text()?, false));
    }
    let value = own.get(c"value")?;
    if value.is_nothing() {
        return Err(wrong(
            &format!("cookies.{name}"),
            own,
            "a string, or an object with `value` and `replace`",
        ));
    }
    Ok((name, value.to_text()?, own.get(c"replace")?.is_true()))
}

/// Statuses of `http.expectedStatuses`, or all for null.
pub(super) fn expected(own: &Value<'_>) -> Result<Vec<(u16, u16)>, Thrown> {
    if own.is_nothing() {
        return Ok(vec![(0, u16::MAX)]);
    }
    match own.behind::<Expected>() {
        Some(own) => Ok(own.0.clone()),
        None => {
            Err(wrong("responseCallback", own, "what http.expectedStatuses() returns, or null"))
        }
    }
}

fn auth(own: &Value<'_>) -> Result<String, Thrown> {
    let name = own.to_text()?.to_ascii_lowercase();
    match name == "basic" || name == "digest" {
        true => Ok(name),
        false => Err(wrong("auth", own, "\"basic\" or \"digest\" (squall does not have NTLM)")),
    }
}

fn compression(own: &Value<'_>) -> Result<Vec<Encoding>, Thrown> {
    let text = own.to_text()?;
    let known = |name: &str| {
        let name = name.trim().to_ascii_lowercase();
        Encoding::ALL.into_iter().find(|own| own.name() == name)
    };
    let list: Option<Vec<Encoding>> = text.split(',').map(known).collect();
    list.ok_or_else(|| {
        wrong(
            "compression",
            own,
            "gzip, deflate, br or zstd, or some of them with commas between them",
        )
    })
}

fn timeout(own: &Value<'_>) -> Result<Duration, Thrown> {
    let expected = "a number of milliseconds, or a text such as \"30s\" or \"1m30s\"";
    let time = match own.is_number() {
        true => Duration::try_from_secs_f64(own.to_number()? / 1e3).ok(),
        false if own.is_text() => duration(&own.to_text()?),
        false => None,
    };
    time.ok_or_else(|| wrong("timeout", own, expected))
}

/// A time such as `1m30s`; a number alone is one of ms.
fn duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 7] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let (mut rest, mut seconds) = (text.trim(), 0.0);
    if let Ok(ms) = rest.parse::<f64>() {
        return Duration::try_from_secs_f64(ms / 1e3).ok();
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        seconds += number * UNITS.iter().find(|(unit, _)| *unit == &rest[..end])?.1;
        rest = &rest[end..];
    }
    if text.trim().is_empty() { None } else { Duration::try_from_secs_f64(seconds).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_scripts_write_them() {
        for (text, ms) in [
            ("60s", Some(60_000)),
            ("1m30s", Some(90_000)),
            ("1.5s", Some(1_500)),
            ("250ms", Some(250)),
            ("1h", Some(3_600_000)),
            (" 120 ", Some(120)),
            ("", None),
            ("s", None),
            ("5 s", None),
            ("5x", None),
            ("-1s", None),
            ("-1", None),
        ] {
            assert_eq!(duration(text), ms.map(Duration::from_millis), "{text:?}");
        }
    }
}
