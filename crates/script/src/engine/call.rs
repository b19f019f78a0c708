//! Functions of the host that scripts call.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use squall_quickjs as js;

use super::fiber::{self, Aborted};
use super::realm::{Inner, Scope};
use super::thrown::{Thrown, name};
use super::value::Value;
use crate::{Answer, Wait};

type Body = dyn for<'c> Fn(&Call<'c>) -> Result<Value<'c>, Thrown>;

/// A call of a function of the host.
pub struct Call<'c> {
    scope: Scope<'c>,
    this: js::JSValue,
    arguments: &'c [js::JSValue],
}

impl<'c> Call<'c> {
    pub fn scope(&self) -> Scope<'c> {
        self.scope
    }

    /// What it is called on.
    pub fn this(&self) -> Value<'c> {
        // SAFETY: the caller holds it during the call.
        unsafe { Value::borrowed(self.scope, self.this) }
    }

    /// The argument of this number, from 0; undefined where there is none.
    pub fn argument(&self, number: usize) -> Value<'c> {
        let raw = self.arguments.get(number).copied().unwrap_or(js::JS_UNDEFINED);
        // SAFETY: the caller holds the arguments during the call.
        unsafe { Value::borrowed(self.scope, raw) }
    }

    /// How many arguments there are.
    pub fn arguments(&self) -> usize {
        self.arguments.len()
    }

    /// Whether a user runs, or, if not, a script begins.
    pub fn is_of_user(&self) -> bool {
        fiber::is_running()
    }

    /// Calls a function after a time, when the one that users run has returned; `every`: and again and again. Returns its
    /// number.
    ///
    /// # Errors
    /// No user runs, or there are too many.
    pub fn set_timer(
        &self,
        function: &Value<'_>,
        delay: Duration,
        every: bool,
        arguments: &[Value<'_>],
    ) -> Result<u32, Thrown> {
        fiber::set_timer(self.scope, function, delay, every, arguments)
    }

    /// Forgets a timer of the user that runs, if there is one of this number.
    pub fn clear_timer(&self, number: u32) {
        fiber::clear_timer(number);
    }

    /// Waits, while others run. What the call has borrowed must not be borrowed meanwhile.
    ///
    /// # Errors
    /// The user is ended, or this is no user's flow; the error is to be returned at once.
    pub fn wait(&self, wait: Wait) -> Result<Answer, Thrown> {
        fiber::wait(self.scope, wait).map_err(Thrown::from)
    }

    /// An object in which modules keep what belongs to the flow that runs now. It is gone when the flow ends.
    ///
    /// # Errors
    /// No user's flow runs, or there is no memory.
    pub fn flow(&self) -> Result<Value<'c>, Thrown> {
        fiber::own(self.scope)
    }
}

impl From<Aborted> for Thrown {
    #[cold]
    #[inline(never)]
    fn from(aborted: Aborted) -> Thrown {
        match aborted {
            Aborted::Ended => Thrown::ending("the user has ended"),
            Aborted::NoUser => Thrown::new(
                "requests and sleep() are not for the top level of a script, where no user runs yet: call them in a function that users run",
            ),
        }
    }
}

/// What is behind a function of the host.
struct Function {
    body: Box<Body>,
}

impl<'r> Scope<'r> {
    /// A function of the host, under a name for stack traces; `arguments`: its `length`.
    ///
    /// # Errors
    /// The realm has no memory left.
    pub fn function(
        self,
        called: &str,
        arguments: i32,
        own: impl for<'c> Fn(&Call<'c>) -> Result<Value<'c>, Thrown> + 'static,
    ) -> Result<Value<'r>, Thrown> {
        let called = name(called);
        let function = Function { body: Box::new(own) };
        let opaque = Box::into_raw(Box::new(function)).cast::<c_void>();
        // SAFETY: the interpreter hands the pointer to `call` as long as the function lives, and then once to `finalize`.
        // Where the function cannot be made it has called neither, so that the pointer is freed here.
        unsafe {
            let context = self.context();
            let own = js::JS_NewCClosure(
                context,
                Some(call),
                called.as_ptr(),
                Some(finalize),
                arguments,
                0,
                opaque,
            );
            self.checked(own)
        }
    }
}

unsafe extern "C" fn finalize(opaque: *mut c_void) {
    // SAFETY: the pointer is that of `Scope::function`, and this is called once.
    drop(unsafe { Box::from_raw(opaque.cast::<Function>()) });
}

unsafe extern "C" fn call(
    context: *mut js::JSContext,
    this: js::JSValue,
    count: i32,
    arguments: *mut js::JSValue,
    _: i32,
    opaque: *mut c_void,
) -> js::JSValue {
    // SAFETY: the pointer is that of `Scope::function`, and the function is held by its caller during the call. The runtime's
    // opaque is its realm (`Realm::new`), which is alive while anything of it runs; so is a count of it, which this makes.
    let (function, inner) = unsafe {
        let inner =
            js::JS_GetRuntimeOpaque(js::JS_GetRuntime(context)).cast::<Inner>().cast_const();
        Rc::increment_strong_count(inner);
        (&*opaque.cast::<Function>(), Rc::from_raw(inner))
    };
    let scope = Scope::of(&inner);
    let arguments = match usize::try_from(count) {
        // SAFETY: there are as many arguments, which the caller holds during the call.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(arguments, count) },
        _ => &[],
    };
    // What ends the call stays so, also where the interpreter has made a rejected promise of it, or took no notice.
    if let Some(cause) = inner.ended.get() {
        return Thrown::ended(scope, cause).raise(scope);
    }
    let own = Call { scope, this, arguments };
    let called = || match (function.body)(&own) {
        Ok(value) => value.into_raw(),
        Err(thrown) => thrown.raise(scope),
    };
    // A panic must not go through frames of C.
    catch_unwind(AssertUnwindSafe(called)).unwrap_or_else(|_| panicked(scope))
}

#[cold]
#[inline(never)]
fn panicked(scope: Scope<'_>) -> js::JSValue {
    Thrown::new("a function of squall panicked: this is a bug of squall").raise(scope)
}
