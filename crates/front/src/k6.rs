//! Scripts of k6: their options become a plan that calls their functions. Recognised by the name of their file, as they are code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use squall_k6::options::{Known, Layers, OptionError, Options, Source};
use squall_k6::plan::{self, Described};
use squall_k6::script::{Files, Script, ScriptFailure, ScriptFiles, ScriptMetric, SecretSource};
use squall_k6::secrets;
use squall_plan::diagnostic::{Diagnostic, Sources};
use squall_plan::secrets::{Secrets, env_sounds_secret};
use squall_plan::span::Span;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded, PlanErrors};

use crate::import::{FrontEnd, Import, ImportError, PlanText};
use crate::machine;
use crate::values::Values;

/// What the names of scripts end in.
const ENDS: [&str; 4] = [".js", ".mjs", ".cjs", ".ts"];

/// The variable of the environment that says where secrets are, as `--secret-source` does.
const SECRET_SOURCE: &str = "K6_SECRET_SOURCE";

/// What is given to a script beside its file.
#[derive(Debug, Clone, Default)]
pub struct GivenToScript {
    /// What is added to `__ENV`; the last one of a name counts.
    pub env: Vec<(String, String)>,
    /// Options of the command line, with the texts of each.
    pub flags: Vec<(&'static Known, Vec<String>)>,
    /// A file of options: its name and what is in it.
    pub config: Option<(String, Value)>,
    /// The environment: options in it that begin with `K6_`, and what `__ENV` has if `has_system_env`.
    pub environment: Vec<(String, String)>,
    /// Whether `__ENV` has the environment.
    pub has_system_env: bool,
    /// What `k6/secrets` gives.
    pub secrets: Vec<SecretSource>,
}

/// A script that has become a plan.
#[derive(Debug)]
pub struct K6Test {
    pub loaded: Loaded,
    pub options: Options,
    /// The options as they were given, by their names in scripts.
    pub given_options: Value,
    pub script: Script,
    /// The metrics that the script makes.
    pub metrics: Vec<ScriptMetric>,
    /// What no output may show.
    pub secrets: Secrets,
}

/// Why a script did not become a plan.
#[derive(Debug)]
pub enum K6Failure {
    /// It cannot be read or compiled, or its top level throws.
    Script(String),
    /// An option is not what is expected, or squall has nothing like it.
    Options(String),
    /// The plan that it becomes has mistakes.
    Plan(Box<PlanErrors>),
}

/// Whether a file is a script, by its name.
pub fn is_script(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}

impl K6Test {
    /// Makes a plan of a script.
    ///
    /// # Errors
    /// The script or one of its options has a mistake, or squall has nothing like it.
    pub fn of(text: &PlanText, given: &GivenToScript) -> Result<K6Test, K6Failure> {
        let file = text.folder.join(Path::new(&text.name).file_name().unwrap_or_default());
        let shown = file.display().to_string();
        // Places in the script's own file are shown as that was asked for.
        let mut secrets = given.known_secrets();
        let known = secrets.clone();
        let of_script = |why: ScriptFailure| {
            K6Failure::Script(known.mask(&why.to_string().replace(&shown, &text.name)))
        };
        let of_options =
            |why: OptionError| K6Failure::Options(known.mask(&format!("{}: {why}", text.name)));
        let files = ScriptFiles::of(&file);
        let own = Arc::new(OwnText { file: file.clone(), text: text.text.clone(), files });
        let script =
            Script::read(&file, own, &given.whole_env(), &given.secrets).map_err(of_script)?;
        let exported = script.options().map_err(of_script)?;
        let metrics = script.metrics();
        let layers = given.layers(&exported).map_err(of_options)?;
        let options = Options::read(&layers, &metrics).map_err(of_options)?;
        let described = Described {
            file,
            exports: &|name| script.exports(name),
            env: given.env.clone(),
            has_system_env: given.has_system_env,
            secrets: given.secrets.clone(),
        };
        let plan = plan::plan(&described, &options).map_err(of_options)?;
        let mut sources = Sources::default();
        sources.add(text.name.as_str(), text.text.as_str());
        let warning =
            |own: &String| Diagnostic::warning(Span::default(), format!("{}: {own}", text.name));
        let warnings = options.warnings.iter().map(warning).collect();
        let loaded = yaml::finish(Loaded { plan, sources, warnings }, &LoadOptions::default());
        let loaded = loaded.map_err(|errors| K6Failure::Plan(Box::new(errors)))?;
        secrets.extend(&loaded.plan.secrets());
        Ok(K6Test { loaded, options, given_options: layers.to_json(), script, metrics, secrets })
    }
}

impl K6Test {
    /// Its plan alone, which says nothing of what is logged.
    fn into_plan(self) -> Loaded {
        let mut loaded = self.loaded;
        if self.options.http_debug.is_some() {
            let text = "option `httpDebug` has an effect under `squall k6 run` alone";
            let warning = Diagnostic::warning(Span::default(), text.to_owned());
            loaded.warnings.push(warning.with_help("`squall try` shows requests and responses"));
        }
        loaded
    }
}

impl GivenToScript {
    /// What is given by values of all plans; options of the command line and a file of them are not among those.
    ///
    /// # Errors
    /// The environment names secrets that cannot be read.
    fn of(values: &Values) -> Result<GivenToScript, String> {
        let factors = values.factors.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let env = values.files.iter().chain(&values.env).cloned().chain(factors);
        let environment: Vec<(String, String)> = machine::environment().collect();
        let source = environment.iter().find(|(name, _)| name == SECRET_SOURCE);
        let secrets = match source.filter(|_| values.secrets.is_empty()) {
            Some((_, text)) => secrets::sources(std::slice::from_ref(text))
                .map_err(|why| format!("{SECRET_SOURCE}: {why}"))?,
            None => values.secrets.clone(),
        };
        Ok(GivenToScript {
            env: env.collect(),
            environment,
            has_system_env: true,
            secrets,
            ..GivenToScript::default()
        })
    }

    /// The secrets in it.
    fn known_secrets(&self) -> Secrets {
        let env = self.whole_env();
        let of_env = env.iter().filter(|(name, _)| env_sounds_secret(name));
        let mut secrets = Secrets::default();
        let of_sources = self.secrets.iter().flat_map(|source| &source.secrets);
        of_env.chain(of_sources).for_each(|(_, value)| secrets.add(value));
        secrets
    }

    /// All of `__ENV`.
    fn whole_env(&self) -> Vec<(String, String)> {
        let system = self.environment.iter().filter(|_| self.has_system_env);
        system.chain(&self.env).cloned().collect()
    }

    /// Options of everywhere, the weakest first.
    fn layers(&self, exported: &Value) -> Result<Layers, OptionError> {
        let mut layers = Layers::default();
        if let Some((name, value)) = &self.config {
            layers.add_map(&Source::Config(name.clone()), value)?;
        }
        layers.add_map(&Source::Script, exported)?;
        layers.add_environment(&self.environment)?;
        layers.add_flags(&self.flags)?;
        Ok(layers)
    }
}

/// Reads scripts.
pub(crate) struct K6;

impl FrontEnd for K6 {
    fn read(&self, text: &PlanText, values: &Values) -> Option<Import> {
        if !is_script(&text.name) {
            return None;
        }
        let refused = |why: String| ImportError::Refused(why);
        let told = |why: &str| refused(format!("{}: {why}", text.name));
        if values.skips_unsupported {
            return Some(Import::of(Err(told(
                "--skip-unsupported is for JMeter plans, and this is a script",
            ))));
        }
        if !values.given.is_empty() {
            return Some(Import::of(Err(told(
                "a script has no variables of a plan: give it `-e NAME=VALUE`, which it reads as __ENV.NAME",
            ))));
        }
        let given = match GivenToScript::of(values) {
            Ok(given) => given,
            Err(why) => return Some(Import::of(Err(refused(why)))),
        };
        let read = K6Test::of(text, &given);
        Some(Import::of(read.map(K6Test::into_plan).map_err(|failure| match failure {
            K6Failure::Script(why) | K6Failure::Options(why) => refused(why),
            K6Failure::Plan(errors) => ImportError::Plan(errors),
        })))
    }
}

/// The files of a script; its own is at hand already.
struct OwnText {
    file: PathBuf,
    text: String,
    files: ScriptFiles,
}

impl Files for OwnText {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        match path == self.file {
            true => Ok(self.text.clone().into()),
            false => self.files.bytes(path),
        }
    }

    fn has(&self, path: &Path) -> bool {
        path == self.file || self.files.has(path)
    }

    fn fetched(&self, url: &str) -> Result<Vec<u8>, String> {
        self.files.fetched(url)
    }
}
