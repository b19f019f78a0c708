//! Performs a request: sends it, follows where it leads, judges the answer, records.

use std::rc::Rc;

use squall_extract::{Documents, Limits};
use squall_measure::ErrorKind;
use squall_plan::model::ConnectionMode;
use squall_wire::{Expect, RequestBytes, Response, Times};

use super::Worker;
use super::account::{Account, Done, Failure};
use super::connections::Borrowed;
use super::flight::Flight;
use super::flow::Slowed;
use super::hop::{self, Bytes, Hop, is_idempotent};
use super::save::Saver;
use crate::judge::{self, Judgement, Note};
use crate::parts::auth::DigestState;
use crate::program::{AuthOp, RequestOp};
use crate::scope::Answer;
use crate::user::User;

/// What one exchange came to.
pub(super) enum Outcome {
    Judged(Judgement),
    Redirect {
        status: u16,
        location: Vec<u8>,
    },
    /// WWW-Authenticate lines.
    Challenge(Vec<Vec<u8>>),
}

/// What an exchange was, as far as the record wants to know.
pub(super) struct Exchanged {
    pub outcome: Outcome,
    pub status: u16,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub times: Times,
}

/// Performs a request and records it.
pub(super) async fn request(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &RequestOp,
    now: u64,
) -> Done {
    let mut account = Account::new(now, user.due, worker.watch());
    let result = match hop::first(worker, user, op) {
        Ok((hop, name)) => {
            account.name = Some(name);
            follow(worker, user, flight, op, hop, &mut account).await
        }
        Err(failure) => Err(failure),
    };
    flight.unlimit();
    account.close(worker, user, op, result)
}

/// Performs exchanges until one of them is the answer.
async fn follow(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &RequestOp,
    mut hop: Hop<'_>,
    account: &mut Account,
) -> Result<Judgement, Failure> {
    let mut redirects = 0;
    loop {
        let exchanged = exchange(worker, user, flight, op, &hop, account).await?;
        account.add(&exchanged);
        match exchanged.outcome {
            Outcome::Judged(judgement) => return Ok(judgement),
            Outcome::Challenge(challenge) => {
                account.challenged = true;
                let state = DigestState::of(challenge.iter().map(Vec::as_slice));
                let state = state.map_err(|reason| Failure::new(ErrorKind::Status, reason))?;
                user.digest = Some(Box::new(state));
                hop.path.get_or_insert_with(|| hop::static_path(op).to_vec());
            }
            Outcome::Redirect { status, location } => {
                redirects += 1;
                if redirects > op.limits.redirects {
                    let most = format!("more than {}", op.limits.redirects);
                    return Err(Failure::new(ErrorKind::TooManyRedirects, most));
                }
                worker.recorder.count(|counters| counters.redirects += 1);
                hop = hop::redirected(worker, &hop, op, status, &location)?;
            }
        }
    }
}

/// One exchange, on a connection that is open or new; once more on a new one if the server had
/// closed the old one meanwhile and the request may be repeated.
async fn exchange(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &RequestOp,
    hop: &Hop<'_>,
    account: &mut Account,
) -> Result<Exchanged, Failure> {
    let bytes = worker.render(user, op, hop)?;
    match attempt(worker, user, flight, op, hop, account, bytes, false).await {
        Err(Attempt::Stale) => {
            worker.recorder.count(|counters| counters.stale_retries += 1);
            let bytes = worker.render(user, op, hop)?;
            attempt(worker, user, flight, op, hop, account, bytes, true).await
        }
        first => first,
    }
    .map_err(|attempt| match attempt {
        Attempt::Failed(failure) => failure,
        Attempt::Stale => Failure::new(ErrorKind::ClosedEarly, "closed before any answer"),
    })
}

/// Why an attempt gave no answer.
enum Attempt {
    /// The server had closed the connection before it was used again.
    Stale,
    Failed(Failure),
}

impl From<Failure> for Attempt {
    fn from(failure: Failure) -> Self {
        Attempt::Failed(failure)
    }
}

#[allow(clippy::too_many_arguments)]
async fn attempt(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &RequestOp,
    hop: &Hop<'_>,
    account: &mut Account,
    mut bytes: Bytes<'_>,
    fresh: bool,
) -> Result<Exchanged, Attempt> {
    let limits = &op.limits;
    worker.limit(flight, account.start, limits.connect, limits.total);
    if let ConnectionMode::Shared(_) = worker.program.connections {
        // To wait for a connection is a part of the plan, not a delay of the generator.
        account.begin(account.ready);
    }
    let slowed = Slowed::of(worker, user, flight);
    let window = slowed.as_ref().and_then(Slowed::window);
    let borrowed = worker.borrow(user, hop.origin, flight, window, fresh).await;
    let Borrowed { mut connection, made } = match borrowed {
        Ok(Ok(borrowed)) => borrowed,
        Ok(Err(error)) => return Err(Failure::from(error).into()),
        Err(cut) => return Err(Failure::cut(cut, &flight.progress).into()),
    };
    if let Some(made) = &made {
        account.made(made);
        worker.limit(flight, worker.clock.now(), limits.first_byte, limits.total);
    } else {
        worker.limit(flight, account.start, limits.first_byte, limits.total);
    }
    let used = connection.used();
    let mut stream = bytes.stream.take();
    let slices = bytes.slices();
    if let Some(trace) = &mut account.trace {
        let origin = worker.origins.borrow()[hop.origin as usize].to_string();
        trace.sent(origin, &slices, used);
    }
    let stream = stream.as_mut().map(|stream| &mut **stream as &mut dyn squall_wire::BodySource);
    let request = RequestBytes { is_head: hop.method == "HEAD", slices, stream };
    let watched = account.trace.as_ref().is_some_and(|watched| watched.wants_body());
    let saver = Saver::start(worker, user, op)?;
    let mut sink = saver.as_ref();
    let expect = Expect {
        keep: if watched { u64::MAX } else { limits.keep },
        sink: sink.as_mut().map(|sink| sink as &mut dyn squall_wire::BodySink),
        max_body: limits.max_body,
        max_ratio: limits.max_ratio,
        decode: limits.compression,
        flow: slowed.as_ref().map(|slowed| slowed as &dyn squall_wire::Flow),
    };
    let done = |response: &Response<'_>, times: Times| Exchanged {
        outcome: answered(worker, user, op, hop, account, response, &times, saver.as_ref()),
        status: response.status,
        bytes_in: response.bytes_in,
        bytes_out: response.bytes_out,
        times,
    };
    let exchanged = connection.exchange(&worker.client, request, expect, &flight.progress, done);
    match flight.run(exchanged).await {
        Ok(Ok(exchanged)) => {
            worker.give_back(user, hop.origin, connection);
            Ok(exchanged)
        }
        Ok(Err(error)) => {
            drop(connection);
            worker.release(hop.origin);
            if error.is_stale() && used && !fresh && is_idempotent(hop.method) {
                return Err(Attempt::Stale);
            }
            Err(Failure::from(error).into())
        }
        Err(cut) => {
            drop(connection);
            worker.release(hop.origin);
            Err(Failure::cut(cut, &flight.progress).into())
        }
    }
}

/// Looks at an answer while it lies in the worker's buffer: cookies, then whether it leads on, then
/// extracts and checks.
#[allow(clippy::too_many_arguments)]
fn answered(
    worker: &Worker,
    user: &mut User,
    op: &RequestOp,
    hop: &Hop<'_>,
    account: &mut Account,
    response: &Response<'_>,
    times: &Times,
    saver: Option<&Saver>,
) -> Outcome {
    account.begin(times.sent_ns);
    worker.keep_cookies(user, hop, op, response);
    if let Some(trace) = &mut account.trace {
        trace.answered(response);
    }
    if matches!(response.status, 301 | 302 | 303 | 307 | 308)
        && op.limits.redirects > 0
        && let Some(location) = response.header("location")
    {
        return Outcome::Redirect { status: response.status, location: location.to_vec() };
    }
    if response.status == 401 && matches!(op.auth, AuthOp::Digest { .. }) && !account.challenged {
        let lines =
            response.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"www-authenticate"));
        return Outcome::Challenge(lines.map(|(_, value)| value.to_vec()).collect());
    }
    let saved = saver.map(Saver::finish).unwrap_or_default();
    Outcome::Judged(judge_answer(worker, user, op, account, response, times, &saved))
}

fn judge_answer(
    worker: &Worker,
    user: &mut User,
    op: &RequestOp,
    account: &mut Account,
    response: &Response<'_>,
    times: &Times,
    saved: &str,
) -> Judgement {
    let mut judgement = Judgement::default();
    if !op.extracts.is_empty() || !op.checks.is_empty() {
        let documents = Documents::new(response.body, Limits::default());
        let answer = Answer {
            status: i64::from(response.status),
            body: response.body,
            size: response.body_bytes,
            duration_ms: times.end_ns.saturating_sub(account.start) as f64 / 1e6,
            saved,
            response: Some(response),
            documents: &documents,
        };
        let trace = &mut account.trace;
        let note = |note: Note<'_>| {
            if let Some(trace) = trace {
                trace.noted(note);
            }
        };
        judgement = judge::judge(&worker.program, user, &answer, &op.extracts, &op.checks, note);
    }
    if judgement.error.is_none() && op.status_errors && response.status >= 400 {
        judgement.error = Some(ErrorKind::Status);
        judgement.detail = format!("status {}", response.status);
    }
    judgement
}

impl Worker {
    /// Puts the limits of what comes now on a flight, and a timer into the wheel if it needs one.
    fn limit(&self, flight: &Flight, now: u64, phase: u64, total: u64) {
        if let Some(due) = flight.limit(now.saturating_add(phase), now.saturating_add(total)) {
            self.insert(due, super::Timer::Flight(flight.number));
        }
    }

    fn keep_cookies(
        &self,
        user: &mut User,
        hop: &Hop<'_>,
        op: &RequestOp,
        response: &Response<'_>,
    ) {
        if !response.sets_cookies {
            return;
        }
        let origin = self.origins.borrow()[hop.origin as usize].clone();
        let site = self.site(&origin, hop::path_of(hop, op));
        for (name, value) in response.headers() {
            if name.eq_ignore_ascii_case(b"set-cookie") {
                user.jar.set(value, site);
            }
        }
    }
}
