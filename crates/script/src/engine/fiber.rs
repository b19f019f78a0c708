//! A user's flow of calls, on a stack of its own.

use std::cell::{Cell, OnceCell, RefCell};
use std::io;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use squall_quickjs as js;

use super::held::Held;
use super::realm::{Inner, Realm, Scope};
use super::stack::OwnStack;
use super::thrown::{Cause, Thrown};
use super::value::{Promise, Value};
use crate::{Answer, Wait};

/// What a flow has come to.
#[derive(Debug)]
pub enum Step {
    /// It waits.
    Wait(Wait),
    /// The function has returned, or thrown.
    Done(Result<Held, Thrown>),
}

/// Why a wait ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aborted {
    /// The user is ended.
    Ended,
    /// There is no user who could wait.
    NoUser,
}

/// How a flow goes on.
enum Resume {
    Answer(Answer),
    /// It ends: with an error that nothing catches.
    End,
}

type Own = Coroutine<Resume, Wait, Result<Held, Thrown>, OwnStack>;

/// A function that runs, or waits. When it is dropped it is ended: none of the script's own `catch` and `finally` run.
pub struct Fiber {
    inner: Rc<Inner>,
    /// `None`: it has ended.
    coroutine: Option<Own>,
    /// It has pointers into itself.
    flow: Box<RefCell<js::SquallFlow>>,
}

/// What the functions of the host need of the flow that runs now.
#[derive(Clone, Copy)]
struct Running {
    yielder: *const Yielder<Resume, Wait>,
    runtime: *mut js::JSRuntime,
    /// What modules keep for the flow. It lies on the flow's stack.
    own: *const OnceCell<Held>,
}

thread_local! {
    /// The flow that runs now; `None`: nobody's.
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
    /// Whether it is being ended.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a flow of a user runs now.
pub(super) fn is_running() -> bool {
    RUNNING.get().is_some()
}

impl Fiber {
    /// A flow that will call a function.
    ///
    /// # Errors
    /// There is no stack for it.
    pub fn new(realm: &Realm, function: &Held, arguments: Vec<Held>) -> io::Result<Fiber> {
        let inner = realm.0.clone();
        let stack = inner.stacks.take()?;
        // SAFETY: the structure is of pointers and numbers, and is set by the function; it is boxed and does not move.
        let mut flow = Box::new(RefCell::new(unsafe { std::mem::zeroed::<js::SquallFlow>() }));
        // SAFETY: as above.
        unsafe { js::squall_flow_init(flow.get_mut(), stack.top(), stack.limit()) };
        let (function, own) = (function.clone(), inner.clone());
        let coroutine = Coroutine::with_stack(stack, move |yielder, first| {
            if matches!(first, Resume::End) {
                return Err(Thrown { cause: Cause::Aborted, ..Thrown::new("it had not begun") });
            }
            let scope = Scope::of(&own);
            let kept = OnceCell::new();
            RUNNING.set(Some(Running { yielder, runtime: scope.runtime(), own: &raw const kept }));
            let arguments: Vec<Value<'_>> = arguments.iter().map(Held::value).collect();
            let result = call(scope, &function.value(), &arguments);
            result.map(|value| scope.hold(&value))
        });
        Ok(Fiber { inner, coroutine: Some(coroutine), flow })
    }

    /// Begins, or goes on with what has come of what it waited for.
    ///
    /// # Panics
    /// It has ended, or is called by a flow.
    pub fn resume(&mut self, answer: Answer) -> Step {
        self.switch(Resume::Answer(answer))
    }

    fn switch(&mut self, how: Resume) -> Step {
        assert!(!is_running(), "flows do not run flows");
        let coroutine = self.coroutine.as_mut().expect("a flow that has not ended");
        let inner = &self.inner;
        let scope = Scope::of(inner);
        inner.running_since.set(None);
        ENDS.set(matches!(how, Resume::End));
        let (main, own) = (inner.main.borrow_mut().as_mut() as *mut _, self.flow.as_ptr());
        // SAFETY: both are flows of this runtime, which do not move; nothing of the runtime runs but what is on this stack.
        unsafe { js::squall_flow_switch(scope.runtime(), main, own) };
        let result = coroutine.resume(how);
        RUNNING.set(None);
        // SAFETY: as above; the flow waits or has ended.
        unsafe { js::squall_flow_switch(scope.runtime(), own, main) };
        match result {
            CoroutineResult::Yield(wait) => Step::Wait(wait),
            CoroutineResult::Return(result) => {
                self.coroutine = None;
                inner.ended.set(None);
                Step::Done(result)
            }
        }
    }

    /// Ends it where it waits.
    fn end(&mut self) {
        // An ended flow does not wait again: `wait` says no at once.
        while self.coroutine.is_some() {
            let _end = self.switch(Resume::End);
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        self.end();
    }
}

/// Calls a function, and everything that follows from it: jobs of promises, until none is left.
fn call<'r>(
    scope: Scope<'r>,
    function: &Value<'r>,
    arguments: &[Value<'r>],
) -> Result<Value<'r>, Thrown> {
    let value = function.call(arguments);
    let jobs = jobs(scope);
    let value = value?;
    jobs?;
    match value.promise() {
        None => Ok(value),
        Some(Promise::Fulfilled(value)) => Ok(value),
        Some(Promise::Pending) => Ok(scope.undefined()),
        Some(Promise::Rejected(error)) => {
            // SAFETY: the context is alive, and the count of the error is given away.
            unsafe { js::JS_Throw(scope.context(), error.into_raw()) };
            Err(Thrown::take(scope))
        }
    }
}

fn jobs(scope: Scope<'_>) -> Result<(), Thrown> {
    let mut first = Ok(());
    // SAFETY: the runtime is alive; a job that throws leaves its exception in the one context there is.
    while unsafe { js::JS_IsJobPending(scope.runtime()) } {
        let mut context = std::ptr::null_mut();
        // SAFETY: as above.
        if unsafe { js::JS_ExecutePendingJob(scope.runtime(), &raw mut context) } < 0 {
            let thrown = Thrown::take(scope);
            first = first.and(Err(thrown));
        }
    }
    first
}

/// An object that is the flow's own, for as long as it runs: made when it is first asked for.
pub(super) fn own(scope: Scope<'_>) -> Result<Value<'_>, Thrown> {
    let running = RUNNING.get().ok_or_else(|| Thrown::new(NO_USER))?;
    // SAFETY: the flow runs, so that what lies on its stack is alive; only this function refers to it, and nothing of the
    // script runs meanwhile.
    let kept = unsafe { &*running.own };
    if kept.get().is_none() {
        let _new = kept.set(scope.hold(&scope.object()?));
    }
    match kept.get() {
        Some(own) => Ok(own.value().into_scope(scope)),
        None => Err(Thrown::new(NO_USER)),
    }
}

/// Why nothing can wait outside of all flows.
pub(super) const NO_USER: &str =
    "nothing can wait here: no user runs yet; call it in a function that users run";

/// The flow that runs now waits.
pub(super) fn wait(scope: Scope<'_>, wait: Wait) -> Result<Answer, Aborted> {
    let running = RUNNING.get().ok_or(Aborted::NoUser)?;
    if ENDS.get() {
        return Err(Aborted::Ended);
    }
    debug_assert!(std::ptr::eq(running.runtime, scope.runtime()));
    // SAFETY: the runtime is alive.
    let has_exception = unsafe { js::squall_has_exception(scope.runtime()) };
    assert!(!has_exception, "nobody waits with an exception pending");
    // SAFETY: the yielder is that of the coroutine on whose stack this runs: it is set when it begins, and again below
    // each time when it goes on.
    let resumed = unsafe { (*running.yielder).suspend(wait) };
    RUNNING.set(Some(running));
    match resumed {
        Resume::Answer(answer) => Ok(answer),
        Resume::End => Err(Aborted::Ended),
    }
}
