//! The characters of a text one by one, with room for those that are put back.

/// Half of a character beyond the first 65,536.
pub(super) const HALF: char = '\u{FFFF}';

/// A text that is read once, from its start to its end.
pub(super) struct Input<'t> {
    text: &'t str,
    at: usize,
    /// What was put back, the next one last; `None` is the end.
    back: Vec<Option<char>>,
    /// Whether the end was come upon, even if something was put back since.
    has_ended: bool,
}

impl<'t> Input<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Input { text, at: 0, back: Vec::new(), has_ended: false }
    }

    /// The next character; all ends of lines are `\n`, and a tab is a space.
    pub(super) fn read(&mut self) -> Option<char> {
        if let Some(c) = self.back.pop() {
            return c;
        }
        let Some(c) = self.text[self.at..].chars().next() else {
            self.has_ended = true;
            return None;
        };
        self.at += c.len_utf8();
        Some(match c {
            '\r' => {
                if self.text.as_bytes().get(self.at) == Some(&b'\n') {
                    self.at += 1;
                }
                '\n'
            }
            '\t' => ' ',
            // It counts as two characters, neither of which is one that XML allows.
            c if c > '\u{FFFF}' => {
                self.back.push(Some(HALF));
                HALF
            }
            c => c,
        })
    }

    /// The next character, which is put back.
    pub(super) fn peek(&mut self) -> Option<char> {
        let c = self.read();
        self.put_back(c);
        c
    }

    pub(super) fn put_back(&mut self, c: Option<char>) {
        self.back.push(c);
    }

    /// Takes the next character if it is this one.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let c = self.read();
        if c == Some(wanted) {
            return true;
        }
        self.put_back(c);
        false
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// White space of HTML 4.
pub(super) fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C')
}

/// What a name may have behind its first letter.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_')
}
