//! What a terminal sends, as keys. Pure: bytes in, keys out.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// One that writes a character.
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    BackTab,
    Enter,
    Escape,
    /// Deletes the character before.
    Backspace,
    /// Ctrl-L: draw everything anew.
    Redraw,
}

/// The most bytes of a sequence that is not complete; what is longer is none.
const MAX_SEQUENCE: usize = 32;

/// Reads keys; what is not complete waits for its rest.
#[derive(Debug, Default)]
pub struct Input {
    waiting: Vec<u8>,
}

impl Input {
    /// The keys that these bytes complete. An escape that ends a read is the key of that name: a terminal sends a
    /// sequence in one piece.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.waiting.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.waiting);
        let (mut keys, mut rest) = (Vec::new(), bytes.as_slice());
        while !rest.is_empty() {
            match next(rest) {
                Some((key, length)) => {
                    keys.extend(key);
                    rest = &rest[length..];
                }
                None if rest.len() < MAX_SEQUENCE => {
                    self.waiting = rest.to_vec();
                    break;
                }
                None => break,
            }
        }
        keys
    }
}

/// The first key, if it means any, and its length; `None`: it is not complete.
fn next(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let key = match bytes {
        [0x1b, b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            return Some((sequence(&rest[..end], rest[end]), end + 3));
        }
        [0x1b, ..] => Some(Key::Escape),
        [b'\r' | b'\n', ..] => Some(Key::Enter),
        [b'\t', ..] => Some(Key::Tab),
        [0x7f | 0x08, ..] => Some(Key::Backspace),
        [0x0c, ..] => Some(Key::Redraw),
        [0x00..=0x1f, ..] => None,
        [first, ..] => {
            let length = match first {
                0xf0..=0xf7 => 4,
                0xe0..=0xef => 3,
                0xc0..=0xdf => 2,
                _ => 1,
            };
            let text = std::str::from_utf8(bytes.get(..length)?).ok();
            let Some(c) = text.and_then(|text| text.chars().next()) else { return Some((None, 1)) };
            return Some((Some(Key::Char(c)), length));
        }
        [] => None,
    };
    Some((key, 1))
}

/// What a control sequence means (ECMA-48, as xterm sends them).
fn sequence(parameters: &[u8], last: u8) -> Option<Key> {
    Some(match (last, parameters) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'Z', _) => Key::BackTab,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_terminals_send_them() {
        let read = |bytes: &[u8]| Input::default().read(bytes);
        assert_eq!(read(b"q+\xc3\xa9"), [Key::Char('q'), Key::Char('+'), Key::Char('é')]);
        assert_eq!(
            read(b"\x1b[A\x1bOB\x1b[5~\x1b[Z"),
            [Key::Up, Key::Down, Key::PageUp, Key::BackTab]
        );
        assert_eq!(
            read(b"\x1b[1~\x1b[F\r\n\t\x7f\x0c"),
            [Key::Home, Key::End, Key::Enter, Key::Enter, Key::Tab, Key::Backspace, Key::Redraw]
        );
        assert_eq!(read(b"\x1b"), [Key::Escape]);
        // What means nothing here, and what is no text.
        assert_eq!(read(b"\x1b[2~\x1b[1;5P\xff\x01x"), [Key::Char('x')]);
    }

    #[test]
    fn what_comes_in_pieces_is_one_key() {
        let mut input = Input::default();
        assert_eq!(input.read(b"a\x1b["), [Key::Char('a')]);
        assert_eq!(input.read(b"6"), []);
        assert_eq!(input.read(b"~\xe2\x82"), [Key::PageDown]);
        assert_eq!(input.read(b"\xac"), [Key::Char('€')]);
        // No sequence is that long.
        assert_eq!(input.read(&[b"\x1b[".as_slice(), &[b'1'; 64]].concat()), []);
        assert_eq!(input.read(b"q"), [Key::Char('q')]);
    }
}
