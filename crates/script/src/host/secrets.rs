//! The secrets that a script is given.

use std::rc::Rc;

use super::shared::{SecretSource, Shared};
use crate::engine::{Thrown, Value};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let own = shared.clone();
    let secret = host.scope().function("secret", 2, move |call| {
        let (source, name) = (call.argument(0).to_text()?, call.argument(1).to_text()?);
        match found(&own.secrets, &source, &name) {
            Ok(value) => call.scope().text(value),
            Err(why) => Err(Thrown::new(format!("secret `{name}`: {why}"))),
        }
    });
    host.set(c"secret", secret?)?;
    Ok(())
}

/// The value of a secret, or why it is not there.
fn found<'s>(sources: &'s [SecretSource], source: &str, name: &str) -> Result<&'s str, String> {
    if sources.is_empty() {
        return Err("squall was given no secrets: use `--secret-source`".to_owned());
    }
    let Some(own) = sources.iter().find(|own| own.name == source) else {
        let names: Vec<&str> = sources.iter().map(|own| &*own.name).collect();
        let names = names.join(", ");
        return Err(format!("no source of secrets is named `{source}`: there are {names}"));
    };
    let value = own.secrets.iter().find(|(own, _)| own == name);
    value
        .map(|(_, value)| &**value)
        .ok_or_else(|| format!("the source `{source}` does not have it"))
}
