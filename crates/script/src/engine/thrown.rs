//! What a script has thrown.

use std::ffi::CStr;
use std::fmt;

use squall_quickjs as js;

use super::realm::Scope;
use super::value::Value;

/// An exception that nobody caught, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// What it says: `TypeError: not a function`.
    pub message: String,
    /// Where it was thrown, a line for each call; empty: what was thrown has no such trace.
    pub stack: String,
    pub cause: Cause,
}

/// Why a script ended so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It threw.
    Script,
    /// It ran for too long without waiting.
    TooLong,
    /// Whoever ran it has ended it, or it has ended itself.
    Aborted,
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.stack.is_empty() { Ok(()) } else { write!(f, "\n{}", self.stack.trim_end()) }
    }
}

impl Thrown {
    /// Takes the exception that waits to be taken.
    pub(super) fn take(scope: Scope<'_>) -> Thrown {
        // SAFETY: the context is alive as long as the scope is; what is returned is counted for the caller.
        let exception = unsafe { Value::own(scope, js::JS_GetException(scope.context())) };
        let cause = scope.inner().ended.take().unwrap_or(Cause::Script);
        let message = match cause {
            Cause::TooLong => Thrown::ended(scope, cause).message,
            _ => exception.own_text().unwrap_or_else(|| "what was thrown has no text".into()),
        };
        let stack = if exception.is_error() {
            exception.property(c"stack").and_then(|own| own.own_text()).unwrap_or_default()
        } else {
            String::new()
        };
        Thrown { message, stack, cause }
    }

    /// The same, without room for it on the stack of the caller.
    #[cold]
    #[inline(never)]
    pub(super) fn take_boxed(scope: Scope<'_>) -> Box<Thrown> {
        Box::new(Thrown::take(scope))
    }

    /// A value that a script has thrown, or rejected a promise with.
    pub(super) fn of(value: Value<'_>) -> Thrown {
        let scope = value.scope();
        // SAFETY: the context is alive, and the count of the value is given away.
        unsafe { js::JS_Throw(scope.context(), value.into_raw()) };
        Thrown::take(scope)
    }

    /// An error that a function of the host throws.
    pub fn new(message: impl Into<String>) -> Thrown {
        Thrown { message: message.into(), stack: String::new(), cause: Cause::Script }
    }

    /// An error that ends the call of the function that users run: no script catches it.
    pub fn ending(message: impl Into<String>) -> Thrown {
        Thrown { cause: Cause::Aborted, ..Thrown::new(message) }
    }

    /// The error of a flow that is being ended, where what the interpreter has thrown for it is lost.
    pub(super) fn ended(scope: Scope<'_>, cause: Cause) -> Thrown {
        let message = match cause {
            Cause::TooLong => {
                let limit = scope.inner().limits.run;
                format!(
                    "it ran for {limit:?} without waiting, and was ended: look for an endless loop"
                )
            }
            _ => "it has ended".to_owned(),
        };
        Thrown { cause, ..Thrown::new(message) }
    }

    /// Throws it into the script that called.
    #[cold]
    #[inline(never)]
    pub(super) fn raise(&self, scope: Scope<'_>) -> js::JSValue {
        let context = scope.context();
        let (kind, text) = match self.message.split_once(": ") {
            Some(("TypeError", text)) => (Some(c"TypeError"), text),
            Some(("RangeError", text)) => (Some(c"RangeError"), text),
            Some(("Error", text)) => (None, text),
            _ => (None, self.message.as_str()),
        };
        let text = text.replace('\0', "\u{fffd}");
        // SAFETY: the format takes a length and a pointer to as many bytes, which the text has.
        unsafe {
            let (format, length) =
                (c"%.*s".as_ptr(), i32::try_from(text.len()).unwrap_or(i32::MAX));
            let start = text.as_ptr();
            match kind {
                Some(kind) if kind == c"TypeError" => {
                    js::JS_ThrowTypeError(context, format, length, start)
                }
                Some(_) => js::JS_ThrowRangeError(context, format, length, start),
                None => js::JS_ThrowPlainError(context, format, length, start),
            };
            if self.cause != Cause::Script {
                let exception = js::JS_GetException(context);
                js::JS_SetUncatchableError(context, exception);
                js::JS_Throw(context, exception);
                scope.inner().ended.set(Some(self.cause));
            }
        }
        js::JS_EXCEPTION
    }
}

/// A name for the interpreter.
pub(super) fn name(text: &str) -> std::ffi::CString {
    let end = text.find('\0').unwrap_or(text.len());
    std::ffi::CString::new(&text[..end]).unwrap_or_else(|_| CStr::to_owned(c""))
}
