//! Files that a script opens where it begins.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use url::Url;

use super::shared::Shared;
use crate::engine::{Call, Thrown, Value};
use crate::files::plain;
use crate::origin::{Origin, is_path};

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
    // What `import.meta.resolve` has returned.
    let url = Url::parse(&named).ok().filter(|own| own.scheme() == "file");
    let path = match url.map(|own| own.to_file_path()) {
        Some(Ok(path)) => path,
        Some(Err(())) => return failed("it is not the URL of a file of this machine".into()),
        None => beside(Path::new(&from), &named),
    };
    match path.to_str() {
        Some(own) => call.scope().text(own),
        None => failed("its path is not UTF-8".into()),
    }
}

/// The path that something beside a module has, without `.` and `..`.
fn beside(module: &Path, named: &str) -> PathBuf {
    plain(&module.parent().unwrap_or(Path::new("")).join(named))
}

/// `resolve(module, path)`: the URL of what a module names by its path, relative to it.
fn resolve<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let (from, named) = (call.argument(0).to_text()?, call.argument(1).to_text()?);
    let origin = match Url::parse(&from) {
        Ok(url) => Origin::Url(Box::new(url)),
        Err(_) => Origin::File(from.into()),
    };
    let url = match (origin.url(&named), origin.file()) {
        (Some(url), _) => url,
        (None, Some(module)) if is_path(&named) => Url::from_file_path(beside(module, &named))
            .map_err(|()| "its path is not absolute".to_owned()),
        (None, _) => Err("expected a path that begins with `./`, `../` or `/`".to_owned()),
    };
    match url {
        Ok(url) => call.scope().text(url.as_str()),
        Err(why) => Err(Thrown::new(format!("import.meta.resolve(`{named}`): {why}"))),
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
    host.set(c"resolve", scope.function("resolve", 2, resolve)?)?;
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
    Ok(())
}
