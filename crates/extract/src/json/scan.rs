//! Follows a plain path (`$.a.b[0].c`) through JSON text. What is beside the path is checked to be
//! JSON but never built, which is several times faster than parsing all of it. Not checked beside
//! the path are the encoding of texts, the range of numbers and the depth.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Error as JsonError, Value};

use super::{Query, Segment, Selector};
use crate::found::Item;

/// Whether a query is a path of names and of indexes from the start.
pub(super) fn is_plain(query: &Query) -> bool {
    query.segments.iter().all(|segment| {
        !segment.descendants
            && matches!(&*segment.selectors, [Selector::Name(_) | Selector::Index(0..)])
    })
}

/// Finds the value at the end of a plain path.
pub(super) fn find<'b>(query: &Query, json: &'b [u8]) -> Result<Option<Item<'b>>, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let found = Along(&query.segments).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

/// Reads one value and takes what the rest of the path leads to in it.
struct Along<'q>(&'q [Segment]);

impl<'b> DeserializeSeed<'b> for Along<'_> {
    type Value = Option<Item<'b>>;

    fn deserialize<D: Deserializer<'b>>(self, json: D) -> Result<Self::Value, D::Error> {
        let selector = match self.0.split_first() {
            None => return json.deserialize_any(Whole).map(Some),
            Some((segment, rest)) => segment.selectors.first().map(|selector| (selector, rest)),
        };
        match selector {
            Some((Selector::Name(name), rest)) => json.deserialize_any(Member { name, rest }),
            Some((Selector::Index(index), rest)) => {
                json.deserialize_any(Element { index: usize::try_from(*index).ok(), rest })
            }
            _ => IgnoredAny::deserialize(json).map(|_| None),
        }
    }
}

/// The visits of values that a step of the path finds nothing in.
macro_rules! nothing_in {
    ($($visit:ident($type:ty)),*) => {
        $(fn $visit<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok(None)
        })*

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }
    };
}

/// Takes a member of an object; of members with the same name the last, as parsing does.
struct Member<'q> {
    name: &'q str,
    rest: &'q [Segment],
}

impl<'b> Visitor<'b> for Member<'_> {
    type Value = Option<Item<'b>>;

    nothing_in!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(same) = map.next_key_seed(Same(self.name))? {
            if same {
                found = map.next_value_seed(Along(self.rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'b>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Takes an element of an array.
struct Element<'q> {
    index: Option<usize>,
    rest: &'q [Segment],
}

impl<'b> Visitor<'b> for Element<'_> {
    type Value = Option<Item<'b>>;

    nothing_in!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_seq<A: SeqAccess<'b>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.index.unwrap_or(usize::MAX) {
            if seq.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = seq.next_element_seed(Along(self.rest))?.flatten();
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Whether the name of a member is this one.
struct Same<'q>(&'q str);

impl<'b> DeserializeSeed<'b> for Same<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'b>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Same<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

/// Makes a value into an item; a text without escapes is borrowed.
struct Whole;

impl<'b> Visitor<'b> for Whole {
    type Value = Item<'b>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'b str) -> Result<Item<'b>, E> {
        Ok(Item::Bytes(Cow::Borrowed(text.as_bytes())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Item<'b>, E> {
        Ok(Item::text(text))
    }

    fn visit_unit<E: Error>(self) -> Result<Item<'b>, E> {
        Ok(Item::Json(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Item<'b>, E> {
        Ok(Item::Json(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Item<'b>, E> {
        Ok(Item::Json(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Item<'b>, E> {
        Ok(Item::Json(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Item<'b>, E> {
        Ok(Item::Json(value.into()))
    }

    fn visit_seq<A: SeqAccess<'b>>(self, seq: A) -> Result<Item<'b>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Item::Json)
    }

    fn visit_map<A: MapAccess<'b>>(self, map: A) -> Result<Item<'b>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Item::Json)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::json::JsonPath;
    use crate::{Documents, ExtractError, Found, Which};

    fn paths() -> Vec<(JsonPath, &'static str)> {
        let paths = [
            "$",
            "$.a",
            "$.b",
            "$[0]",
            "$[1]",
            "$.a.b",
            "$.a[0]",
            "$.b.a[1]",
            "$[1].a",
            "$[0][2]",
            "$['a']['a']['a']",
            "$.nothing",
            "$[99]",
            "$[\"\"]",
        ];
        paths.into_iter().map(|path| (JsonPath::compile(path).unwrap(), path)).collect()
    }

    fn scanned<'b>(path: &JsonPath, json: &'b [u8]) -> Result<Found<'b>, ExtractError> {
        let documents = Documents::new(json);
        let found = path.find_in(&documents, Which::First, 0);
        assert!(documents.json_to_scan().is_some(), "was parsed and not scanned");
        found
    }

    #[test]
    fn borrows_what_stands_in_the_body() {
        let json = br#"{"a": {"b": "plain"}, "c": ["x\u0041"]}"#;
        let path = JsonPath::compile("$.a.b").unwrap();
        let Ok(Found::One(Item::Bytes(Cow::Borrowed(b"plain")))) = scanned(&path, json) else {
            panic!("not borrowed");
        };
        let path = JsonPath::compile("$.c[0]").unwrap();
        assert_eq!(scanned(&path, json), Ok(Found::One(Item::text("xA"))));
    }

    #[test]
    fn other_paths_are_not_plain() {
        for path in ["$[-1]", "$..a", "$.*", "$[0,1]", "$[0:1]", "$[?@]"] {
            let JsonPath(query) = JsonPath::compile(path).unwrap();
            assert!(!is_plain(&query), "{path}");
        }
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        for json in [&br#"{"a": 1, "a": 2}"#[..], br#"{"a": {"b": 1}, "a": 2}"#] {
            let document = serde_json::from_slice(json).unwrap();
            for (path, text) in paths() {
                let parsed = path.find(&document, Which::First, 0);
                assert_eq!(scanned(&path, json), parsed, "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for json in ["", "{", "{\"a\": 1} x", "{\"a\": 1, \"c\": [}", "[1, 2", "nul", "\"a"] {
            for (path, text) in paths() {
                let refused = scanned(&path, json.as_bytes());
                assert!(matches!(refused, Err(ExtractError::NotJson { .. })), "{json} {text}");
            }
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
                prop::collection::vec(("[abc]?", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn finds_what_parsing_finds(document in value()) {
            let json = document.to_string();
            let document: Value = serde_json::from_str(&json).unwrap();
            for (path, text) in paths() {
                let parsed = path.find(&document, Which::First, 0);
                prop_assert_eq!(scanned(&path, json.as_bytes()), parsed, "{} in {}", text, json);
            }
        }
    }
}
