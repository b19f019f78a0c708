//! The filters of JsonPath for Java (`[?(@.price < 10 && @.name =~ /a.*/i)]`) as those of RFC 9535. Numbers are equal to
//! texts that say them in JsonPath, so that both are asked for.

use super::super::pattern::{self, Subject};
use super::{DEPTH_LIMIT, Rest, quoted};

/// One side of a comparison.
enum Side {
    /// A path that leads to one value, as the RFC has it.
    Path(String),
    /// How many elements or members there are where such a path leads.
    Length(String),
    Text(String),
    /// As it is written.
    Number(String),
    /// `true`, `false` or `null`.
    Word(&'static str),
    List(Vec<Side>),
    Pattern(String),
}

impl Rest<'_> {
    /// Tests of which one has to hold.
    pub(super) fn any(&mut self) -> Option<String> {
        self.joined("||", |rest| rest.joined("&&", Rest::test))
    }

    fn joined(&mut self, sign: &str, read: fn(&mut Self) -> Option<String>) -> Option<String> {
        let mut tests = vec![read(self)?];
        while self.eat_sign(sign) {
            tests.push(read(self)?);
        }
        let is_one = tests.len() == 1;
        let all = tests.join(&format!(" {sign} "));
        Some(if is_one { all } else { format!("({all})") })
    }

    fn test(&mut self) -> Option<String> {
        self.depth += 1;
        let test = if self.depth > DEPTH_LIMIT { None } else { self.one() };
        self.depth -= 1;
        test
    }

    fn one(&mut self) -> Option<String> {
        self.skip_blanks();
        if self.eat("!") {
            self.skip_blanks();
            // Before a path it is about whether that leads anywhere.
            if self.text.starts_with(['@', '$']) {
                let Side::Path(path) = self.side()? else { return None };
                return self.operator().is_empty().then(|| format!("!{path}"));
            }
            return Some(format!("!{}", in_brackets(&self.test()?)));
        }
        if self.eat("(") {
            let inner = self.any()?;
            return self.eat_sign(")").then(|| in_brackets(&inner));
        }
        let left = self.side()?;
        let operator = self.operator();
        if operator.is_empty() {
            return match left {
                Side::Path(path) => Some(path),
                _ => None,
            };
        }
        let right = self.side()?;
        compared(&left, &operator, &right)
    }

    /// The sign or word between two sides, in lower case; nothing if there is none.
    fn operator(&mut self) -> String {
        self.skip_blanks();
        let sign = self.take_while(|c| matches!(c, '<' | '>' | '=' | '~' | '!'));
        let word = if sign.is_empty() { self.take_while(char::is_alphabetic) } else { sign };
        word.to_ascii_lowercase()
    }

    fn side(&mut self) -> Option<Side> {
        self.skip_blanks();
        for word in ["true", "false", "null"] {
            if self.eat(word) {
                return Some(Side::Word(word));
            }
        }
        match self.text.chars().next()? {
            root @ ('@' | '$') => {
                self.text = &self.text[1..];
                let path = self.segments(root.encode_utf8(&mut [0; 4]))?;
                match path.function.as_deref() {
                    _ if !path.is_definite => None,
                    None => Some(Side::Path(path.path)),
                    Some("length" | "size") => Some(Side::Length(path.path)),
                    Some(_) => None,
                }
            }
            '\'' | '"' => self.string().map(Side::Text),
            '/' => self.pattern(),
            '[' => self.list(),
            _ => {
                let is_of_number =
                    |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | 'e' | 'E');
                let number = self.take_while(is_of_number);
                // As JSON has it, which the RFC has, too.
                let is_one = serde_json::from_str::<serde_json::Number>(number).is_ok();
                is_one.then(|| Side::Number(number.to_owned()))
            }
        }
    }

    /// A list of texts, numbers and words.
    fn list(&mut self) -> Option<Side> {
        self.eat("[");
        let mut items = Vec::new();
        if self.eat_sign("]") {
            return Some(Side::List(items));
        }
        loop {
            let item = self.side()?;
            if !matches!(item, Side::Text(_) | Side::Number(_) | Side::Word(_)) {
                return None;
            }
            items.push(item);
            if self.eat_sign("]") {
                return Some(Side::List(items));
            }
            if !self.eat_sign(",") {
                return None;
            }
        }
    }

    /// A pattern between slashes, with flags.
    fn pattern(&mut self) -> Option<Side> {
        self.eat("/");
        let mut end = None;
        let mut chars = self.text.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '/' => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let (source, behind) = self.text.split_at(end?);
        self.text = &behind[1..];
        let flags = self.take_while(|c| c.is_ascii_alphabetic());
        if flags.chars().any(|flag| !matches!(flag, 'i' | 's')) {
            return None;
        }
        let pattern = pattern::regex(source, Subject::Whole).ok()?;
        Some(Side::Pattern(match flags {
            "" => pattern,
            flags => format!("(?{flags}){pattern}"),
        }))
    }
}

/// What a comparison asserts.
fn compared(left: &Side, operator: &str, right: &Side) -> Option<String> {
    match operator {
        "==" => equal(left, right),
        "!=" => Some(format!("!{}", in_brackets(&equal(left, right)?))),
        "<" | "<=" | ">" | ">=" => ordered(left, operator, right),
        "=~" => match (left, right) {
            (Side::Path(path), Side::Pattern(pattern)) => {
                let test = format!("match(string({path}), {})", quoted(pattern));
                // To JsonPath nothing, and null, are an empty text.
                Some(match pattern::matches_nothing(&format!(r"\A(?:{pattern})\z")) {
                    true => format!("({test} || !{path} || {path} == null)"),
                    false => test,
                })
            }
            _ => None,
        },
        "in" => among(left, right),
        "nin" => Some(format!("!{}", in_brackets(&among(left, right)?))),
        "contains" => contains(left, right),
        "anyof" => {
            let Side::Path(path) = left else { return None };
            let test = among(&Side::Path("@".to_owned()), right)?;
            Some(format!("{path}[?{test}]"))
        }
        "size" => match (left, right) {
            (Side::Path(path), Side::Number(number)) => Some(format!("length({path}) == {number}")),
            _ => None,
        },
        "empty" => match (left, right) {
            (Side::Path(path), Side::Word("true")) => Some(format!("length({path}) == 0")),
            (Side::Path(path), Side::Word("false")) => Some(format!("length({path}) > 0")),
            _ => None,
        },
        _ => None,
    }
}

fn in_brackets(test: &str) -> String {
    if test.starts_with('(') { test.to_owned() } else { format!("({test})") }
}

/// A side as the RFC has it.
fn written(side: &Side) -> Option<String> {
    match side {
        Side::Path(path) => Some(path.clone()),
        Side::Length(path) => Some(format!("length({path})")),
        Side::Text(text) => Some(quoted(text)),
        Side::Number(number) => Some(number.clone()),
        Side::Word(word) => Some((*word).to_owned()),
        Side::List(_) | Side::Pattern(_) => None,
    }
}

fn equal(left: &Side, right: &Side) -> Option<String> {
    let plain = format!("{} == {}", written(left)?, written(right)?);
    // The same as the other of text and number.
    let other = |side: &Side| match side {
        Side::Number(number) => Some(quoted(number)),
        Side::Text(text) => number_of(text),
        _ => None,
    };
    let beside = match (left, right) {
        (Side::Path(path), known) | (known, Side::Path(path)) => {
            other(known).map(|known| format!("{path} == {known}"))
        }
        _ => None,
    };
    Some(match beside {
        Some(beside) => format!("({plain} || {beside})"),
        None => plain,
    })
}

/// The number that a text says, as JSON has it.
fn number_of(text: &str) -> Option<String> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.to_string());
    }
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let number = text.parse::<f64>().ok().filter(|_| text.chars().all(is_of_number))?;
    serde_json::Number::from_f64(number).map(|number| number.to_string())
}

fn ordered(left: &Side, operator: &str, right: &Side) -> Option<String> {
    Some(format!("{} {operator} {}", written(left)?, written(right)?))
}

/// Whether a side is one of a list.
fn among(left: &Side, right: &Side) -> Option<String> {
    let Side::List(items) = right else { return None };
    let tests: Option<Vec<String>> = items.iter().map(|item| equal(left, item)).collect();
    let tests = tests.filter(|tests| !tests.is_empty())?;
    Some(format!("({})", tests.join(" || ")))
}

/// Whether a text has another in it, or a list an element.
fn contains(left: &Side, right: &Side) -> Option<String> {
    let Side::Path(path) = left else { return None };
    let one = equal(&Side::Path("@".to_owned()), right)?;
    let of_list = format!("{path}[?{one}]");
    Some(match right {
        Side::Text(text) => {
            format!("(search({path}, {}) || {of_list})", quoted(&regex_syntax::escape(text)))
        }
        Side::Number(_) | Side::Word(_) => of_list,
        _ => return None,
    })
}
