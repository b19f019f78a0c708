//! What scripts ask of HTTP and what they get, with a host that answers in the place of a target.

mod cookies;
mod requests;
mod responses;
mod select;
mod users;

use std::path::Path;

use crate::engine::Step;
use crate::files::Files;
use crate::graph::Graph;
use crate::host::Numbers;
use crate::http::{Cookie, HttpOptions, HttpRequest, HttpResponse};
use crate::stage::{Stage, StageOptions};
use crate::wait::Requests;
use crate::{Answer, Ask, Event, Wait};

struct One(String);

impl Files for One {
    fn bytes(&self, _: &Path) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
    fn has(&self, _: &Path) -> bool {
        true
    }
}

/// A stage for a script, which has `http` and `k6`.
fn stage(script: &str, http: HttpOptions) -> Stage {
    let script = format!(
        "import http from 'k6/http'; import {{ check, group, sleep }} from 'k6';\n{script}"
    );
    let graph =
        Graph::read(Path::new("/t/a.js"), &One(script)).unwrap_or_else(|own| panic!("{own}"));
    let options = StageOptions { http, ..StageOptions::default() };
    Stage::new(&graph, &options).expect("memory").unwrap_or_else(|own| panic!("{own}"))
}

/// What a run of a script has come to.
#[derive(Debug, Default)]
struct Ran {
    /// What it waited for, each time.
    batches: Vec<Requests>,
    asked: Vec<Ask>,
    /// What it logged, and how it failed.
    said: Vec<String>,
}

impl Ran {
    /// The one request that it made.
    fn request(&self) -> &HttpRequest {
        assert_eq!(self.batches.len(), 1, "{:?}", self.said);
        assert_eq!(self.batches[0].list.len(), 1);
        &self.batches[0].list[0]
    }
}

/// Runs a default function with this body.
fn run(body: &str) -> Ran {
    run_with(&format!("export default function () {{ {body} }}"), HttpOptions::default())
}

fn run_with(script: &str, http: HttpOptions) -> Ran {
    let stage = stage(script, http);
    let numbers = Numbers { user: 1, iteration: 0 };
    let user = stage.user(numbers, &[]).unwrap_or_else(|own| panic!("{own}"));
    let function = stage.exported(&user, "default").expect("exports").expect("a function");
    let mut fiber = stage.call(&function, Vec::new()).expect("a stack");
    let mut ran = Ran::default();
    let mut answer = Answer::Ready;
    loop {
        let step = stage.resume(&mut fiber, numbers, answer);
        for event in stage.told() {
            match event {
                Event::Log { text, .. } => ran.said.push(text),
                other => ran.said.push(format!("{other:?}")),
            }
        }
        answer = match step {
            Step::Done(Ok(_)) => return ran,
            Step::Done(Err(thrown)) => {
                ran.said.push(thrown.message);
                return ran;
            }
            Step::Wait(Wait::Sleep(_)) => Answer::Ready,
            Step::Wait(Wait::Requests(own)) => {
                let responses = own.list.iter().map(answered).collect();
                ran.batches.push(own);
                Answer::Responses(responses)
            }
            Step::Wait(Wait::Ask(own)) => {
                let answer = match &own {
                    Ask::Cookies { .. } => Answer::Cookies(
                        [("a", "1"), ("b", "2"), ("a", "3")]
                            .map(|(name, value)| (name.to_owned(), value.to_owned()))
                            .to_vec(),
                    ),
                    _ => Answer::Ready,
                };
                ran.asked.push(own);
                answer
            }
        };
    }
}

/// What the target says: the path has the body, or what fails.
fn answered(sent: &HttpRequest) -> (HttpRequest, HttpResponse) {
    (sent.clone(), response_to(sent))
}

fn response_to(sent: &HttpRequest) -> HttpResponse {
    let path = sent.url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let path = path.map_or("", |(_, path)| path);
    if path == "fails" {
        return HttpResponse {
            error: "dial: connection refused".to_owned(),
            error_code: 1212,
            url: Some(sent.url.as_str().into()),
            ..HttpResponse::default()
        };
    }
    let status = path.strip_prefix("status/").map_or(200, |own| own.parse().expect("a status"));
    HttpResponse {
        status,
        head: format!(
            "HTTP/1.1 {status} OK\r\ncontent-type: text/plain\r\nX-A: 1\r\nx-a:2\r\nETAG: e\r\n\r\n"
        )
        .into_bytes(),
        url: Some(sent.url.as_str().into()),
        body: Some(path.replace("%20", " ").into_bytes()),
        remote: Some(([192, 0, 2, 1], 8080).into()),
        timings: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        tls_version: "tls1.3",
        tls_cipher_suite: "TLS_AES_128_GCM_SHA256",
        cookies: vec![Cookie {
            name: "sid".to_owned(),
            value: "v".to_owned(),
            path: "/".to_owned(),
            http_only: true,
            max_age: 9,
            expires: 1000,
            ..Cookie::default()
        }],
        ..HttpResponse::default()
    }
}
