//! Values of a script.

use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt;

use squall_quickjs as js;

use super::held::Held;
use super::realm::Scope;
use super::thrown::Thrown;

/// A value, counted once.
pub struct Value<'r> {
    scope: Scope<'r>,
    raw: js::JSValue,
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        // SAFETY: the one count that this value is; the context is alive as long as the scope is.
        unsafe { js::JS_FreeValue(self.scope.context(), self.raw) };
    }
}

impl fmt::Debug for Value<'_> {
    /// Its kind: its text would be that of the script, which could run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: any value has a tag.
        write!(f, "Value {{ tag: {} }}", unsafe { js::JS_VALUE_GET_TAG(self.raw) })
    }
}

impl Clone for Value<'_> {
    fn clone(&self) -> Self {
        // SAFETY: the value is alive, and counted once more for the clone.
        let raw = unsafe { js::JS_DupValue(self.scope.context(), self.raw) };
        Value { scope: self.scope, raw }
    }
}

impl<'r> Value<'r> {
    /// # Safety
    /// The value is of this realm, and counted for the caller.
    pub(super) unsafe fn own(scope: Scope<'r>, raw: js::JSValue) -> Value<'r> {
        Value { scope, raw }
    }

    /// A value that somebody else counts.
    ///
    /// # Safety
    /// The value is of this realm and alive.
    pub(super) unsafe fn borrowed(scope: Scope<'r>, raw: js::JSValue) -> Value<'r> {
        // SAFETY: as the caller says.
        Value { scope, raw: unsafe { js::JS_DupValue(scope.context(), raw) } }
    }

    pub(super) fn raw(&self) -> js::JSValue {
        self.raw
    }

    /// Gives its count away.
    pub(super) fn into_raw(self) -> js::JSValue {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    /// The same value in a scope of the same realm.
    ///
    /// # Panics
    /// It is another realm.
    pub fn into_scope(self, scope: Scope<'_>) -> Value<'_> {
        assert!(std::rc::Rc::ptr_eq(scope.inner(), self.scope.inner()), "a value of another realm");
        Value { scope, raw: self.into_raw() }
    }

    pub fn scope(&self) -> Scope<'r> {
        self.scope
    }

    pub fn is_undefined(&self) -> bool {
        // SAFETY: any value has a tag.
        unsafe { js::JS_IsUndefined(self.raw) }
    }

    pub fn is_function(&self) -> bool {
        // SAFETY: value and context are alive.
        unsafe { js::JS_IsFunction(self.scope.context(), self.raw) }
    }

    pub fn is_error(&self) -> bool {
        // SAFETY: the value is alive.
        unsafe { js::JS_IsError(self.raw) }
    }

    /// What a promise has come to: `None`: it is none.
    pub(super) fn promise(&self) -> Option<Promise<'r>> {
        // SAFETY: value and context are alive; a result is counted for us.
        unsafe {
            let context = self.scope.context();
            let result = || Value::own(self.scope, js::JS_PromiseResult(context, self.raw));
            match js::JS_PromiseState(context, self.raw) {
                js::JSPromiseStateEnum_JS_PROMISE_PENDING => Some(Promise::Pending),
                js::JSPromiseStateEnum_JS_PROMISE_FULFILLED => Some(Promise::Fulfilled(result())),
                js::JSPromiseStateEnum_JS_PROMISE_REJECTED => Some(Promise::Rejected(result())),
                _ => None,
            }
        }
    }

    /// As a script would make it a text. Lone surrogates become U+FFFD.
    ///
    /// # Errors
    /// What the script says of it has thrown.
    pub fn to_text(&self) -> Result<String, Thrown> {
        self.look_or_exception(str::to_owned).ok_or_else(|| Thrown::take(self.scope))
    }

    /// The same where errors are of no interest: `None`. At the end of a stack each error would bring the next.
    pub(super) fn own_text(&self) -> Option<String> {
        self.look_or_exception(str::to_owned).or_else(|| {
            self.scope.forget_exception();
            None
        })
    }

    /// A property, where errors are of no interest.
    pub(super) fn property(&self, name: &CStr) -> Option<Value<'r>> {
        // SAFETY: the name ends with 0; what is returned is counted for us, and any value has a tag.
        unsafe {
            let own = js::JS_GetPropertyStr(self.scope.context(), self.raw, name.as_ptr());
            if !js::JS_IsException(own) {
                return Some(Value::own(self.scope, own));
            }
        }
        self.scope.forget_exception();
        None
    }

    /// Looks at the text that a script would make of it, see [`Value::to_text`].
    ///
    /// # Errors
    /// What the script says of it has thrown.
    pub fn with_text<T>(&self, look: impl FnOnce(&str) -> T) -> Result<T, Thrown> {
        self.look_or_exception(look).ok_or_else(|| Thrown::take(self.scope))
    }

    /// `None`: an exception waits to be taken.
    fn look_or_exception<T>(&self, look: impl FnOnce(&str) -> T) -> Option<T> {
        let mut length = 0;
        // SAFETY: the pointer is to as many bytes as the function says, until it is given back.
        unsafe {
            let context = self.scope.context();
            let start = js::JS_ToCStringLen2(context, &raw mut length, self.raw, false);
            if start.is_null() {
                return None;
            }
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length as usize);
            let seen = look(&text(bytes));
            js::JS_FreeCString(context, start);
            Some(seen)
        }
    }

    /// As a script would make it a number.
    ///
    /// # Errors
    /// What the script says of it has thrown.
    pub fn to_number(&self) -> Result<f64, Thrown> {
        let mut number = 0.0;
        // SAFETY: value and context are alive, and the number is ours.
        let failed =
            unsafe { js::JS_ToFloat64(self.scope.context(), &raw mut number, self.raw) } < 0;
        if failed { Err(Thrown::take(self.scope)) } else { Ok(number) }
    }

    /// Whether a script would take it for true.
    pub fn is_true(&self) -> bool {
        // SAFETY: value and context are alive.
        unsafe { js::JS_ToBool(self.scope.context(), self.raw) > 0 }
    }

    /// A property.
    ///
    /// # Errors
    /// A getter has thrown, or nothing has properties here.
    pub fn get(&self, name: &CStr) -> Result<Value<'r>, Thrown> {
        // SAFETY: the name ends with 0.
        unsafe {
            let own = js::JS_GetPropertyStr(self.scope.context(), self.raw, name.as_ptr());
            self.scope.checked(own)
        }
    }

    /// Sets a property.
    ///
    /// # Errors
    /// A setter has thrown, or the object takes none.
    pub fn set(&self, name: &CStr, value: Value<'_>) -> Result<(), Thrown> {
        // SAFETY: the name ends with 0, and the count of the value is given away.
        let set = unsafe {
            let (context, value) = (self.scope.context(), value.into_raw());
            js::JS_SetPropertyStr(context, self.raw, name.as_ptr(), value)
        };
        if set < 0 { Err(Thrown::take(self.scope)) } else { Ok(()) }
    }

    /// Its own properties that can be enumerated, in their order; of what is no object, none.
    ///
    /// # Errors
    /// A getter has thrown.
    pub fn entries(&self) -> Result<Vec<(String, Value<'r>)>, Thrown> {
        let context = self.scope.context();
        let (mut table, mut count) = (std::ptr::null_mut(), 0);
        let flags = (js::JS_GPN_STRING_MASK | js::JS_GPN_ENUM_ONLY).cast_signed();
        // SAFETY: any value has a tag.
        if !unsafe { js::JS_IsObject(self.raw) } {
            return Ok(Vec::new());
        }
        // SAFETY: the object is alive; the table is given back below, whatever happens in between.
        let failed = unsafe {
            js::JS_GetOwnPropertyNames(context, &raw mut table, &raw mut count, self.raw, flags)
        } < 0;
        if failed {
            return Err(Thrown::take(self.scope));
        }
        let entry = |number: usize| {
            // SAFETY: the table has as many entries, and each atom is alive as long as it is.
            unsafe {
                let atom = (*table.add(number)).atom;
                let name = self.scope.checked(js::JS_AtomToString(context, atom))?.to_text()?;
                let value = self.scope.checked(js::JS_GetProperty(context, self.raw, atom))?;
                Ok((name, value))
            }
        };
        let entries = (0..count as usize).map(entry).collect();
        // SAFETY: the table is that of the call above.
        unsafe { js::JS_FreePropertyEnum(context, table, count) };
        entries
    }

    /// Calls it as a function without `this`.
    ///
    /// # Errors
    /// It has thrown, or cannot be called.
    pub fn call(&self, arguments: &[Value<'_>]) -> Result<Value<'r>, Thrown> {
        self.call_raw(arguments.iter().map(Value::raw).collect()).map_err(|thrown| *thrown)
    }

    /// The same with values that are kept.
    pub(super) fn call_held(&self, arguments: &[Held]) -> Result<Value<'r>, Box<Thrown>> {
        self.call_raw(arguments.iter().map(Held::raw).collect())
    }

    /// Calls it with values that the caller holds. Errors are boxed: while what is called waits, room for one would lie on
    /// the stack.
    fn call_raw(&self, mut raw: Vec<js::JSValue>) -> Result<Value<'r>, Box<Thrown>> {
        let count = i32::try_from(raw.len()).unwrap_or(0);
        // SAFETY: there are as many arguments, all alive.
        unsafe {
            let context = self.scope.context();
            let own = js::JS_Call(context, self.raw, js::JS_UNDEFINED, count, raw.as_mut_ptr());
            if js::JS_IsException(own) {
                return Err(Thrown::take_boxed(self.scope));
            }
            Ok(Value::own(self.scope, own))
        }
    }
}

/// A text of bytes, see [`String::from_utf8_lossy`]. Almost all are one already, which is seen many bytes at a time.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// What a promise has come to.
pub(super) enum Promise<'r> {
    Pending,
    Fulfilled(Value<'r>),
    Rejected(Value<'r>),
}
