//! Protocol Buffers, written by hand: the few forms that remote write and OpenTelemetry need. Fields whose value is 0 or
//! empty are written too, as a reader takes them for what they are. Pure.

/// A message that is being written.
#[derive(Debug, Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// An unsigned or non-negative number, a `bool` or an `enum`.
    pub fn varint(&mut self, field: u32, number: u64) {
        self.key(field, 0);
        varint(&mut self.0, number);
    }

    /// A signed number of the types `sint32` and `sint64`.
    pub fn signed(&mut self, field: u32, number: i64) {
        self.varint(field, zigzag(number));
    }

    /// A `fixed64` or `sfixed64`.
    pub fn fixed(&mut self, field: u32, number: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A `double`.
    pub fn double(&mut self, field: u32, number: f64) {
        self.fixed(field, number.to_bits());
    }

    pub fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A message within this one.
    pub fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }

    pub fn varints(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut packed = Vec::new();
        numbers.into_iter().for_each(|number| varint(&mut packed, number));
        self.bytes(field, &packed);
    }

    pub fn many_signed(&mut self, field: u32, numbers: impl IntoIterator<Item = i64>) {
        self.varints(field, numbers.into_iter().map(zigzag));
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        varint(&mut self.0, u64::from(field) << 3 | wire_type);
    }
}

/// Appends a number, seven bits a byte.
pub fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    Number(u64),
    /// Of a text, or a message within.
    Bytes(&'a [u8]),
}

/// The first field of this number in a message, if its value is a `varint` or bytes; bytes that are no message have none.
pub fn first_field(mut bytes: &[u8], wanted: u64) -> Option<Field<'_>> {
    loop {
        let key = read_varint(&mut bytes)?;
        let field = match key & 7 {
            0 => Field::Number(read_varint(&mut bytes)?),
            1 => Field::Bytes(bytes.split_off(..8)?),
            2 => {
                let length = usize::try_from(read_varint(&mut bytes)?).ok()?;
                Field::Bytes(bytes.split_off(..length)?)
            }
            5 => Field::Bytes(bytes.split_off(..4)?),
            _ => return None,
        };
        if key >> 3 == wanted {
            return Some(field);
        }
    }
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{read, unzigzag};

    /// The examples of the encoding's own documentation.
    #[test]
    fn fields_are_written_as_documented() {
        let written = |write: fn(&mut Message)| {
            let mut message = Message::default();
            write(&mut message);
            message.finish()
        };
        assert_eq!(written(|own| own.varint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(written(|own| own.text(2, "testing")), b"\x12\x07testing");
        let packed = written(|own| own.varints(6, [3, 270, 86_942]));
        assert_eq!(packed, [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        assert_eq!([0, -1, 1, -2, i64::MAX, i64::MIN].map(zigzag)[..4], [0, 1, 2, 3]);
        assert_eq!(zigzag(i64::MIN), u64::MAX);
        assert_eq!(written(|own| own.double(1, 1.0)), [9, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        let nested = written(|own| {
            let mut inner = Message::default();
            inner.varint(1, 150);
            own.message(3, &inner);
        });
        assert_eq!(nested, [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn the_first_field_of_a_number_is_found() {
        let mut message = Message::default();
        message.fixed(1, 7);
        message.text(2, "a");
        message.varint(3, 300);
        message.varint(3, 4);
        let bytes = message.finish();
        assert_eq!(first_field(&bytes, 2), Some(Field::Bytes(b"a")));
        assert_eq!(first_field(&bytes, 3), Some(Field::Number(300)));
        assert_eq!(first_field(&bytes, 4), None);
        for length in 0..bytes.len() {
            // What is cut off, or no message at all, has no such field.
            assert_eq!(first_field(&bytes[..length], 4), None);
        }
        assert_eq!(first_field(b"<html>", 1), None);
        assert_eq!(first_field(&[0xff; 20], 1), None);
    }

    #[test]
    fn what_is_written_can_be_read() {
        for number in [0, 1, -1, 127, -128, 1 << 40, i64::MAX, i64::MIN] {
            let mut message = Message::default();
            message.signed(7, number);
            let [(7, read)] = &read(&message.finish())[..] else { panic!("{number}") };
            assert_eq!(unzigzag(read.number()), number);
        }
    }
}
