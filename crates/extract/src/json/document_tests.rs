//! What is JSON, and where its values are: the same as `serde_json` says.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// All values of a document with the names of members in front, written compactly.
fn rebuilt(document: &Document<'_>, node: Node) -> Value {
    let mut children = document.children(node);
    let mut values = std::iter::from_fn(|| children.step());
    match document.kind(node) {
        Kind::Array => Value::Array(values.map(|(_, child)| rebuilt(document, child)).collect()),
        Kind::Object => Value::Object(
            values
                .by_ref()
                .map(|(name, child)| (unquoted(name).into_owned(), rebuilt(document, child)))
                .collect(),
        ),
        Kind::String => document.string(node).unwrap().into(),
        Kind::Null => Value::Null,
        Kind::Boolean(value) => value.into(),
        Kind::Number => Value::Number(document.number(node).unwrap()),
    }
}

#[test]
fn names_are_compared_without_their_escapes() {
    for (quoted, name, same) in [
        (r#""a""#, "a", true),
        (r#""a""#, "b", false),
        (r#""""#, "", true),
        (r#""\u0061""#, "a", true),
        (r#""\n""#, "\n", true),
        // As long as the name, and something else.
        (r#""\n""#, r"\n", false),
        (r#""\\n""#, r"\n", true),
        (r#""\"""#, "\"", true),
        (r#""é""#, "é", true),
        (r#""abc""#, "ab", false),
    ] {
        assert_eq!(is_named(quoted, name), same, "{quoted} {name}");
    }
}

#[test]
fn the_memory_of_a_value_is_never_underestimated() {
    for json in ["1", "[]", "[1,2,3]", r#"{"a":{"b":[true]},"c":"x"}"#, "[[],[],[[]]]"] {
        let document = Document::new(json.as_bytes()).unwrap();
        fn values(value: &Value) -> usize {
            1 + match value {
                Value::Array(items) => items.iter().map(values).sum(),
                Value::Object(members) => members.values().map(values).sum(),
                _ => 0,
            }
        }
        let value: Value = serde_json::from_str(json).unwrap();
        assert!(document.value_bytes(document.root()) >= values(&value) * JSON_VALUE_BYTES);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|f: f64| json!(f)),
        ".{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((".{0,2}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that are nearly JSON.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\\", "\\u00e9", "\\ud83d", "\\ude00", "1",
        "-", "0", ".5", "e3", "true", "nul", "null", " ", "\n", "\u{1}", "é",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..9).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn finds_all_values(value in value(), pretty: bool) {
        let json = if pretty { format!("{value:#}") } else { value.to_string() };
        let document = Document::new(json.as_bytes()).unwrap();
        // Read back, because the last digit of a fraction may be another.
        let value: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(rebuilt(&document, document.root()), value);
    }

    #[test]
    fn accepts_what_serde_json_accepts(text in text()) {
        let parsed: Result<Value, _> = serde_json::from_str(&text);
        match Document::new(text.as_bytes()) {
            Ok(document) => match parsed {
                Ok(value) => prop_assert_eq!(rebuilt(&document, document.root()), value),
                Err(error) => prop_assert!(error.to_string().contains("out of range"), "{error}"),
            },
            Err(_) => prop_assert!(parsed.is_err(), "{}", text),
        }
    }
}
