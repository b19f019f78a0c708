//! What a supervisor that was killed has left behind: processes that its programs had started, and settings. squall itself sees to it
//! as soon as it notices; otherwise the next supervisor of the same folder does.

use std::path::Path;
use std::time::Instant;

use super::processes::{KILLED, LOOK, Process, all};
use super::settings::Settings;
use crate::mark::{Mark, VARIABLE};

/// Ends all processes that bear the mark of a supervisor that is no more or are in one of these groups, and puts back the settings
/// in its journal.
///
/// # Errors
/// Something is as it was left, in a sentence.
pub fn clear_up(mark: &Mark, groups: &[u32], journal: Option<&Path>) -> Result<(), String> {
    let ended = end_all(mark, groups);
    let restored = Settings::new(journal).restore();
    ended.and(restored)
}

fn end_all(mark: &Mark, groups: &[u32]) -> Result<(), String> {
    let own = std::process::id();
    let is_left = |process: &Process| {
        let is_in_group = || u32::try_from(process.group).is_ok_and(|own| groups.contains(&own));
        let is_marked = || process.environment(VARIABLE).is_some_and(|value| mark.is_in(&value));
        !process.is_zombie
            && u32::try_from(process.pid) != Ok(own)
            && (is_in_group() || is_marked())
    };
    let last = Instant::now() + KILLED;
    // What is killed may just have started another one.
    loop {
        let left: Vec<Process> = all().filter(is_left).collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > last {
            let shown: Vec<String> = left.iter().take(20).map(Process::shown).collect();
            return Err(format!("these could not be ended: {}", shown.join(", ")));
        }
        left.iter().for_each(Process::kill);
        std::thread::sleep(LOOK);
    }
}
