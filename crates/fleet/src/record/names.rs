//! The names of a record's rows, checks and scenarios, in the order of their numbers. Each says only how it differs from the
//! one before, as names of a plan resemble each other.

use squall_metrics::codec::{get, get_bytes, get_text, put, put_bytes};
use squall_metrics::{DecodeError, MAX_NAMES_LIMIT, Place, RowKey, RowKind};

use super::bytes::MAX_PLAIN;

/// Most names of a record: those of a run, and again those of its checks and scenarios.
const MAX_NAMES: u64 = 2 * MAX_NAMES_LIMIT as u64;

/// What [`decode`] reads.
pub(super) fn encode(names: &[RowKey]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, names.len() as u64);
    let mut before: Option<&RowKey> = None;
    for key in names {
        let is_there = before.is_some_and(|before| before.place == key.place);
        put(&mut out, u64::from(is_there));
        if !is_there {
            put_place(&mut out, &key.place);
        }
        let name = key.name.as_bytes();
        let shared = before.map_or(0, |before| shared(before.name.as_bytes(), name));
        put(&mut out, shared as u64);
        put_bytes(&mut out, &name[shared..]);
        before = Some(key);
    }
    out
}

/// With how many of the same bytes both begin.
fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The names by their numbers. Their texts together have a bound, as little can stand for much here.
///
/// # Errors
/// The bytes are no names, or there are too many.
pub(super) fn decode(mut bytes: &[u8]) -> Result<Vec<RowKey>, DecodeError> {
    let bytes = &mut bytes;
    let count = get(bytes)?;
    if count > MAX_NAMES {
        return Err(DecodeError("the record has too many names"));
    }
    let mut left = MAX_PLAIN;
    let mut names: Vec<RowKey> = Vec::new();
    for _ in 0..count {
        let before = names.last();
        let place = match (get(bytes)?, before) {
            (0, _) => get_place(bytes)?,
            (1, Some(before)) => before.place.clone(),
            _ => return Err(DecodeError("a name is in no place")),
        };
        let shared = usize::try_from(get(bytes)?).unwrap_or(usize::MAX);
        let known = before.map_or(&[][..], |before| before.name.as_bytes());
        let known = known.get(..shared).ok_or(DecodeError("a name goes on from none"))?;
        let name = [known, get_bytes(bytes)?].concat();
        let name = String::from_utf8(name).map_err(|_| DecodeError("a text is not UTF-8"))?;
        left = left
            .checked_sub(name.len() + text_bytes(&place))
            .ok_or(DecodeError("the record's names are too long"))?;
        names.push(RowKey { place, name });
    }
    match bytes.is_empty() {
        true => Ok(names),
        false => Err(DecodeError("the record's names are longer than they say")),
    }
}

fn text_bytes(place: &Place) -> usize {
    let groups = place.group.iter().map(String::len);
    let tags = place.tags.iter().map(|(tag, value)| tag.len() + value.len());
    // What a text takes besides its bytes counts as well: many may be empty.
    let texts = place.group.len() + 2 * place.tags.len();
    place.scenario.len() + groups.chain(tags).sum::<usize>() + texts * size_of::<String>()
}

fn put_place(out: &mut Vec<u8>, place: &Place) {
    put(out, place.kind as u64);
    put_bytes(out, place.scenario.as_bytes());
    put(out, place.group.len() as u64);
    place.group.iter().for_each(|group| put_bytes(out, group.as_bytes()));
    put(out, place.tags.len() as u64);
    for text in place.tags.iter().flat_map(|(tag, value)| [tag, value]) {
        put_bytes(out, text.as_bytes());
    }
}

fn get_place(bytes: &mut &[u8]) -> Result<Place, DecodeError> {
    let number = get(bytes)?;
    let mut kinds = RowKind::ALL.iter().map(|(kind, _)| *kind);
    let kind = kinds.find(|kind| *kind as u64 == number);
    let kind = kind.ok_or(DecodeError("unknown kind of row"))?;
    let mut place = Place::new(kind, &get_text(bytes)?);
    // Each takes a byte at least, so that there are no more than bytes.
    for _ in 0..get(bytes)? {
        place.group.push(get_text(bytes)?);
    }
    for _ in 0..get(bytes)? {
        place.tags.push((get_text(bytes)?, get_text(bytes)?));
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place() -> impl Strategy<Value = Place> {
        let text = || "[ab\u{e9}]{0,3}";
        let kind = prop::sample::select(RowKind::ALL.map(|(kind, _)| kind).to_vec());
        let (group, tags) =
            (prop::collection::vec(text(), 0..3), prop::collection::vec((text(), text()), 0..3));
        (kind, text(), group, tags).prop_map(|(kind, scenario, group, tags)| Place {
            kind,
            scenario,
            group,
            tags,
        })
    }

    proptest! {
        #[test]
        fn names_are_read_as_they_were(
            places in prop::collection::vec(place(), 1..3),
            names in prop::collection::vec((any::<prop::sample::Index>(), "[a\u{e9}\u{ea}]{0,6}"), 0..20),
        ) {
            let key = |(place, name): &(prop::sample::Index, String)| RowKey {
                place: place.get(&places).clone(),
                name: name.clone(),
            };
            let names: Vec<_> = names.iter().map(key).collect();
            prop_assert_eq!(decode(&encode(&names)), Ok(names));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _read = decode(&bytes);
        }
    }

    /// A hundred thousand names that each go on from a long one would be much from little.
    #[test]
    fn little_does_not_stand_for_much() {
        let long = "x".repeat(1 << 10);
        let names = |count| vec![RowKey::new(RowKind::Request, "", &long); count];
        assert!(decode(&encode(&names(1 << 10))).is_ok());
        let bomb = encode(&names((1 << 14) + 1));
        assert!(bomb.len() < 1 << 17);
        assert_eq!(decode(&bomb), Err(DecodeError("the record's names are too long")));
    }
}
