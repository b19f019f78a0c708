//! A program to run, laid out.

use std::time::Duration;

use squall_metrics::RowKind;
use squall_plan::model::Exec;
use squall_plan::span::Span;
use squall_plan::template::Template;

use crate::program::compiler::Compiler;
use crate::program::flow::Lowering;
use crate::program::op::ExecOp;
use crate::program::ops::NameOp;

/// Timeout of a program, where the plan gives none.
const DEFAULT_EXEC: Duration = Duration::from_secs(60);

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, exec: &'p Exec, span: Span) {
    match flow.compiler.exec(exec, span) {
        Some(op) => flow.push(Box::new(op)),
        // One without a name of its own has that of its program by now.
        None if exec.name.is_none() => {}
        None => flow.compiler.keep_name(RowKind::Program, exec.name.as_ref()),
    }
}

impl<'p> Compiler<'p> {
    /// Compiles a program to run; `None` after an error was noted.
    fn exec(&mut self, exec: &'p Exec, span: Span) -> Option<ExecOp> {
        let program = exec.command.first().map_or("exec", |program| program.source());
        let file = program.rsplit('/').next().unwrap_or(program);
        let name = match &exec.name {
            None => NameOp::Static(self.name(RowKind::Program, file)),
            Some(name) => self.given_name(RowKind::Program, name)?,
        };
        if !self.options.allow_exec {
            self.error(
                span,
                "the plan runs a program, which is not allowed".to_owned(),
                "add --allow-exec if you trust the plan",
            );
            return None;
        }
        let command = exec.command.iter().map(|part| self.template(part)).collect::<Option<_>>()?;
        let env = exec
            .env
            .iter()
            .map(|(name, value)| Some((self.template(name)?, self.template(value)?)));
        let env = env.collect::<Option<_>>()?;
        let mut own = |text| self.template_if_any(text);
        let directory = own(&exec.directory)?;
        let (stdin, stdout, stderr) = (own(&exec.stdin)?, own(&exec.stdout)?, own(&exec.stderr)?);
        let sent = own(&exec.sent)?;
        let reason = match &exec.reason {
            Some(reason) => Some(self.text_in_place(reason, false)?),
            None => None,
        };
        let code = |status: u32| i32::try_from(status).unwrap_or(i32::MAX);
        let otherwise = exec.name.as_ref().map_or(file, Template::source);
        let post = self.post_of(&name, otherwise, &exec.extract, &exec.check)?;
        Some(ExecOp {
            row: self.row(name, RowKind::Program, exec.counted),
            command,
            env,
            directory,
            stdin,
            stdout,
            stderr,
            timeout: self.time(exec.timeout.as_ref(), DEFAULT_EXEC)?,
            timeout_status: exec.timeout_status.map(code),
            reason,
            sent,
            post,
        })
    }
}
