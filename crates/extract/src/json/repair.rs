//! What can be read of a text that is nearly JSON, as JSON: without what stands behind the value, commas too many, characters
//! and escapes that may not stand in a string. What is no value is `null`. Where nothing more can be made of it, the text ends:
//! what is complete by then is left. One pass, without recursion.

use super::check::DEPTH_LIMIT;

/// What can be read of an array or object; `None` if the text does not begin as one, or is nested too deeply.
pub(super) fn repaired(text: &str) -> Option<String> {
    let mut repair = Repair { text, out: String::with_capacity(text.len()), open: Vec::new() };
    repair.skip_space();
    if !matches!(repair.next(), Some(b'{' | b'[')) {
        return None;
    }
    repair.value();
    while !repair.open.is_empty() {
        if repair.open.len() > DEPTH_LIMIT {
            return None;
        }
        if repair.step().is_none() {
            while repair.close() {}
        }
    }
    Some(repair.out)
}

/// An array or object that is open.
struct Open {
    object: bool,
    /// Whether there is something in it.
    filled: bool,
}

struct Repair<'t> {
    text: &'t str,
    out: String,
    open: Vec<Open>,
}

impl Repair<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().first().copied()
    }

    fn skip_space(&mut self) {
        self.text = self.text.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    /// Passes over what was looked at, all of it ASCII.
    fn pass(&mut self, bytes: usize) {
        self.text = self.text.get(bytes..).unwrap_or_default();
    }

    /// Reads the next element or member, or an end; `None`: there is no more to be read.
    fn step(&mut self) -> Option<()> {
        self.skip_space();
        match self.next()? {
            b',' => {
                self.pass(1);
                return Some(());
            }
            b'}' | b']' => {
                self.pass(1);
                self.close();
                return Some(());
            }
            _ => {}
        }
        let before = self.out.len();
        let open = self.open.last_mut()?;
        let object = open.object;
        if std::mem::replace(&mut open.filled, true) {
            self.out.push(',');
        }
        let read = if object { self.name().and_then(|()| self.value()) } else { self.value() };
        if read.is_none() {
            self.out.truncate(before);
        }
        read
    }

    /// Closes the innermost array or object, if any is open.
    fn close(&mut self) -> bool {
        let Some(open) = self.open.pop() else { return false };
        self.out.push(if open.object { '}' } else { ']' });
        true
    }

    fn name(&mut self) -> Option<()> {
        if self.next()? != b'"' {
            return None;
        }
        self.string()?;
        self.skip_space();
        if self.next()? != b':' {
            return None;
        }
        self.pass(1);
        self.out.push(':');
        self.skip_space();
        Some(())
    }

    /// Reads a value, or the beginning of an array or object.
    fn value(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.string(),
            begin @ (b'{' | b'[') => {
                self.pass(1);
                self.out.push(char::from(begin));
                self.open.push(Open { object: begin == b'{', filled: false });
                Some(())
            }
            _ => {
                // One that reaches the end may be a part of what it was to be.
                let end = self.text.find([',', '}', ']', ' ', '\n', '\r', '\t'])?;
                let (word, rest) = self.text.split_at(end);
                self.text = rest;
                let is_value = serde_json::from_str::<serde_json::Value>(word).is_ok();
                self.out.push_str(if is_value { word } else { "null" });
                Some(())
            }
        }
    }

    /// Reads a string; `None`: it is not closed.
    fn string(&mut self) -> Option<()> {
        self.pass(1);
        self.out.push('"');
        loop {
            let special = |c: char| matches!(c, '"' | '\\' | '\0'..='\x1F');
            let (plain, rest) = self.text.split_at(self.text.find(special)?);
            self.out.push_str(plain);
            self.text = rest;
            match self.next()? {
                b'"' => {
                    self.pass(1);
                    self.out.push('"');
                    return Some(());
                }
                b'\\' => self.escape()?,
                control => {
                    self.pass(1);
                    self.out.push_str(&format!("\\u{control:04x}"));
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let known = match self.text.as_bytes().get(1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => match (code_unit(self.text), self.text.get(6..).and_then(code_unit)) {
                (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
                (Some(0xD800..=0xDFFF), _) => {
                    self.pass(6);
                    self.out.push('\u{FFFD}');
                    return Some(());
                }
                (Some(_), _) => 6,
                (None, _) => 0,
            },
            _ => 0,
        };
        let (escape, rest) = self.text.split_at(known);
        self.out.push_str(escape);
        self.text = rest;
        if known == 0 {
            // A backslash that means nothing.
            self.pass(1);
        }
        Some(())
    }
}

/// What an escape of four hexadecimal digits stands for.
fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hexadecimal.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_can_be_read_is_left() {
        for (text, left) in [
            (r#"{"a": [1, 2,], "b": 3,}"#, Some(r#"{"a":[1,2],"b":3}"#)),
            (r#"{"a":1} trailing"#, Some(r#"{"a":1}"#)),
            ("{\"a\":1}\n{\"a\":2}\n", Some(r#"{"a":1}"#)),
            (
                r#"{"a":NaN,"b":-Infinity,"c":[+1,01,1.5]}"#,
                Some(r#"{"a":null,"b":null,"c":[null,null,1.5]}"#),
            ),
            ("{\"a\":\"x\ty\u{FFFD}\",\"b\":1}", Some("{\"a\":\"x\\u0009y\u{FFFD}\",\"b\":1}")),
            (
                r#"["\x\'\u12", "\ud800", "\ud83d\ude00"]"#,
                Some("[\"x'u12\",\"\u{FFFD}\",\"\\ud83d\\ude00\"]"),
            ),
            ("[1,,2]", Some("[1,2]")),
            (r#"{"a":,"b":2}"#, Some(r#"{"a":null,"b":2}"#)),
            // What is cut off in the middle of a value is not that value.
            (r#"{"a":1,"b":12"#, Some(r#"{"a":1}"#)),
            (r#"{"a":{"b":1},"token":"abc"#, Some(r#"{"a":{"b":1}}"#)),
            (r#"[{"a":1},{"a"#, Some(r#"[{"a":1},{}]"#)),
            ("{a: 1}", Some("{}")),
            ("<html>{}", None),
            ("", None),
            ("NaN", None),
        ] {
            assert_eq!(repaired(text).as_deref(), left, "{text}");
        }
        assert_eq!(repaired(&"[".repeat(DEPTH_LIMIT + 1)), None);
    }

    proptest! {
        #[test]
        fn what_is_left_is_json(text in r#"[\[{]([\[\]{},:" \\u0-9a-eNx\x00-\x1f\u{e9}-\u{ff}]|"[a-c]":|true|\\u[dD]8){0,40}"#) {
            let left = repaired(&text).expect("it begins as an array or object");
            prop_assert!(serde_json::from_str::<serde_json::Value>(&left).is_ok(), "{left}");
        }

        #[test]
        fn what_is_json_is_left_as_it_is(text in r#"\{"a":(\[(1|"x"|null|true)(,(-2\.5e3|\{\}|"\\n\\u00e9")){0,4}\]|1)\}"#) {
            prop_assert_eq!(repaired(&text), Some(text));
        }
    }
}
