//! How long a response is fresh, what is stored, and who makes room.

use super::fields::MAX_SECONDS;
use super::*;

/// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
const NOW: i64 = 784_111_777;
const DATE: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT";

fn fields(lines: &[&str]) -> Fields {
    let pairs = lines.iter().filter_map(|line| line.split_once(": "));
    Fields::of(pairs.map(|(name, value)| (name.as_bytes(), value.as_bytes())))
}

fn none(_: &str) -> Box<[u8]> {
    Box::default()
}

fn at(now: i64) -> Moments {
    Moments { requested: now, received: now }
}

fn cache_of(lines: &[&str]) -> Cache<&'static str> {
    let mut cache = Cache::default();
    cache.store("u", none, 200, fields(lines), at(NOW), "about");
    cache
}

/// Sections 4.2.1 and 4.2.2: for how many seconds a response is fresh.
#[test]
fn the_lifetime_of_a_response() {
    for (lines, lifetime) in [
        (&["Cache-Control: max-age=60"][..], 60),
        (&["cache-control: public, MAX-AGE=\"60\" , x"], 60),
        (&["Cache-Control: max-age=60", "Cache-Control: max-age=90"], 60),
        (&["Cache-Control: max-age=60, s-maxage=10, private, must-revalidate"], 60),
        (&["Cache-Control: x=\"a, max-age=5\", max-age=7"], 7),
        (&["Cache-Control: max-age=abc"], 0),
        (&["Cache-Control: max-age"], 0),
        (&["Cache-Control: max-age=99999999999999999999"], MAX_SECONDS),
        (&["Cache-Control: max-age=60", "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 60),
        (&[DATE, "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 3_600),
        (&["Expires: Sunday, 06-Nov-94 08:50:37 GMT"], 60),
        (&["Expires: Sun Nov  6 08:50:37 1994"], 60),
        (&["Expires: 0"], 0),
        (&["Expires: 0", "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 0),
        (&[DATE, "Expires: Sun, 06 Nov 1994 07:49:37 GMT"], 0),
        // A tenth of the time since the last change.
        (&[DATE, "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"], 60),
        (&[DATE, "Last-Modified: Sun, 06 Nov 1994 09:39:37 GMT"], 0),
        (&["ETag: \"x\""], 0),
        (&["Cache-Control: private", "ETag: \"x\""], 0),
    ] {
        assert_eq!(fields(lines).stale_from(at(NOW)) - NOW, lifetime, "{lines:?}");
    }
    let no_cache = fields(&["Cache-Control: no-cache=\"x\", max-age=60"]);
    assert!(no_cache.stale_from(at(NOW)) < NOW);
}

/// Section 4.2.3: how old it is when it comes.
#[test]
fn the_age_of_a_response() {
    for (lines, delay, left) in [
        (&[DATE][..], 0, 100),
        (&["Age: 30", DATE], 0, 70),
        (&["Age: 30", "Age: 50"], 5, 65),
        (&["Age: x"], 5, 95),
        (&["Date: Sun, 06 Nov 1994 08:49:27 GMT"], 0, 90),
        (&["Date: Sun, 06 Nov 1994 08:49:27 GMT", "Age: 4"], 2, 90),
        (&["Date: Sun, 06 Nov 1994 08:59:27 GMT"], 0, 100),
        (&["Age: 300"], 0, -200),
    ] {
        let lines = [lines, &["Cache-Control: max-age=100"]].concat();
        let moments = Moments { requested: NOW - delay, received: NOW };
        assert_eq!(fields(&lines).stale_from(moments) - NOW, left, "{lines:?}");
    }
}

/// Section 3.
#[test]
fn what_may_be_stored() {
    for (status, lines, stored) in [
        (200, &["ETag: \"x\""][..], true),
        (200, &["Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"], true),
        (200, &["Cache-Control: max-age=5"], true),
        (200, &["Cache-Control: no-cache", "ETag: \"x\""], true),
        (200, &["Cache-Control: private, max-age=5"], true),
        (200, &["Cache-Control: no-store, max-age=5", "ETag: \"x\""], false),
        (200, &["Vary: *", "Cache-Control: max-age=5"], false),
        (200, &["Vary: Accept, *", "Cache-Control: max-age=5"], false),
        (200, &[DATE], false),
        (404, &["Cache-Control: max-age=5"], true),
        (500, &["ETag: \"x\""], false),
        (500, &["Cache-Control: max-age=5"], true),
        (302, &["ETag: \"x\""], false),
        (206, &["Cache-Control: max-age=5"], false),
        (304, &["Cache-Control: max-age=5"], false),
    ] {
        let mut cache = Cache::default();
        cache.store("u", none, status, fields(lines), at(NOW), ());
        let known = cache.look_up("u", none, NOW) != Lookup::Absent;
        assert_eq!(known, stored, "{status} {lines:?}");
    }
}

fn tag(value: &str) -> Condition {
    (b"If-None-Match: ", value.as_bytes().into())
}

#[test]
fn what_is_fresh_is_not_asked_for_and_what_is_stale_is_asked_for_with_conditions() {
    let modified = "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT";
    let mut cache = cache_of(&["Cache-Control: max-age=60", "ETag: W/\"x\"", modified]);
    assert_eq!(cache.look_up("u", none, NOW + 59), Lookup::Fresh("about"));
    let changed: Condition = (b"If-Modified-Since: ", modified.as_bytes()[15..].into());
    let conditions = vec![tag("W/\"x\""), changed];
    assert_eq!(cache.look_up("u", none, NOW + 60), Lookup::Stale(conditions));
    assert_eq!(cache.look_up("v", none, NOW), Lookup::Absent);
    let mut cache = cache_of(&["Cache-Control: max-age=60"]);
    assert_eq!(cache.look_up("u", none, NOW + 60), Lookup::Absent, "no condition");
    let mut cache = cache_of(&["Cache-Control: no-cache", "ETag: \"a\""]);
    assert_eq!(cache.look_up("u", none, NOW), Lookup::Stale(vec![tag("\"a\"")]));
}

#[test]
fn a_304_makes_it_fresh_again() {
    let mut cache = cache_of(&["Cache-Control: max-age=60", "ETag: \"x\"", "Age: 50"]);
    assert!(matches!(cache.look_up("u", none, NOW + 10), Lookup::Stale(_)));
    let about = cache.revalidate("u", none, fields(&[]), at(NOW + 10));
    assert_eq!(about, Some("about"));
    assert_eq!(cache.look_up("u", none, NOW + 69), Lookup::Fresh("about"), "as it said before");
    let newer = fields(&["Cache-Control: max-age=5", "ETag: \"y\""]);
    cache.revalidate("u", none, newer, at(NOW + 70));
    assert_eq!(cache.look_up("u", none, NOW + 75), Lookup::Stale(vec![tag("\"y\"")]));
    cache.revalidate("u", none, fields(&["Cache-Control: no-store"]), at(NOW + 80));
    assert_eq!(cache.look_up("u", none, NOW + 80), Lookup::Absent);
    assert_eq!(cache.revalidate("u", none, fields(&[]), at(NOW)), None);
}

#[test]
fn a_new_response_takes_the_place_of_the_one_before() {
    let mut cache = cache_of(&["Cache-Control: max-age=60"]);
    cache.store("u", none, 200, fields(&["Cache-Control: max-age=90"]), at(NOW), "new");
    assert_eq!(cache.look_up("u", none, NOW + 80), Lookup::Fresh("new"));
    cache.store("u", none, 200, fields(&["Cache-Control: no-store"]), at(NOW), "newer");
    assert_eq!(cache.look_up("u", none, NOW), Lookup::Absent);
}

/// Section 4.1.
#[test]
fn responses_are_told_apart_by_what_they_vary_with() {
    let language = |text: &'static str| {
        move |name: &str| match name {
            "accept-language" => text.as_bytes().into(),
            _ => Box::default(),
        }
    };
    let mut cache = Cache::default();
    let lines = ["Cache-Control: max-age=60", "Vary: Accept-Language", "Vary: Accept-Encoding"];
    for text in ["en", "fr"] {
        cache.store("u", language(text), 200, fields(&lines), at(NOW), text);
    }
    assert_eq!(cache.look_up("u", language("en"), NOW), Lookup::Fresh("en"));
    assert_eq!(cache.look_up("u", language("fr"), NOW), Lookup::Fresh("fr"));
    assert_eq!(cache.look_up("u", language("de"), NOW), Lookup::Absent);
}

#[test]
fn the_least_recently_used_makes_room() {
    let mut cache = Cache::default();
    assert_eq!(size_of::<Cache<()>>(), 8);
    let lines = fields(&["Cache-Control: max-age=60"]);
    for n in 0..MAX_ENTRIES {
        cache.store(&format!("{n}"), none, 200, lines.clone(), at(NOW), n);
    }
    cache.look_up("0", none, NOW);
    cache.store("new", none, 200, lines.clone(), at(NOW), 0);
    let mut known = |url: &str| cache.look_up(url, none, NOW) != Lookup::Absent;
    assert_eq!((known("0"), known("1"), known("2"), known("new")), (true, false, true, true));
    assert_eq!(cache.0.as_ref().map(|stored| stored.entries), Some(MAX_ENTRIES));
}

#[test]
fn any_headers_are_good_or_passed_over() {
    use proptest::prelude::*;
    let names = "(cache-control|expires|date|age|etag|last-modified|vary)";
    let headers = prop::collection::vec((names, prop::collection::vec(any::<u8>(), 0..30)), 0..9);
    proptest!(|(headers in headers, received: i64)| {
        let pairs = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()));
        let moments = Moments { requested: received, received };
        let mut cache = Cache::default();
        cache.store("u", none, 200, Fields::of(pairs), moments, ());
        if let Lookup::Stale(conditions) = cache.look_up("u", none, received) {
            prop_assert!(matches!(conditions.len(), 1 | 2));
        }
    });
}
