//! A step that runs a program: timed and judged like a request.

use std::rc::Rc;

use squall_extract::{Documents, Limits};
use squall_measure::{ErrorKind, Phases, Sample};

use super::Worker;
use super::account::{Done, Failure};
use super::flight::{Cut, Flight};
use super::watched::Watched;
use crate::judge::{self, Judgement, Note};
use crate::parts::exec::{self, Output};
use crate::program::ExecOp;
use crate::scope::{Answer, UserScope};
use crate::user::User;

/// Runs a program and records it.
pub(super) async fn exec(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &ExecOp,
    start: u64,
) -> Done {
    let mut trace = worker.watch();
    let result = perform(worker, user, flight, op, start, &mut trace).await;
    let end = worker.clock.now();
    let (status, judgement) = result.unwrap_or_else(|failure| {
        let (error, detail) = (Some(failure.kind), failure.detail);
        (0, Judgement { error, detail, ..Judgement::default() })
    });
    let sample = Sample {
        latency_us: end.saturating_sub(start) / 1_000,
        due_latency_us: None,
        answered: !matches!(judgement.error, Some(ErrorKind::Exec | ErrorKind::Interrupted)),
        status: u16::try_from(status).unwrap_or(0),
        error: judgement.error,
        bytes_in: 0,
        bytes_out: 0,
        phases: Phases::default(),
    };
    worker.recorder.request(op.name, &sample, end);
    worker.settle(user, &sample.phases, start, start);
    if let Some(kind) = judgement.error {
        worker.recorder.detail(op.name, kind, || judgement.detail.clone());
    }
    if let Some(trace) = trace {
        trace.tell(worker, user, op.name, start, &sample, judgement);
    }
    user.due = end;
    Done { failed: sample.error.is_some(), end }
}

async fn perform(
    worker: &Rc<Worker>,
    user: &mut User,
    flight: &Flight,
    op: &ExecOp,
    start: u64,
    trace: &mut Option<Box<Watched>>,
) -> Result<(i32, Judgement), Failure> {
    let mut command = Vec::new();
    for part in &op.command {
        let mut text = Vec::new();
        part.render(&UserScope { program: &worker.program, user, answer: None }, &mut text)?;
        command.push(String::from_utf8_lossy(&text).into_owned());
    }
    let outside = worker.client.outside();
    let ran = flight.run(exec::run(&command, op.timeout)).await;
    drop(outside);
    let Output { code, stdout, stderr } = match ran {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(Failure::new(ErrorKind::Exec, error.to_string())),
        Err(Cut::Abort) => return Err(Failure::new(ErrorKind::Interrupted, "")),
        Err(Cut::Timeout) => return Err(Failure::new(ErrorKind::Exec, "took too long")),
    };
    if let Some(trace) = trace {
        trace.printed(command.join(" "), &stdout);
    }
    let documents = Documents::new(&stdout, Limits::default());
    let answer = Answer {
        status: i64::from(code),
        body: &stdout,
        size: stdout.len() as u64,
        duration_ms: worker.clock.now().saturating_sub(start) as f64 / 1e6,
        saved: "",
        response: None,
        documents: &documents,
    };
    let note = |note: Note<'_>| {
        if let Some(trace) = trace {
            trace.noted(note);
        }
    };
    let mut judgement =
        judge::judge(&worker.program, user, &answer, &op.extracts, &op.checks, note);
    if judgement.error.is_none() && op.checks.is_empty() && code != 0 {
        judgement.error = Some(ErrorKind::Exec);
        judgement.detail = format!("exit code {code}: {}", String::from_utf8_lossy(&stderr).trim());
    }
    Ok((code, judgement))
}
