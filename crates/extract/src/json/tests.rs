//! The examples of RFC 9535, and what it forbids. Object members come in the order of the
//! document, which the RFC leaves open.

use serde_json::{Value, json};

use super::*;
use crate::Limits;

fn find(
    path: &str,
    json: &str,
    which: MatchChoice,
    random: u64,
) -> Result<Found<'static>, ExtractError> {
    let path = JsonPath::compile(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let fuel = Fuel::new(json.len(), Limits::default());
    let document = Document::new(json.as_bytes())?;
    path.find(&document, &fuel, which, random).map(Found::into_owned)
}

fn select(path: &str, document: &Value) -> Value {
    match find(path, &document.to_string(), MatchChoice::All, 0).unwrap() {
        Found::None => json!([]),
        Found::One(one) => panic!("one of all: {one:?}"),
        Found::Many(items) => items.into_iter().map(value).collect(),
    }
}

fn value(item: Item<'_>) -> Value {
    match item {
        Item::Json(value) => value,
        Item::Bytes(bytes) => Value::String(String::from_utf8(bytes.into_owned()).unwrap()),
    }
}

fn check(document: &Value, table: &[(&str, Value)]) {
    for (path, expected) in table {
        assert_eq!(select(path, document), *expected, "{path}");
    }
}

/// Section 1.5.
fn store() -> Value {
    json!({"store": {
        "book": [
            {"category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century",
             "price": 8.95},
            {"category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour",
             "price": 12.99},
            {"category": "fiction", "author": "Herman Melville", "title": "Moby Dick",
             "isbn": "0-553-21311-3", "price": 8.99},
            {"category": "fiction", "author": "J. R. R. Tolkien",
             "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99}
        ],
        "bicycle": {"color": "red", "price": 399}
    }})
}

#[test]
fn the_book_store() {
    let authors = json!(["Nigel Rees", "Evelyn Waugh", "Herman Melville", "J. R. R. Tolkien"]);
    let store = store();
    let book = |index: usize| store["store"]["book"][index].clone();
    check(
        &store,
        &[
            ("$.store.book[*].author", authors.clone()),
            ("$..author", authors),
            ("$.store.*", json!([store["store"]["book"], store["store"]["bicycle"]])),
            ("$.store..price", json!([8.95, 12.99, 8.99, 22.99, 399])),
            ("$..book[2]", json!([book(2)])),
            ("$..book[2].author", json!(["Herman Melville"])),
            ("$..book[2].publisher", json!([])),
            ("$..book[-1]", json!([book(3)])),
            ("$..book[0,1]", json!([book(0), book(1)])),
            ("$..book[:2]", json!([book(0), book(1)])),
            ("$..book[?@.isbn]", json!([book(2), book(3)])),
            ("$..book[?@.price<10]", json!([book(0), book(2)])),
        ],
    );
    assert_eq!(select("$..*", &store).as_array().unwrap().len(), 27);
    assert_eq!(select("$", &store), json!([store]));
}

#[test]
fn names_wildcards_indexes_and_slices() {
    check(
        &json!({"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}),
        &[
            ("$.o['j j']", json!([{"k.k": 3}])),
            ("$.o['j j']['k.k']", json!([3])),
            (r#"$.o["j j"]["k.k"]"#, json!([3])),
            (r#"$["'"]["@"]"#, json!([2])),
            (r"$['\'']['\u0040']", json!([2])),
        ],
    );
    check(
        &json!({"o": {"j": 1, "k": 2}, "a": [5, 3]}),
        &[
            ("$[*]", json!([{"j": 1, "k": 2}, [5, 3]])),
            ("$.o[*, *]", json!([1, 2, 1, 2])),
            ("$.a[*]", json!([5, 3])),
            ("$ .a [0]", json!([5])),
        ],
    );
    check(
        &json!(["a", "b", "c", "d", "e", "f", "g"]),
        &[
            ("$[1]", json!(["b"])),
            ("$[-2]", json!(["f"])),
            ("$[7]", json!([])),
            ("$[-8]", json!([])),
            ("$[1:3]", json!(["b", "c"])),
            ("$[5:]", json!(["f", "g"])),
            ("$[1:5:2]", json!(["b", "d"])),
            ("$[5:1:-2]", json!(["f", "d"])),
            ("$[::-1]", json!(["g", "f", "e", "d", "c", "b", "a"])),
            ("$[1:3:0]", json!([])),
            ("$[-9007199254740991:9007199254740991:9007199254740991]", json!(["a"])),
            ("$[0, 0:2, 5]", json!(["a", "a", "b", "f"])),
        ],
    );
}

#[test]
fn long_slices_backwards() {
    let document = Value::from((0..200_000).collect::<Vec<_>>());
    check(
        &document,
        &[
            ("$[:199998:-1]", json!([199_999])),
            ("$[::-66000]", json!([199_999, 133_999, 67_999, 1999])),
            ("$[140000:130000:-65536]", json!([140_000])),
            ("$[140000:2:-65536]", json!([140_000, 74_464, 8928])),
        ],
    );
}

#[test]
fn filters_of_items_test_an_object_itself() {
    let document = json!({
        "b": "x", "k": {"b": "x", "v": 1},
        "list": [{"b": "x", "v": 2, "in": {"b": "x", "v": 3}}, {"b": "y", "v": 4}, 5],
    });
    check(
        &document,
        &[
            ("$.list[??@.b == 'x'].v", json!([2])),
            ("$.list[?? @ > 4]", json!([5])),
            ("$.k[??@.b == 'x'].v", json!([1])),
            ("$.k[??@.b == 'y']", json!([])),
            ("$[??(@.b == 'x')].k.v", json!([1])),
            ("$.b[??@ == 'x']", json!([])),
            ("$..[??@.b == 'x'].v", json!([1, 2, 3])),
            ("$..list[??@.v > 2].b", json!(["y"])),
            ("$.list[?match(string(@.v), '[24]')].b", json!(["x", "y"])),
            ("$.list[?string(@) == '5']", json!([5])),
            ("$[?string(@.in) == '5']", json!([])),
            // That of the RFC tests what is in it.
            ("$.k[?@ == 1]", json!([1])),
            ("$.k[?@.b == 'x']", json!([])),
        ],
    );
}

#[test]
fn descendants() {
    check(
        &json!({"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}),
        &[
            ("$..j", json!([1, 4])),
            ("$..[0]", json!([5, {"j": 4}])),
            ("$..o", json!([{"j": 1, "k": 2}])),
            ("$.o..[*, *]", json!([1, 2, 1, 2])),
            ("$.a..[0, 1]", json!([5, 3, {"j": 4}, {"k": 6}])),
            ("$..a..j", json!([4])),
        ],
    );
}

#[test]
fn filters() {
    let document = json!({
        "a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
        "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}},
        "e": "f"
    });
    check(
        &document,
        &[
            ("$.a[?@.b == 'kilo']", json!([{"b": "kilo"}])),
            ("$.a[?(@.b == 'kilo')]", json!([{"b": "kilo"}])),
            ("$.a[?@>3.5]", json!([5, 4, 6])),
            ("$.a[?@.b]", json!([{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}])),
            ("$[?@.*]", json!([document["a"], document["o"]])),
            ("$[?@[?@.b]]", json!([document["a"]])),
            ("$.o[?@<3, ?@<3]", json!([1, 2, 1, 2])),
            ("$.a[?@<2 || @.b == \"k\"]", json!([1, {"b": "k"}])),
            ("$.a[?match(@.b, \"[jk]\")]", json!([{"b": "j"}, {"b": "k"}])),
            ("$.a[?search(@.b, \"[jk]\")]", json!([{"b": "j"}, {"b": "k"}, {"b": "kilo"}])),
            ("$.o[?@>1 && @<4]", json!([2, 3])),
            ("$.o[?@.u || @.x]", json!([{"u": 6}])),
            ("$.a[?@.b == $.x]", json!([3, 5, 1, 2, 4, 6])),
            ("$.a[?@ == @]", document["a"].clone()),
            ("$.a[?!@.b && !(@ > 2)]", json!([1, 2])),
            ("$.o[?length(@) == 1]", json!([{"u": 6}])),
            ("$[?length(@) == 5]", json!([document["o"]])),
            ("$[?count(@[?@ > 4]) == 2]", json!([document["a"]])),
            ("$[?value(@..u) == 6]", json!([document["o"]])),
        ],
    );
}

/// Section 2.3.5.3, table 11.
#[test]
fn comparisons() {
    let document = json!({"obj": {"x": "y"}, "arr": [2, 3]});
    for (comparison, expected) in [
        ("$.absent1 == $.absent2", true),
        ("$.absent1 <= $.absent2", true),
        ("$.absent == 'g'", false),
        ("$.absent1 != $.absent2", false),
        ("$.absent != 'g'", true),
        ("1 <= 2", true),
        ("1 > 2", false),
        ("13 == '13'", false),
        ("'a' <= 'b'", true),
        ("'a' > 'b'", false),
        ("$.obj == $.arr", false),
        ("$.obj != $.arr", true),
        ("$.obj == $.obj", true),
        ("$.obj != $.obj", false),
        ("$.arr == $.arr", true),
        ("$.arr != $.arr", false),
        ("$.obj == 17", false),
        ("$.obj != 17", true),
        ("$.obj <= $.arr", false),
        ("$.obj < $.arr", false),
        ("$.obj <= $.obj", true),
        ("$.arr <= $.arr", true),
        ("1 <= $.arr", false),
        ("1 >= $.arr", false),
        ("1 > $.arr", false),
        ("1 < $.arr", false),
        ("true <= true", true),
        ("true > true", false),
        // Beyond the table: numbers are compared by what they are worth.
        ("1 == 1.0", true),
        ("1e2 == 100", true),
        ("-0 == 0", true),
        ("9007199254740993 == 9007199254740992", false),
        ("18446744073709551615 > -1", true),
    ] {
        let found = select(&format!("$[?{comparison}]"), &document);
        assert_eq!(found != json!([]), expected, "{comparison}");
    }
}

#[test]
fn functions_compare_whole_characters_and_lines() {
    check(
        &json!(["é", "ab", "a\nb", "a\rb", "x", 1, null]),
        &[
            ("$[?length(@) == 1]", json!(["é", "x"])),
            ("$[?match(@, 'a.b')]", json!([])),
            ("$[?match(@, 'a[^x]b')]", json!(["a\nb", "a\rb"])),
            ("$[?match(@, 'x|ab')]", json!(["ab", "x"])),
            ("$[?search(@, 'b')]", json!(["ab", "a\nb", "a\rb"])),
            ("$[?match(@, $[4])]", json!(["x"])),
            ("$[?match(@, $[5])]", json!([])),
        ],
    );
    check(&json!([["(", "("], ["a)(b", "a)|(?:b"]]), &[("$[?match(@[0], @[1])]", json!([]))]);
}

#[test]
fn mistakes_say_where() {
    for (path, offset) in [
        ("", 0),
        ("items", 0),
        ("$.", 2),
        ("$..", 3),
        ("$ ", 1),
        ("$.a b", 3),
        ("$[a]", 2),
        ("$['a'", 5),
        ("$['a", 2),
        ("$[01]", 2),
        ("$[-0]", 2),
        ("$[9007199254740992]", 2),
        (r"$['\x']", 4),
        (r"$['\ud800']", 4),
        ("$[?@.a =]", 7),
        ("$[?1]", 3),
        ("$[?@..a == 1]", 3),
        ("$[?@.a == @.*]", 10),
        ("$[?!@.a == 1]", 4),
        ("$[?size(@)]", 3),
        ("$[?length(@.a)]", 3),
        ("$[?match(@.a, 'x') == true]", 3),
        ("$[?match(@.a, '(')]", 14),
        ("$[?count(1) == 1]", 9),
        ("$[?@.a == foo]", 10),
        ("$[?@.a == 1e999]", 10),
    ] {
        let error = JsonPath::compile(path).unwrap_err();
        assert_eq!(error.offset, Some(offset), "{path}: {error}");
    }
    let error = JsonPath::compile("$[items]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a quoted name, a number, a slice, `*` or `?`, found `i` (at byte 2); \
         names in brackets are quoted: ['name']"
    );
}

#[test]
fn nesting_is_bounded() {
    for path in [
        format!("$[?{}", "(".repeat(10_000)),
        format!("$[?{}", "@[?".repeat(10_000)),
        format!("$[?{}", "length(".repeat(8_000)),
        format!("${}", ".a".repeat(10_000)),
    ] {
        assert!(JsonPath::compile(&path).is_err(), "{path:.20}");
    }
}

#[test]
fn picks_one_and_keeps_its_type() {
    let document = json!({"n": 7, "t": "7", "b": true, "z": null, "l": [1, 2, 3], "big": u64::MAX});
    let json = document.to_string();
    let find = |path, which, random| find(path, &json, which, random).unwrap();
    for (path, expected) in [
        ("$.n", Item::Json(json!(7))),
        ("$.t", Item::text("7")),
        ("$.b", Item::Json(json!(true))),
        ("$.z", Item::Json(Value::Null)),
        ("$.l", Item::Json(json!([1, 2, 3]))),
        ("$.big", Item::Json(json!(u64::MAX))),
    ] {
        assert_eq!(find(path, MatchChoice::First, 0), Found::One(expected), "{path}");
    }
    for (which, random, expected) in [
        (MatchChoice::First, 0, 1),
        (MatchChoice::Nth(2), 0, 2),
        (MatchChoice::Last, 0, 3),
        (MatchChoice::Random, 0, 1),
        (MatchChoice::Random, u64::MAX, 3),
    ] {
        let expected = Found::One(Item::Json(json!(expected)));
        assert_eq!(find("$.l[*]", which, random), expected, "{which:?}");
    }
    assert_eq!(find("$.l[*]", MatchChoice::Nth(4), 0), Found::None);
    assert_eq!(find("$.missing", MatchChoice::First, 0), Found::None);
}

#[test]
fn costly_searches_end() {
    // 60 levels of "a", each search for one of them below another: 60^k combinations.
    let json = format!("{}[1,2,3]{}", "{\"a\":[".repeat(60), "]}".repeat(60));
    for path in ["$..a..a..a..a..a..x", "$..[?@..[?@..a..a..a..b]]", "$..*..*..*..*"] {
        let found = find(path, &json, MatchChoice::All, 0);
        assert!(matches!(found, Err(ExtractError::TooCostly { .. })), "{path}");
    }
    // Finding the first one is cheap.
    assert!(matches!(find("$..a..a..a..a", &json, MatchChoice::First, 0), Ok(Found::One(_))));
}
