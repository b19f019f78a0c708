//! Texts with `${...}` in them, split as JMeter splits them. What a name or a call means is not decided here.
//!
//! The rules, several of which surprise:
//! - A text without a `${...}` is taken byte for byte, backslashes included. Once there is one, a backslash before
//!   `$`, `,` or `\` is dropped, everywhere in the text; before anything else it stays.
//! - `${name}` ends at the first `}`, whatever stands between: names do not nest. A backslash in a name is dropped.
//! - `${__name(a,b)}` is a call if there is a function of that name; otherwise all of it up to the first `}` is the
//!   name of a variable. Parameters are split at commas outside of `${...}`; parentheses nest, but do not protect
//!   commas. Each parameter is a text of its own, in which escapes are always read.
//! - Between the `)` and the `}` of a call only blanks may stand: otherwise nothing in the text is replaced.
//! - What is not closed is text, without its `${`.

/// Calls one inside the other: far more than anybody writes, and few enough for any stack.
const DEPTH_LIMIT: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// Its parts, none of them an empty text.
    pub parts: Vec<Part>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// As it stands, escapes read.
    Literal(String),
    /// `${name}`: the value of a variable, or where there is none of that name, the text `${name}`.
    Variable(String),
    /// `${__name(...)}`: what a function returns each time the text is needed.
    Call(Call),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name, as `__Random`.
    pub name: String,
    /// Its parameters; none for `${__name}` and `${__name()}`.
    pub parameters: Vec<Text>,
}

/// Why nothing in a text is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextError {
    /// Something stands between the `)` and the `}` of a call of this function.
    AfterCall(String),
    /// There are too many calls one inside the other.
    TooDeep,
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TextError::AfterCall(name) => write!(f, "expected `}}` after the call of `{name}`"),
            TextError::TooDeep => write!(f, "more than {DEPTH_LIMIT} calls one inside the other"),
        }
    }
}

impl std::error::Error for TextError {}

impl Text {
    /// Splits the value of a property. `is_function` says which names are functions'.
    ///
    /// # Errors
    /// Nothing in it is to be replaced: JMeter then uses the text as it was written.
    pub fn parse(source: &str, is_function: &dyn Fn(&str) -> bool) -> Result<Text, TextError> {
        let parts = Parser { rest: source, is_function, depth: 0 }.text()?;
        if parts.iter().all(|part| matches!(part, Part::Literal(_))) {
            return Ok(Text::literal(source));
        }
        Ok(Text { parts })
    }

    /// A text that is taken as it stands.
    pub fn literal(source: &str) -> Text {
        let part = Part::Literal(source.to_owned());
        Text { parts: if source.is_empty() { Vec::new() } else { vec![part] } }
    }

    /// The text, if nothing in it is replaced.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// All calls in it, those in parameters too, the outer before the inner.
    pub fn calls(&self) -> Vec<&Call> {
        let mut found = Vec::new();
        for part in &self.parts {
            if let Part::Call(call) = part {
                found.push(call);
                found.extend(call.parameters.iter().flat_map(Text::calls));
            }
        }
        found
    }

    /// The names of all variables in it, those in parameters too.
    pub fn variables(&self) -> Vec<&str> {
        let of_part = |part| match part {
            &Part::Literal(_) => Vec::new(),
            Part::Variable(name) => vec![name.as_str()],
            Part::Call(call) => call.parameters.iter().flat_map(Text::variables).collect(),
        };
        self.parts.iter().flat_map(of_part).collect()
    }
}

struct Parser<'t> {
    rest: &'t str,
    is_function: &'t dyn Fn(&str) -> bool,
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn text(mut self) -> Result<Vec<Part>, TextError> {
        let (mut parts, mut literal) = (Vec::new(), String::new());
        loop {
            if self.skip("${") {
                match self.reference()? {
                    Part::Literal(text) => literal.push_str(&text),
                    part => {
                        if !literal.is_empty() {
                            parts.push(Part::Literal(std::mem::take(&mut literal)));
                        }
                        parts.push(part);
                    }
                }
                continue;
            }
            match self.next() {
                None => break,
                Some('\\') => match self.next() {
                    Some(escaped @ ('$' | ',' | '\\')) => literal.push(escaped),
                    Some(other) => literal.extend(['\\', other]),
                    // A backslash at the end escapes nothing, and is lost.
                    None => {}
                },
                Some(other) => literal.push(other),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(parts)
    }

    /// What is behind a `${`.
    fn reference(&mut self) -> Result<Part, TextError> {
        let mut name = String::new();
        while let Some(next) = self.next() {
            match next {
                '\\' => name.extend(self.next()),
                '(' if (self.is_function)(&name) => {
                    let parameters = self.parameters()?;
                    self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
                    if !self.skip("}") {
                        return Err(TextError::AfterCall(name));
                    }
                    return Ok(Part::Call(Call { name, parameters }));
                }
                '}' if (self.is_function)(&name) => {
                    return Ok(Part::Call(Call { name, parameters: Vec::new() }));
                }
                '}' => return Ok(Part::Variable(name)),
                other => name.push(other),
            }
        }
        Ok(Part::Literal(name))
    }

    /// The parameters of a call, behind its `(` and up to its `)`.
    fn parameters(&mut self) -> Result<Vec<Text>, TextError> {
        let mut parameters = Vec::new();
        let mut source = String::new();
        let (mut references, mut parentheses) = (0_usize, 0_usize);
        while let Some(next) = self.next() {
            match next {
                '\\' => {
                    source.push('\\');
                    source.extend(self.next());
                    continue;
                }
                '$' if self.skip("{") => {
                    references += 1;
                    source.push_str("${");
                    continue;
                }
                '}' if references > 0 => references -= 1,
                _ if references > 0 => {}
                ',' => {
                    parameters.push(self.parameter(&source)?);
                    source.clear();
                    continue;
                }
                '(' => parentheses += 1,
                ')' if parentheses > 0 => parentheses -= 1,
                ')' => {
                    // `name()` has no parameter, and not an empty one.
                    if !source.is_empty() || !parameters.is_empty() {
                        parameters.push(self.parameter(&source)?);
                    }
                    return Ok(parameters);
                }
                _ => {}
            }
            source.push(next);
        }
        parameters.push(self.parameter(&source)?);
        Ok(parameters)
    }

    fn parameter(&self, source: &str) -> Result<Text, TextError> {
        if self.depth == DEPTH_LIMIT {
            return Err(TextError::TooDeep);
        }
        let inner = Parser { rest: source, is_function: self.is_function, depth: self.depth + 1 };
        Ok(Text { parts: inner.text()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<Text, TextError> {
        Text::parse(source, &|name| ["__f", "__Random"].contains(&name))
    }

    /// A text as one line: variables in angle brackets, calls in square ones.
    fn shown(text: &Text) -> String {
        let part = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Variable(name) => format!("<{name}>"),
            Part::Call(call) => {
                let parameters: Vec<String> = call.parameters.iter().map(shown).collect();
                format!("[{} {}]", call.name, parameters.join("|"))
            }
        };
        text.parts.iter().map(part).collect()
    }

    #[test]
    fn texts_are_split_as_jmeter_splits_them() {
        for (source, expected) in [
            ("", ""),
            ("plain", "plain"),
            // Without anything to replace all stays; with it, escapes are read.
            (r"c\,d\$e\\", r"c\,d\$e\\"),
            (r"c\,d\$e\\\n${x}", r"c,d$e\\n<x>"),
            (r"\${x}", r"\${x}"),
            (r"\${x} ${y}", "${x} <y>"),
            ("a${x}b${y}", "a<x>b<y>"),
            // Names do not nest.
            ("${a${b}}", "<a${b>}"),
            ("${__f}", "[__f ]"),
            ("${__f()}", "[__f ]"),
            ("${__f(,)}", "[__f |]"),
            ("${__Random(1,${max},v)}", "[__Random 1|<max>|v]"),
            ("${__f(${__f(a,b)},c)}", "[__f [__f a|b]|c]"),
            // Parentheses nest, but do not protect commas.
            ("${__f(g(1,2),3)}", "[__f g(1|2)|3]"),
            (r"${__f(a\,b)}", "[__f a,b]"),
            ("${__f(a) }", "[__f a]"),
            // Functions that are none are variables that nobody sets.
            ("${__notAFunction(1)}", "<__notAFunction(1)>"),
            ("${__notAFunction(${x})}", "<__notAFunction(${x>)}"),
            ("${open", "${open"),
            ("$x {y} ${}", "$x {y} <>"),
        ] {
            assert_eq!(shown(&parse(source).expect(source)), expected, "{source}");
        }
    }

    #[test]
    fn what_stands_behind_a_call_makes_all_of_it_text() {
        assert_eq!(parse("${__f(a)b}"), Err(TextError::AfterCall("__f".into())));
        assert_eq!(parse("${__f(a"), Err(TextError::AfterCall("__f".into())));
        let deep = "${__f(".repeat(DEPTH_LIMIT + 2) + &")}".repeat(DEPTH_LIMIT + 2);
        assert_eq!(parse(&deep), Err(TextError::TooDeep));
    }

    #[test]
    fn calls_and_variables_are_found_in_parameters() {
        let text = parse("${a}${__f(${b},${__Random(1,${c})})}").expect("a text");
        assert_eq!(text.variables(), ["a", "b", "c"]);
        let names: Vec<&str> = text.calls().iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["__f", "__Random"]);
    }
}
