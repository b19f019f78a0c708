//! Things of the host that scripts hold: objects with something behind them, which is dropped with them.

use std::any::Any;
use std::ffi::c_void;
use std::rc::Rc;

use squall_quickjs as js;

use super::realm::Scope;
use super::thrown::Thrown;
use super::value::Value;

/// Makes the class of such objects known to a runtime, and returns its number.
///
/// # Safety
/// The runtime is new, and alive.
pub(super) unsafe fn register(runtime: *mut js::JSRuntime) -> js::JSClassID {
    let mut class: js::JSClassID = 0;
    let about = js::JSClassDef {
        class_name: c"Native".as_ptr(),
        finalizer: Some(finalize),
        gc_mark: None,
        call: None,
        exotic: std::ptr::null_mut(),
    };
    // SAFETY: the runtime is alive, and copies what it needs of the definition.
    unsafe {
        js::JS_NewClassID(runtime, &raw mut class);
        js::JS_NewClass(runtime, class, &raw const about);
    }
    class
}

unsafe extern "C" fn finalize(_: *mut js::JSRuntime, value: js::JSValue) {
    // SAFETY: an object of the class has the pointer that `Scope::native` gave it, or none; this is called once for it.
    unsafe {
        let mut class = 0;
        let own = js::JS_GetAnyOpaque(value, &raw mut class);
        if !own.is_null() {
            drop(Box::from_raw(own.cast::<Rc<dyn Any>>()));
        }
    }
}

impl<'r> Scope<'r> {
    /// An object with something behind it, which no script can see or change.
    ///
    /// # Errors
    /// The realm has no memory left.
    pub fn native(self, own: Rc<dyn Any>) -> Result<Value<'r>, Thrown> {
        let class = self.inner().native;
        // SAFETY: the class was registered with this runtime; the pointer is given to the new object alone.
        unsafe {
            let value = self.checked(js::JS_NewObjectClass(self.context(), class))?;
            let pointer = Box::into_raw(Box::new(own)).cast::<c_void>();
            js::JS_SetOpaque(value.raw(), pointer);
            Ok(value)
        }
    }
}

impl Value<'_> {
    /// What is behind it, if it is such an object and of this type.
    pub fn behind<T: 'static>(&self) -> Option<Rc<T>> {
        let class = self.scope().inner().native;
        // SAFETY: an object of the class has a pointer of `Scope::native`, which lives as long as the object does.
        let own = unsafe {
            let own = js::JS_GetOpaque(self.raw(), class);
            own.cast::<Rc<dyn Any>>().as_ref()?.clone()
        };
        own.downcast::<T>().ok()
    }
}
