//! The scripts of a plan: each is read once with what it imports, and tried on the thread that compiles, so that what is
//! wrong with it is known before the run. Reads files.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use squall_plan::model::{Isolation, Scripts as ModelScripts};
use squall_plan::secrets::env_sounds_secret;
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;
use squall_script::{
    Graph, HttpOptions, Limits, Numbers, OpenFiles, Place, ScriptMetric, ScriptUser, SecretSource,
    Stage, StageOptions,
};

use super::compiler::Compiler;
use super::constant_scope::ConstantScope;
use super::scripts::{Alone, OwnEnv, Script, Scripts, Tried, TriedUser};

/// What a user's interpreter takes beside its heap is this part of it, as measured: 452 KiB of resident memory with a heap
/// of 366.
const OVERHEAD: usize = 4;

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

impl<'p> Compiler<'p> {
    /// A script for users of a kind; `None` after an error was noted.
    pub(super) fn script(
        &mut self,
        file: &Spanned<PathBuf>,
        env: &'p [(Template, Template)],
    ) -> Option<CalledScript> {
        let env = self.texts_before_run(env)?;
        let known = self.scripts.read.iter().position(|(own, _)| *own == file.value);
        let number = known.unwrap_or_else(|| {
            let tried = self.read_script(&file.value, &env, file.span);
            self.scripts.read.push((file.value.clone(), tried));
            self.scripts.read.len() - 1
        });
        let Scripts { read, kinds, .. } = &mut self.scripts;
        let tried = read[number].1.as_mut()?;
        let kind = match tried.kind(&env, kinds) {
            Ok(kind) => kind,
            Err(why) => {
                self.does_not_begin(&file.value, file.span, &why);
                return None;
            }
        };
        let metrics = tried.script.options.metrics.clone();
        Some(CalledScript { number: u32::try_from(number).unwrap_or(u32::MAX), kind, env, metrics })
    }

    /// Whether a script exports a function of this name; an error was noted if it does not.
    pub(super) fn exports(&mut self, script: u32, function: &str, span: Span) -> Option<()> {
        let (_, tried) = self.scripts.read.get(script as usize)?;
        let Tried { users, script } = tried.as_ref()?;
        let TriedUser { stage, user, .. } = users.last()?;
        let file = script.file.display();
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
            let what = "a text in `__ENV`";
            let help = "give what a user has to the function, with `args`";
            let (name, text) = self.pair_before_run((name, value), what, help)?;
            env.retain(|(own, _)| *own != name);
            env.push((name, text));
        }
        self.note_secrets(&env);
        Some(env)
    }

    fn note_secrets(&mut self, env: &[(String, String)]) {
        for (_, value) in env.iter().filter(|(name, _)| env_sounds_secret(name)) {
            self.secrets.add(value);
        }
    }

    /// What `k6/secrets` gives; `None` after an error was noted.
    fn script_secrets(&mut self) -> Option<Vec<SecretSource>> {
        let mut sources = Vec::new();
        for own in &self.plan.scripts.secrets {
            let mut source = SecretSource { name: own.name.value.clone(), secrets: Vec::new() };
            for (name, value) in &own.secrets {
                let help = "write it, or a variable that `--set` or the environment gives";
                let (name, text) = self.pair_before_run((name, value), "a secret", help)?;
                self.secrets.add(&text);
                source.secrets.push((name, text));
            }
            sources.push(source);
        }
        Some(sources)
    }

    /// What a name and its value come to before the run; `None` after an error was noted, about `what` it is.
    fn pair_before_run(
        &mut self,
        (name, value): (&Template, &Template),
        what: &str,
        help: &str,
    ) -> Option<(String, String)> {
        let (own, text) = (self.template(name)?.constant(), self.template(value)?.constant());
        let pair = own.zip(text);
        if pair.is_none() {
            self.error(value.span(), format!("{what} that is not known before the run"), help);
        }
        pair
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

    /// Reads a script, and makes a user of it; `None` after an error was noted.
    fn read_script(&mut self, path: &Path, env: &OwnEnv, span: Span) -> Option<Tried> {
        let files = self.options.script_files.of(path);
        let graph = match Graph::read(path, &*files) {
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
            secrets: self.script_secrets()?,
            seed: self.options.seed,
            files: OpenFiles(Some(files.clone())),
            data: self.options.script_data.clone(),
            ..options(&self.plan.scripts, self.script_env()?)
        };
        match begin(&graph, options, env, self.plan.scripts.isolation) {
            Ok((stage, user, options, why)) => {
                stage.told();
                stage.realm().collect();
                let heap = stage.realm().memory();
                let alone = why.map(|why| Alone { why, bytes: heap + heap / OVERHEAD });
                let options = StageOptions { metrics: stage.metrics(), ..options };
                let script = Script { file: path.to_owned(), files, graph, options, alone };
                let kind = self.scripts.kinds;
                self.scripts.kinds += 1;
                let user = TriedUser { env: env.clone(), kind, stage: Rc::new(stage), user };
                Some(Tried { script, users: vec![user] })
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

impl Tried {
    /// The number of the kind of users who have this in `__ENV`: one of the `kinds`, or one more if there is a user of it. Where
    /// users share nothing, that user has a stage of its own.
    ///
    /// # Errors
    /// Such a user cannot begin.
    fn kind(&mut self, env: &OwnEnv, kinds: &mut u32) -> Result<u32, String> {
        if let Some(own) = self.users.iter().find(|own| own.env == *env) {
            return Ok(own.kind);
        }
        let Script { graph, options, .. } = &self.script;
        let shared = self.users.last().filter(|_| !options.is_alone);
        let stage = match shared {
            Some(own) => own.stage.clone(),
            None => Rc::new(stage(graph, options)?),
        };
        let user = stage.user(Numbers::default(), env).map_err(|thrown| thrown.to_string())?;
        stage.told();
        self.users.push(TriedUser { env: env.clone(), kind: *kinds, stage, user });
        *kinds += 1;
        self.note_metrics();
        Ok(*kinds - 1)
    }

    /// Users of another kind may make other metrics: in each worker all have their numbers from the beginning.
    fn note_metrics(&mut self) {
        let last = self.users.last();
        self.script.options.metrics = last.map(|own| own.stage.metrics()).unwrap_or_default();
    }
}

fn stage(graph: &Graph, options: &StageOptions) -> Result<Stage, String> {
    let stage = Stage::new(graph, options).map_err(|error| error.to_string())?;
    stage.map_err(|thrown| thrown.to_string())
}

/// A script with a user.
type Begun = (Stage, ScriptUser, StageOptions, Option<String>);

/// Makes a user of a script, with the options under which that works, and the reason where users share nothing. If nothing
/// says whether they can, they share an interpreter, unless the script cannot even begin in one.
fn begin(
    graph: &Graph,
    options: StageOptions,
    env: &OwnEnv,
    isolation: Isolation,
) -> Result<Begun, String> {
    let begin = |why: Option<String>| {
        let options = StageOptions { is_alone: why.is_some(), ..options.clone() };
        let stage = stage(graph, &options)?;
        let user = stage.user(Numbers::default(), env).map_err(|thrown| thrown.to_string())?;
        Ok((stage, user, options, why))
    };
    match (isolation, graph.offence()) {
        (Isolation::Shared, _) => begin(None),
        (Isolation::Vm, _) => begin(Some(String::new())),
        (Isolation::Auto, Some((origin, own))) => {
            let Place { line, column } = own.place;
            begin(Some(format!("it {} ({origin}:{line}:{column})", own.what)))
        }
        (Isolation::Auto, None) => begin(None).or_else(|why: String| {
            let said = why.lines().next().unwrap_or_default();
            begin(Some(format!("it does not begin in a shared one: {said}"))).map_err(|_| why)
        }),
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
