//! Messages as people see them: with secrets masked, and the credentials of Basic authentication, which
//! base64 hides from the masking, too.

use squall_plan::secrets::Secrets;

/// A message as text, its secrets masked.
pub fn message(bytes: &[u8], secrets: &Secrets) -> String {
    let text = secrets.mask(&String::from_utf8_lossy(bytes));
    if !text.lines().any(|line| credentials(line).is_some()) {
        return text;
    }
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match credentials(line) {
            Some(known) => {
                masked.push_str(known);
                masked.push_str("***");
                masked.push_str(&line[line.trim_end().len()..]);
            }
            None => masked.push_str(line),
        }
    }
    masked
}

/// The part of a header of Basic credentials before the credentials.
fn credentials(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(": ")?;
    let names = ["authorization", "proxy-authorization"];
    let scheme = value.split(' ').next()?;
    (names.iter().any(|own| name.eq_ignore_ascii_case(own)) && scheme.eq_ignore_ascii_case("basic"))
        .then(|| &line[..(name.len() + 2 + scheme.len() + 1).min(line.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_secrets_are_masked() {
        let mut secrets = Secrets::default();
        secrets.add("hunter2");
        let head = b"GET /?p=hunter2 HTTP/1.1\r\nAuthorization: Basic YTpi\r\nX: y\r\n\r\n";
        let expected = "GET /?p=*** HTTP/1.1\r\nAuthorization: Basic ***\r\nX: y\r\n\r\n";
        assert_eq!(message(head, &secrets), expected);
        let head = b"authorization: Bearer abc";
        assert_eq!(message(head, &secrets), "authorization: Bearer abc");
    }
}
