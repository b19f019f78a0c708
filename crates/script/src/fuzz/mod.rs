//! What the fuzzer asks of the engine: users of a script out of bytes run side by side in one realm, wait, are ended and
//! have garbage collected at any time. No part of the interface.

mod grammar;
#[cfg(test)]
mod tests;

use std::path::Path;

use self::grammar::Choices;
use crate::engine::{Fiber, Held, Limits, Step, Thrown};
use crate::files::Files;
use crate::graph::Graph;
use crate::host::Numbers;
use crate::http::{HttpRequest, HttpResponse};
use crate::stage::{Stage, StageOptions};
use crate::{Answer, Ask, Facts, Wait};

/// Most users of a script.
const MOST_USERS: usize = 5;
/// Most steps of a pass: what is not done by then is ended.
const STEPS: u32 = 400;
/// A flow has this much done at once by itself before it is ended, as one that asks for the time again and again.
const ASKS: u32 = 10_000;

struct One(String);

impl Files for One {
    fn bytes(&self, _: &Path) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
    fn has(&self, _: &Path) -> bool {
        true
    }
}

/// A user with its function, and the call that it is in.
struct User {
    function: Held,
    numbers: Numbers,
    /// Its time, in ms.
    clock: u32,
    call: Option<(Fiber, Answer)>,
}

impl User {
    fn new(stage: &Stage, number: u64, text: &str) -> User {
        let numbers = Numbers { user: number, iteration: 0 };
        let own = stage.user(numbers, &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let function = stage.exported(&own, "default").ok().flatten();
        let function = function.unwrap_or_else(|| panic!("no function to run\n{text}"));
        User { function, numbers, clock: 0, call: None }
    }
}

/// Bytes as a script, and as what happens to its users: none sees the number of another, and what they leave behind is
/// freed.
///
/// # Panics
/// That does not hold.
pub fn script(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let users = 1 + choices.below(MOST_USERS);
    let text = grammar::script(&mut choices);
    let Some(stage) = stage(&text) else { return };
    // The first pass makes what the interpreter makes only once; the same again must leave nothing more.
    let left: Vec<usize> = (0..3).map(|_| pass(&stage, users, choices.0, &text)).collect();
    assert!(left[2] <= left[1], "objects after each pass: {left:?}\n{text}");
}

/// A stage for a script; `None`: there is no memory for it, which is no fault of the engine's.
fn stage(text: &str) -> Option<Stage> {
    let graph = Graph::read(Path::new("/t/a.js"), &One(text.to_owned()));
    let graph = graph.unwrap_or_else(|why| panic!("{why}\n{text}"));
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let options = StageOptions { limits, ..StageOptions::default() };
    let stage = Stage::new(&graph, &options).ok()?;
    Some(stage.unwrap_or_else(|thrown| panic!("{thrown}\n{text}")))
}

/// Users begin, run, and are gone. Returns how many objects are left.
fn pass(stage: &Stage, users: usize, schedule: &[u8], text: &str) -> usize {
    let mut choices = Choices(schedule);
    let mut users: Vec<User> =
        (1..=users as u64).map(|number| User::new(stage, number, text)).collect();
    for at in 0..STEPS as usize {
        let count = users.len();
        let user = &mut users[(at + choices.below(count)) % count];
        match choices.byte() {
            250.. => stage.realm().collect(),
            // What is ended runs nothing more.
            240..250 => user.call = None,
            // A script may throw: what it says is looked at.
            _ => drop(step(stage, user, text)),
        }
        stage.told();
    }
    drop(users);
    stage.told();
    stage.realm().collect();
    stage.realm().objects()
}

/// A user begins a call, or goes on with it, to where it waits, or with what it ends.
fn step(stage: &Stage, user: &mut User, text: &str) -> Option<Result<(), Thrown>> {
    let (mut fiber, mut answer) = match user.call.take() {
        Some(call) => call,
        // Without a stack it comes again.
        None => match stage.call(&user.function, Vec::new()) {
            Ok(fiber) => (fiber, Answer::Ready),
            Err(_) => return None,
        },
    };
    for _ in 0..ASKS {
        match stage.resume(&mut fiber, user.numbers, answer) {
            Step::Wait(Wait::Ask(ask)) => {
                user.clock += 1;
                answer = answered(&ask, user.clock);
            }
            Step::Wait(Wait::Sleep(_)) => {
                user.call = Some((fiber, Answer::Ready));
                return None;
            }
            Step::Wait(Wait::Requests(own)) => {
                let responses = own.list.into_iter().map(response).collect();
                user.call = Some((fiber, Answer::Responses(responses)));
                return None;
            }
            Step::Done(result) => {
                match &result {
                    Ok(value) => {
                        let number = value.value().to_number();
                        assert_eq!(number.ok(), Some(user.numbers.user as f64), "{text}");
                    }
                    Err(thrown) => {
                        let is_fault =
                            ["crossed", "squall"].iter().any(|own| thrown.message.contains(own));
                        assert!(!is_fault, "{thrown}\n{text}");
                    }
                }
                user.numbers.iteration = (user.numbers.iteration + 1) % 3;
                return Some(result.map(drop));
            }
        }
    }
    None
}

fn answered(ask: &Ask, time: u32) -> Answer {
    match ask {
        Ask::Facts => {
            Answer::Facts(Box::new(Facts { test_run_ms: f64::from(time), ..Facts::default() }))
        }
        Ask::Cookies { .. } => Answer::Cookies(Vec::new()),
        _ => Answer::Ready,
    }
}

/// A request with a response that has the number which its URL ends with.
fn response(sent: HttpRequest) -> (HttpRequest, HttpResponse) {
    let number = sent.url.rsplit('/').next().unwrap_or_default();
    let body = Some(format!("{{\"n\":{number}}}").into_bytes());
    let url = Some(sent.url.as_str().into());
    (sent, HttpResponse { status: 200, url, body, ..HttpResponse::default() })
}
