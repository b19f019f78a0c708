//! A step that writes a text to a file.

use super::kind::Kind;
use crate::keys::record;
use crate::template::Template;

record! {
    /// A text that is written to a file.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Write as "a write step" {
        /// The file, relative to the working directory; its path is known before the run.
        #[key(required "write")]
        pub file: Template,
        /// The text.
        #[key(required)]
        pub text: Template,
        /// Whether to append to the file; otherwise it is overwritten.
        pub append: bool,
    }
}

impl<S> Kind<S> for Write {}
