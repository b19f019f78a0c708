//! Where users of a script run: a realm with what is built in, and the script's modules, ready for each user.

use std::io;
use std::rc::Rc;

use crate::engine::{Fiber, Held, Limits, Realm, Scope, Step, Thrown, Value};
use crate::event::{Event, ScriptMetric, Tags};
use crate::files::OpenFiles;
use crate::graph::{Graph, Import};
use crate::host::{self, Numbers, SecretSource, Shared};
use crate::http::{HttpHead, HttpOptions, HttpRequest};
use crate::library;
use crate::shared_data::SharedData;
use crate::written::Written;
use crate::{Answer, Wait};

/// Makes the modules of a user.
const BOOT: &str = include_str!("library/boot.js");
/// Freezes what users share.
const FREEZE: &str = include_str!("library/freeze.js");
/// Has bytes written as lists of numbers in JSON.
const BYTES: &str = "(_, own) => own instanceof ArrayBuffer ? [...new Uint8Array(own)]
    : ArrayBuffer.isView(own) ? [...new Uint8Array(own.buffer, own.byteOffset, own.byteLength)] : own";

/// What holds for all users of a script.
#[derive(Debug, Clone, Default)]
pub struct StageOptions {
    /// `__ENV` of all users.
    pub env: Vec<(String, String)>,
    pub limits: Limits,
    pub http: HttpOptions,
    /// From which the users' random numbers follow.
    pub seed: u64,
    /// The files that it may open, where it begins.
    pub files: OpenFiles,
    /// Arrays that the users of all workers share.
    pub data: SharedData,
    /// What `k6/execution` gives as the options of the test, as JSON; `None`: they are not known.
    pub options: Option<String>,
    /// Metrics that it may make, in the order of their numbers; others get the numbers behind them.
    pub metrics: Vec<ScriptMetric>,
    /// What `k6/secrets` gives. Whoever gives them masks them in all that is written.
    pub secrets: Vec<SecretSource>,
    /// Whether the stage is for one user alone, who may change globals and what is built in.
    pub is_alone: bool,
}

/// What all users of a realm share.
#[derive(Debug)]
pub struct Stage {
    realm: Realm,
    /// A function that makes the modules of a user, and returns what the script's own exports.
    instantiate: Held,
    /// Makes lists of the bytes of what is written as JSON.
    bytes: Held,
    shared: Rc<Shared>,
    /// The modules as their authors wrote them.
    written: Vec<Written>,
}

/// A user: its own instance of the script's modules.
#[derive(Debug)]
pub struct ScriptUser {
    exports: Held,
}

impl Stage {
    /// A realm for users of a script.
    ///
    /// # Errors
    /// There is no memory, or what a module is cannot be compiled.
    pub fn new(graph: &Graph, options: &StageOptions) -> io::Result<Result<Stage, Thrown>> {
        let realm = Realm::new(options.limits)?;
        let own = options.clone();
        let shared = Rc::new(Shared {
            http: own.http,
            seed: own.seed,
            files: own.files,
            data: own.data,
            secrets: own.secrets,
            options: own.options,
            metrics: own.metrics.into(),
            ..Shared::default()
        });
        let made = boot(realm.scope(), graph, options, &shared);
        let written = graph.modules.iter().map(Written::new).collect();
        let made = made.and_then(|own| {
            let bytes = realm.scope().evaluate("squall:bytes", BYTES)?;
            Ok((own, realm.scope().hold(&bytes)))
        });
        Ok(made.map(|(instantiate, bytes)| Stage { realm, instantiate, bytes, shared, written }))
    }

    /// A user's own modules: their top level runs now, in a flow in which nothing waits. `env`: what its `__ENV` has
    /// beside that of all users, or in place of it.
    ///
    /// # Errors
    /// A module has thrown.
    pub fn user(&self, numbers: Numbers, env: &[(String, String)]) -> Result<ScriptUser, Thrown> {
        self.shared.current.set(numbers);
        let scope = self.realm.scope();
        let more = variables(scope, env)?;
        self.shared.users.forget(numbers.user);
        self.shared.expected.borrow_mut().remove(&numbers.user);
        let exports = scope.call_alone(&self.instantiate.value(), &[more]);
        let exports = exports.map_err(|own| self.placed(own))?;
        Ok(ScriptUser { exports: scope.hold(&exports) })
    }

    /// A function that the script exports; `None`: there is none of this name.
    ///
    /// # Errors
    /// Reading it has thrown, or it is something else.
    pub fn exported(&self, user: &ScriptUser, name: &str) -> Result<Option<Held>, Thrown> {
        let scope = self.realm.scope();
        let named = std::ffi::CString::new(name).map_err(|_| Thrown::new("a name without 0"))?;
        let own = user.exports.value().get(&named)?;
        match own.is_undefined() {
            true => Ok(None),
            false if !own.is_function() => {
                Err(Thrown::new(format!("the script exports `{name}`, but it is not a function")))
            }
            false => Ok(Some(scope.hold(&own))),
        }
    }

    /// Whatever else it exports, as JSON; `None`: there is none of this name.
    ///
    /// # Errors
    /// It has no JSON.
    pub fn json(&self, user: &ScriptUser, name: &str) -> Result<Option<String>, Thrown> {
        let scope = self.realm.scope();
        let named = std::ffi::CString::new(name).map_err(|_| Thrown::new("a name without 0"))?;
        let own = user.exports.value().get(&named)?;
        if own.is_undefined() {
            return Ok(None);
        }
        stringify(scope, own).map(Some)
    }

    /// A value, made of its JSON.
    ///
    /// # Errors
    /// It is not JSON, or there is no memory for it.
    pub fn value_of(&self, json: &str) -> Result<Held, Thrown> {
        let scope = self.realm.scope();
        let parse = scope.globals().get(c"JSON")?.get(c"parse")?;
        let own = parse.call(&[scope.text(json)?])?;
        Ok(scope.hold(&own))
    }

    /// The JSON of what a function has returned, in which bytes are lists of numbers; `None`: it has returned nothing.
    ///
    /// # Errors
    /// It has no JSON.
    pub fn json_of(&self, value: &Held) -> Result<Option<String>, Thrown> {
        let own = value.value();
        if own.is_undefined() {
            return Ok(None);
        }
        let scope = self.realm.scope();
        let stringify = scope.globals().get(c"JSON")?.get(c"stringify")?;
        stringify.call(&[own, self.bytes.value()])?.to_text().map(Some)
    }

    /// Begins a call of a function.
    ///
    /// # Errors
    /// There is no stack for it.
    pub fn call(&self, function: &Held, arguments: Vec<Held>) -> io::Result<Fiber> {
        Fiber::new(&self.realm, function, arguments)
    }

    /// Runs a call to where it waits or ends.
    pub fn resume(&self, fiber: &mut Fiber, numbers: Numbers, answer: Answer) -> Step {
        self.shared.current.set(numbers);
        match fiber.resume(answer) {
            Step::Wait(Wait::Requests(mut own)) => {
                own.list.iter_mut().for_each(|request| self.complete(request));
                Step::Wait(Wait::Requests(own))
            }
            Step::Done(Err(thrown)) => Step::Done(Err(self.placed(thrown))),
            step => step,
        }
    }

    /// Adds to a request what is only known when it is sent.
    fn complete(&self, request: &mut HttpRequest) {
        if self.shared.has_user_tags() || !request.params.compression.is_empty() {
            let mut head = HttpHead::clone(&request.head);
            self.shared.with_user_tags(&mut head.params.tags);
            host::compress(&mut head, &mut request.body);
            request.head = self.shared.heads.shared(head);
        }
    }

    /// The same as the script's author wrote it, without places in what is built in.
    fn placed(&self, mut thrown: Thrown) -> Thrown {
        self.written.iter().for_each(|own| own.restore(&mut thrown));
        let is_own = |line: &&str| !line.contains("(squall:") && !line.ends_with("(native)");
        thrown.stack = thrown.stack.lines().filter(is_own).collect::<Vec<_>>().join("\n");
        thrown
    }

    /// What was told since this was asked last.
    pub fn told(&self) -> Vec<Event> {
        self.shared.told.take()
    }

    /// What a user, by its number, has its values told with, beside their tags.
    pub fn metadata(&self, user: u64) -> Tags {
        self.shared.users.metadata(user)
    }

    /// No more metrics are made from now on.
    pub fn open(&self) {
        self.shared.is_open.set(true);
    }

    /// The metrics that the script has made.
    pub fn metrics(&self) -> Vec<ScriptMetric> {
        self.shared.metrics.borrow().clone()
    }

    /// The realm.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }
}

fn stringify<'r>(scope: Scope<'r>, value: Value<'r>) -> Result<String, Thrown> {
    scope.globals().get(c"JSON")?.get(c"stringify")?.call(&[value])?.to_text()
}

fn variables<'r>(scope: Scope<'r>, env: &[(String, String)]) -> Result<Value<'r>, Thrown> {
    let variables = scope.object()?;
    for (name, value) in env {
        variables.define(name, scope.text(value)?)?;
    }
    Ok(variables)
}

fn boot(
    scope: Scope<'_>,
    graph: &Graph,
    options: &StageOptions,
    shared: &Rc<Shared>,
) -> Result<Held, Thrown> {
    let host = host::make(scope, shared)?;
    // Each may use those before it.
    let (mut built_in, made) = (Vec::new(), scope.object()?);
    for (name, text) in library::MODULES {
        let module = scope.evaluate(&format!("squall:{name}"), text)?;
        let module = module.call(&[host.clone(), made.clone()])?;
        made.define(name, module.clone())?;
        built_in.push(module);
    }
    let built_in = scope.array(built_in)?;
    let modules = graph.modules.iter();
    let factories = modules.map(|own| scope.evaluate(&own.origin.to_string(), &own.module.text));
    let factories = scope.array(factories.collect::<Result<_, _>>()?)?;
    // What is built in has numbers below 0.
    let number = |own: &Import| match own {
        Import::Module(number) => *number as f64,
        Import::BuiltIn(number) => -1.0 - *number as f64,
    };
    let imports = graph
        .modules
        .iter()
        .map(|own| scope.array(own.imports.iter().map(|own| scope.number(number(own))).collect()));
    let imports = scope.array(imports.collect::<Result<_, _>>()?)?;
    let freeze = match options.is_alone {
        true => scope.undefined(),
        false => scope.evaluate("squall:freeze", FREEZE)?,
    };
    let base = variables(scope, &options.env)?;
    let origins = graph.modules.iter().map(|own| scope.text(&own.origin.to_string()));
    let origins = scope.array(origins.collect::<Result<_, _>>()?)?;
    let arguments = [host, built_in, factories, imports, base, freeze, origins];
    let instantiate = scope.evaluate("squall:boot", BOOT)?.call(&arguments)?;
    Ok(scope.hold(&instantiate))
}
