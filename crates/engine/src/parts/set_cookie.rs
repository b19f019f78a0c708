//! A Set-Cookie line, read as RFC 6265bis, section 5.6, has it: what a server says, not whether a jar
//! takes it. Lines are bytes; nothing in one can end a line of a request.

use super::cookie_date;

/// Most bytes of name and value together, and of the value of an attribute.
const MAX_PAIR: usize = 4_096;
const MAX_ATTRIBUTE: usize = 1_024;

/// A cookie as its server has written it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SetCookie<'a> {
    /// May be empty, if the value is not.
    pub name: &'a [u8],
    pub value: &'a [u8],
    /// Without a dot before it, small letters; empty: there is none.
    pub domain: String,
    /// Begins with `/`; `None`: the default.
    pub path: Option<&'a [u8]>,
    pub secure: bool,
    /// Whether scripts of a page may not see it.
    pub http_only: bool,
    /// Seconds since 1970.
    pub expires: Option<i64>,
    /// Seconds from now; goes before `expires`.
    pub max_age: Option<i64>,
}

impl<'a> SetCookie<'a> {
    /// Reads a line. `None`: it holds control characters other than tab, nothing, or too much.
    pub(crate) fn parse(line: &'a [u8]) -> Option<SetCookie<'a>> {
        if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return None;
        }
        let mut parts = line.split(|byte| *byte == b';');
        let pair = parts.next().unwrap_or_default();
        let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (trimmed(&pair[..at]), trimmed(&pair[at + 1..])),
            None => (&pair[..0], trimmed(pair)),
        };
        if (1..=MAX_PAIR).contains(&(name.len() + value.len())) {
            let mut cookie = SetCookie { name, value, ..SetCookie::default() };
            parts.for_each(|part| cookie.attribute(part));
            return Some(cookie);
        }
        None
    }

    /// Of several attributes of a name the last counts; those that make no sense are passed over.
    fn attribute(&mut self, part: &'a [u8]) {
        let (name, value) = match part.iter().position(|byte| *byte == b'=') {
            Some(at) => (trimmed(&part[..at]), trimmed(&part[at + 1..])),
            None => (trimmed(part), &part[..0]),
        };
        if value.len() > MAX_ATTRIBUTE {
            return;
        }
        match name.to_ascii_lowercase().as_slice() {
            b"expires" => self.expires = cookie_date::parse(value).or(self.expires),
            b"max-age" => self.max_age = max_age(value).or(self.max_age),
            b"domain" => {
                let value = value.strip_prefix(b".").unwrap_or(value);
                self.domain = String::from_utf8_lossy(value).to_ascii_lowercase();
            }
            b"path" => self.path = Some(value).filter(|path| path.starts_with(b"/")),
            b"secure" => self.secure = true,
            b"httponly" => self.http_only = true,
            // SameSite says what other sites may do: there are none here.
            _ => {}
        }
    }
}

/// Seconds; more than there are count as many.
fn max_age(value: &[u8]) -> Option<i64> {
    let (negative, digits) = match value.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    let seconds = digits.iter().fold(0, add);
    Some(if negative { -seconds } else { seconds })
}

/// Without spaces and tabs at both ends.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(line: &str) -> Option<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        SetCookie::parse(line.as_bytes()).map(|cookie| (text(cookie.name), text(cookie.value)))
    }

    #[test]
    fn names_and_values() {
        for (line, name, value) in [
            ("a=b", "a", "b"),
            (" a \t=\t b c ; Path=/", "a", "b c"),
            ("a=b=c", "a", "b=c"),
            ("a=\"b;c\"", "a", "\"b"),
            ("a=", "a", ""),
            ("=b", "", "b"),
            ("b", "", "b"),
            ("a%20=%0D", "a%20", "%0D"),
            ("a=b\tc", "a", "b\tc"),
        ] {
            assert_eq!(pair(line), Some((name.to_owned(), value.to_owned())), "{line:?}");
        }
    }

    #[test]
    fn no_control_character_but_tab() {
        for byte in (0u8..32).chain([127]).filter(|byte| *byte != b'\t') {
            let character = char::from(byte);
            for line in [format!("a=1{character}2"), format!("a=1; Path=/{character}")] {
                assert_eq!(pair(&line), None, "{line:?}");
            }
        }
        for line in ["", ";", "=", " = ;Path=/"] {
            assert_eq!(pair(line), None, "{line:?}");
        }
    }

    #[test]
    fn four_kilobytes_are_enough() {
        assert!(pair(&format!("a={}", "x".repeat(4_095))).is_some());
        assert!(pair(&format!("a={}", "x".repeat(4_096))).is_none());
        let long = format!("a=1; Path=/{}; Domain=h", "x".repeat(1_024));
        let cookie = SetCookie::parse(long.as_bytes()).expect("a cookie");
        assert_eq!((cookie.path, &*cookie.domain), (None, "h"));
    }

    #[test]
    fn attributes() {
        let cookie = |attributes: &str| {
            let line = format!("a=1{attributes}").into_bytes();
            let cookie = SetCookie::parse(Box::leak(line.into())).expect("a cookie");
            let path = cookie.path.map(|path| String::from_utf8_lossy(path).into_owned());
            (cookie.domain, path.unwrap_or_default(), cookie.secure, cookie.expires, cookie.max_age)
        };
        let expected =
            |domain: &str, path: &str, secure| (domain.to_owned(), path.to_owned(), secure);
        for (attributes, domain, path, secure) in [
            ("; DOMAIN=.Shop.Example; path=/x ; Secure", "shop.example", "/x", true),
            ("; Domain=a; Domain=b", "b", "", false),
            ("; Domain=a; Domain=", "", "", false),
            ("; Domain=..a", ".a", "", false),
            ("; Path=/a; Path=b", "", "", false),
            ("; Path=/a; HttpOnly; SameSite=None; Secure=no", "", "/a", true),
            (";;; =; Path", "", "", false),
        ] {
            let found = cookie(attributes);
            assert_eq!((found.0, found.1, found.2), expected(domain, path, secure), "{attributes}");
        }
        for (attributes, expires, max_age) in [
            ("; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:05 GMT", Some(5), Some(10)),
            ("; Max-Age=-3", None, Some(-3)),
            ("; Max-Age=99999999999999999999", None, Some(i64::MAX)),
            ("; Max-Age=1; Max-Age=", None, Some(1)),
            ("; Max-Age=+5; Max-Age=5s; Max-Age=-", None, None),
            ("; Expires=tomorrow", None, None),
        ] {
            let found = cookie(attributes);
            assert_eq!((found.3, found.4), (expires, max_age), "{attributes}");
        }
    }
}
