//! Jars of cookies. What is in them is with whoever performs requests; scripts hold their numbers.

use std::rc::Rc;

use crate::engine::{Call, Thrown, Value};
use crate::host::jars::Jar;
use crate::host::shared::Shared;
use crate::{Answer, Ask, Wait};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    // (prototype, whether it is new): a new jar, or the user's own.
    let jar = scope.function("jar", 2, move |call| {
        let user = own.current.get().user;
        let number = if call.argument(1).is_true() { new(call, &own, user)? } else { 0 };
        let jar = Jar { number, user, jars: own.jars.clone() };
        call.scope().native_of(Rc::new(jar), &call.argument(0))
    });
    host.set(c"jar", jar?)?;
    host.set(c"jarCookies", scope.function("jarCookies", 1, cookies)?)?;
    host.set(c"jarSet", scope.function("jarSet", 2, set)?)?;
    host.set(c"jarClear", scope.function("jarClear", 2, clear)?)
}

fn new(call: &Call<'_>, shared: &Shared, user: u64) -> Result<u16, Thrown> {
    let (number, is_used) = shared.jars.take(user)?;
    if is_used {
        call.wait(Wait::Ask(Ask::ForgetJar { jar: number }))?;
    }
    Ok(number)
}

/// The jar that a method is called on, and the URL that is its first argument.
fn addressed(call: &Call<'_>) -> Result<(u16, String), Thrown> {
    let jar = call.this().behind::<Jar>();
    let jar = jar.ok_or_else(|| Thrown::new("TypeError: this is not a jar of cookies"))?;
    let (url, _) = super::url::read(&call.argument(0))?;
    match super::url::wrong(&url) {
        Some(why) => Err(Thrown::new(format!("TypeError: {why}"))),
        None => Ok((jar.number, url)),
    }
}

fn cookies<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let (jar, url) = addressed(call)?;
    let Answer::Cookies(list) = call.wait(Wait::Ask(Ask::Cookies { jar, url }))? else {
        return Err(Thrown::new("cookies were asked for in vain: this is a bug of squall"));
    };
    let scope = call.scope();
    let object = scope.object()?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &list {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for name in names {
        let own = list.iter().filter(|(own, _)| own == name);
        let values = own.map(|(_, value)| scope.text(value)).collect::<Result<_, _>>()?;
        object.define(name, scope.array(values)?)?;
    }
    Ok(object)
}

/// (url, name, value, options)
fn set<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let (jar, url) = addressed(call)?;
    let line = line(&call.argument(1), &call.argument(2), &call.argument(3))?;
    call.wait(Wait::Ask(Ask::SetCookie { jar, url, line }))?;
    Ok(call.scope().boolean(true))
}

/// A cookie as a response would set it.
fn line(name: &Value<'_>, value: &Value<'_>, options: &Value<'_>) -> Result<String, Thrown> {
    let part = |what: &str, own: &Value<'_>, also: char| -> Result<String, Thrown> {
        let text = own.to_text()?;
        match text.contains(|c: char| c == ';' || c == also || c.is_control()) {
            true => Err(Thrown::new(format!(
                "TypeError: the {what} of a cookie is {text:?}: expected a text without `;` and line ends"
            ))),
            false => Ok(text),
        }
    };
    let mut line = format!("{}={}", part("name", name, '=')?, part("value", value, ';')?);
    for (option, value) in options.entries()? {
        let attribute = match option.as_str() {
            "domain" => "Domain",
            "path" => "Path",
            "expires" => "Expires",
            "max_age" => "Max-Age",
            "secure" if value.is_true() => "Secure",
            "http_only" if value.is_true() => "HttpOnly",
            "secure" | "http_only" => continue,
            _ => {
                return Err(Thrown::new(format!(
                    "TypeError: the option {option:?} of a cookie: expected domain, path, expires, max_age, secure or http_only"
                )));
            }
        };
        line.push_str("; ");
        line.push_str(attribute);
        if !matches!(attribute, "Secure" | "HttpOnly") && !value.is_nothing() {
            line.push('=');
            line.push_str(&part(&option, &value, ';')?);
        }
    }
    Ok(line)
}

/// (url, name): forgets the cookie of a name, or all.
fn clear<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let (jar, url) = addressed(call)?;
    let name = match call.argument(1) {
        name if name.is_undefined() => None,
        name => Some(name.to_text()?),
    };
    call.wait(Wait::Ask(Ask::ClearCookies { jar, url, name }))?;
    Ok(call.scope().undefined())
}
