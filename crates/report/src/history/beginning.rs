//! The beginning of a result: a list of runs needs a few kilobytes of each, and a long run with many names has megabytes.

use std::io::{self, Read};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};

/// Bytes that are read at first; then as many again as there are.
const AT_FIRST: u64 = 32 << 10;

/// Reads an object of JSON up to and with a key, and no more of the text than that, about; without such a key all of it.
/// What follows may be anything.
///
/// # Errors
/// The text cannot be read, or is no such object, in a sentence.
pub(super) fn read_until<T: for<'de> Deserialize<'de>>(
    last: &str,
    mut from: impl Read,
) -> Result<T, String> {
    let mut text = Vec::new();
    loop {
        let more = AT_FIRST.max(text.len() as u64);
        let read: io::Result<usize> = from.by_ref().take(more).read_to_end(&mut text);
        let is_all = (read.map_err(|error| error.to_string())? as u64) < more;
        match parse_until(last, &text) {
            Err(error) if !is_all && error.is_eof() => {}
            parsed => return parsed.map_err(|error| error.to_string()),
        }
    }
}

fn parse_until<T: for<'de> Deserialize<'de>>(last: &str, text: &[u8]) -> serde_json::Result<T> {
    let mut value = None;
    let visitor = Beginning { last, value: &mut value };
    let read = serde_json::Deserializer::from_slice(text).deserialize_map(visitor);
    // That the object goes on where its reader had enough is an error to the parser.
    match (value, read) {
        (Some(value), _) => Ok(value),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(serde_json::Error::custom("there is nothing")),
    }
}

/// Puts what an object has up to a key into a place of its own, where the parser's error does not reach it.
struct Beginning<'r, T> {
    last: &'r str,
    value: &'r mut Option<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Beginning<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let until = Until { map, last: self.last, is_over: false };
        *self.value = Some(T::deserialize(MapAccessDeserializer::new(until))?);
        Ok(())
    }
}

/// A map that ends with a key.
struct Until<'l, A> {
    map: A,
    last: &'l str,
    is_over: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Until<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        if self.is_over {
            return Ok(None);
        }
        let Some(key) = self.map.next_key::<String>()? else { return Ok(None) };
        self.is_over = key == self.last;
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How much was read.
    struct Counted<'t>(&'t [u8], usize);

    impl Read for Counted<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(into)?;
            self.1 += read;
            Ok(read)
        }
    }

    fn keys(last: &str, text: &str) -> Result<Vec<String>, String> {
        let read: Result<BTreeMap<String, serde_json::Value>, String> =
            read_until(last, text.as_bytes());
        read.map(|own| own.into_keys().collect())
    }

    #[test]
    fn nothing_behind_the_last_key_is_looked_at() {
        for (text, wanted) in [
            (r#"{"a": 1, "b": {"b": 2}, "c": 3}"#, ["a", "b"].as_slice()),
            (r#"{"a": {"b": 1}, "b": 2 and what is no JSON"#, &["a", "b"]),
            (r#"{"a": 1}"#, &["a"]),
            ("{}", &[]),
        ] {
            assert_eq!(keys("b", text).expect(text), wanted, "{text}");
        }
        for (text, wanted) in [
            ("", "EOF"),
            ("[1]", "invalid type: sequence, expected an object"),
            (r#"{"a": 1, "b": "#, "EOF"),
            (r#"{"a": 1, oops, "b": 1}"#, "key must be a string"),
        ] {
            let error = keys("b", text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn no_more_is_read_than_that() {
        let long = |bytes: usize| "x".repeat(bytes);
        let most = AT_FIRST as usize;
        for (before, after, read) in [
            (10, 1_000_000, most),
            (3 * most, 1_000_000, 4 * most),
            (most - 30, 10, most - 20),
            (0, 0, 0),
        ] {
            let text =
                format!("{{\"a\": \"{}\", \"b\": 1, \"c\": \"{}\"}}", long(before), long(after));
            let mut from = Counted(text.as_bytes(), 0);
            let own: BTreeMap<String, serde_json::Value> =
                read_until("b", &mut from).expect("an object");
            assert_eq!(own.len(), 2);
            assert!(from.1 <= read.max(text.len().min(most)), "{before}, {after}: {}", from.1);
        }
    }
}
