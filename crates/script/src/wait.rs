//! What users of scripts wait for, and what they ask of whoever runs them.

use std::rc::Rc;
use std::time::Duration;

use crate::http::{HttpRequest, HttpResponse};

/// What a user waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    /// So much time.
    Sleep(Duration),
    /// The responses of requests.
    Requests(Requests),
    /// Nothing: the answer comes at once.
    Ask(Ask),
}

/// Requests that a user makes at the same time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requests {
    /// At least one.
    pub list: Vec<HttpRequest>,
    /// Most at a time, at least 1, ...
    pub limit: usize,
    /// ... and most to one host, at least 1.
    pub limit_of_host: usize,
}

/// What only whoever runs the user knows or has.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// The cookies that a request to this URL would take along; answered by [`Answer::Cookies`].
    Cookies { jar: u16, url: String },
    /// Keeps a cookie as if the response of this URL had set it, with a line as in `Set-Cookie`.
    SetCookie { jar: u16, url: String, line: String },
    /// Forgets all cookies of a jar, whose number a new one gets.
    ForgetJar { jar: u16 },
    /// Forgets cookies that a request to this URL would take along: the one of a name, or all.
    ClearCookies { jar: u16, url: String, name: Option<String> },
    /// Answered by [`Answer::Facts`].
    Facts,
}

/// Where a user stands in its test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// From 1, in this process and in the whole test.
    pub user: u64,
    pub user_in_test: u64,
    /// Of this user, from 0: over all scenarios, and in this one.
    pub iteration: u64,
    pub iteration_in_scenario: u64,
    pub scenario: Rc<str>,
    /// How its load is given, in k6's words: `constant-vus`.
    pub executor: Rc<str>,
    /// When the scenario began, in ms since 1970.
    pub scenario_start_ms: f64,
    /// How far the scenario is, from 0 to 1.
    pub progress: f64,
    /// Of the scenario, over its users, from 0: in this process, and in the whole test.
    pub scenario_iteration: u64,
    pub scenario_iteration_in_test: u64,
    /// Of this process.
    pub iterations_completed: u64,
    pub iterations_interrupted: u64,
    pub users_active: u64,
    pub users_initialized: u64,
    pub test_run_ms: f64,
}

/// What has come of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It begins, the time has passed, or what was asked for is done.
    Ready,
    /// What was sent, and what came of it, in the order of the requests.
    Responses(Vec<(HttpRequest, HttpResponse)>),
    /// Names and values.
    Cookies(Vec<(String, String)>),
    Facts(Box<Facts>),
}
