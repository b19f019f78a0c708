//! A step that calls a function of a script.

use std::path::PathBuf;

use super::kind::{Kind, Needs};
use crate::json::Json;
use crate::keys::{Any, At, Listed, Maybe, Names, Pairs, Text, record};
use crate::model::http_options::Resources;
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// A call of a function that a script in JavaScript or TypeScript exports. The requests that it makes, its checks,
    /// groups and metrics count like those of steps.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Script as "a script" {
        /// The file, relative to the folder of the plan. What it imports is read with it.
        #[key(required)]
        pub file: Spanned<PathBuf>,
        /// The function, by the name under which the script exports it.
        #[key([Maybe<At<Text>>] default "default")]
        pub call: Option<Spanned<String>>,
        /// What it is called with. A text that is a single `${...}` keeps the type of its value.
        #[key([Listed<Any>])]
        pub args: Vec<Json>,
        /// Variables that are set from what it returns, each by a JSONPath; `$` is all of it.
        #[key([Names<At<Text>, true>])]
        pub returns: Vec<(Spanned<String>, Spanned<String>)>,
        /// Texts in `__ENV`, besides those of `scripts`; they are known before the run.
        #[key([Pairs])]
        pub env: Vec<(Template, Template)>,
    }
}

impl<S> Kind<S> for Script {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.extend(self.returns.iter().map(|(name, _)| name.value.as_str()));
    }

    fn needs(&self, _inherited: Option<&Resources>) -> Needs {
        Needs { exchanges: 1, connections: 1, files: 0 }
    }
}
