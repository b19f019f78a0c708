//! A realm: the interpreter's memory, its globals, and its limits.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::{Duration, Instant};

use squall_quickjs as js;

use super::stack::Stacks;
use super::thrown::{Cause, Thrown, name};
use super::value::Value;

/// Cycles are not collected for less than so many bytes: looking at what is alive takes time too.
const LEAST_GARBAGE: usize = 256 << 10;

/// What a script may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Memory of all users of the realm, in bytes.
    pub memory: usize,
    /// Time between two waits of a user.
    pub run: Duration,
}

impl Default for Limits {
    /// 1 GiB, and 10 s.
    fn default() -> Limits {
        Limits { memory: 1 << 30, run: Duration::from_secs(10) }
    }
}

/// A realm: one set of globals, for one or for many users.
#[derive(Debug, Clone)]
pub struct Realm(pub(super) Rc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    runtime: NonNull<js::JSRuntime>,
    context: NonNull<js::JSContext>,
    pub limits: Limits,
    /// The class of objects that have something of the host behind them.
    pub native: js::JSClassID,
    pub stacks: Stacks,
    /// The flow of whoever is on no stack of a user. It never moves.
    pub main: RefCell<Box<js::SquallFlow>>,
    /// When the flow that runs now was first asked whether to go on; `None`: not yet, since it began or waited.
    pub running_since: Cell<Option<Instant>>,
    /// Why the flow that runs now is being ended.
    pub ended: Cell<Option<Cause>>,
    pub rejected: super::rejected::Rejected,
    /// With how much memory, in bytes, cycles are collected when whoever runs the realm asks for it.
    collect_at: Cell<usize>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: both were made in `Realm::new` and are freed once; whoever has a value or a flow of them has a count of
        // this as well, so that none is left.
        unsafe {
            self.rejected.forget_all(self.context.as_ptr());
            js::JS_FreeContext(self.context.as_ptr());
            js::JS_FreeRuntime(self.runtime.as_ptr());
        }
    }
}

impl Realm {
    /// A new realm.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(limits: Limits) -> io::Result<Realm> {
        let none = || io::Error::from(io::ErrorKind::OutOfMemory);
        // SAFETY: a runtime is made, and a context of it, before anything else knows of them; the handler gets a pointer to
        // `Inner`, which does not move and lives as long as the runtime.
        unsafe {
            let runtime = NonNull::new(js::JS_NewRuntime()).ok_or_else(none)?;
            js::JS_SetMemoryLimit(runtime.as_ptr(), limits.memory as _);
            let Some(context) = NonNull::new(js::JS_NewContext(runtime.as_ptr())) else {
                js::JS_FreeRuntime(runtime.as_ptr());
                return Err(none());
            };
            let native = super::native::register(runtime.as_ptr());
            let mut main = Box::new(std::mem::zeroed::<js::SquallFlow>());
            js::squall_flow_init(&raw mut *main, 0, 0);
            let inner = Rc::new(Inner {
                runtime,
                context,
                limits,
                native,
                stacks: Stacks::default(),
                main: RefCell::new(main),
                running_since: Cell::new(None),
                ended: Cell::new(None),
                rejected: super::rejected::Rejected::default(),
                collect_at: Cell::new(0),
            });
            let opaque = Rc::as_ptr(&inner).cast_mut().cast::<c_void>();
            js::JS_SetRuntimeOpaque(runtime.as_ptr(), opaque);
            js::JS_SetInterruptHandler(runtime.as_ptr(), Some(asked), opaque);
            super::rejected::watch(runtime.as_ptr(), opaque);
            Ok(Realm(inner))
        }
    }

    /// Access to its values, outside of all users: nothing waits there.
    pub fn scope(&self) -> Scope<'_> {
        let scope = Scope(&self.0);
        if !super::fiber::is_running() {
            // SAFETY: the runtime is alive. The stack is that of this thread, on which nothing of the runtime runs.
            unsafe { js::JS_UpdateStackTop(self.0.runtime.as_ptr()) };
            self.0.running_since.set(None);
        }
        scope
    }

    /// Frees what only refers to itself. Until it is asked for again, the interpreter does so by itself only with three
    /// times the memory that is left: whoever has many users asks between their calls ([`Realm::collect_if_due`]), where
    /// none of them waits for it.
    pub fn collect(&self) {
        let runtime = self.0.runtime.as_ptr();
        // SAFETY: the runtime is alive; users that wait hold counts of all that is on their stacks.
        unsafe {
            js::JS_RunGC(runtime);
            let left = js::squall_memory(runtime);
            self.0.collect_at.set(left + (left / 16).max(LEAST_GARBAGE));
            js::JS_SetGCThreshold(runtime, (3 * left) as _);
        }
    }

    /// The same if there is a sixteenth more memory than the last time has left: what is freed at once is what users stand
    /// still for. Returns how long it took.
    pub fn collect_if_due(&self) -> Option<Duration> {
        if self.memory() <= self.0.collect_at.get() {
            return None;
        }
        let began = Instant::now();
        self.collect();
        Some(began.elapsed())
    }

    /// How much of every stack nobody has ever used, of those whose flows have ended, in bytes at its end.
    #[cfg(test)]
    pub fn unused_stack(&self) -> usize {
        self.0.stacks.unused()
    }

    /// The memory that it uses, in bytes.
    pub fn memory(&self) -> usize {
        // SAFETY: the runtime is alive.
        unsafe { js::squall_memory(self.0.runtime.as_ptr()) }
    }

    /// How many objects it has, those that nobody can reach any more included.
    pub fn objects(&self) -> usize {
        // SAFETY: all of the structure is numbers, which the function sets.
        unsafe {
            let mut usage: js::JSMemoryUsage = std::mem::zeroed();
            js::JS_ComputeMemoryUsage(self.0.runtime.as_ptr(), &raw mut usage);
            usize::try_from(usage.obj_count).unwrap_or(0)
        }
    }
}

/// The interpreter asks now and then whether what runs may go on.
unsafe extern "C" fn asked(_: *mut js::JSRuntime, opaque: *mut c_void) -> i32 {
    // SAFETY: it is the pointer that was set with the handler, to what lives as long as the runtime.
    let inner = unsafe { &*opaque.cast::<Inner>() };
    if inner.ended.get() == Some(Cause::Aborted) {
        return 1;
    }
    let now = Instant::now();
    let since = inner.running_since.get().unwrap_or(now);
    inner.running_since.set(Some(since));
    let ends = now.duration_since(since) > inner.limits.run;
    if ends {
        inner.ended.set(Some(Cause::TooLong));
    }
    i32::from(ends)
}

/// Access to a realm for as long as it is borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'r>(&'r Rc<Inner>);

impl<'r> Scope<'r> {
    pub(super) fn of(inner: &'r Rc<Inner>) -> Scope<'r> {
        Scope(inner)
    }

    pub(super) fn inner(self) -> &'r Rc<Inner> {
        self.0
    }

    pub(super) fn context(self) -> *mut js::JSContext {
        self.0.context.as_ptr()
    }

    pub(super) fn runtime(self) -> *mut js::JSRuntime {
        self.0.runtime.as_ptr()
    }

    pub(super) fn forget_exception(self) {
        // SAFETY: the context is alive; what it returns is counted for us, and freed.
        unsafe { drop(Value::own(self, js::JS_GetException(self.context()))) };
    }

    /// What an expression or a program comes to, in strict mode. `file` is the name in stack traces.
    ///
    /// # Errors
    /// It cannot be read, or has thrown.
    pub fn evaluate(self, file: &str, text: &str) -> Result<Value<'r>, Thrown> {
        let (file, length) = (name(file), text.len());
        let text = [text.as_bytes(), b"\0"].concat();
        let flags = js::JS_EVAL_TYPE_GLOBAL | js::JS_EVAL_FLAG_STRICT;
        // SAFETY: the text has its length and a 0 behind it, and the name ends with one.
        unsafe {
            let text = text.as_ptr().cast();
            let own =
                js::JS_Eval(self.context(), text, length as _, file.as_ptr(), flags.cast_signed());
            self.checked(own)
        }
    }

    /// A value that a function of the interpreter has returned, or the exception that it has thrown.
    ///
    /// # Safety
    /// The value is counted for the caller.
    pub(super) unsafe fn checked(self, own: js::JSValue) -> Result<Value<'r>, Thrown> {
        // SAFETY: any value has a tag.
        if unsafe { js::JS_IsException(own) } {
            return Err(Thrown::take(self));
        }
        // SAFETY: as the caller says.
        Ok(unsafe { Value::own(self, own) })
    }

    pub fn undefined(self) -> Value<'r> {
        // SAFETY: it is not counted.
        unsafe { Value::own(self, js::JS_UNDEFINED) }
    }

    pub fn boolean(self, own: bool) -> Value<'r> {
        // SAFETY: it is not counted.
        unsafe { Value::own(self, if own { js::JS_TRUE } else { js::JS_FALSE }) }
    }

    pub fn number(self, own: f64) -> Value<'r> {
        // SAFETY: it is not counted.
        unsafe { Value::own(self, js::JS_NewFloat64(own)) }
    }

    /// # Errors
    /// The realm has no memory left.
    pub fn text(self, own: &str) -> Result<Value<'r>, Thrown> {
        // SAFETY: the pointer is to as many bytes, of valid UTF-8.
        unsafe {
            let (start, length) = (own.as_ptr().cast(), own.len() as _);
            self.checked(js::JS_NewStringLen(self.context(), start, length))
        }
    }

    /// # Errors
    /// The realm has no memory left.
    pub fn object(self) -> Result<Value<'r>, Thrown> {
        // SAFETY: the context is alive.
        unsafe { self.checked(js::JS_NewObject(self.context())) }
    }

    /// The object that has the globals.
    pub fn globals(self) -> Value<'r> {
        // SAFETY: the context is alive; what is returned is counted for us.
        unsafe { Value::own(self, js::JS_GetGlobalObject(self.context())) }
    }
}
