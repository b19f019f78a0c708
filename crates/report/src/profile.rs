//! A profile of the target's CPU time, taken while it was under load: its stacks, what they come to, and its flame graph. It
//! stands in a run's folder as `profile.json` (of whom, when), `profile.folded` (the stacks, a line each, as other tools read
//! them) and `profile.svg`.

mod flame;
mod stacks;

use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use squall_plan::files;

pub use self::flame::FlameFrame;
use self::flame::{frames, picture};
pub use self::stacks::{HotFunction, Stacks};
use crate::document::ProfileDocument;
use crate::output::replace_file;

/// The file of the stacks.
const FOLDED: &str = "profile.folded";
/// Most functions that are listed.
const MAX_HOTTEST: usize = 20;
/// Largest file of stacks that is read, in bytes.
const MAX_FOLDED: u64 = 64 << 20;

/// A profile of the target's CPU time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// The name of its monitor.
    pub process: String,
    /// What took it: `perf` or `JFR`.
    pub tool: String,
    /// When it began, in seconds after the start of the load.
    pub from_s: f64,
    /// How long it took, in seconds.
    pub lasts_s: f64,
    /// Where the time was spent.
    #[serde(skip)]
    pub stacks: Stacks,
}

/// A profile as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileView {
    pub process: String,
    pub tool: String,
    pub from_s: f64,
    pub lasts_s: f64,
    /// How many samples were taken.
    pub samples: u64,
    /// The functions in which most samples were, the first of them first.
    pub hottest: Vec<HotFunction>,
    /// The flame graph, without what is too small to be seen.
    pub frames: Vec<FlameFrame>,
}

impl Profile {
    /// As the page shows it.
    pub fn view(&self) -> ProfileView {
        ProfileView {
            process: self.process.clone(),
            tool: self.tool.clone(),
            from_s: self.from_s,
            lasts_s: self.lasts_s,
            samples: self.stacks.samples(),
            hottest: self.stacks.hottest(MAX_HOTTEST),
            frames: frames(&self.stacks),
        }
    }

    /// As `run.json` has it.
    pub fn document(&self) -> ProfileDocument {
        ProfileDocument {
            process: self.process.clone(),
            tool: self.tool.clone(),
            at_s: self.from_s,
            seconds: self.lasts_s,
            samples: self.stacks.samples(),
            file: FOLDED.to_owned(),
        }
    }

    /// Writes it into the folder of its run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let header = serde_json::to_vec_pretty(self)?;
        let title = format!(
            "{}: CPU time, {} samples by {}",
            self.process,
            self.stacks.samples(),
            self.tool
        );
        let files = [
            (FOLDED, self.stacks.folded().into_bytes()),
            (
                "profile.svg",
                picture(&title, &frames(&self.stacks), self.stacks.samples()).into_bytes(),
            ),
            ("profile.json", header),
        ];
        files.iter().try_for_each(|(name, bytes)| {
            replace_file(&folder.join(name), |mut file| file.write_all(bytes))
        })
    }

    /// Reads that of a run's folder; `None`: it has none.
    ///
    /// # Errors
    /// It cannot be read, with the name of the file.
    pub fn read(folder: &Path) -> Result<Option<Profile>, String> {
        let header = folder.join("profile.json");
        if !header.exists() {
            return Ok(None);
        }
        let header =
            files::bytes(&header, 1 << 20).map_err(|error| format!("profile.json: {error}"))?;
        let header: Profile =
            serde_json::from_slice(&header).map_err(|error| format!("profile.json: {error}"))?;
        let text = files::bytes(&folder.join(FOLDED), MAX_FOLDED)
            .map_err(|error| format!("{FOLDED}: {error}"))?;
        Ok(Some(Profile { stacks: Stacks::parse(&String::from_utf8_lossy(&text)), ..header }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Profile::read(folder.path()), Ok(None));
        let stacks = Stacks::parse("main;serve;hash 90\nmain;serve 10\n");
        let own = Profile {
            process: "server".to_owned(),
            tool: "perf".to_owned(),
            from_s: 42.0,
            lasts_s: 10.0,
            stacks,
        };
        own.write(folder.path()).expect("it is written");
        assert_eq!(Profile::read(folder.path()), Ok(Some(own.clone())));
        let svg = std::fs::read_to_string(folder.path().join("profile.svg")).expect("a picture");
        assert!(svg.contains("hash: 90 samples, 90%"), "{svg}");
        let document = own.document();
        assert_eq!((document.at_s, document.samples), (42.0, 100));
        assert!(folder.path().join(document.file).exists());
        let view = own.view();
        assert_eq!((view.samples, view.hottest[0].name.as_str()), (100, "hash"));
        std::fs::write(folder.path().join("profile.json"), "{").expect("it is written");
        assert!(Profile::read(folder.path()).is_err_and(|error| error.starts_with("profile.json")));
    }
}
