//! A step that runs a program: timed and judged like a request.

use squall_metrics::{ErrorKind, PlaceId};

use super::in_flight::Cancel;
use super::{Failure, Frame, Sampler};
use crate::parts::exec;
use crate::program::{ExecOp, PostOp};
use crate::scope::UserScope;

impl Sampler for ExecOp {
    fn name(&self) -> Option<u32> {
        Some(self.name)
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

    fn is_scheduled(&self) -> bool {
        false
    }

    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), Failure> {
        let (worker, in_flight) = (frame.worker, frame.in_flight);
        let mut command = Vec::new();
        for part in &self.command {
            let mut text = Vec::new();
            part.render(&UserScope::new(&worker.program, frame.user), &mut text)?;
            command.push(String::from_utf8_lossy(&text).into_owned());
        }
        frame.enter();
        let ran = {
            let _in_tokio = worker.client.in_tokio();
            in_flight.run(exec::run(&command, self.timeout)).await
        };
        let output = match ran {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(Failure::new(ErrorKind::Exec, error.to_string())),
            Err(Cancel::Stop) => return Err(Failure::interrupted()),
            Err(Cancel::Timeout) => return Err(Failure::new(ErrorKind::Exec, "it took too long")),
        };
        if let Some(copy) = frame.copy() {
            copy.printed(command.join(" "), &output.stdout);
        }
        let judges_code = self.post.iter().any(|op| matches!(op, PostOp::Check(_)));
        if output.code != 0 && !judges_code {
            frame.fail(ErrorKind::Exec, || {
                let stderr = String::from_utf8_lossy(&output.stderr);
                format!("exit code {}: {}", output.code, stderr.trim())
            });
        }
        frame.output(output.code, &output.stdout, &self.post);
        frame.explain(&Ok(()), || command.join(" "));
        Ok(())
    }
}
