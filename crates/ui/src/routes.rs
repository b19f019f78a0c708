//! What is answered to what is asked.

use std::fs::File;
use std::io::{self, Read};

use serde_json::{Value, json};
use squall_live::{Command, Shared};
use squall_runner::Handle;
use squall_serve::Request;

use crate::answer::Response;
use crate::content::Content;
use crate::ending::Ending;
use crate::page::{REPORT_POLICY, page};
use crate::runs::REPORT;

/// Largest report that is served, in bytes.
const MAX_REPORT: u64 = 64 << 20;

/// What becomes of a request.
#[derive(Debug)]
pub enum Reply {
    /// An answer with an end.
    Response(Response),
    /// Events, while the client listens.
    Events(Shared),
}

/// Answers what is asked for at a path below the token.
pub fn answer(content: &Content, ending: &Ending, path: &str, request: &Request) -> Reply {
    let run = content.run.as_ref();
    let reply = match (request.method.as_str(), path, run) {
        ("GET", "", _) => page(run.is_some(), content.runs.is_some()),
        ("GET", "events", Some((shared, _))) => return Reply::Events(shared.clone()),
        ("POST", "control", Some((shared, handle))) => control(shared, handle, request),
        ("GET", "runs.json", _) => list(content),
        ("GET", REPORT, _) => ending.held().map_or_else(|| Response::status(404), a_report),
        ("GET", path, _) => match path.split_once('/') {
            Some(("runs", path)) => report(content, path),
            Some(("compare", path)) => comparison(content, path),
            _ => Response::status(404),
        },
        (_, "" | "events" | "control" | "runs.json", _) => Response::status(405),
        _ => Response::status(404),
    };
    Reply::Response(reply)
}

fn list(content: &Content) -> Response {
    let Some(runs) = &content.runs else { return Response::status(404) };
    match runs.list() {
        Ok(runs) => Response::json(200, &runs),
        Err(why) => Response::text(500, &why),
    }
}

fn report(content: &Content, path: &str) -> Response {
    let read = |file: File| -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        file.take(MAX_REPORT + 1).read_to_end(&mut body)?;
        match body.len() as u64 <= MAX_REPORT {
            true => Ok(body),
            // A part of a page is none.
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    };
    let found = content.runs.as_ref().and_then(|runs| runs.report(path).ok());
    match found.map(read) {
        Some(Ok(body)) => a_report(body),
        _ => Response::status(404),
    }
}

fn comparison(content: &Content, path: &str) -> Response {
    let Some(runs) = &content.runs else { return Response::status(404) };
    match runs.compare(path) {
        Ok(page) => a_report(page.into_bytes()),
        Err(why) => Response::text(404, &why),
    }
}

fn a_report(body: Vec<u8>) -> Response {
    let (media, policy) = ("text/html; charset=utf-8", REPORT_POLICY.to_owned());
    Response { status: 200, media, policy, body }
}

/// Does what a page asks of the run; the answer says what came of it.
fn control(shared: &Shared, handle: &Handle, request: &Request) -> Response {
    // No form of another page can send this type without asking first.
    if request.field("content-type") != Some("application/json") {
        return Response::status(415);
    }
    let Ok(asked) = serde_json::from_slice::<Value>(&request.body) else {
        return Response::status(400);
    };
    let told = command(shared, &asked).and_then(|command| command.obey(handle));
    match told {
        Ok(told) => Response::json(200, &json!({ "told": told })),
        Err(why) => Response::json(409, &json!({ "told": why })),
    }
}

/// What is asked for: `{"do": "pause"}`, `{"do": "set", "load": "buyer", "to": "50/s"}`.
fn command(shared: &Shared, asked: &Value) -> Result<Command, String> {
    let text = |name: &str| asked[name].as_str();
    let simple = match text("do") {
        Some("stop") => Some(Command::Stop),
        Some("abort") => Some(Command::Abort),
        Some("pause") => Some(Command::Pause),
        Some("resume") => Some(Command::Resume),
        _ => None,
    };
    if let Some(command) = simple {
        return Ok(command);
    }
    let Some(state) = shared.state() else { return Err("the run has not begun".to_owned()) };
    let scenario = text("load").unwrap_or_default();
    let load = state.loads.iter().find(|load| load.scenario == scenario);
    let load = load.ok_or_else(|| format!("`{scenario}` has no load of its own"))?;
    match (text("do"), text("to")) {
        (Some("more"), _) => Ok(Command::step(load, state.load_s(), true)),
        (Some("less"), _) => Ok(Command::step(load, state.load_s(), false)),
        (Some("set"), Some(to)) => Command::level(load, to),
        _ => Err("nothing that can be done".to_owned()),
    }
}
