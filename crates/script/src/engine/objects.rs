//! Objects, arrays and bytes: how functions of the host read and make them.

use std::any::Any;
use std::ffi::c_void;
use std::rc::Rc;

use squall_quickjs as js;

use super::realm::Scope;
use super::thrown::Thrown;
use super::value::Value;

/// Most elements of an array that the host reads.
const MOST: i64 = 1 << 20;

impl<'r> Scope<'r> {
    /// Nothing, as scripts say it on purpose.
    pub fn null(self) -> Value<'r> {
        // SAFETY: it is not counted.
        unsafe { Value::own(self, js::JS_NULL) }
    }

    /// An array of values.
    ///
    /// # Errors
    /// The realm has no memory left.
    pub fn array(self, values: Vec<Value<'_>>) -> Result<Value<'r>, Thrown> {
        let count = i32::try_from(values.len())
            .map_err(|_| Thrown::new("RangeError: an array of more than 2147483647 values"))?;
        let raw: Vec<js::JSValue> = values.into_iter().map(Value::into_raw).collect();
        // SAFETY: there are as many values, whose counts are given away, also where there is no memory.
        unsafe { self.checked(js::JS_NewArrayFrom(self.context(), count, raw.as_ptr())) }
    }

    /// An `ArrayBuffer` with a copy of bytes.
    ///
    /// # Errors
    /// The realm has no memory left.
    pub fn array_buffer(self, bytes: &[u8]) -> Result<Value<'r>, Thrown> {
        // SAFETY: the pointer is to as many bytes, which are copied.
        unsafe {
            let (start, length) = (bytes.as_ptr(), bytes.len() as _);
            self.checked(js::JS_NewArrayBufferCopy(self.context(), start, length))
        }
    }

    /// The value that a JSON text stands for.
    ///
    /// # Errors
    /// It is not JSON, or the realm has no memory left.
    pub fn json(self, text: &[u8]) -> Result<Value<'r>, Thrown> {
        let text = [text, b"\0"].concat();
        // SAFETY: the text has its length and a 0 behind it, and the name ends with one.
        unsafe {
            let (start, length) = (text.as_ptr().cast(), (text.len() - 1) as _);
            self.checked(js::JS_ParseJSON(self.context(), start, length, c"<json>".as_ptr()))
        }
    }

    /// An object with something behind it, as [`Scope::native`], with the prototype of its kind.
    ///
    /// # Errors
    /// The realm has no memory left.
    pub fn native_of(self, own: Rc<dyn Any>, prototype: &Value<'_>) -> Result<Value<'r>, Thrown> {
        let class = self.inner().native;
        // SAFETY: the class was registered with this runtime; the pointer is given to the new object alone.
        unsafe {
            let value = js::JS_NewObjectProtoClass(self.context(), prototype.raw(), class);
            let value = self.checked(value)?;
            js::JS_SetOpaque(value.raw(), Box::into_raw(Box::new(own)).cast::<c_void>());
            Ok(value)
        }
    }
}

impl<'r> Value<'r> {
    /// Whether it is `null` or `undefined`.
    pub fn is_nothing(&self) -> bool {
        // SAFETY: any value has a tag.
        unsafe { js::JS_IsUndefined(self.raw()) || js::JS_IsNull(self.raw()) }
    }

    pub fn is_text(&self) -> bool {
        // SAFETY: any value has a tag.
        unsafe { js::JS_IsString(self.raw()) }
    }

    pub fn is_number(&self) -> bool {
        // SAFETY: any value has a tag.
        unsafe { js::JS_IsNumber(self.raw()) }
    }

    pub fn is_object(&self) -> bool {
        // SAFETY: any value has a tag.
        unsafe { js::JS_IsObject(self.raw()) }
    }

    pub fn is_array(&self) -> bool {
        // SAFETY: the value is alive.
        unsafe { js::JS_IsArray(self.raw()) }
    }

    /// What it is, in a word or two, for messages.
    pub fn kind(&self) -> &'static str {
        // SAFETY: any value has a tag.
        let is_boolean = unsafe { js::JS_IsBool(self.raw()) };
        match () {
            () if self.is_undefined() => "undefined",
            () if self.is_nothing() => "null",
            () if self.is_text() => "a string",
            () if self.is_number() => "a number",
            () if is_boolean => "a boolean",
            () if self.is_array() => "an array",
            () if self.is_function() => "a function",
            () if self.is_object() => "an object",
            () => "something else",
        }
    }

    /// Sets a property of its own, whatever the prototype has, under any name.
    ///
    /// # Errors
    /// The object takes none, or the realm has no memory left.
    pub fn define(&self, name: &str, value: Value<'_>) -> Result<(), Thrown> {
        let context = self.scope().context();
        let flags = js::JS_PROP_C_W_E.cast_signed();
        // SAFETY: the pointer is to as many bytes; the atom is given back, and the count of the value given away.
        let defined = unsafe {
            let atom = js::JS_NewAtomLen(context, name.as_ptr().cast(), name.len() as _);
            let defined =
                js::JS_DefinePropertyValue(context, self.raw(), atom, value.into_raw(), flags);
            js::JS_FreeAtom(context, atom);
            defined
        };
        if defined < 0 { Err(Thrown::take(self.scope())) } else { Ok(()) }
    }

    /// The elements of an array.
    ///
    /// # Errors
    /// A getter has thrown, or there are more than a million.
    pub fn elements(&self) -> Result<Vec<Value<'r>>, Thrown> {
        let context = self.scope().context();
        let mut length = 0;
        // SAFETY: value and context are alive, and the number is ours.
        if unsafe { js::JS_GetLength(context, self.raw(), &raw mut length) } < 0 {
            return Err(Thrown::take(self.scope()));
        }
        if length > MOST {
            return Err(Thrown::new(format!(
                "RangeError: an array of {length} elements: at most {MOST}"
            )));
        }
        let element = |number| {
            // SAFETY: value and context are alive; what is returned is counted for us.
            unsafe {
                let own = js::JS_GetPropertyInt64(context, self.raw(), number);
                self.scope().checked(own)
            }
        };
        (0..length).map(element).collect()
    }

    /// A copy of the bytes of an `ArrayBuffer`, or of what a typed array or a `DataView` shows of one; `None`: it is
    /// something else.
    ///
    /// # Errors
    /// The buffer has been detached.
    pub fn bytes(&self) -> Result<Option<Vec<u8>>, Thrown> {
        let scope = self.scope();
        // SAFETY: the value is alive.
        let (is_buffer, is_typed, is_view) = unsafe {
            let raw = self.raw();
            (js::JS_IsArrayBuffer(raw), js::JS_GetTypedArrayType(raw) >= 0, js::JS_IsDataView(raw))
        };
        if is_buffer {
            return self.buffer().map(Some);
        }
        if is_view {
            let number = |name| self.get(name)?.to_number();
            let (from, count) = (number(c"byteOffset")? as usize, number(c"byteLength")? as usize);
            let all = self.get(c"buffer")?.buffer()?;
            return Ok(Some(
                all.get(from..from.saturating_add(count)).unwrap_or_default().to_vec(),
            ));
        }
        if !is_typed {
            return Ok(None);
        }
        let (mut from, mut count, mut each) = (0, 0, 0);
        // SAFETY: the value is a typed array, and the numbers are ours; the buffer is counted for us.
        let buffer = unsafe {
            let context = scope.context();
            let (from, count, each) = (&raw mut from, &raw mut count, &raw mut each);
            scope.checked(js::JS_GetTypedArrayBuffer(context, self.raw(), from, count, each))?
        };
        let (from, count) = (from as usize, count as usize);
        let all = buffer.buffer()?;
        Ok(Some(all.get(from..from + count).unwrap_or_default().to_vec()))
    }

    fn buffer(&self) -> Result<Vec<u8>, Thrown> {
        let mut length = 0;
        // SAFETY: the pointer is to as many bytes for as long as nothing else runs, and they are copied at once.
        unsafe {
            let start = js::JS_GetArrayBuffer(self.scope().context(), &raw mut length, self.raw());
            if !start.is_null() {
                return Ok(std::slice::from_raw_parts(start, length as usize).to_vec());
            }
        }
        // Without bytes there is no pointer, as in a buffer that is detached, which is an error.
        self.scope().forget_exception();
        match self.get(c"byteLength")?.to_number()? {
            0.0 => Ok(Vec::new()),
            _ => Err(Thrown::new("TypeError: an ArrayBuffer that has been detached")),
        }
    }

    /// Freezes an object for good, as users share it; what inherits from it can have properties of the same names.
    ///
    /// # Errors
    /// It cannot be frozen.
    pub fn share(&self) -> Result<(), Thrown> {
        // SAFETY: the value is alive, and an object.
        let failed =
            self.is_object() && unsafe { js::squall_share(self.scope().context(), self.raw()) } < 0;
        if failed { Err(Thrown::take(self.scope())) } else { Ok(()) }
    }
}
