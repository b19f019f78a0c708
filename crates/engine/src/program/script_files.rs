//! The scripts of a plan: each is read once with what it imports, and tried on the thread that compiles, so that what is
//! wrong with it is known before the run. Reads files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_plan::model::Scripts as ModelScripts;
use squall_plan::secrets::env_sounds_secret;
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;
use squall_script::{
    Files, Graph, HttpOptions, Limits, Numbers, OpenFiles, ScriptMetric, SecretSource, Stage,
    StageOptions,
};

use super::compiler::Compiler;
use super::scripts::{Script, Tried};

/// Most bytes of a file that a script is made of, or reads.
const LARGEST: u64 = 256 << 20;

/// The folders of the machine.
struct Folders;

impl Files for Folders {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        let shown = path.display();
        let failed = |error: std::io::Error| format!("{shown} cannot be read: {error}");
        if std::fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Err(format!("{shown} is larger than {} MiB", LARGEST >> 20));
        }
        std::fs::read(path).map_err(failed)
    }

    fn has(&self, path: &Path) -> bool {
        path.is_file()
    }
}

/// A script and all that it imports, read from the disk.
///
/// # Errors
/// A file of it cannot be read, or is neither JavaScript nor TypeScript; with its place.
pub fn script_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let graph = Graph::read(path, &Folders).map_err(|error| error.to_string())?;
    Ok(graph.modules.into_iter().map(|own| own.path).collect())
}

impl<'p> Compiler<'p> {
    /// The number of a script, and the metrics that it makes; `None` after an error was noted.
    pub(super) fn script(
        &mut self,
        file: &Spanned<PathBuf>,
        env: &'p [(Template, Template)],
    ) -> Option<(u32, Vec<ScriptMetric>)> {
        let env = self.script_env(env)?;
        let asked = (file.value.clone(), env);
        let known = self.scripts.asked.iter().position(|own| *own == asked);
        let number = known.unwrap_or_else(|| {
            let tried = self.try_script(&asked.0, &asked.1, file.span);
            self.scripts.asked.push(asked);
            self.scripts.read.push(tried);
            self.scripts.read.len() - 1
        });
        let tried = self.scripts.read[number].as_ref()?;
        Some((u32::try_from(number).unwrap_or(u32::MAX), tried.script.metrics.clone()))
    }

    /// Whether a script exports a function of this name; an error was noted if it does not.
    pub(super) fn exports(&mut self, script: u32, function: &str, span: Span) -> Option<()> {
        let Some(Some(Tried { stage, user, script })) = self.scripts.read.get(script as usize)
        else {
            return None;
        };
        let file = script.graph.modules.first().map(|own| own.path.display().to_string());
        let file = file.unwrap_or_default();
        let wrong = match stage.exported(user, function) {
            Ok(Some(_)) => return Some(()),
            Ok(None) => format!("{file} exports no function `{function}`"),
            Err(thrown) => format!("{file}: {thrown}"),
        };
        let help = "the script exports it with `export function`, and `call` names it";
        self.error(span, wrong, help);
        None
    }

    /// What is in `__ENV`; `None` after an error was noted.
    fn script_env(&mut self, own: &'p [(Template, Template)]) -> Option<Vec<(String, String)>> {
        let scripts = &self.plan.scripts;
        let mut env: Vec<(String, String)> = Vec::new();
        if scripts.system_env {
            let text = |own: std::ffi::OsString| own.to_string_lossy().into_owned();
            env.extend(std::env::vars_os().map(|(name, value)| (text(name), text(value))));
        }
        for (name, value) in scripts.env.iter().chain(own) {
            let (Some(name), Some(text)) =
                (self.text_before_run(name)?, self.text_before_run(value)?)
            else {
                let message = "a text in `__ENV` that is not known before the run".to_owned();
                let help = "give what a user has to the function, with `args`";
                self.error(value.span(), message, help);
                return None;
            };
            env.retain(|(own, _)| *own != name);
            env.push((name, text));
        }
        for (name, value) in &env {
            if env_sounds_secret(name) {
                self.secrets.add(value);
            }
        }
        Some(env)
    }

    /// What `k6/secrets` gives; `None` after an error was noted.
    fn script_secrets(&mut self) -> Option<Vec<SecretSource>> {
        let mut sources = Vec::new();
        for own in &self.plan.scripts.secrets {
            let mut source = SecretSource { name: own.name.value.clone(), secrets: Vec::new() };
            for (name, value) in &own.secrets {
                let (Some(name), Some(text)) =
                    (self.text_before_run(name)?, self.text_before_run(value)?)
                else {
                    let message = "a secret that is not known before the run".to_owned();
                    let help = "write it, or a variable that `--set` or the environment gives";
                    self.error(value.span(), message, help);
                    return None;
                };
                self.secrets.add(&text);
                source.secrets.push((name, text));
            }
            sources.push(source);
        }
        Some(sources)
    }

    /// What a template comes to before the run; the outer `None` after an error was noted.
    fn text_before_run(&mut self, template: &Template) -> Option<Option<String>> {
        Some(self.template(template)?.constant())
    }

    /// Reads a script and makes a user of it; `None` after an error was noted.
    fn try_script(&mut self, path: &Path, env: &[(String, String)], span: Span) -> Option<Tried> {
        let graph = match Graph::read(path, &Folders) {
            Ok(graph) => graph,
            Err(error) => {
                let help = error.help.clone().unwrap_or_default();
                let error = squall_script::ScriptError { help: None, ..error };
                self.error(span, error.to_string(), &help);
                return None;
            }
        };
        let options = StageOptions {
            secrets: self.script_secrets()?,
            seed: self.options.seed,
            files: OpenFiles(Some(Arc::new(Folders))),
            data: self.options.script_data.clone(),
            ..options(&self.plan.scripts, env)
        };
        let file = path.display();
        let made = Stage::new(&graph, &options).map_err(|error| error.to_string());
        let tried = made.and_then(|made| {
            let thrown = |thrown: squall_script::Thrown| thrown.to_string();
            let stage = made.map_err(thrown)?;
            let user = stage.user(Numbers::default(), &[]).map_err(thrown)?;
            Ok((stage, user))
        });
        match tried {
            Ok((stage, user)) => {
                stage.open();
                stage.told();
                let script = Script { graph, options, metrics: stage.metrics() };
                Some(Tried { script, stage, user })
            }
            Err(why) => {
                let help = "this is what it does when a user begins, before any function is called";
                self.error(span, format!("{file}: {why}"), help);
                None
            }
        }
    }
}

/// What holds for a script, as the plan says.
fn options(plan: &ModelScripts, env: &[(String, String)]) -> StageOptions {
    let (limits, http) = (Limits::default(), HttpOptions::default());
    let memory = plan.memory.and_then(|bytes| usize::try_from(bytes).ok());
    let number = |own: Option<u32>, otherwise: usize| own.map_or(otherwise, |own| own as usize);
    StageOptions {
        env: env.to_vec(),
        limits: Limits {
            memory: memory.unwrap_or(limits.memory),
            run: plan.run_time.unwrap_or(limits.run),
        },
        http: HttpOptions {
            discards_bodies: plan.discard_bodies,
            limit: number(plan.batch, http.limit),
            limit_of_host: number(plan.batch_per_host, http.limit_of_host),
            throws: plan.throw,
            redirects: plan.redirects.unwrap_or(http.redirects),
            user_agent: plan.user_agent.clone().unwrap_or(http.user_agent),
        },
        ..StageOptions::default()
    }
}
