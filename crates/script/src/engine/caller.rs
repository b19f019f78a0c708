//! Where a script's calls stand.

use std::path::PathBuf;

use squall_quickjs as js;

use super::realm::Scope;

/// Calls that are looked through for one of the script's own.
const DEEPEST: i32 = 64;

impl Scope<'_> {
    /// The file of the innermost function that runs and is the script's own; `None`: none is.
    pub fn calling_file(self) -> Option<PathBuf> {
        let file = |level| {
            // SAFETY: the context is alive; what is returned is counted for us, and freed.
            unsafe {
                let atom = js::JS_GetScriptOrModuleName(self.context(), level);
                if atom == js::JS_ATOM_NULL {
                    return None;
                }
                let text = self.checked(js::JS_AtomToString(self.context(), atom));
                js::JS_FreeAtom(self.context(), atom);
                text.and_then(|own| own.to_text()).ok()
            }
        };
        let own = (0..DEEPEST).filter_map(file).find(|own| !own.starts_with("squall:"));
        own.map(PathBuf::from)
    }
}
