//! What a script's `handleSummary` wants written, as it has returned it. Pure: who writes it says where that is allowed.

use serde_json::Value;

/// Where something is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Stdout,
    Stderr,
    /// A file, by the path that the script gave.
    File(String),
}

/// What `handleSummary` has returned: contents by destination, which are texts or bytes, these as an array of numbers. Nothing
/// is returned as null, and then nothing is written.
///
/// # Errors
/// It is something else, in a sentence that says what was expected.
pub fn files_of(result: &Value) -> Result<Vec<(Destination, Vec<u8>)>, String> {
    if result.is_null() {
        return Ok(Vec::new());
    }
    let files = result.as_object().ok_or_else(|| {
        let found = kind(result);
        format!("handleSummary has to return an object of contents by file name, such as {{stdout: text}}; found {found}")
    })?;
    files.iter().map(|(name, content)| Ok((destination(name)?, bytes(name, content)?))).collect()
}

fn destination(name: &str) -> Result<Destination, String> {
    match name {
        "stdout" => Ok(Destination::Stdout),
        "stderr" => Ok(Destination::Stderr),
        "" => Err("handleSummary has returned a file without a name: name each".to_owned()),
        _ => Ok(Destination::File(name.to_owned())),
    }
}

fn bytes(name: &str, content: &Value) -> Result<Vec<u8>, String> {
    let byte = |own: &Value| u8::try_from(own.as_u64()?).ok();
    let bytes = match content {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Array(bytes) => bytes.iter().map(byte).collect(),
        _ => None,
    };
    bytes.ok_or_else(|| {
        let found = kind(content);
        format!("handleSummary has returned {found} for `{name}`: expected a text or bytes; JSON.stringify makes a text of an object")
    })
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn contents_go_where_their_names_say() {
        let returned = json!({"stdout": "a", "stderr": "", "out/b.bin": [0, 255]});
        let expected = vec![
            (Destination::Stdout, b"a".to_vec()),
            (Destination::Stderr, Vec::new()),
            (Destination::File("out/b.bin".to_owned()), vec![0, 255]),
        ];
        assert_eq!(files_of(&returned), Ok(expected));
        assert_eq!(files_of(&Value::Null), Ok(Vec::new()));
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        for (returned, expected) in [
            (json!("text"), "found a text"),
            (json!({"": "a"}), "without a name"),
            (json!({"stdout": {"a": 1}}), "an object for `stdout`"),
            (json!({"a.json": [1, 256]}), "an array for `a.json`"),
            (json!({"a.json": null}), "null for `a.json`"),
        ] {
            let error = files_of(&returned).expect_err("an error");
            assert!(error.contains(expected), "{error}");
        }
    }
}
