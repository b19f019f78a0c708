//! The files of keys and certificates that a plan names: what is wrong with them, with its place. Reads them as a run
//! will.

use std::path::Path;

use squall_engine::Program;
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::Plan;
use squall_plan::span::Span;
use squall_wire::{SetupError, check_certificates, check_identity, check_key_store};

/// What is wrong with the files of a plan, given what was compiled of it, and whether all of it could be read.
pub(crate) fn problems<'p>(
    plan: &Plan,
    programs: impl IntoIterator<Item = &'p Program>,
    is_whole: bool,
) -> Vec<Diagnostic> {
    let tls = &plan.connections.tls;
    let mut found = Vec::new();
    let mut note = |span: Span, checked: Result<(), SetupError>| {
        found.extend(checked.err().map(|SetupError(message)| Diagnostic::error(span, message)));
    };
    // Where any certificate is accepted, nobody asks who vouches for it.
    if let Some(ca) = tls.ca.as_ref().filter(|_| !tls.insecure) {
        note(ca.span, check_certificates(&ca.value));
    }
    match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let checked = check_certificates(&cert.value);
            match checked.is_err() {
                true => note(cert.span, checked),
                false => note(key.span, check_identity(&cert.value, &key.value)),
            }
        }
        (Some(one), None) | (None, Some(one)) if is_whole => {
            let message = "a client certificate needs both `cert` and `key`";
            note(one.span, Err(SetupError(message.to_owned())));
        }
        _ => {}
    }
    if let (Some(min), Some(max)) = (&tls.min, &tls.max)
        && min.value > max.value
    {
        let message = "`min` is a later version of TLS than `max`, so that none is left";
        note(min.span, Err(SetupError(message.to_owned())));
    }
    for own in &tls.client_certs {
        note(own.name.span, check_identity(&own.cert, &own.key));
    }
    // Its password is known when it was compiled; a file that is not there has none.
    if let Some(store) = &tls.key_store {
        let compiled = programs.into_iter().find_map(Program::key_store);
        let checked = match compiled {
            Some(store) => check_key_store(store),
            None => is_there(&store.file.value),
        };
        // PEM has no password: one beside it, as a JMeter plan gives it for the PKCS #12 file that the PEM is made of, is left aside.
        note(store.file.span, checked);
    }
    found
}

/// Whether a file can be opened at all.
fn is_there(path: &Path) -> Result<(), SetupError> {
    let regular = squall_plan::files::regular(path);
    regular.map(drop).map_err(|error| SetupError(format!("{}: {error}", path.display())))
}
