//! The forms of secrets that only requests of a plan give them: in the encodings that it sends, and in the names of hosts.

use squall_extract::Charset;
use squall_plan::secrets::Secrets;

use super::url;

/// Adds those of the secrets from a number on to them.
pub(crate) fn add(secrets: &mut Secrets, from: usize, charsets: &[(String, Charset)]) {
    for (label, charset) in charsets {
        secrets.add_encoded(from, label, &|text| {
            let encoded = charset.encode(text.as_bytes());
            // A mark of the order of bytes stands in front of the whole text alone.
            encoded.strip_prefix(b"\xfe\xff").unwrap_or(&encoded).to_vec()
        });
    }
    let is_host = |text: &&str| !text.is_ascii() && text.len() < MAX_HOST;
    let texts = secrets.texts().get(from..).unwrap_or_default();
    let texts = texts.iter().map(|text| &**text).filter(is_host);
    let hosts: Vec<String> = texts.filter_map(|text| url::host(text).ok()).collect();
    hosts.iter().for_each(|host| secrets.add_form(host));
}

/// Bytes of a name that no host has.
const MAX_HOST: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_as_requests_have_them() {
        let mut secrets = Secrets::default();
        ["pass\u{20ac}word1", "b\u{fc}cher-M\u{fc}nchen"].iter().for_each(|text| secrets.add(text));
        let charsets = ["windows-1252", "UTF-16"]
            .map(|label| (label.to_owned(), Charset::of(label).expect("an encoding")));
        add(&mut secrets, 0, &charsets);
        for (text, shown) in [
            ("q=pass%80word1&x", "q=***&x"),
            ("q=%00p%00a%00s%00s+%AC%00w%00o%00r%00d%001&x", "q=***&x"),
            ("the host xn--bcher-mnchen-dlbg:80", "the host ***:80"),
        ] {
            assert_eq!(secrets.mask(text), shown);
        }
    }
}
