//! The fields that a request's body sends, whether as a form or as JSON.

use serde_json::Value;

use super::call::Call;
use crate::http::text;

/// Names and values, in order.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads a body by its Content-Type: a JSON object, otherwise a form. No body, no fields.
    pub(crate) fn read(call: &Call<'_>, body: &[u8]) -> Result<Fields, String> {
        if body.is_empty() {
            return Ok(Fields(Vec::new()));
        }
        if is_json(call) {
            return Self::read_json(body);
        }
        let text = std::str::from_utf8(body).map_err(|_| "the form is not text")?;
        Ok(Fields(text::pairs(text).map(|(n, v)| (n.into_owned(), v.into_owned())).collect()))
    }

    fn read_json(body: &[u8]) -> Result<Fields, String> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Fields(
                members
                    .into_iter()
                    .map(|(name, value)| match value {
                        Value::String(text) => (name, text),
                        other => (name, other.to_string()),
                    })
                    .collect(),
            )),
            Ok(_) => Err("the JSON is not an object".to_owned()),
            Err(error) => Err(format!("the JSON is not valid: {error}")),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// Whether the request's body is said to be JSON.
pub(crate) fn is_json(call: &Call<'_>) -> bool {
    call.head.field("content-type").is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    })
}

/// Whether the client would rather have JSON than HTML: it sends it, or asks for it.
pub(crate) fn wants_json(call: &Call<'_>) -> bool {
    is_json(call) || call.head.field("accept").is_some_and(|kinds| kinds.contains("/json"))
}
