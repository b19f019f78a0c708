//! A step that runs a program: timed and judged like a request.

use std::io;
use std::pin::pin;

use squall_metrics::{ErrorKind, PlaceId};
use squall_plan::template::BoundTemplate;

use super::failure::SampleFailure;
use super::frame::Frame;
use super::rendered::rendered_name;
use super::sampler::Sampler;
use crate::net::in_flight::Cancel;
use crate::parts::exec;
use crate::program::{ExecOp, NameOp, PostOp};
use crate::scope::UserScope;

impl Sampler for ExecOp {
    fn name(&self) -> Option<u32> {
        self.name.known()
    }

    fn step(&self) -> &str {
        &self.step
    }

    fn kind(&self) -> &str {
        "exec"
    }

    fn place(&self) -> PlaceId {
        self.place
    }

    fn is_counted(&self) -> bool {
        self.counted
    }

    fn is_scheduled(&self) -> bool {
        false
    }

    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), SampleFailure> {
        let (worker, in_flight) = (frame.worker, frame.in_flight);
        if let NameOp::Rendered(template) = &self.name {
            let scope = UserScope::new(&worker.program, frame.user);
            frame.name = Some(rendered_name(worker, template, self.place, &scope)?);
        }
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
                exec::Output { code, stdout: Vec::new(), stderr: Vec::new() }
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
        frame.output(self, &output)?;
        frame.explain(&Ok(()), || command.join(" "));
        Ok(())
    }
}

impl ExecOp {
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
