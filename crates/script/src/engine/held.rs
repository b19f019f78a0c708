//! Values that are kept while nothing of their realm runs.

use std::rc::Rc;

use squall_quickjs as js;

use super::realm::{Inner, Scope};
use super::value::Value;

/// A value that is kept, with its realm.
pub struct Held {
    inner: Rc<Inner>,
    raw: js::JSValue,
}

impl Held {
    fn new(inner: Rc<Inner>, value: &Value<'_>) -> Held {
        assert!(Rc::ptr_eq(&inner, value.scope().inner()), "a value of another realm");
        Held { inner, raw: value.clone().into_raw() }
    }

    pub(super) fn raw(&self) -> js::JSValue {
        self.raw
    }

    /// The value.
    pub fn value(&self) -> Value<'_> {
        // SAFETY: this holds a count of it, and its realm.
        unsafe { Value::borrowed(Scope::of(&self.inner), self.raw) }
    }
}

impl Scope<'_> {
    /// Keeps a value beyond this scope.
    pub fn hold(self, value: &Value<'_>) -> Held {
        Held::new(self.inner().clone(), value)
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value().fmt(f)
    }
}

impl Clone for Held {
    fn clone(&self) -> Held {
        Held::new(self.inner.clone(), &self.value())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the one count that this holds; the realm is alive, since this holds it too.
        unsafe { js::JS_FreeValue(Scope::of(&self.inner).context(), self.raw) };
    }
}
