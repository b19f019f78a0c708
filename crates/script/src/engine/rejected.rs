//! Promises that were rejected, and that nobody has asked for yet, by the flow in which that happened.

use std::cell::RefCell;
use std::ffi::c_void;

use squall_quickjs as js;

use super::fiber;
use super::realm::{Inner, Scope};
use super::value::{Promise, Value};

/// Such promises, each counted once.
#[derive(Default)]
pub(super) struct Rejected(RefCell<Vec<(usize, js::JSValue)>>);

impl std::fmt::Debug for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rejected({})", self.0.borrow().len())
    }
}

/// Has the runtime tell of such promises.
///
/// # Safety
/// The runtime is alive; `opaque` points to its `Inner`, which lives as long.
pub(super) unsafe fn watch(runtime: *mut js::JSRuntime, opaque: *mut c_void) {
    // SAFETY: as the caller says.
    unsafe { js::JS_SetHostPromiseRejectionTracker(runtime, Some(tracked), opaque) };
}

unsafe extern "C" fn tracked(
    context: *mut js::JSContext,
    promise: js::JSValue,
    _: js::JSValue,
    is_handled: bool,
    opaque: *mut c_void,
) {
    // SAFETY: it is the pointer that was given to `watch`. The promise is alive during the call, and counted once more for
    // the list, or once less where it leaves it; the list is not borrowed while a count is given back.
    unsafe {
        let list = &(*opaque.cast::<Inner>()).rejected.0;
        if !is_handled {
            list.borrow_mut().push((fiber::flow_number(), js::JS_DupValue(context, promise)));
            return;
        }
        let pointer = js::JS_VALUE_GET_PTR(promise);
        let at = list.borrow().iter().position(|(_, own)| js::JS_VALUE_GET_PTR(*own) == pointer);
        if let Some(at) = at {
            let (_, own) = list.borrow_mut().swap_remove(at);
            js::JS_FreeValue(context, own);
        }
    }
}

impl Rejected {
    /// Why the first such promise of a flow was rejected; all of the flow are forgotten.
    pub fn take<'r>(&self, scope: Scope<'r>, flow: usize) -> Option<Value<'r>> {
        let mut of_flow = Vec::new();
        self.0.borrow_mut().retain(|(own, promise)| {
            let is_of_flow = *own == flow;
            if is_of_flow {
                of_flow.push(*promise);
            }
            !is_of_flow
        });
        // SAFETY: each was counted for the list, which it has left.
        let promises = of_flow.into_iter().map(|own| unsafe { Value::own(scope, own) });
        let promises: Vec<Value<'r>> = promises.collect();
        match promises.first()?.promise() {
            Some(Promise::Rejected(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Nobody will ask for those of a flow.
    pub fn forget(&self, scope: Scope<'_>, flow: usize) {
        drop(self.take(scope, flow));
    }

    /// Nobody will ask for any.
    ///
    /// # Safety
    /// The context is alive, and the one of all that are in the list.
    pub unsafe fn forget_all(&self, context: *mut js::JSContext) {
        for (_, own) in self.0.take() {
            // SAFETY: it was counted for the list, which it has left.
            unsafe { js::JS_FreeValue(context, own) };
        }
    }
}
