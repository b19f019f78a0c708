//! Data files, counters and random variables.

use super::*;

/// A data file with these variables, of these properties.
fn data_file(names: &str, more: &str) -> String {
    format!(
        r#"<CSVDataSet testname="data">{}{}{more}</CSVDataSet><hashTree/>"#,
        string("filename", "users.csv"),
        string("variableNames", names),
    )
}

#[test]
fn columns_are_variables_from_each_iteration_on() {
    let to = string("HTTPSampler.domain", "${host}") + &string("HTTPSampler.path", "/${user id}");
    let (text, obstacles) =
        translated(&plan(&(data_file("user id,host", "") + &request("r", &to, ""))));
    assert_eq!(obstacles, [""; 0]);
    for line in [
        r#""csv": "users.csv""#,
        r#""skip_header": true"#,
        r#""quotes": false"#,
        r#""ragged": true"#,
        r#""user_id": "${users.user_id}""#,
        r#""host": "${has(users.host) ? users.host : host}""#,
        r#""get": "http://${host}/${url_part(user_id, \" \")}""#,
    ] {
        assert_eq!(text.contains(line), line != r#""skip_header": true"#, "{line}\n{text}");
    }
    assert!(text.contains(r#""*""#) && !text.contains("next_row"), "{text}");
}

#[test]
fn data_goes_on_with_the_controller_around_it() {
    let flag = |name: &str, is: bool| format!(r#"<boolProp name="{name}">{is}</boolProp>"#);
    let looped = |below: &str| {
        format!(
            r#"<LoopController testname="l">{}</LoopController><hashTree>{below}</hashTree>"#,
            string("LoopController.loops", "2")
        )
    };
    let ends = flag("recycle", false) + &string("shareMode", "shareMode.thread");
    let inner = looped(&(data_file("a", &ends) + &request("r", TO_SHOP, "")));
    let (text, obstacles) = translated(&plan(&inner));
    assert_eq!(obstacles, [""; 0]);
    for line in [
        r#""advance": "step""#,
        r#""at_end": "eof""#,
        r#""share": "user""#,
        r#""next_row": "users""#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // That a file is not there is said when the plan is compiled.
    let (text, obstacles) = translated(&plan(&(data_file("", "") + &request("r", TO_SHOP, ""))));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""csv": "users.csv""#), "{text}");
}

#[test]
fn counters_and_chance_are_variables() {
    let counter = format!(
        r#"<CounterConfig testname="c">{}{}{}{}{}</CounterConfig><hashTree/>"#,
        string("CounterConfig.start", "5"),
        string("CounterConfig.end", "6"),
        string("CounterConfig.incr", "1"),
        string("CounterConfig.name", "n"),
        string("CounterConfig.format", "u000"),
    );
    let chance = format!(
        r#"<RandomVariableConfig testname="x">{}{}{}</RandomVariableConfig><hashTree/>"#,
        string("minimumValue", "1"),
        string("maximumValue", "9"),
        string("variableName", "x"),
    );
    let path = string("HTTPSampler.path", "/${n}/${x}");
    let text = plan(&(counter + &chance + &request("r", &(TO_SHOP.to_owned() + &path), "")));
    let (text, obstacles) = translated(&text);
    assert_eq!(obstacles, [""; 0]);
    for line in [
        r#""from": 5"#,
        r#""to": 6"#,
        r#""n": "u${pad(string(counter.number), 3, \"0\")}""#,
        r#""x": "${string(random(1, 9))}""#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn the_first_of_several_that_set_one_variable_has_the_last_word() {
    let counter = |start: &str| {
        let own = string("CounterConfig.start", start) + &string("CounterConfig.incr", "1");
        let own = own + &string("CounterConfig.name", "n") + PER_USER;
        format!(r#"<CounterConfig testname="c">{own}</CounterConfig><hashTree/>"#)
    };
    const PER_USER: &str = r#"<boolProp name="CounterConfig.per_user">true</boolProp>
        <boolProp name="CounterConfig.reset_on_tg_iteration">true</boolProp>"#;
    let path = TO_SHOP.to_owned() + &string("HTTPSampler.path", "/${n}");
    let in_group = counter("100") + &counter("200") + &request("r", &path, "");
    let text = plan(&in_group)
        .replace("<ThreadGroup ", &format!("{}{}<ThreadGroup ", counter("300"), counter("400")));
    let (text, obstacles) = translated(&text);
    assert_eq!(obstacles, [""; 0]);
    let places = ["400", "300", "200", "100"].map(|start| text.find(&format!(": {start}}}")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
}
