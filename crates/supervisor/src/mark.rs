//! The mark of a supervisor: a variable in the environment of all that it starts, and of all that these start, by which they are
//! known when nothing else tells any more whose they are. Pure but for the folder that it is made of.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::protocol::ProgramId;

/// The variable. It has the marks of all supervisors above a process, with spaces between them.
pub(crate) const VARIABLE: &str = "SQUALL_SUPERVISED";

/// The mark of a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(pub String);

impl Mark {
    /// That of the folder of a journal, whichever supervisor has it; without a journal, one that no other supervisor has.
    pub fn of(journal: Option<&Path>) -> Mark {
        let folder = journal.and_then(Path::parent).and_then(|folder| fs::metadata(folder).ok());
        Mark(match folder {
            Some(folder) => format!("folder-{:x}-{:x}", folder.dev(), folder.ino()),
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                format!("process-{}-{:x}", std::process::id(), now.as_nanos())
            }
        })
    }

    /// That of one of its programs.
    pub fn of_program(&self, id: ProgramId) -> String {
        format!("{}/{}", self.0, id.0)
    }

    /// Whether a value of the variable has this mark, of any of its programs.
    pub fn is_in(&self, value: &str) -> bool {
        value.split(' ').any(|own| own.rsplit_once('/').is_some_and(|(own, _)| own == self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_that_of_a_folder_or_of_one_supervisor() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        assert_eq!(Mark::of(Some(&journal)), Mark::of(Some(&folder.path().join("other"))));
        assert_ne!(Mark::of(Some(&journal)), Mark::of(Some(folder.path())));
        assert_ne!(Mark::of(None), Mark::of(None));
    }

    #[test]
    fn marks_of_several_supervisors_stand_together() {
        let (outer, inner) = (Mark("folder-1-2".to_owned()), Mark("process-3-4".to_owned()));
        let value =
            format!("{} {}", outer.of_program(ProgramId(0)), inner.of_program(ProgramId(7)));
        assert!(outer.is_in(&value) && inner.is_in(&value), "{value}");
        assert!(!Mark("folder-1".to_owned()).is_in(&value));
        assert!(!outer.is_in("") && !outer.is_in("folder-1-2"));
    }
}
