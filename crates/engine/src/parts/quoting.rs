//! Whether quotes in a CSV file open and close as they should (RFC 4180, section 2). The parser takes whatever comes: a quote that
//! nobody closes makes the rest of the file one field, and its rows are lost. Pure.

/// Looks at the bytes of a file, in their order.
#[derive(Debug)]
pub(super) struct Quoting {
    delimiter: u8,
    at: At,
    /// The line of the next byte, and of the last quote that opened a field.
    line: u64,
    opened: u64,
    fault: Option<Fault>,
}

/// Where in a field the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    Unquoted,
    Quoted,
    /// Behind a quote within quotes: it closes the field, or is the first of two that stand for one.
    Quote,
    /// Behind a field in quotes, where only spaces may come.
    Closed,
}

/// What is wrong, and on which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: u64,
    pub what: String,
}

impl Quoting {
    /// Begins with the first byte of a file.
    pub(super) fn new(delimiter: u8) -> Quoting {
        Quoting { delimiter, at: At::Begin, line: 1, opened: 0, fault: None }
    }

    /// What is wrong with what was looked at.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Looks at the next bytes; none: the file ends.
    pub(super) fn look(&mut self, bytes: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        if bytes.is_empty() && self.at == At::Quoted {
            let what = "the quote that opens a field here is never closed".to_owned();
            self.fault = Some(Fault { line: self.opened, what });
        }
        for &byte in bytes {
            self.at = match (self.at, byte) {
                (At::Begin, b'"') => {
                    self.opened = self.line;
                    At::Quoted
                }
                (At::Quoted, b'"') => At::Quote,
                (At::Quote, b'"') | (At::Quoted, _) => At::Quoted,
                (_, byte) if byte == self.delimiter => At::Begin,
                (_, b'\n' | b'\r') => At::Begin,
                (At::Quote | At::Closed, b' ' | b'\t') => At::Closed,
                (At::Quote | At::Closed, _) => return self.text_behind_quotes(),
                (At::Begin | At::Unquoted, _) => At::Unquoted,
            };
            self.line += u64::from(byte == b'\n');
        }
    }

    fn text_behind_quotes(&mut self) {
        let opened = match self.opened == self.line {
            true => String::new(),
            false => format!(", whose first quote is on line {}", self.opened),
        };
        let what = format!("there is text behind the closing quote of a field{opened}");
        self.fault = Some(Fault { line: self.line, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_open_and_close() {
        for (text, expected) in [
            ("a,b\n\"1\",\"x, \"\"y\"\"\nz\"\n,\"\"\n", None),
            ("a\n5\" disk\nx\"y\"z\n", None),
            ("a,b\n\"1\" ,\"2\"\t\r\n", None),
            ("\"a\"", None),
            ("a,b\n1,\"ada\n2,bob\n", Some((2, "is never closed"))),
            ("a,b\n1,\"ada\n2,\"bob\"\n", Some((3, "whose first quote is on line 2"))),
            ("a\n\"x\"y\n", Some((2, "text behind the closing quote of a field"))),
            ("\"", Some((1, "is never closed"))),
        ] {
            for step in [1, 3, text.len()] {
                let mut quoting = Quoting::new(b',');
                text.as_bytes().chunks(step).for_each(|bytes| quoting.look(bytes));
                quoting.look(b"");
                let found = quoting.fault().map(|fault| (fault.line, fault.what.as_str()));
                assert_eq!(found.map(|(line, _)| line), expected.map(|(line, _)| line), "{text}");
                let words = expected.map_or("", |(_, words)| words);
                assert!(found.is_none_or(|(_, what)| what.contains(words)), "{text}: {found:?}");
            }
        }
    }
}
