//! A step that runs a program: timed and judged like a request.

use std::io;
use std::pin::pin;

use squall_extract::{Documents, Limits};
use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;

use super::failure::SampleFailure;
use super::frame::Frame;
use super::page::Found;
use super::rendered;
use super::sampled::SampleHead;
use super::sampler::Sampler;
use crate::found::FoundAhead;
use crate::net::in_flight::Cancel;
use crate::parts::exec::{self, Output};
use crate::program::{ExecOp, PostOp};
use crate::scope::{Reply, Said, UserScope};

impl<'p> Sampler<'p> for &'p ExecOp {
    fn head(&self) -> SampleHead<'p> {
        SampleHead::of(&self.row, "exec", false)
    }

    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure> {
        let (worker, in_flight) = (frame.worker, frame.in_flight);
        let scope = UserScope::new(&worker.program, frame.user);
        frame.name = Some(rendered::name(worker, &self.row, &scope, String::new)?);
        drop(scope);
        let told = self.told(&UserScope::new(&worker.program, frame.user))?;
        let command = &told.command;
        let timeout = self.timeout.value(&UserScope::new(&worker.program, frame.user))?;
        frame.enter();
        let ran = {
            let _in_tokio = worker.client.in_tokio();
            in_flight.run(pin!(exec::run(&told, timeout))).await
        };
        let output = match ran {
            Ok(Ok(output)) => output,
            Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
                let Some(code) = self.timeout_status else {
                    return Err(SampleFailure::new(ErrorKind::Exec, error.to_string()));
                };
                Output { code, stdout: Vec::new(), stderr: Vec::new() }
            }
            Ok(Err(error)) => return Err(SampleFailure::new(ErrorKind::Exec, error.to_string())),
            Err(Cancel::Stop) => return Err(SampleFailure::interrupted()),
            Err(Cancel::Timeout) => {
                return Err(SampleFailure::new(ErrorKind::Exec, "it took too long"));
            }
        };
        if let Some(copy) = frame.copy() {
            copy.printed(command.join(" "), &output.stdout);
        }
        let judges_code = self.post.iter().any(|op| matches!(op, PostOp::Check(_)));
        if output.code != 0 && !judges_code {
            frame.fail(ErrorKind::Exec, || {
                let stderr = String::from_utf8_lossy(&output.stderr);
                match stderr.trim() {
                    "" => format!("exit code {}", output.code),
                    stderr => format!("exit code {}: {stderr}", output.code),
                }
            });
        }
        self.show(frame, &output)?;
        let result = Ok(None);
        frame.explain(&result, || command.join(" "));
        result
    }
}

impl ExecOp {
    /// Shows the output of the program, which ended now, to the frame.
    ///
    /// # Errors
    /// What the plan says of it cannot be evaluated.
    fn show(&self, frame: &mut Frame<'_>, output: &Output) -> Result<(), SampleFailure> {
        frame.ended(i64::from(output.code), output.stdout.len() as u64);
        let documents = Documents::new(&output.stdout, Limits::default());
        let reply = Reply {
            code: frame.code(),
            body_bytes: output.stdout.len() as u64,
            duration_ms: frame.duration_ms(),
            ..Reply::of(&documents)
        };
        let (mut reason, mut sent) = (Vec::new(), Vec::new());
        for (own, room) in [(&self.reason, &mut reason), (&self.sent, &mut sent)] {
            if let Some(own) = own {
                own.render(&UserScope::of_reply(&frame.worker.program, frame.user, &reply), room)?;
            }
        }
        let reason = String::from_utf8_lossy(&reason);
        if let Some(copy) = frame.copy().filter(|_| self.reason.is_some()) {
            copy.said(&reason);
        }
        let said = Said { status: &Value::Int(frame.code()), reason: &reason, sent: &sent };
        let reply = Reply { said: Some(&said), ..reply };
        frame.process(&reply, &self.post, FoundAhead::new());
        Ok(())
    }

    /// What is to be run, for a user.
    fn told(&self, scope: &UserScope<'_, '_>) -> Result<exec::Told, SampleFailure> {
        let text = |template: &BoundTemplate| {
            let mut text = Vec::new();
            template.render(scope, &mut text)?;
            Ok::<_, SampleFailure>(String::from_utf8_lossy(&text).into_owned())
        };
        let path = |path: &Option<BoundTemplate>| path.as_ref().map(text).transpose();
        let pairs = self.env.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
        Ok(exec::Told {
            command: self.command.iter().map(text).collect::<Result<_, _>>()?,
            env: pairs.collect::<Result<_, SampleFailure>>()?,
            directory: path(&self.directory)?,
            stdin: path(&self.stdin)?,
            stdout: path(&self.stdout)?,
            stderr: path(&self.stderr)?,
        })
    }
}
