//! The scripts of a plan: each is read once with what it imports, and tried on the thread that compiles, so that what is
//! wrong with it is known before the run. Reads files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_plan::model::Scripts as ModelScripts;
use squall_plan::secrets::sounds_secret;
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;
use squall_script::{
    Files, Graph, HttpOptions, Limits, Numbers, OpenFiles, ScriptMetric, Stage, StageOptions,
};

use super::compiler::Compiler;
use super::constant_scope::ConstantScope;
use super::scripts::{OwnEnv, Script, Tried};

/// Most bytes of a file that a script is made of, or reads.
const LARGEST: u64 = 256 << 20;

/// A script for users of a kind.
pub(super) struct CalledScript {
    /// Its number in the program.
    pub number: u32,
    /// The number of the kind: users of one script are of another kind if their `__ENV` is another.
    pub kind: u32,
    pub env: OwnEnv,
    /// The metrics that it makes.
    pub metrics: Vec<ScriptMetric>,
}

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
    /// A script for users of a kind; `None` after an error was noted.
    pub(super) fn script(
        &mut self,
        file: &Spanned<PathBuf>,
        env: &'p [(Template, Template)],
    ) -> Option<CalledScript> {
        let env = self.texts_before_run(env)?;
        let known = self.scripts.read.iter().position(|(own, _)| *own == file.value);
        let number = match known {
            Some(number) => number,
            None => {
                let tried = self.read_script(&file.value, file.span);
                self.scripts.read.push((file.value.clone(), tried));
                self.scripts.read.len() - 1
            }
        };
        let Tried { script, stage, users } = self.scripts.read[number].1.as_mut()?;
        let kind = match users.iter().find(|own| own.0 == env) {
            Some((_, kind, _)) => *kind,
            None => match stage.user(Numbers::default(), &env) {
                Ok(user) => {
                    stage.told();
                    users.push((env.clone(), self.scripts.kinds, user));
                    self.scripts.kinds += 1;
                    self.scripts.kinds - 1
                }
                Err(thrown) => {
                    self.does_not_begin(&file.value, file.span, &thrown.to_string());
                    return None;
                }
            },
        };
        // Users of another kind may make others: in each worker all have their numbers from the beginning.
        script.options.metrics = stage.metrics();
        let metrics = script.options.metrics.clone();
        Some(CalledScript { number: u32::try_from(number).unwrap_or(u32::MAX), kind, env, metrics })
    }

    /// Whether a script exports a function of this name; an error was noted if it does not.
    pub(super) fn exports(&mut self, script: u32, function: &str, span: Span) -> Option<()> {
        let (_, tried) = self.scripts.read.get(script as usize)?;
        let Tried { stage, users, script } = tried.as_ref()?;
        let (.., user) = users.last()?;
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

    /// What is in `__ENV` of all users of scripts; `None` after an error was noted.
    fn script_env(&mut self) -> Option<Vec<(String, String)>> {
        let scripts = &self.plan.scripts;
        let mut env: Vec<(String, String)> = Vec::new();
        if scripts.system_env {
            let text = |own: std::ffi::OsString| own.to_string_lossy().into_owned();
            env.extend(std::env::vars_os().map(|(name, value)| (text(name), text(value))));
        }
        let given = self.texts_before_run(&scripts.env)?;
        env.retain(|(name, _)| given.iter().all(|(own, _)| own != name));
        env.extend(given);
        self.note_secrets(&env);
        Some(env)
    }

    /// Texts in `__ENV`, each name once; `None` after an error was noted.
    fn texts_before_run(&mut self, given: &'p [(Template, Template)]) -> Option<OwnEnv> {
        let mut env = OwnEnv::new();
        for (name, value) in given {
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
        self.note_secrets(&env);
        Some(env)
    }

    fn note_secrets(&mut self, env: &[(String, String)]) {
        for (_, value) in env.iter().filter(|(name, _)| sounds_secret(name)) {
            self.secrets.add(value);
        }
    }

    /// What a template comes to before the run; the outer `None` after an error was noted.
    fn text_before_run(&mut self, template: &Template) -> Option<Option<String>> {
        Some(self.template(template)?.constant())
    }

    /// What a script is told of the options of its test, as JSON; the outer `None` after an error was noted.
    fn script_options(&mut self) -> Option<Option<String>> {
        let Some(own) = &self.plan.scripts.options else { return Some(None) };
        let (options, scope) = (self.json(own)?, ConstantScope::new(self.options.seed));
        let mut json = Vec::new();
        match options.write(&scope, &mut json) {
            Ok(()) => Some(Some(String::from_utf8_lossy(&json).into_owned())),
            Err(error) => {
                let message = format!("`scripts.options`: {error}");
                self.error(
                    Span::default(),
                    message,
                    "only what is known before the run can stand there",
                );
                None
            }
        }
    }

    /// Reads a script, and makes a stage for it; `None` after an error was noted.
    fn read_script(&mut self, path: &Path, span: Span) -> Option<Tried> {
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
            options: self.script_options()?,
            seed: self.options.seed,
            files: OpenFiles(Some(Arc::new(Folders))),
            data: self.options.script_data.clone(),
            ..options(&self.plan.scripts, self.script_env()?)
        };
        let made = Stage::new(&graph, &options).map_err(|error| error.to_string());
        match made.and_then(|made| made.map_err(|thrown| thrown.to_string())) {
            Ok(stage) => {
                Some(Tried { script: Script { graph, options }, stage, users: Vec::new() })
            }
            Err(why) => {
                self.does_not_begin(path, span, &why);
                None
            }
        }
    }

    fn does_not_begin(&mut self, path: &Path, span: Span, why: &str) {
        let help = "this is what it does when a user begins, before any function is called";
        self.error(span, format!("{}: {why}", path.display()), help);
    }
}

/// What holds for a script, as the plan says.
fn options(plan: &ModelScripts, env: Vec<(String, String)>) -> StageOptions {
    let (limits, http) = (Limits::default(), HttpOptions::default());
    let memory = plan.memory.and_then(|bytes| usize::try_from(bytes).ok());
    let number = |own: Option<u32>, otherwise: usize| own.map_or(otherwise, |own| own as usize);
    StageOptions {
        env,
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
