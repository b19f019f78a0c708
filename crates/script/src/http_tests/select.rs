//! Selectors of JSON.

use super::run;

const TEXT: &str = r#"{"0":"zero","name":{"first":"Tom","last":"Anderson"},"age":37,"children":["Sara","Alex","Jack"],"fav.movie":"Deer Hunter","empty":[],"friends":[{"first":"Dale","last":"Murphy","age":44,"nets":["ig","fb","tw"]},{"first":"Roger","last":"Craig","age":68,"nets":["fb","tw"],"ok":true},{"first":"Jane","last":"Murphy","age":47,"nets":["ig","tw"],"b":{"c":[1,2]}}]}"#;

#[test]
fn selectors_find_what_they_say() {
    for (selector, found) in [
        ("", TEXT),
        ("name.last", r#""Anderson""#),
        ("age", "37"),
        ("0", r#""zero""#),
        ("children", r#"["Sara","Alex","Jack"]"#),
        ("children.#", "3"),
        ("children.1", r#""Alex""#),
        ("children.9", "undefined"),
        ("children.x", "undefined"),
        ("children.length", "undefined"),
        ("name.toString", "undefined"),
        ("age.x", "undefined"),
        ("empty.#", "0"),
        ("empty.#.x", "[]"),
        ("child*.2", r#""Jack""#),
        ("c?ildren.0", r#""Sara""#),
        (r"fav\\.movie", r#""Deer Hunter""#),
        ("friends.#.first", r#"["Dale","Roger","Jane"]"#),
        ("friends.#.ok", "[true]"),
        ("friends.#.nets.#", "[3,2,2]"),
        ("friends.#.nets.0", r#"["ig","fb","ig"]"#),
        ("friends.1.last", r#""Craig""#),
        (r#"friends.#(last=="Murphy").first"#, r#""Dale""#),
        (r#"friends.#(last=="Murphy")#.first"#, r#"["Dale","Jane"]"#),
        (r#"friends.#(last==Murphy)#.first"#, r#"["Dale","Jane"]"#),
        ("friends.#(age>45)#.last", r#"["Craig","Murphy"]"#),
        ("friends.#(age>=68).last", r#""Craig""#),
        ("friends.#(age<44)#", "[]"),
        ("friends.#(age<44)", "undefined"),
        ("friends.#(age<=44)#.age", "[44]"),
        ("friends.#(age!=44)#.age", "[68,47]"),
        ("friends.#(ok==true).first", r#""Roger""#),
        ("friends.#(ok).first", r#""Roger""#),
        (r#"friends.#(first%"D*").last"#, r#""Murphy""#),
        (r#"friends.#(first!%"D*").last"#, r#""Craig""#),
        (r#"friends.#(nets.#(=="fb"))#.first"#, r#"["Dale","Roger"]"#),
        ("friends.#(b.c.1==2).first", r#""Jane""#),
        (r#"children.#(=="Alex")"#, r#""Alex""#),
        (r#"children.#(%"*a*")#"#, r#"["Sara","Jack"]"#),
    ] {
        let call = format!("http.get('http://a/{TEXT}').json(`{selector}`)");
        let ran = run(&format!("console.log(String(JSON.stringify({call})))"));
        assert_eq!(ran.said, [found], "{selector}");
    }
}

#[test]
fn what_a_selector_cannot_have_is_said() {
    for (selector, said) in [
        ("friends.#(age>1", "a condition is not closed"),
        ("friends|age", "is something of gjson that squall does not have"),
        ("@reverse", "is something of gjson that squall does not have"),
        ("{a,b}", "is something of gjson that squall does not have"),
        ("friends.#(age>1)x", "a dot is missing before \"x\""),
        ("friends.#(age!1)", "a condition has no operator"),
    ] {
        let ran = run(&format!("http.get('http://a/{TEXT}').json('{selector}')"));
        let expected = format!("SyntaxError: selector \"{selector}\": ");
        assert!(ran.said[0].starts_with(&expected) && ran.said[0].contains(said), "{:?}", ran.said);
    }
}
