//! The module `k6/execution`: where a user stands in its test, its tags, and what it decides for all.

use std::rc::Rc;

use super::shared::Shared;
use super::users::Kept;
use crate::engine::{Call, Cause, Thrown, Value};
use crate::event::Event;
use crate::{Answer, Ask, Facts, Wait};

/// `facts()`: all of them, as one object.
fn facts<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let answer = call.wait(Wait::Ask(Ask::Facts)).map_err(|thrown| match thrown.cause {
        Cause::Script => Thrown::new(
            "k6/execution knows users, scenarios and the test only while they run: ask in a function that users run",
        ),
        _ => thrown,
    })?;
    match answer {
        Answer::Facts(own) => object(call, &own),
        _ => Err(Thrown::new("whoever runs the user tells no facts: this is a bug of squall")),
    }
}

fn object<'c>(call: &Call<'c>, own: &Facts) -> Result<Value<'c>, Thrown> {
    let scope = call.scope();
    let object = scope.object()?;
    object.set(c"scenario", scope.text(&own.scenario)?)?;
    object.set(c"executor", scope.text(&own.executor)?)?;
    for (name, value) in [
        (c"user", own.user as f64),
        (c"userInTest", own.user_in_test as f64),
        (c"iteration", own.iteration as f64),
        (c"iterationInScenario", own.iteration_in_scenario as f64),
        (c"scenarioStart", own.scenario_start_ms),
        (c"progress", own.progress),
        (c"scenarioIteration", own.scenario_iteration as f64),
        (c"scenarioIterationInTest", own.scenario_iteration_in_test as f64),
        (c"iterationsCompleted", own.iterations_completed as f64),
        (c"iterationsInterrupted", own.iterations_interrupted as f64),
        (c"usersActive", own.users_active as f64),
        (c"usersInitialized", own.users_initialized as f64),
        (c"testRun", own.test_run_ms),
    ] {
        object.set(name, scope.number(value))?;
    }
    Ok(object)
}

/// What a script says of why, or what stands for it.
fn reason(call: &Call<'_>) -> Result<String, Thrown> {
    let own = call.argument(0);
    if own.is_nothing() { Ok("the script gave no reason".into()) } else { own.to_text() }
}

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    host.set(c"facts", scope.function("facts", 0, facts)?)?;
    let own = shared.clone();
    let abort = scope.function("abort", 1, move |call| {
        let why = reason(call)?;
        own.tell(Event::Abort(why.clone()));
        Err(Thrown::ending(format!("the script has aborted the test: {why}")))
    });
    host.set(c"abort", abort?)?;
    let own = shared.clone();
    let fail = scope.function("failTest", 1, move |call| {
        own.tell(Event::Fail(reason(call)?));
        Ok(call.scope().undefined())
    });
    host.set(c"failTest", fail?)?;
    let own = shared.clone();
    let options = scope.function("options", 0, move |call| match &own.options {
        Some(json) => call.scope().text(json),
        None => Err(Thrown::new(
            "exec.test.options: a function that users run can ask for the options of a k6 test, and nothing else can",
        )),
    });
    host.set(c"options", options?)?;
    tags(host, shared)
}

fn tags(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let all = [
        (Kept::Tags, c"userTags", c"setUserTag"),
        (Kept::Metadata, c"userMetadata", c"setUserMetadata"),
    ];
    for (of, get, set) in all {
        let own = shared.clone();
        let function = scope.function("kept", 0, move |call| {
            let object = call.scope().object()?;
            for (name, value) in own.users.kept(own.current.get().user, of) {
                object.define(&name, call.scope().text(&value)?)?;
            }
            Ok(object)
        });
        host.set(get, function?)?;
        let own = shared.clone();
        // `set(name, value)`: undefined takes it away.
        let function = scope.function("set", 2, move |call| {
            let (name, value) = (call.argument(0).to_text()?, call.argument(1));
            let value = if value.is_undefined() { None } else { Some(value.to_text()?) };
            own.users.set(own.current.get().user, of, name, value)?;
            Ok(call.scope().undefined())
        });
        host.set(set, function?)?;
    }
    Ok(())
}
