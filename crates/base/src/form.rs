//! `application/x-www-form-urlencoded`: the names and values of a form (WHATWG, URL, section 5).

/// Appends a name or value as a form has it.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => out.push(*byte),
            b' ' => out.push(b'+'),
            _ => percent(*byte, out),
        }
    }
}

/// The same of a text, as a text.
pub fn encoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    encode(text.as_bytes(), &mut out);
    // All of it is ASCII.
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends a byte as `%` and its two digits.
pub fn percent(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// The byte whose two hexadecimal digits a text begins with.
fn byte_of_digits(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|own| char::from(*own).to_digit(16));
    // Both are below 16.
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

/// A part of a URL with its percent-encoding undone. A `%` without two hexadecimal digits behind it stays.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        let escaped = byte_of_digits(after).filter(|_| *first == b'%');
        out.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    out
}

/// What a form's name or value stands for; `None`: two hexadecimal digits are missing behind a `%`.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => out.push(b' '),
            b'%' => {
                out.push(byte_of_digits(after)?);
                rest = &after[2..];
            }
            other => out.push(*other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_and_decoded() {
        let text = "a b+c&d=é~*-._";
        assert_eq!(encoded(text), "a+b%2Bc%26d%3D%C3%A9%7E*-._");
        assert_eq!(decode(encoded(text).as_bytes()).as_deref(), Some(text.as_bytes()));
        assert_eq!([decode(b"%4"), decode(b"%zz"), decode(b"%+1")], [None, None, None]);
        assert_eq!(decode(b"%fF").as_deref(), Some(&[0xff][..]));
    }
}
