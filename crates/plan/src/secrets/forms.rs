//! A secret in all the forms that requests, and what responds to them, give it. Each character has several,
//! and a text may mix them: a path escapes other characters than a query. Pure.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use squall_base::form;

/// Most bytes of a secret that are looked for in base64: what stands around them there is masked with them.
const BASE64_BYTES: usize = 48;

/// A character as it may stand in a message.
type Form = Box<[u8]>;

/// The first bytes of a secret as it may stand in a message.
pub(super) type Prefix = [u8; 3];

/// A secret to look for. What forms its characters may have is known to all patterns together: a secret may be long.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    text: Arc<str>,
    written: Written,
}

/// How a text is written where it is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Written {
    /// As requests of UTF-8 and Latin-1 hold it.
    Plainly,
    /// The text is the inner part of base64, whose edges hold a part of the secret too.
    InBase64,
    In(Arc<Alphabet>),
}

/// The forms of characters in an encoding other than UTF-8.
#[derive(Debug)]
pub(super) struct Alphabet {
    label: String,
    forms: HashMap<char, Vec<Form>>,
}

impl PartialEq for Alphabet {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label
    }
}

impl Eq for Alphabet {}

impl Hash for Alphabet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.label.hash(state);
    }
}

impl Alphabet {
    /// That of an encoding, for the characters of some texts.
    pub(super) fn new(label: &str, encode: &dyn Fn(&str) -> Vec<u8>, texts: &[Arc<str>]) -> Self {
        let mut known = HashMap::new();
        for c in texts.iter().flat_map(|text| text.chars()) {
            known.entry(c).or_insert_with(|| encoded_forms(c, encode));
        }
        Alphabet { label: label.to_owned(), forms: known }
    }
}

/// How far a pattern is found at some place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    Whole(usize),
    /// Its beginning goes up to the end of the text.
    Begun,
    Not,
}

impl Pattern {
    /// A text as it stands in requests.
    pub(super) fn of_text(text: &str) -> Pattern {
        Pattern { text: text.into(), written: Written::Plainly }
    }

    /// The same in an encoding, whose alphabet has all its characters.
    pub(super) fn encoded(text: &Arc<str>, alphabet: &Arc<Alphabet>) -> Pattern {
        Pattern { text: text.clone(), written: Written::In(alphabet.clone()) }
    }

    /// What base64 makes of a text wherever it begins in what is encoded: of the characters that hold three
    /// quarters of a byte each, those that nothing else is in.
    pub(super) fn in_base64(text: &str) -> Vec<Pattern> {
        let bytes = &text.as_bytes()[..text.len().min(BASE64_BYTES)];
        let inner = |before: usize| {
            let encoded = STANDARD_NO_PAD.encode([&[0; 2][..before], bytes].concat());
            let end = (before + bytes.len()) * 8 / 6;
            let inner = &encoded[(before * 8).div_ceil(6)..end];
            Pattern { text: inner.into(), written: Written::InBase64 }
        };
        (0..3).map(inner).collect()
    }

    /// The text, where it is not base64.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// What it may begin with, each once and in order; `None`: it may be shorter than that.
    pub(super) fn prefixes(&self) -> Option<Vec<Prefix>> {
        let mut whole = Vec::new();
        // Those that go on with the next character, and their lengths.
        let mut begun = vec![(Prefix::default(), 0)];
        for c in self.text.chars() {
            let forms = self.forms(c);
            let mut longer = Vec::new();
            for (prefix, length) in begun {
                for form in forms.iter() {
                    let (mut prefix, more) = (prefix, form.len().min(prefix.len() - length));
                    prefix[length..length + more].copy_from_slice(&form[..more]);
                    match length + more == prefix.len() {
                        true => whole.push(prefix),
                        false => longer.push((prefix, length + more)),
                    }
                }
            }
            longer.sort_unstable();
            longer.dedup();
            begun = longer;
            if begun.is_empty() {
                whole.sort_unstable();
                whole.dedup();
                return Some(whole);
            }
        }
        None
    }

    /// What of a text it takes up where it begins there. `is_cut`: the text went on.
    pub(super) fn hit(&self, text: &[u8], begin: usize, is_cut: bool) -> Option<Range<usize>> {
        let end = match self.at(text, begin) {
            Match::Whole(end) => end,
            Match::Begun if is_cut => text.len(),
            _ => return None,
        };
        Some(match self.written {
            Written::InBase64 => widened(text, begin..end),
            Written::Plainly | Written::In(_) => begin..end,
        })
    }

    /// The forms of a character.
    fn forms(&self, c: char) -> Cow<'_, [Form]> {
        static PLAIN: LazyLock<Vec<Vec<Form>>> =
            LazyLock::new(|| (0..128).map(|c| forms(char::from(c))).collect());
        static BASE64: LazyLock<Vec<Vec<Form>>> =
            LazyLock::new(|| (0..128).map(|c| forms_in_base64(char::from(c))).collect());
        let number = u32::from(c) as usize;
        match &self.written {
            Written::Plainly => match PLAIN.get(number) {
                Some(known) => Cow::Borrowed(known),
                None => Cow::Owned(forms(c)),
            },
            Written::InBase64 => Cow::Borrowed(BASE64.get(number).map_or(&[], Vec::as_slice)),
            Written::In(alphabet) => {
                Cow::Borrowed(alphabet.forms.get(&c).map_or(&[], Vec::as_slice))
            }
        }
    }

    /// Whether it stands at a place; the longest way in which it does.
    fn at(&self, text: &[u8], begin: usize) -> Match {
        // All places that the characters up to now may end at, none twice.
        let mut ends = vec![begin];
        let mut next = Vec::new();
        let mut is_begun = false;
        for c in self.text.chars() {
            let forms = self.forms(c);
            for end in ends.drain(..) {
                let rest = &text[end..];
                for form in forms.iter() {
                    if rest.starts_with(form) {
                        if !next.contains(&(end + form.len())) {
                            next.push(end + form.len());
                        }
                    } else if end > begin || !rest.is_empty() {
                        is_begun |= form.starts_with(rest);
                    }
                }
            }
            std::mem::swap(&mut ends, &mut next);
            if ends.is_empty() {
                break;
            }
        }
        match ends.into_iter().max() {
            Some(end) if end > begin => Match::Whole(end),
            _ if is_begun => Match::Begun,
            _ => Match::Not,
        }
    }
}

/// A part of base64 with all of it that stands around.
fn widened(text: &[u8], hit: Range<usize>) -> Range<usize> {
    let is_of_it = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
    let before = text[..hit.start].iter().rev().take_while(is_of_it).count();
    let behind = text[hit.end..].iter().take_while(is_of_it).count();
    hit.start - before..hit.end + behind
}

/// The forms of a character of base64.
fn forms_in_base64(c: char) -> Vec<Form> {
    match c {
        '+' => boxed(&["+", "-", "%2B", "%2b"]),
        '/' => boxed(&["/", "_", "%2F", "%2f", "\\/"]),
        c => boxed(&[c.encode_utf8(&mut [0; 4])]),
    }
}

fn boxed(forms: &[&str]) -> Vec<Form> {
    forms.iter().map(|form| form.as_bytes().into()).collect()
}

/// The forms of a character in an encoding: each that it has otherwise, encoded, and that as URLs and forms have it.
fn encoded_forms(c: char, encode: &dyn Fn(&str) -> Vec<u8>) -> Vec<Form> {
    let mut all = forms(c);
    let plain: Vec<String> =
        all.iter().filter_map(|form| String::from_utf8(form.to_vec()).ok()).collect();
    for bytes in plain.iter().map(|form| encode(form)) {
        let in_percent = |digits: &dyn Fn(u8) -> String| -> Form {
            bytes.iter().map(|byte| digits(*byte)).collect::<String>().into_bytes().into()
        };
        all.push(in_percent(&|byte| format!("%{byte:02X}")));
        all.push(in_percent(&|byte| format!("%{byte:02x}")));
        let mut in_form = Vec::new();
        form::encode(&bytes, &mut in_form);
        all.push(in_form.as_slice().into());
        all.push(String::from_utf8_lossy(&in_form).replace('+', "%20").into_bytes().into());
        // What a text has in place of bytes that are no UTF-8, and JSON that answers with what it got.
        let text = String::from_utf8_lossy(&bytes);
        let in_json = serde_json::Value::from(&*text).to_string();
        all.push(in_json.as_bytes()[1..in_json.len() - 1].into());
        all.push(text.as_bytes().into());
        all.push(bytes.into());
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The forms of a character.
fn forms(c: char) -> Vec<Form> {
    let mut buffer = [0; 4];
    let bytes = c.encode_utf8(&mut buffer).bytes();
    let mut all = vec![
        c.to_string(),
        bytes.clone().map(|byte| format!("%{byte:02X}")).collect(),
        bytes.map(|byte| format!("%{byte:02x}")).collect(),
    ];
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units);
    all.push(units.iter().map(|unit| format!("\\u{unit:04x}")).collect());
    all.push(units.iter().map(|unit| format!("\\u{unit:04X}")).collect());
    let in_latin_1 = u8::try_from(c).ok().filter(|_| !c.is_ascii());
    // In Latin-1, encoded for a URL, and as what a text has in place of a byte that is no UTF-8.
    if let Some(byte) = in_latin_1 {
        all.extend([format!("%{byte:02X}"), format!("%{byte:02x}"), "\u{fffd}".to_owned()]);
    }
    let others: &[&str] = match c {
        ' ' => &["+"],
        '"' => &["\\\"", "&quot;", "&#34;"],
        '\'' => &["&#39;", "&#x27;", "&apos;"],
        '\\' => &["\\\\"],
        '/' => &["\\/"],
        '&' => &["&amp;"],
        '<' => &["&lt;"],
        '>' => &["&gt;"],
        // In the line of a header a space takes their place, or nothing; in a URL nothing.
        '\n' => &["\\n", " ", ""],
        '\r' => &["\\r", " ", ""],
        '\t' => &["\\t", ""],
        '\0' => &[" "],
        '\u{8}' => &["\\b"],
        '\u{c}' => &["\\f"],
        _ => &[],
    };
    all.extend(others.iter().map(|form| (*form).to_owned()));
    // JSON within a text of JSON, as what answers with the body that it got.
    let escaped = all.iter().filter(|form| form.starts_with('\\'));
    let twice: Vec<String> =
        escaped.map(|form| form.replace('\\', r"\\").replace('"', "\\\"")).collect();
    all.extend(twice);
    all.dedup();
    let as_bytes = all.into_iter().map(|form| form.into_bytes().into());
    as_bytes.chain(in_latin_1.map(|byte| [byte].into())).collect()
}
