//! Where a script's calls stand.

use squall_quickjs as js;

use super::realm::Scope;

/// Calls that are looked through for those of the script's own.
const DEEPEST: i32 = 1_000;
/// What calls the top level of modules.
const BOOT: &str = "squall:boot";

impl Scope<'_> {
    /// The name of the module whose top level runs: what it calls may stand in others. `None`: none does.
    pub fn beginning_module(self) -> Option<String> {
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
        let called = (0..DEEPEST).filter_map(file).take_while(|own| own != BOOT);
        called.filter(|own| !own.starts_with("squall:")).last()
    }
}
