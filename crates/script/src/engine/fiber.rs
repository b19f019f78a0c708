//! A user's flow of calls, on a stack of its own.

use std::cell::{Cell, OnceCell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use squall_quickjs as js;

use super::held::Held;
use super::realm::{Inner, Realm, Scope};
use super::stack::{OwnStack, release_unused};
use super::thrown::Thrown;
use super::timers::{Timer, Timers};
use super::value::{Promise, Value};
use crate::{Answer, Ask, Wait};

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

/// What a flow has come to at its end. Errors are boxed: what lies on a stack that waits takes memory of every user.
type Ended = Result<Held, Box<Thrown>>;

type Own = Coroutine<Resume, Wait, Ended, OwnStack>;

/// A function that runs, or waits. When it is dropped it is ended: none of the script's own `catch` and `finally` run.
pub struct Fiber {
    inner: Rc<Inner>,
    /// `None`: it has ended.
    coroutine: Option<Own>,
    /// It has pointers into itself.
    flow: Box<RefCell<js::SquallFlow>>,
}

/// What the functions of the host need of the flow that runs now. It lies on the flow's stack.
struct Running {
    yielder: *const Yielder<Resume, Wait>,
    runtime: *mut js::JSRuntime,
    /// Where the stack of the flow ends.
    bottom: usize,
    timers: RefCell<Timers>,
    /// What modules keep for the flow.
    own: OnceCell<Held>,
}

/// A wait in which a stack needs no more memory than what is on it: to touch it again afterwards costs some microseconds.
const LONG: Duration = Duration::from_secs(5);

thread_local! {
    /// The flow that runs now; null: nobody's.
    static RUNNING: Cell<*const Running> = const { Cell::new(std::ptr::null()) };
    /// Whether it is being ended.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a flow of a user runs now.
pub(super) fn is_running() -> bool {
    !RUNNING.get().is_null()
}

/// The flow that runs now; `None`: nobody's.
///
/// # Safety
/// What is returned is not used beyond the call of a function of the host in which this is called.
unsafe fn running<'c>() -> Option<&'c Running> {
    // SAFETY: it lies on the stack of the flow that runs now, which does not end while functions of the host run on it.
    unsafe { RUNNING.get().as_ref() }
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
        let (function, bottom) = (function.clone(), stack.bottom());
        let coroutine = Coroutine::with_stack(stack, move |yielder, first| match first {
            Resume::Answer(_) => run(yielder, bottom, &function, &arguments),
            Resume::End => Err(Box::new(Thrown::ending("it had not begun"))),
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
        let ends = matches!(how, Resume::End);
        ENDS.set(ends);
        let (main, own) = (inner.main.borrow_mut().as_mut() as *mut _, self.flow.as_ptr());
        // SAFETY: both are flows of this runtime, which do not move; nothing of the runtime runs but what is on this stack.
        unsafe { js::squall_flow_switch(scope.runtime(), main, own) };
        let result = coroutine.resume(how);
        RUNNING.set(std::ptr::null());
        // SAFETY: as above; the flow waits or has ended.
        unsafe { js::squall_flow_switch(scope.runtime(), own, main) };
        match result {
            CoroutineResult::Yield(wait) => Step::Wait(wait),
            CoroutineResult::Return(result) => {
                let stack = self.coroutine.take().map(Coroutine::into_stack);
                // The error that ended it has touched more of the stack than it had while it waited; at the end of a load all
                // users are ended, and nobody needs their stacks any more.
                if let Some(stack) = stack.filter(|_| ends) {
                    stack.release();
                }
                Step::Done(result.map_err(|thrown| *thrown))
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

/// Which flow runs now; 0: none.
pub(super) fn flow_number() -> usize {
    RUNNING.get() as usize
}

/// A flow from its beginning to its end. What stands here and in what it calls stays on the stack while the flow waits: it is
/// to be little.
#[inline(never)]
fn run(
    yielder: &Yielder<Resume, Wait>,
    bottom: usize,
    function: &Held,
    arguments: &[Held],
) -> Ended {
    let function = function.value();
    let scope = function.scope();
    let (runtime, timers, own) = (scope.runtime(), RefCell::default(), OnceCell::new());
    let running = Running { yielder, runtime, bottom, timers, own };
    RUNNING.set(&raw const running);
    let result = function.call_held(arguments);
    finish(scope, &running.timers, result)
}

/// What follows from a call of a function, and what has come of all of it.
#[inline(never)]
fn finish<'r>(
    scope: Scope<'r>,
    timers: &RefCell<Timers>,
    result: Result<Value<'r>, Box<Thrown>>,
) -> Ended {
    let result = result.and_then(|value| settle_all(scope, timers, value).map_err(Box::new));
    let result = result.map(|value| scope.hold(&value));
    clear(scope);
    result
}

/// Runs everything that follows from a call: jobs of promises and timers, until none is left. The first error ends it.
fn settle_all<'r>(
    scope: Scope<'r>,
    timers: &RefCell<Timers>,
    value: Value<'r>,
) -> Result<Value<'r>, Thrown> {
    settle(scope)?;
    loop {
        let Some(due) = timers.borrow().next() else { break };
        let now = now(scope)?;
        if now < due {
            wait(scope, Wait::Sleep(due - now))?;
            continue;
        }
        let Some(timer) = timers.borrow_mut().take(now) else { break };
        timer.function.value().call_held(&timer.arguments).map_err(|thrown| *thrown)?;
        settle(scope)?;
    }
    match value.promise() {
        None => Ok(value),
        Some(Promise::Fulfilled(value)) => Ok(value),
        Some(Promise::Pending) => Ok(scope.undefined()),
        Some(Promise::Rejected(error)) => Err(Thrown::of(error)),
    }
}

/// Runs jobs of promises until none is left.
///
/// # Errors
/// One has ended the call, or a promise was rejected and nobody asks for it.
fn settle(scope: Scope<'_>) -> Result<(), Thrown> {
    // SAFETY: the runtime is alive; a job that throws leaves its exception in the one context there is.
    while scope.inner().ended.get().is_none() && unsafe { js::JS_IsJobPending(scope.runtime()) } {
        let mut context = std::ptr::null_mut();
        // SAFETY: as above.
        if unsafe { js::JS_ExecutePendingJob(scope.runtime(), &raw mut context) } < 0 {
            return Err(Thrown::take(scope));
        }
    }
    let rejected = scope.inner().rejected.take(scope, flow_number());
    match (rejected, scope.inner().ended.get()) {
        (Some(reason), _) => Err(Thrown::of(reason)),
        (None, Some(cause)) => Err(Thrown::ended(scope, cause)),
        (None, None) => Ok(()),
    }
}

impl<'r> Scope<'r> {
    /// Calls a function for no user, with the jobs of promises that follow from it.
    ///
    /// # Errors
    /// It has thrown, or a promise was rejected and nobody asks for it.
    pub fn call_alone(
        self,
        function: &Value<'r>,
        arguments: &[Value<'r>],
    ) -> Result<Value<'r>, Thrown> {
        // What others have left, such as a `toJSON` that promises something, is not of this call.
        clear(self);
        let result = function.call(arguments);
        let settled = if result.is_ok() { settle(self) } else { Ok(()) };
        clear(self);
        settled.and(result)
    }
}

/// A flow has ended: after an error there are jobs that are not to run, promises that nobody asks for, and maybe an exception of
/// which the interpreter took no notice.
fn clear(scope: Scope<'_>) {
    // SAFETY: the runtime is alive, and the jobs that it has now are those of this flow.
    unsafe { js::squall_drop_jobs(scope.runtime()) };
    scope.inner().rejected.forget(scope, flow_number());
    scope.inner().ended.set(None);
    scope.forget_exception();
}

/// The time of whoever runs the user.
fn now(scope: Scope<'_>) -> Result<Duration, Thrown> {
    match wait(scope, Wait::Ask(Ask::Facts))? {
        Answer::Facts(facts) => {
            Ok(Duration::try_from_secs_f64(facts.test_run_ms / 1e3).unwrap_or_default())
        }
        _ => Err(Thrown::new(
            "whoever runs the user does not tell the time: this is a bug of squall",
        )),
    }
}

/// See [`super::Call::set_timer`].
pub(super) fn set_timer(
    scope: Scope<'_>,
    function: &Value<'_>,
    delay: Duration,
    every: bool,
    arguments: &[Value<'_>],
) -> Result<u32, Thrown> {
    // SAFETY: it is not used beyond this call.
    let running = unsafe { running() }.ok_or(Aborted::NoUser)?;
    let due = now(scope)?.saturating_add(delay);
    let arguments = arguments.iter().map(|own| scope.hold(own)).collect();
    let timer = Timer { function: scope.hold(function), arguments, every: every.then_some(delay) };
    running.timers.borrow_mut().set(due, timer)
}

/// See [`super::Call::clear_timer`].
pub(super) fn clear_timer(number: u32) {
    // SAFETY: it is not used beyond this call.
    if let Some(running) = unsafe { running() } {
        running.timers.borrow_mut().clear(number);
    }
}

/// An object that is the flow's own, for as long as it runs: made when it is first asked for.
pub(super) fn own(scope: Scope<'_>) -> Result<Value<'_>, Thrown> {
    // SAFETY: it is not used beyond this call.
    let running = unsafe { running() }.ok_or(Aborted::NoUser)?;
    let own = match running.own.get() {
        Some(own) => own,
        None => {
            let own = scope.hold(&scope.object()?);
            running.own.get_or_init(|| own)
        }
    };
    Ok(own.value().into_scope(scope))
}

/// The flow that runs now waits.
pub(super) fn wait(scope: Scope<'_>, wait: Wait) -> Result<Answer, Aborted> {
    // SAFETY: it is not used beyond this call.
    let running = unsafe { running() }.ok_or(Aborted::NoUser)?;
    if ENDS.get() {
        return Err(Aborted::Ended);
    }
    debug_assert!(std::ptr::eq(running.runtime, scope.runtime()));
    // What the interpreter has thrown and then took no notice of would be left to the flow that runs next.
    scope.forget_exception();
    if matches!(wait, Wait::Sleep(time) if time >= LONG) {
        // SAFETY: this runs on the stack of the flow, which ends there.
        unsafe { release_unused(running.bottom) };
    }
    // SAFETY: the yielder is that of the coroutine on whose stack this runs: it is set when it begins, and again below
    // each time when it goes on.
    let resumed = unsafe { (*running.yielder).suspend(wait) };
    RUNNING.set(running);
    match resumed {
        Resume::Answer(answer) => Ok(answer),
        Resume::End => Err(Aborted::Ended),
    }
}
