//! What a script's author has written, for errors: where they were thrown, and what was called there.

use std::sync::Arc;

use crate::engine::Thrown;
use crate::graph::Linked;
use crate::module::{Places, frame};

/// What the interpreter says of a call of anything that is no function: it does not know its name.
const NAMELESS: &str = "TypeError: not a function";

/// A module as its author wrote it.
#[derive(Debug)]
pub(crate) struct Written {
    path: String,
    places: Places,
    source: Arc<str>,
}

impl Written {
    pub fn new(own: &Linked) -> Written {
        let module = &own.module;
        Written {
            path: own.origin.to_string(),
            places: module.places.clone(),
            source: module.source.clone(),
        }
    }

    /// Gives an error the places that the author wrote, and the name of what was called, if it was thrown here.
    pub fn restore(&self, thrown: &mut Thrown) {
        self.places.restore(&self.path, &mut thrown.stack);
        if thrown.message != NAMELESS {
            return;
        }
        let first = thrown.stack.lines().next();
        let place = first.and_then(|line| frame(&self.path, line));
        let name = place.and_then(|(_, line, column, _)| called(&self.source, line, column));
        if let Some(name) = name {
            thrown.message = format!("{NAMELESS}, in a call of `{name}`");
        }
    }
}

/// The names of a call at a line and a column of a text, both from 1: `http.get` of `http.get(url)`. `None`: something else
/// stands there, as with arguments on more lines.
fn called(text: &str, line: usize, column: usize) -> Option<&str> {
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let (at, _) = line.char_indices().nth(column.checked_sub(1)?)?;
    let is_name = |own: char| own.is_alphanumeric() || "_$#".contains(own);
    let end = at + line[at..].find(|own| !is_name(own))?;
    let begin = line[..at].trim_end_matches(|own| is_name(own) || own == '.').len();
    let is_call = end > at && line[end..].trim_start().starts_with('(');
    is_call.then(|| line[begin..end].trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn names_of_a_call_end_where_it_begins() {
        for (text, column, expected) in [
            ("http.gte('x')", 6, Some("http.gte")),
            ("  foo ()", 3, Some("foo")),
            ("if (a.b.c(1)) {}", 9, Some("a.b.c")),
            ("new o.Foo()", 7, Some("o.Foo")),
            ("ö?.x()", 4, Some("x")),
            ("f(...own())", 6, Some("own")),
            ("this.#own()", 6, Some("this.#own")),
            ("o['k']()", 1, None),
            ("o.a", 3, None),
            ("'x')", 1, None),
            ("o.a()", 9, None),
            ("", 0, None),
        ] {
            assert_eq!(called(text, 1, column), expected, "{text}");
        }
        assert_eq!(called("a()\n  b()\n", 2, 3), Some("b"));
        assert_eq!(called("a()", 2, 1), None);
    }
}
