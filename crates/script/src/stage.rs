//! Where users of a script run: a realm with what is built in, and the script's modules, ready for each user.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::engine::{Call, Fiber, Held, Limits, Realm, Scope, Step, Thrown, Value};
use crate::event::{Event, Level, MetricKind, ScriptMetric, Tags};
use crate::graph::{Graph, Import};
use crate::library;
use crate::{Answer, Wait};

/// Makes the modules of a user.
const BOOT: &str = include_str!("library/boot.js");
/// The longest sleep that is told apart from no end, in s.
const LONGEST_SLEEP: f64 = 1e9;

/// What all users of a realm share.
#[derive(Debug)]
pub struct Stage {
    realm: Realm,
    /// A function that makes the modules of a user, and returns what the script's own exports.
    instantiate: Held,
    shared: Rc<Shared>,
}

/// What functions of the host use.
#[derive(Debug, Default)]
struct Shared {
    told: RefCell<Vec<Event>>,
    names: RefCell<HashMap<String, Rc<str>>>,
    metrics: RefCell<Vec<ScriptMetric>>,
    /// Whether users run already, so that no more metrics can be made.
    is_open: Cell<bool>,
    current: Cell<Numbers>,
}

/// The numbers of the user that runs now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    /// From 1; 0: no user.
    pub user: u64,
    /// From 0.
    pub iteration: u64,
}

/// A user: its own instance of the script's modules.
#[derive(Debug)]
pub struct ScriptUser {
    exports: Held,
}

impl Stage {
    /// A realm for users of a script, with `__ENV` as it is given.
    ///
    /// # Errors
    /// There is no memory, or what a module is cannot be compiled.
    pub fn new(
        graph: &Graph,
        env: &[(String, String)],
        limits: Limits,
    ) -> io::Result<Result<Stage, Thrown>> {
        let realm = Realm::new(limits)?;
        let shared = Rc::new(Shared::default());
        let made = boot(realm.scope(), graph, env, &shared);
        Ok(made.map(|instantiate| Stage { realm, instantiate, shared }))
    }

    /// A user's own modules: their top level runs now, in a flow in which nothing waits.
    ///
    /// # Errors
    /// A module has thrown.
    pub fn user(&self, numbers: Numbers) -> Result<ScriptUser, Thrown> {
        self.shared.current.set(numbers);
        let scope = self.realm.scope();
        let exports = self.instantiate.value().call(&[])?;
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
        let json = scope.globals().get(c"JSON")?.get(c"stringify")?.call(&[own])?;
        json.to_text().map(Some)
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
        fiber.resume(answer)
    }

    /// What was told since this was asked last.
    pub fn told(&self) -> Vec<Event> {
        self.shared.told.take()
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

fn boot(
    scope: Scope<'_>,
    graph: &Graph,
    env: &[(String, String)],
    shared: &Rc<Shared>,
) -> Result<Held, Thrown> {
    let host = host(scope, shared)?;
    let list = |own: Vec<Value<'_>>| -> Result<Held, Thrown> {
        let list = scope.evaluate("squall:boot", "[]")?;
        let push = scope.evaluate("squall:boot", "(list, value) => { list.push(value) }")?;
        for value in own {
            push.call(&[list.clone(), value])?;
        }
        Ok(scope.hold(&list))
    };
    let built_in = library::MODULES.iter().map(|(name, text)| {
        scope.evaluate(&format!("squall:{name}"), text)?.call(std::slice::from_ref(&host))
    });
    let built_in = list(built_in.collect::<Result<_, _>>()?)?;
    let factories = graph
        .modules
        .iter()
        .map(|own| scope.evaluate(&own.path.to_string_lossy(), &own.module.text));
    let factories = list(factories.collect::<Result<_, _>>()?)?;
    // What is built in has numbers below 0.
    let number = |own: &Import| match own {
        Import::Module(number) => *number as f64,
        Import::BuiltIn(number) => -1.0 - *number as f64,
    };
    let imports = graph.modules.iter().map(|own| {
        let numbers = own.imports.iter().map(|own| scope.number(number(own))).collect();
        Ok(list(numbers)?.value().into_scope(scope))
    });
    let imports = list(imports.collect::<Result<_, Thrown>>()?)?;
    let variables = scope.object()?;
    for (name, value) in env {
        if let Ok(name) = std::ffi::CString::new(name.as_str()) {
            variables.set(&name, scope.text(value)?)?;
        }
    }
    let arguments = [host, built_in.value(), factories.value(), imports.value(), variables];
    let instantiate = scope.evaluate("squall:boot", BOOT)?.call(&arguments)?;
    Ok(scope.hold(&instantiate))
}

/// The functions of the host, as the modules that are built in call them.
fn host<'r>(scope: Scope<'r>, shared: &Rc<Shared>) -> Result<Value<'r>, Thrown> {
    let host = scope.object()?;
    let tell = |own: &Rc<Shared>, event| own.told.borrow_mut().push(event);
    let own = shared.clone();
    let check = scope.function("check", 3, move |call| {
        let (name, ok) = (own.name(&call.argument(0))?, call.argument(1).is_true());
        tell(&own, Event::Check { name, ok, tags: tags(&call.argument(2))? });
        Ok(call.scope().undefined())
    });
    host.set(c"check", check?)?;
    let own = shared.clone();
    let enter = scope.function("enter", 1, move |call| {
        let name = own.name(&call.argument(0))?;
        tell(&own, Event::Enter(name));
        Ok(call.scope().undefined())
    });
    host.set(c"enter", enter?)?;
    let own = shared.clone();
    let leave = scope.function("leave", 0, move |call| {
        tell(&own, Event::Leave);
        Ok(call.scope().undefined())
    });
    host.set(c"leave", leave?)?;
    host.set(c"sleep", scope.function("sleep", 1, sleep)?)?;
    let own = shared.clone();
    let log = scope.function("log", 2, move |call| {
        let level = match call.argument(0).to_number()? {
            0.0 => Level::Debug,
            1.0 => Level::Info,
            2.0 => Level::Warn,
            _ => Level::Error,
        };
        tell(&own, Event::Log { level, text: call.argument(1).to_text()? });
        Ok(call.scope().undefined())
    });
    host.set(c"log", log?)?;
    let own = shared.clone();
    let metric = scope.function("metric", 3, move |call| own.metric(call));
    host.set(c"metric", metric?)?;
    let own = shared.clone();
    let add = scope.function("add", 3, move |call| {
        let (number, value) = (call.argument(0).to_number()?, call.argument(1).to_number()?);
        tell(
            &own,
            Event::Metric { number: number as usize, value, tags: tags(&call.argument(2))? },
        );
        Ok(call.scope().undefined())
    });
    host.set(c"add", add?)?;
    let own = shared.clone();
    let user = scope
        .function("user", 0, move |call| Ok(call.scope().number(own.current.get().user as f64)));
    host.set(c"user", user?)?;
    let own = shared.clone();
    let iteration = scope.function("iteration", 0, move |call| {
        Ok(call.scope().number(own.current.get().iteration as f64))
    });
    host.set(c"iteration", iteration?)?;
    Ok(host)
}

fn sleep<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let seconds = call.argument(0).to_number()?;
    if seconds.is_nan() {
        return Err(Thrown::new("TypeError: sleep() takes a number of seconds"));
    }
    let time = Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_SLEEP));
    call.wait(Wait::Sleep(time))?;
    Ok(call.scope().undefined())
}

impl Shared {
    /// A name, kept once.
    fn name(&self, value: &Value<'_>) -> Result<Rc<str>, Thrown> {
        let text = value.to_text()?;
        let mut names = self.names.borrow_mut();
        if let Some(own) = names.get(&text) {
            return Ok(own.clone());
        }
        let own: Rc<str> = text.as_str().into();
        names.insert(text, own.clone());
        Ok(own)
    }

    /// The number of a metric of this name, which each user makes anew.
    fn metric<'c>(&self, call: &Call<'c>) -> Result<Value<'c>, Thrown> {
        let kind = match call.argument(0).to_number()? {
            0.0 => MetricKind::Counter,
            1.0 => MetricKind::Gauge,
            2.0 => MetricKind::Rate,
            _ => MetricKind::Trend,
        };
        let name = call.argument(1).to_text()?;
        let is_time = call.argument(2).is_true();
        let mut metrics = self.metrics.borrow_mut();
        let number = match metrics.iter().position(|own| own.name == name) {
            Some(at) if metrics[at].kind == kind && metrics[at].is_time == is_time => at,
            Some(_) => {
                let text = format!("metric `{name}` already exists, as something else");
                return Err(Thrown::new(text));
            }
            None if self.is_open.get() => {
                return Err(Thrown::new(
                    "metrics must be made where the script begins, outside of functions",
                ));
            }
            None => {
                metrics.push(ScriptMetric { kind, name, is_time });
                metrics.len() - 1
            }
        };
        Ok(call.scope().number(number as f64))
    }
}

/// Tags of an object, as text.
fn tags(object: &Value<'_>) -> Result<Tags, Thrown> {
    let entries = object.entries()?.into_iter();
    entries.map(|(name, value)| Ok((name, value.to_text()?))).collect()
}
