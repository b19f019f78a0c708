//! A load by itself: how the new shape of one travels.

use std::path::Path;

use crate::diagnostic::Severity;
use crate::keys::{Form, Plain};
use crate::model::Load;
use crate::nodes::Reader;
use crate::vars::LoadOptions;

type Written = <Load as Plain>::Form;

/// A load on one line, as a plan may have it.
pub fn print_load(load: &Load) -> String {
    Written::print(load).to_string()
}

/// Reads what [`print_load`] prints.
///
/// # Errors
/// It is no good load; why, in a sentence.
pub fn read_load(text: &str) -> Result<Load, String> {
    let options = LoadOptions { alone: true, ..LoadOptions::default() };
    let mut reader = Reader::new(Path::new(""), options);
    let root = reader.parse("the load", text);
    let load = root.and_then(|root| Written::read(&mut reader, &root));
    let (found, _) = reader.finish();
    let wrong = found.iter().find(|own| own.severity == Severity::Error);
    match (load, wrong) {
        (Some(load), None) => Ok(load),
        (_, Some(wrong)) => Err(wrong.message.clone()),
        (None, None) => Err("expected a load".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_reads_as_it_was_printed() {
        for text in [
            "{users: 20, for: 1m30s}",
            "{rate: 12.5/s, for: 9s, max_users: 7}",
            "{stages: [{users: 5, over: 2s}, {users: 1, over: 250ms}]}",
            "{users: 3, iterations: 5}",
        ] {
            let load = read_load(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let printed = print_load(&load);
            assert!(!printed.contains('\n'), "{printed}");
            assert_eq!(read_load(&printed).as_ref(), Ok(&load), "{printed}");
        }
        assert!(read_load("{users: 20, for: 1m30s}").is_ok());
        for wrong in ["", "{}", "{users: many}", "[1]", "{users: 1, for: 1s, unknown: 2}", "{"] {
            assert!(read_load(wrong).is_err(), "{wrong}");
        }
    }
}
