//! Files that requests send. What the plan itself says of a path may lead anywhere; what setup or the load finds
//! stays below the folder before it.

use std::path::{Path, PathBuf};

use squall_plan::template::{Template, TemplatePart};
use squall_plan::value::Value;

use crate::program::call::{FileOp, NamedFile};
use crate::program::compiler::Compiler;

impl<'p> Compiler<'p> {
    /// A file to send; `None` after an error was noted. What is not there is noted now, and not in the middle of
    /// the run: the file, or where its name is made for each request, its folder.
    pub(super) fn file(&mut self, path: &'p Template) -> Option<FileOp> {
        let (text, known) = self.said_of_path(path);
        if known == path.parts().len() {
            let file = PathBuf::from(text);
            let opened = openable(&file);
            return self.opened(path, &file, opened).map(|()| FileOp::Known(file));
        }
        let (folder, begin) = text.split_at(text.rfind('/').map_or(0, |at| at + 1));
        let folder = Path::new(if folder.is_empty() { "." } else { folder });
        let rest = self.template(&path.behind(known))?;
        let folder = self.opened(path, folder, folder.canonicalize())?;
        let (begin, source) = (begin.into(), path.source().into());
        Some(FileOp::Named(Box::new(NamedFile { folder, begin, rest, source })))
    }

    /// The beginning of a path that the plan itself says, and of how many parts it is. An absolute path in a
    /// variable takes the place of the folder before it, as that of a file would.
    fn said_of_path(&mut self, path: &Template) -> (String, usize) {
        let mut said = String::new();
        for (at, part) in path.parts().iter().enumerate() {
            let text = match part {
                TemplatePart::Text(text) => text.clone(),
                TemplatePart::Expr(expr) => match self.said(expr) {
                    None | Some(Value::Null | Value::Bytes(_)) => return (said, at),
                    Some(value) => value.to_string(),
                },
            };
            if said.ends_with('/') && Path::new(&text).is_absolute() {
                said.clear();
            }
            said.push_str(&text);
        }
        (said, path.parts().len())
    }

    fn opened<T>(&mut self, path: &Template, file: &Path, opened: std::io::Result<T>) -> Option<T> {
        let noted = opened.map_err(|error| {
            let message = format!("cannot open {}: {error}", file.display());
            self.error(path.span(), message, "paths are relative to the folder of the plan");
        });
        noted.ok()
    }
}

/// Whether a file can be opened.
fn openable(file: &Path) -> std::io::Result<()> {
    // Looked at before it is opened: to open a pipe would wait for its other end.
    match std::fs::metadata(file)?.is_file() {
        true => std::fs::File::open(file).map(drop),
        false => Err(std::io::Error::other("expected a file, found a directory or a device")),
    }
}
