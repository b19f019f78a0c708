//! Where there is no supervisor.

use std::ffi::OsString;
use std::path::Path;

use crate::mark::Mark;

/// Says that there is none; returns the exit code.
pub fn serve(_: &[OsString]) -> i32 {
    2
}

/// There is nothing to clear up.
pub(crate) fn clear_up(_: &Mark, _: &[u32], _: Option<&Path>) -> Result<(), String> {
    Ok(())
}
