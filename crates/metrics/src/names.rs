//! What identifies a row of the results, and the numbers under which workers record.
//!
//! A row is (kind, scenario, group path, tags, name), never the name alone. Everything but the name is known
//! before the run: it is a [`Place`], which has a number of its own, so that a name that is made while the
//! run goes on is looked up by a number and a text.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::{self, DecodeError};

/// Most names of a run whose plan gives no number; further ones count under [`OTHER`].
pub const MAX_NAMES: usize = 1_000;
/// The highest number of names that a run may have, `other` of each kind aside.
pub const MAX_NAMES_LIMIT: usize = 100_000;
/// Most numbers of names: those of the names, and one for `other` of each kind.
pub(crate) const MAX_NUMBERS: u32 = (MAX_NAMES_LIMIT + RowKind::ALL.len()) as u32;
/// The name under which the rest counts.
pub const OTHER: &str = "other";

/// What a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKind {
    /// Requests of a step.
    Request = 0,
    /// Passes of a group of steps.
    Group = 1,
    /// Programs that were run.
    Program = 2,
    /// Requests of a page's resources.
    Resource = 3,
    Check = 4,
    /// Iterations of a scenario.
    Iteration = 5,
}

impl RowKind {
    /// All kinds with their names in results and thresholds, in the order in which a name is looked for:
    /// one that several kinds have means the first of them.
    pub const ALL: [(RowKind, &str); 6] = [
        (RowKind::Request, "request"),
        (RowKind::Program, "program"),
        (RowKind::Resource, "resource"),
        (RowKind::Group, "group"),
        (RowKind::Check, "check"),
        (RowKind::Iteration, "iteration"),
    ];

    /// Its name in results and thresholds.
    pub fn label(self) -> &'static str {
        RowKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, label)| label)
    }

    /// The kind of a label.
    pub fn from_label(label: &str) -> Option<RowKind> {
        RowKind::ALL.iter().find(|(_, own)| *own == label).map(|(kind, _)| *kind)
    }

    /// Whether it counts as a request of the run: groups and iterations hold requests that count by
    /// themselves, and checks are no requests.
    pub fn is_request(self) -> bool {
        matches!(self, RowKind::Request | RowKind::Program | RowKind::Resource)
    }

    fn from_number(number: u64) -> Option<RowKind> {
        RowKind::ALL.iter().map(|(kind, _)| *kind).find(|kind| *kind as u64 == number)
    }
}

/// What identifies a row but for its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub kind: RowKind,
    /// The scenario; empty for `other`, which counts for all of them.
    pub scenario: String,
    /// The groups around it, the outermost first.
    pub group: Vec<String>,
    /// Its tags with their values, by name.
    pub tags: Vec<(String, String)>,
}

impl Place {
    /// Outside of groups, without tags.
    pub fn new(kind: RowKind, scenario: &str) -> Place {
        Place { kind, scenario: scenario.to_owned(), group: Vec::new(), tags: Vec::new() }
    }
}

/// What identifies a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey {
    /// Everything but its name.
    pub place: Place,
    pub name: String,
}

impl RowKey {
    /// A row outside of groups.
    pub fn new(kind: RowKind, scenario: &str, name: &str) -> RowKey {
        RowKey { place: Place::new(kind, scenario), name: name.to_owned() }
    }

    /// Its name, with its tags as in `login{team=a}`.
    pub fn label(&self) -> String {
        with_tags(&self.name, self.place.tags.iter().map(|(tag, value)| (tag, value)))
    }

    /// Whether it is in a group, or in one within that.
    pub fn is_in(&self, group: &RowKey) -> bool {
        let (outer, own) = (&group.place.group, &self.place.group);
        self.place.scenario == group.place.scenario
            && own.starts_with(outer)
            && own.get(outer.len()) == Some(&group.name)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.place.kind as u64);
        codec::put_text(out, &self.place.scenario);
        codec::put(out, self.place.group.len() as u64);
        self.place.group.iter().for_each(|group| codec::put_text(out, group));
        codec::put_text(out, &self.name);
        // Those who do not know of tags stop here.
        if !self.place.tags.is_empty() {
            codec::put(out, self.place.tags.len() as u64);
            for (tag, value) in &self.place.tags {
                codec::put_text(out, tag);
                codec::put_text(out, value);
            }
        }
    }

    /// `None`: its kind is one that only later versions know.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Option<RowKey>, DecodeError> {
        let Some(kind) = RowKind::from_number(codec::get(bytes)?) else { return Ok(None) };
        let scenario = codec::get_text(bytes)?;
        let mut group = Vec::new();
        for _ in 0..codec::get(bytes)? {
            group.push(codec::get_text(bytes)?);
        }
        let name = codec::get_text(bytes)?;
        let mut tags = Vec::new();
        if !bytes.is_empty() {
            for _ in 0..codec::get(bytes)? {
                tags.push((codec::get_text(bytes)?, codec::get_text(bytes)?));
            }
        }
        Ok(Some(RowKey { place: Place { kind, scenario, group, tags }, name }))
    }
}

/// A name with tags and their values, as in `login{team=a}`; without tags the name alone.
pub fn with_tags<'t>(
    name: &str,
    tags: impl IntoIterator<Item = (&'t String, &'t String)>,
) -> String {
    let tags: Vec<String> = tags.into_iter().map(|(tag, value)| format!("{tag}={value}")).collect();
    match tags.is_empty() {
        true => name.to_owned(),
        false => format!("{name}{{{}}}", tags.join(",")),
    }
}

/// Which rows are meant: all that agree with everything that is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    pub name: Option<String>,
    /// The kind; without one, the first of [`RowKind::ALL`] that has such a name.
    pub kind: Option<RowKind>,
    pub scenario: Option<String>,
    /// A group around it, at any depth.
    pub group: Option<String>,
    /// Tags with their values.
    pub tags: Vec<(String, String)>,
}

impl Selector {
    /// The name of the metric that may be meant: with tags it is written `name{key=value}`.
    pub fn metric(&self) -> Option<&str> {
        let name = self.name.as_deref()?;
        Some(name.split_once('{').map_or(name, |(name, _)| name))
    }

    /// Whether a row is meant, its kind aside.
    pub fn matches(&self, key: &RowKey) -> bool {
        self.name.as_ref().is_none_or(|name| *name == key.name)
            && self.scenario.as_ref().is_none_or(|scenario| *scenario == key.place.scenario)
            && self.group.as_ref().is_none_or(|group| key.place.group.contains(group))
            && self.tags.iter().all(|tag| key.place.tags.contains(tag))
    }

    /// The kinds that are meant, given all rows that there are: the one that is given, or the first that has
    /// a row, or without a name all requests.
    pub fn kinds<'k>(&self, keys: impl Iterator<Item = &'k RowKey> + Clone) -> Vec<RowKind> {
        if let Some(kind) = self.kind {
            return vec![kind];
        }
        let all = RowKind::ALL.iter().map(|(kind, _)| *kind);
        if self.name.is_none() {
            return all.filter(|kind| kind.is_request()).collect();
        }
        let has =
            |kind: &RowKind| keys.clone().any(|key| key.place.kind == *kind && self.matches(key));
        all.into_iter().find(has).into_iter().collect()
    }
}

/// The number of a row, within one worker or within the totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// The number of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaceId(pub u32);

/// Rows by number: so many as it was made for, and one `other` for each kind.
#[derive(Debug, Clone)]
pub struct Names {
    most: usize,
    /// Each place is in both, and may have many tags.
    places: Vec<Arc<Place>>,
    place_numbers: HashMap<Arc<Place>, PlaceId>,
    rows: Vec<(PlaceId, String)>,
    /// Numbers of the rows of each place by name.
    numbers: Vec<HashMap<String, NameId>>,
}

impl Names {
    /// An empty list of at most so many names.
    pub fn new(most: usize) -> Names {
        Names {
            most,
            places: Vec::new(),
            place_numbers: HashMap::new(),
            rows: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// The same with room for so many names.
    pub fn with_most(self, most: usize) -> Names {
        Names { most, ..self }
    }

    /// The number of a place, assigned now if it is new.
    pub fn place(&mut self, place: &Place) -> PlaceId {
        if let Some(id) = self.place_numbers.get(place) {
            return *id;
        }
        let id = PlaceId(self.places.len() as u32);
        let place = Arc::new(place.clone());
        self.places.push(place.clone());
        self.place_numbers.insert(place, id);
        self.numbers.push(HashMap::new());
        id
    }

    /// The number of a place that has one.
    pub fn find_place(&self, place: &Place) -> Option<PlaceId> {
        self.place_numbers.get(place).copied()
    }

    /// The number of a name at a place, assigned now if it is new; that of `other` if there are too many.
    pub fn intern(&mut self, place: PlaceId, name: &str) -> NameId {
        if let Some(id) = self.find(place, name) {
            return id;
        }
        if self.is_full() {
            let other = self.other(place);
            if other != place || name != OTHER {
                return self.intern(other, OTHER);
            }
        }
        let id = NameId(self.rows.len() as u32);
        self.rows.push((place, name.to_owned()));
        self.numbers[place.0 as usize].insert(name.to_owned(), id);
        id
    }

    /// The number of a row, assigned now if it is new; that of `other` if there are too many.
    pub fn intern_key(&mut self, key: &RowKey) -> NameId {
        let place = self.place(&key.place);
        self.intern(place, &key.name)
    }

    /// Where `other` of a place's kind counts.
    fn other(&mut self, PlaceId(place): PlaceId) -> PlaceId {
        let kind = self.places[place as usize].kind;
        self.place(&Place::new(kind, ""))
    }

    /// The number of a name that has one.
    pub fn find(&self, PlaceId(place): PlaceId, name: &str) -> Option<NameId> {
        self.numbers.get(place as usize)?.get(name).copied()
    }

    /// The number of `other` of a place's kind, if it has one.
    pub fn find_other(&self, PlaceId(place): PlaceId) -> Option<NameId> {
        let kind = self.places.get(place as usize)?.kind;
        let other = Place::new(kind, "");
        self.find(*self.place_numbers.get(&other)?, OTHER)
    }

    /// Whether no further name gets a number, but for `other`.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    /// Takes over what `other` has beyond these, which are the first ones of it.
    pub fn follow(&mut self, other: &Names) {
        for place in &other.places[self.places.len()..] {
            self.place(place);
        }
        for (place, name) in &other.rows[self.rows.len()..] {
            self.intern(*place, name);
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Place and name of a row.
    pub fn get(&self, NameId(id): NameId) -> Option<(&Place, &str)> {
        let (PlaceId(place), name) = self.rows.get(id as usize)?;
        Some((self.places.get(*place as usize)?, name))
    }

    /// What identifies a row.
    pub fn key(&self, id: NameId) -> Option<RowKey> {
        let (place, name) = self.get(id)?;
        Some(RowKey { place: place.clone(), name: name.to_owned() })
    }

    /// All rows in the order of their numbers.
    pub fn keys(&self) -> impl Iterator<Item = RowKey> {
        (0..self.len()).filter_map(|id| self.key(NameId(id as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(kind: RowKind, scenario: &str, group: &[&str]) -> Place {
        let group = group.iter().map(|own| (*own).to_owned()).collect();
        Place { group, ..Place::new(kind, scenario) }
    }

    #[test]
    fn names_stay_few() {
        let mut names = Names::new(MAX_NAMES);
        let [buyer, guest] =
            ["buyer", "guest"].map(|own| names.place(&place(RowKind::Request, own, &[])));
        for number in 0..10_000 {
            names.intern(buyer, &format!("GET /{number}"));
        }
        assert_eq!(names.len(), MAX_NAMES + 1);
        assert_eq!(names.intern(buyer, "GET /999"), NameId(999));
        let other = names.intern(buyer, "GET /9999");
        assert_eq!(other, names.intern(guest, "anything"), "one for all scenarios");
        assert_eq!(names.find_other(guest), Some(other));
        let group = names.place(&place(RowKind::Group, "buyer", &[]));
        assert_ne!(names.intern(group, "checkout"), other, "one for each kind");
    }

    #[test]
    fn a_row_is_more_than_its_name() {
        let mut names = Names::new(10);
        let places = [
            place(RowKind::Request, "buyer", &[]),
            place(RowKind::Group, "buyer", &[]),
            place(RowKind::Request, "guest", &[]),
            place(RowKind::Request, "buyer", &["checkout"]),
        ];
        let numbers = places
            .clone()
            .map(|place| names.intern_key(&RowKey { place, name: "login".to_owned() }));
        assert_eq!(numbers, [0, 1, 2, 3].map(NameId));
        assert_eq!(names.keys().map(|key| key.place).collect::<Vec<_>>(), places);
    }

    #[test]
    fn tags_are_part_of_a_row_on_disk_too() {
        let plain = RowKey::new(RowKind::Request, "buyer", "login");
        let mut tagged = plain.clone();
        tagged.place.tags = vec![("team".to_owned(), "a".to_owned())];
        assert_eq!((plain.label().as_str(), tagged.label().as_str()), ("login", "login{team=a}"));
        for key in [&plain, &tagged] {
            let mut bytes = Vec::new();
            key.encode(&mut bytes);
            assert_eq!(RowKey::decode(&mut bytes.as_slice()), Ok(Some(key.clone())));
        }
        let of = |tags: &[(&str, &str)]| {
            let tags = tags.iter().map(|(tag, own)| ((*tag).to_owned(), (*own).to_owned()));
            let selector = Selector { tags: tags.collect(), ..Selector::default() };
            [&plain, &tagged].map(|key| selector.matches(key))
        };
        assert_eq!(of(&[]), [true, true]);
        assert_eq!(of(&[("team", "a")]), [false, true]);
        assert_eq!(of(&[("team", "b")]), [false, false]);
        assert_eq!(of(&[("team", "a"), ("page", "x")]), [false, false]);
    }

    #[test]
    fn a_name_of_several_kinds_means_requests() {
        let keys = [
            RowKey::new(RowKind::Group, "buyer", "login"),
            RowKey::new(RowKind::Request, "guest", "login"),
            RowKey::new(RowKind::Group, "buyer", "checkout"),
        ];
        let kinds = |selector: Selector| selector.kinds(keys.iter());
        let named = |name: &str| Selector { name: Some(name.to_owned()), ..Selector::default() };
        assert_eq!(kinds(named("login")), [RowKind::Request]);
        assert_eq!(kinds(named("checkout")), [RowKind::Group]);
        assert_eq!(kinds(named("nothing")), []);
        let of_buyer = Selector { scenario: Some("buyer".to_owned()), ..named("login") };
        assert_eq!(kinds(of_buyer), [RowKind::Group]);
        let group = Selector { kind: Some(RowKind::Group), ..named("login") };
        assert_eq!(kinds(group), [RowKind::Group]);
    }

    #[test]
    fn what_is_within_a_group() {
        let group = RowKey::new(RowKind::Group, "buyer", "checkout");
        let key = |scenario: &str, path: &[&str]| RowKey {
            place: place(RowKind::Request, scenario, path),
            name: "pay".to_owned(),
        };
        assert!(key("buyer", &["checkout"]).is_in(&group));
        assert!(key("buyer", &["checkout", "card"]).is_in(&group));
        assert!(!key("guest", &["checkout"]).is_in(&group));
        assert!(!key("buyer", &["card", "checkout"]).is_in(&group));
        assert!(!key("buyer", &[]).is_in(&group));
    }
}
