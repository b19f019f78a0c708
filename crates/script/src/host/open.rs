//! Files that a script opens where it begins, and the secrets that it is given.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::shared::Shared;
use crate::engine::{Call, Thrown, Value};
use crate::files::plain;
use crate::secret_source::SecretSource;

/// `locate(path)`: the path of a file that a script names, without `.` and `..`; relative to the module that begins, as in k6.
fn locate<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let named = call.argument(0);
    if !named.is_text() {
        return Err(Thrown::new("TypeError: open() takes the path of a file"));
    }
    let named = named.to_text()?;
    let failed = |why: String| Err(Thrown::new(format!("open(`{named}`): {why}")));
    if call.is_of_user() {
        return failed(
            "files are opened where the script begins, outside of functions that users run".into(),
        );
    }
    let from = call.scope().beginning_module().unwrap_or_default();
    if from.contains("://") {
        return failed(format!("it is called by {from}, and modules of URLs open no files"));
    }
    let path = plain(&Path::new(&from).parent().unwrap_or(Path::new("")).join(&named));
    match path.to_str() {
        Some(own) => call.scope().text(own),
        None => failed("its path is not UTF-8".into()),
    }
}

/// Reads what `locate` has returned.
fn read<T>(
    call: &Call<'_>,
    shared: &Shared,
    how: impl Fn(&dyn crate::Files, &Path) -> Result<T, String>,
) -> Result<T, Thrown> {
    let path = PathBuf::from(call.argument(0).to_text()?);
    let failed = |why: String| Thrown::new(format!("open(`{}`): {why}", path.display()));
    match &shared.files.0 {
        Some(files) => how(files.as_ref(), &path).map_err(failed),
        None => Err(failed("no files are at hand here".into())),
    }
}

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    host.set(c"locate", scope.function("locate", 1, locate)?)?;
    let own = shared.clone();
    let text = scope.function("readText", 1, move |call| {
        let text = read(call, &own, |files, path| files.read(path))?;
        call.scope().text(&text)
    });
    host.set(c"readText", text?)?;
    let own = shared.clone();
    let bytes = scope.function("readBytes", 1, move |call| {
        let bytes = read(call, &own, |files, path| files.bytes(path))?;
        call.scope().array_buffer(&bytes)
    });
    host.set(c"readBytes", bytes?)?;
    let own = shared.clone();
    let secret = scope.function("secret", 2, move |call| {
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
