//! Paths of JsonPath for Java, which JMeter has, as those of RFC 9535: where both mean the same, or can be made to, they
//! are written as the RFC has them, and everything else is refused.

mod filter;
#[cfg(test)]
mod tests;

/// Brackets inside each other: more than anybody writes, and few enough for any stack.
const DEPTH_LIMIT: usize = 12;

/// The most steps of a path.
const STEPS_LIMIT: usize = 100;

/// The largest number of an element.
const LARGEST: i64 = (1 << 53) - 1;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonPath {
    /// The path, as the RFC has it; with `[??...]` for filters.
    pub path: String,
    /// Whether it leads to one value at most.
    pub is_definite: bool,
    /// What is made of the values, by its name.
    pub function: Option<String>,
}

/// A path as it is written in an element.
///
/// # Errors
/// What of it has no equal.
pub(super) fn json_path(source: &str) -> Result<JsonPath, String> {
    let refused = || format!("the JSONPath `{source}`");
    let whole = if source.starts_with('$') { source.to_owned() } else { format!("$.{source}") };
    let mut rest = Rest { text: &whole, in_filter: false, depth: 0 };
    rest.eat("$");
    let path = rest.segments("$").ok_or_else(refused)?;
    if rest.text.trim().is_empty() { Ok(path) } else { Err(refused()) }
}

/// What is left to read.
#[derive(Debug, Clone, Copy)]
struct Rest<'t> {
    text: &'t str,
    in_filter: bool,
    depth: usize,
}

impl<'t> Rest<'t> {
    fn eat(&mut self, sign: &str) -> bool {
        let rest = self.text.strip_prefix(sign);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start();
    }

    /// Whether a sign follows, which is taken, perhaps after blanks.
    fn eat_sign(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        self.eat(sign)
    }

    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let (taken, rest) =
            self.text.split_at(self.text.find(|c| !is(c)).unwrap_or(self.text.len()));
        self.text = rest;
        taken
    }

    /// The steps of a path, behind its `$` or `@`.
    fn segments(&mut self, root: &str) -> Option<JsonPath> {
        let mut path = JsonPath { path: root.to_owned(), is_definite: true, function: None };
        let mut count = 0;
        while self.text.starts_with(['.', '[']) {
            count += 1;
            if count > STEPS_LIMIT {
                return None;
            }
            let deep = self.eat("..");
            if !deep {
                self.eat(".");
            }
            let steps = if self.eat("[") {
                self.bracket()?
            } else if self.eat("*") {
                Steps::many("*".to_owned())
            } else {
                let name = self.name()?;
                if self.eat("(") {
                    // A function ends a path.
                    path.function = Some(name.to_owned()).filter(|_| !deep);
                    return (self.eat_sign(")") && path.function.is_some()).then_some(path);
                }
                Steps::one(quoted(name))
            };
            // Of places anywhere JsonPath makes something else where more follows.
            if deep && steps.is_places && self.text.starts_with(['.', '[']) {
                return None;
            }
            path.is_definite &= steps.is_one && !deep;
            path.path.push_str(if deep { ".." } else { "" });
            path.path.push_str(&format!("[{}]", steps.text));
        }
        Some(path)
    }

    /// A name behind a dot.
    fn name(&mut self) -> Option<&'t str> {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | ':' | '$');
        Some(self.take_while(is_name)).filter(|name| !name.is_empty())
    }

    /// What stands in brackets.
    fn bracket(&mut self) -> Option<Steps> {
        self.skip_blanks();
        let steps = match self.text.chars().next()? {
            '\'' | '"' => Steps::one(quoted(&self.string()?)),
            '*' => {
                self.eat("*");
                Steps::many("*".to_owned())
            }
            // A filter of a filter is none that anybody writes.
            '?' if !self.in_filter => {
                self.eat("?");
                let mut inner = Rest { in_filter: true, ..*self };
                let test = inner.eat_sign("(").then(|| inner.any()).flatten()?;
                self.text = inner.eat_sign(")").then_some(inner.text)?;
                Steps::many(format!("??{test}"))
            }
            _ => self.places()?,
        };
        self.eat_sign("]").then_some(steps)
    }

    /// Numbers of elements: one, several, or from one up to another.
    fn places(&mut self) -> Option<Steps> {
        let text = self.take_while(|c| c.is_ascii_digit() || matches!(c, '-' | ',' | ':' | ' '));
        let number = |text: &str| -> Option<i64> {
            text.trim().parse().ok().filter(|at: &i64| (-LARGEST..=LARGEST).contains(at))
        };
        let is_places = true;
        if let Some((from, to)) = text.split_once(':') {
            let bound = |text: &str| match text.trim() {
                "" => Some(None),
                text => number(text).map(Some),
            };
            let (from, to) = (bound(from)?, bound(to)?);
            // Between two places JsonPath counts none of them from the end.
            if from.is_some() && to.is_some() && from.min(to) < Some(0) {
                return None;
            }
            let shown = |bound: Option<i64>| bound.map_or(String::new(), |at| at.to_string());
            let text = format!("{}:{}", shown(from), shown(to));
            return Some(Steps { text, is_one: false, is_places });
        }
        let places: Option<Vec<i64>> = text.split(',').map(number).collect();
        let places = places?;
        let is_one = places.len() == 1;
        let texts: Vec<String> = places.iter().map(i64::to_string).collect();
        Some(Steps { text: texts.join(","), is_one, is_places })
    }

    /// A text in quotes, of which those within have a backslash.
    fn string(&mut self) -> Option<String> {
        let quote = self.text.chars().next()?;
        self.text = &self.text[quote.len_utf8()..];
        let mut text = String::new();
        let mut rest = self.text.char_indices();
        while let Some((at, c)) = rest.next() {
            match c {
                '\\' => match rest.next()?.1 {
                    c @ ('\'' | '"' | '\\' | '/') => text.push(c),
                    _ => return None,
                },
                c if c == quote => {
                    self.text = &self.text[at + c.len_utf8()..];
                    return Some(text);
                }
                c if c < ' ' => return None,
                c => text.push(c),
            }
        }
        None
    }
}

/// What a step selects.
struct Steps {
    text: String,
    is_one: bool,
    is_places: bool,
}

impl Steps {
    fn one(text: String) -> Steps {
        Steps { text, is_one: true, is_places: false }
    }

    fn many(text: String) -> Steps {
        Steps { text, is_one: false, is_places: false }
    }
}

/// A text as the RFC quotes it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
