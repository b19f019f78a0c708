//! Thread groups, and controllers that do nothing but to hold others.

use super::*;

#[test]
fn a_group_with_a_scheduler_has_a_delay_and_a_duration() {
    let group = |duration: &str, is_on: bool| {
        let threads = string("ThreadGroup.num_threads", "2");
        let own = threads.clone()
            + &format!(r#"<boolProp name="ThreadGroup.scheduler">{is_on}</boolProp>"#)
            + &string("ThreadGroup.duration", duration)
            + &string("ThreadGroup.delay", "5");
        let (text, obstacles) =
            translated(&plan(&request("r", TO_SHOP, "")).replace(&threads, &own));
        assert_eq!(obstacles, [""; 0]);
        text
    };
    let text = group("90", true);
    for line in
        [r#""users": 2"#, r#""for": "1m30s""#, r#""iterations": 3"#, r#""start_after": "5s""#]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    // It then has a duration of 0, and does not start.
    assert!(group("", true).contains(r#""nothing":"#));
    let text = group("90", false);
    assert!(!text.contains("\"for\"") && !text.contains("start_after"), "{text}");
}

#[test]
fn a_recording_controller_holds_others() {
    let inner = request("r", TO_SHOP, "");
    let held = format!(r#"<RecordingController testname="c"/><hashTree>{inner}</hashTree>"#);
    assert_eq!(translated(&plan(&held)), translated(&plan(&inner)));
}
