//! The functions of expressions that need nothing but their arguments, chance and the time.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use squall_base::{form, html, random, uri};

use super::budget::Budget;
use super::digest::{self, Algorithm};
use super::evaluated::{Evaluated, Result, bytes, checked, text, too_large};
use super::loose;
use super::pattern::Pattern;
use super::scope::{EvalError, Scope};
use super::zone::Zone;
use crate::secrets::percent_encode;
use crate::value::{AsKey, KeyRef, MAX_WEIGHT, NODE_WEIGHT, Value, ValueRef};

/// A function of expressions.
#[derive(Debug)]
pub struct Function {
    pub name: &'static str,
    /// How many arguments it takes; `x.f(y)` is `f(x, y)`.
    pub args: RangeInclusive<usize>,
    /// What it gives, with an example.
    pub about: &'static str,
    /// Whether the same arguments always give the same value.
    pub pure: bool,
    run: fn(&[Evaluated<'_>], &dyn Scope) -> Result<Value>,
}

macro_rules! functions {
    ($($name:literal $args:expr, $pure:literal, $about:literal, $run:expr;)*) => {
        pub const FUNCTIONS: &[Function] = &[
            $(Function { name: $name, args: $args, about: $about, pure: $pure, run: $run },)*
        ];
    };
}

functions! {
    "size" 1..=1, true, "length of a string (in characters), list or map: size(\"abc\") is 3", |a, _| {
        Ok(Value::Int(match a[0].as_ref() {
            ValueRef::List(items) => items.len(),
            ValueRef::Map(map) => map.len(),
            _ => text(&a[0])?.chars().count(),
        } as i64))
    };
    "contains" 2..=2, true, "whether a text holds another: body.contains(\"ok\")", |a, _| {
        Ok(Value::Bool(memmem(bytes(&a[0])?, bytes(&a[1])?).is_some()))
    };
    "startsWith" 2..=2, true, "whether a text begins so: path.startsWith(\"/a\")", |a, _| {
        Ok(Value::Bool(bytes(&a[0])?.starts_with(bytes(&a[1])?)))
    };
    "endsWith" 2..=2, true, "whether a text ends so: name.endsWith(\".html\")", |a, _| {
        Ok(Value::Bool(bytes(&a[0])?.ends_with(bytes(&a[1])?)))
    };
    "matches" 2..=2, true, "whether a regular expression is found in a text: body.matches(\"id=[0-9]+\")", |a, _| {
        let pattern = Pattern::compile(&text(&a[1])?).map_err(EvalError::new)?;
        Ok(Value::Bool(pattern.is_match(bytes(&a[0])?)))
    };
    "find_all" 2..=2, true, "all matches of a regular expression, each a list of the whole match and its groups, null where one takes no part: find_all(\"a1 b2\", \"([a-z])([0-9])\")[1][2] is \"2\"", |a, _| {
        let pattern = Pattern::compile(&text(&a[1])?).map_err(EvalError::new)?;
        Ok(found(&pattern, bytes(&a[0])?))
    };
    "fill" 2..=2, true, "a text with the values of a map in place of their names, others stay: fill(\"$\" + \"{a}\", {\"a\": 1}) is \"1\"", |a, _| filled(&text(&a[0])?, &a[1]);
    "int" 1..=1, true, "a whole number from a text, number or bool: int(\"42\")", |a, _| int(&a[0]);
    "double" 1..=1, true, "a number with a fraction: double(\"4.5\")", |a, _| {
        Ok(Value::Float(match a[0].as_ref() {
            ValueRef::Int(n) => n as f64,
            ValueRef::Float(n) => n,
            _ => text(&a[0])?.trim().parse().map_err(|_| no_number(&a[0]))?,
        }))
    };
    "number" 1..=1, true, "a number from any value, NaN from what is none: number(\"42\"), number(\" 4.5 \"), number(true) is 1, number(\"\") is 0", |a, _| Ok(loose::number(a[0].as_ref()));
    "loose_equal" 2..=2, true, "whether two values are equal, where a number equals its text: loose_equal(\"1.0\", 1)", |a, _| {
        Ok(Value::Bool(loose::equal(a[0].as_ref(), a[1].as_ref())))
    };
    "json_decode" 1..=1, true, "the value of a JSON text: json_decode(\"[1]\")", |a, _| {
        let value = serde_json::from_slice(bytes(&a[0])?);
        value.map(|value| Value::from_json(&value)).map_err(|error| EvalError::new(format!("json_decode(): {error}")))
    };
    "abs" 1..=1, true, "a number without its sign: abs(-3)", |a, _| rounded(&a[0], i64::checked_abs, f64::abs);
    "floor" 1..=1, true, "the whole number at or below a number: floor(-1.5) is -2", |a, _| rounded(&a[0], Some, f64::floor).map(loose::whole);
    "ceil" 1..=1, true, "the whole number at or above a number: ceil(1.2) is 2", |a, _| rounded(&a[0], Some, f64::ceil).map(loose::whole);
    "round" 1..=1, true, "the nearest whole number, up at halves: round(2.5) is 3", |a, _| rounded(&a[0], Some, |n| (n + 0.5).floor()).map(loose::whole);
    "string" 1..=1, true, "a value as a string: string(5) is \"5\"", |a, _| Ok(Value::text(of_value(&a[0])?));
    "bool" 1..=1, true, "a bool from \"true\" or \"false\"", |a, _| match a[0].as_ref() {
        ValueRef::Bool(value) => Ok(Value::Bool(value)),
        _ => text(&a[0])?.trim().parse().map(Value::Bool).map_err(|_| EvalError::new("expected \"true\" or \"false\"")),
    };
    "lower" 1..=1, true, "lower case: lower(\"AB\") is \"ab\"", |a, _| Ok(Value::text(text(&a[0])?.to_lowercase()));
    "upper" 1..=1, true, "upper case: upper(\"ab\") is \"AB\"", |a, _| Ok(Value::text(text(&a[0])?.to_uppercase()));
    "trim" 1..=1, true, "without white space at the ends: trim(\" a \") is \"a\"", |a, _| Ok(Value::text(text(&a[0])?.trim()));
    "pad" 3..=3, true, "padded at the beginning to this many characters: pad(7, 3, \"0\") is \"007\"", |a, _| {
        let (text, fill) = (of_value(&a[0])?, text(&a[2])?);
        let length = usize::try_from(whole(&a[1])?).unwrap_or(0);
        let missing = length.saturating_sub(text.chars().count());
        fitting(missing.saturating_mul(4))?;
        let fill: String = fill.chars().cycle().take(missing).collect();
        Ok(Value::text(format!("{fill}{text}")))
    };
    "replace" 3..=3, true, "one text in place of another: replace(\"a-b\", \"-\", \"+\")", |a, _| {
        let (whole, from, to) = (text(&a[0])?, text(&a[1])?, text(&a[2])?);
        fitting(whole.matches(&*from).count().saturating_mul(to.len()))?;
        Ok(Value::text(whole.replace(&*from, &to)))
    };
    "list" 1..=1, true, "a list as it is, any other value as the one element of a list: list(1) is [1]", |a, _| Ok(match a[0].as_ref().to_value() {
        list @ Value::List(_) => list,
        one => Value::List(vec![one].into()),
    });
    "split" 2..=2, true, "a list of parts: split(\"a,b\", \",\")", |a, _| {
        let (whole, by) = (text(&a[0])?, text(&a[1])?);
        let parts: Vec<Value> = whole.split(&*by).map(Value::text).take(MAX_WEIGHT / NODE_WEIGHT + 1).collect();
        Ok(Value::List(parts.into()))
    };
    "join" 2..=2, true, "the texts of a list with a text between: join([1, 2], \"-\")", |a, _| {
        let ValueRef::List(items) = a[0].as_ref() else { return Err(EvalError::new("join() expects a list")) };
        let between = text(&a[1])?;
        fitting(items.len().saturating_mul(between.len()))?;
        if items.contains(&Value::Null) {
            return Err(EvalError::new("join() expects texts, and null has none"));
        }
        let texts: Vec<String> = items.iter().map(Value::to_string).collect();
        Ok(Value::text(texts.join(&between)))
    };
    "substring" 2..=3, true, "from a character up to another: substring(\"abcd\", 1, 3) is \"bc\"", |a, _| {
        let from = whole(&a[1])?.max(0) as usize;
        let to = match a.get(2) {
            Some(to) => whole(to)?.max(0) as usize,
            None => usize::MAX,
        };
        let chars = text(&a[0])?;
        Ok(Value::text(chars.chars().skip(from).take(to.saturating_sub(from)).collect::<String>()))
    };
    "url_encode" 1..=1, true, "percent-encoded for a URL: url_encode(\"a b\") is \"a%20b\"", |a, _| Ok(Value::text(percent_encode(&of_value(&a[0])?)));
    "url_part" 1..=2, false, "a text as a part of a URL, which fails if no URL has such a character: url_part(\"a?b=%20\"); a second argument has others that it may have: url_part(\"a b\", \" \")", |a, _| {
        let more = a.get(1).map(text).transpose()?.unwrap_or_default();
        of_url(&of_value(&a[0])?, &more)
    };
    "form_encode" 1..=1, true, "encoded as a form's field: form_encode(\"a b&\") is \"a+b%26\"", |a, _| Ok(Value::text(form::encoded(&of_value(&a[0])?)));
    "form_decode" 1..=1, true, "the text of a form's field, as its encoding has it: form_decode(\"a+b%26\") is \"a b&\"", |a, _| form_decoded(bytes(&a[0])?);
    "html_decode" 1..=1, true, "a text with characters in the place of HTML's references to them: html_decode(\"&lt;&eacute;\") is \"<é\"", |a, _| Ok(Value::text(html::unescape(&text(&a[0])?)));
    "base64" 1..=1, true, "base64 of a text: base64(\"a\") is \"YQ==\"", |a, _| Ok(Value::text(STANDARD.encode(bytes(&a[0])?)));
    "base64_decode" 1..=1, true, "the text of a base64: base64_decode(\"YQ==\") is \"a\"", |a, _| digest::decode(&STANDARD, bytes(&a[0])?);
    "base64url" 1..=1, true, "base64 for URLs, without padding: base64url(\"~?\") is \"fj8\"", |a, _| Ok(Value::text(URL_SAFE_NO_PAD.encode(bytes(&a[0])?)));
    "base64url_decode" 1..=1, true, "the text of a base64 for URLs: base64url_decode(\"fj8\") is \"~?\"", |a, _| {
        let text = bytes(&a[0])?;
        let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
        digest::decode(&URL_SAFE_NO_PAD, &text[..end])
    };
    "md5" 1..=2, true, "MD5 of a text; `md5(x, \"base64\")` likewise for the formats hex (the default), base64, base64url, raw", |a, _| digest::of(Algorithm::Md5, a);
    "sha1" 1..=2, true, "SHA-1 of a text, as md5()", |a, _| digest::of(Algorithm::Sha1, a);
    "sha224" 1..=2, true, "SHA-224 of a text, as md5()", |a, _| digest::of(Algorithm::Sha224, a);
    "sha256" 1..=2, true, "SHA-256 of a text, as md5()", |a, _| digest::of(Algorithm::Sha256, a);
    "sha384" 1..=2, true, "SHA-384 of a text, as md5()", |a, _| digest::of(Algorithm::Sha384, a);
    "sha512" 1..=2, true, "SHA-512 of a text, as md5()", |a, _| digest::of(Algorithm::Sha512, a);
    "hmac" 3..=4, true, "keyed digest of a text: hmac(\"sha256\", key, text), or hmac(\"sha256\", key, text, \"base64\"); the formats are those of md5()", |a, _| {
        let algorithm = Algorithm::of(&text(&a[0])?)?;
        let digest = algorithm.hmac(bytes(&a[1])?, bytes(&a[2])?);
        digest::formatted(&digest, a.get(3))
    };
    "json_encode" 1..=1, true, "a value as JSON text", |a, _| {
        let mut out = Vec::new();
        a[0].as_ref().to_value().write_json(&mut out);
        Ok(Value::text(String::from_utf8_lossy(&out)))
    };
    "fail" 1..=1, false, "fails, for this reason, where a value is needed: fail(\"no host\")", |a, _| Err(EvalError::new(text(&a[0])?.into_owned()));
    "random" 2..=2, false, "a whole number between two, both included: random(1, 6)", |a, scope| {
        let (low, high) = (whole(&a[0])?, whole(&a[1])?);
        if low > high {
            return Err(EvalError::new("random() expects the smaller number first"));
        }
        let width = high.wrapping_sub(low) as u64;
        let part = (u128::from(scope.random()) * (u128::from(width) + 1)) >> 64;
        Ok(Value::Int(low.wrapping_add(part as i64)))
    };
    "random_float" 0..=0, false, "a number from 0 up to 1", |_, scope| {
        Ok(Value::Float((scope.random() >> 11) as f64 / (1u64 << 53) as f64))
    };
    "random_normal" 2..=2, false, "a normally distributed number, of a mean and a standard deviation: random_normal(300, 100)", |a, scope| {
        let (mean, sd) = (finite(&a[0])?, finite(&a[1])?);
        Ok(Value::Float(random::normal(mean, sd, random::uniform(scope.random()), random::uniform(scope.random()))))
    };
    "random_poisson" 1..=1, false, "a whole number of a Poisson distribution, of a mean up to 1,000,000: random_poisson(300)", |a, scope| {
        let mean = finite(&a[0])?;
        if !(0.0..=MAX_POISSON_MEAN).contains(&mean) {
            return Err(EvalError::new("random_poisson() expects a mean from 0 to 1000000"));
        }
        Ok(Value::Int(random::poisson(mean, || random::uniform(scope.random()))))
    };
    "random_string" 1..=2, false, "a string of this many random letters and digits, at most 1,048,576: random_string(8); of other characters: random_string(8, \"01\")", |a, scope| {
        const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let length = whole(&a[0])?;
        if !(0..=MAX_RANDOM_STRING).contains(&length) {
            return Err(EvalError::new("random_string() makes from 0 to 1048576 characters"));
        }
        let letters: Vec<char> = match a.get(1) {
            Some(letters) => text(letters)?.chars().collect(),
            None => LETTERS.chars().collect(),
        };
        if letters.is_empty() {
            return Err(EvalError::new("random_string() needs characters to choose from"));
        }
        let count = letters.len() as u64;
        Ok(Value::text((0..length).map(|_| letters[(scope.random() % count) as usize]).collect::<String>()))
    };
    "choice" 1..=1, false, "one element of a list, at random: choice([\"a\", \"b\"])", |a, scope| match a[0].as_ref() {
        ValueRef::List(items) if !items.is_empty() => Ok(items[(scope.random() % items.len() as u64) as usize].clone()),
        _ => Err(EvalError::new("choice() expects a list that is not empty")),
    };
    "uuid" 0..=0, false, "a random UUID, version 4", |_, scope| {
        let bits = (u128::from(scope.random()) << 64 | u128::from(scope.random()))
            & !(0xf << 76) & !(0x3 << 62) | 4 << 76 | 2 << 62;
        let h = format!("{bits:032x}");
        Ok(Value::text(format!("{}-{}-{}-{}-{}", &h[..8], &h[8..12], &h[12..16], &h[16..20], &h[20..])))
    };
    "now" 0..=0, false, "seconds since 1970", |_, scope| Ok(Value::Int(scope.now_unix_ms() / 1_000));
    "date" 2..=3, true, "milliseconds since 1970 as a date in UTC: date(now_ms(), \"%Y-%m-%dT%H:%M:%S.%LZ\"); also %y %j %I %p %a %A %w %b %B %s, without zeros %e %-m %-d %-j %-H %-I %-M %-S, fractions %1N to %9N, the zone %z %:z %Z; in another time zone: date(0, \"%H\", \"+02:00\"), or \"local\" for the machine's", |a, _| {
        let zone = zone(a.get(2))?;
        super::date::formatted(whole(&a[0])?, &text(&a[1])?, zone).map(Value::text).map_err(EvalError::new)
    };
    "date_ms" 2..=3, true, "milliseconds since 1970 of a text that has a date, null if it has none: date_ms(\"21/01/2018\", \"%d/%m/%Y\"); zones as for date()", |a, _| {
        let moment = super::date::parsed(&text(&a[0])?, &text(&a[1])?, zone(a.get(2))?);
        moment.map(|moment| moment.map_or(Value::Null, Value::Int)).map_err(EvalError::new)
    };
    "duration_ms" 1..=1, true, "milliseconds of a duration of ISO 8601, in days, hours, minutes and seconds, null if the text has none: duration_ms(\"P1DT2H\")", |a, _| {
        Ok(super::date::duration(&text(&a[0])?).map_or(Value::Null, Value::Int))
    };
    "now_ms" 0..=0, false, "milliseconds since 1970", |_, scope| Ok(Value::Int(scope.now_unix_ms()));
}

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// A call, with its pattern compiled where that is constant.
#[derive(Debug)]
pub(super) struct Call {
    function: &'static Function,
    pattern: Option<Pattern>,
}

impl Call {
    /// A call; where it has a constant pattern, with that compiled.
    pub(super) fn new(function: &'static Function, pattern: Option<Pattern>) -> Call {
        Call { function, pattern }
    }

    pub(super) fn is_pure(&self) -> bool {
        self.function.pure
    }

    pub(super) fn run(
        &self,
        args: &[Evaluated<'_>],
        scope: &dyn Scope,
        budget: &Budget,
    ) -> Result<Value> {
        for arg in args {
            budget.bytes(arg.as_ref().bytes().map_or(0, <[u8]>::len))?;
        }
        if let Some(pattern) = &self.pattern {
            let text = bytes(&args[0])?;
            return match self.function.name {
                "matches" => Ok(Value::Bool(pattern.is_match(text))),
                _ => checked(found(pattern, text)),
            };
        }
        let value = (self.function.run)(args, scope)?;
        if let Value::Text(text) = &value {
            budget.bytes(text.len())?;
        }
        checked(value)
    }
}

/// A text, if all of it may stand in a URL, or is one of some other characters.
fn of_url(text: &str, more: &str) -> Result<Value> {
    const MOST_SHOWN: usize = 200;
    let (mut rest, mut part) = (text, uri::Part::Path);
    loop {
        let (at, next) = match uri::check(rest, part) {
            Err(illegal) => (illegal.at, illegal.part),
            // What is behind it would not be sent.
            Ok(uri::Part::Fragment) if !more.contains('#') => {
                (rest.find('#').unwrap_or_default(), part)
            }
            Ok(_) => return Ok(Value::text(text)),
        };
        let mut behind = rest[at..].chars();
        match behind.next() {
            Some(c) if more.contains(c) => (rest, part) = (behind.as_str(), next),
            bad => {
                let bad = bad.map(|c| c.escape_debug().to_string()).unwrap_or_default();
                // A part of a secret would not be known for one.
                let shown =
                    if text.len() <= MOST_SHOWN { format!(": `{text}`") } else { String::new() };
                return Err(EvalError::new(format!("`{bad}` in a part of a URL{shown}")));
            }
        }
    }
}

/// What `application/x-www-form-urlencoded` encodes.
fn form_decoded(text: &[u8]) -> Result<Value> {
    let decoded = form::decode(text)
        .ok_or_else(|| EvalError::new("expected two hexadecimal digits after `%`"))?;
    Ok(Value::text(String::from_utf8_lossy(&decoded)))
}

/// All matches of a pattern, each with its groups.
fn found(pattern: &Pattern, text: &[u8]) -> Value {
    let of_group = |group: Option<&[u8]>| {
        group.map_or(Value::Null, |group| Value::text(String::from_utf8_lossy(group)))
    };
    // What is too much is refused when all of it is looked at.
    let mut weight = 0;
    let found = pattern.find_all(text).take_while(|groups| {
        let is_fitting = weight <= MAX_WEIGHT;
        let bytes = groups.iter().flatten().map(|group| group.len());
        weight += NODE_WEIGHT * (1 + groups.len()) + bytes.sum::<usize>();
        is_fitting
    });
    let found = found.map(|groups| {
        let groups: Vec<Value> = groups.into_iter().map(of_group).collect();
        Value::List(groups.into())
    });
    Value::List(found.collect::<Vec<_>>().into())
}

/// A text with values in place of `${name}`.
fn filled(text: &str, values: &Evaluated<'_>) -> Result<Value> {
    let ValueRef::Map(values) = values.as_ref() else {
        return Err(EvalError::new("fill() expects a map"));
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        let name = behind.split_once('}');
        let key = |name| -> Option<&Value> { values.get(&KeyRef::Text(name) as &dyn AsKey) };
        match name.and_then(|(name, rest)| Some((key(name)?, rest))) {
            Some((Value::Null, _)) => return Err(EvalError::new("expected a value, found null")),
            Some((value, left)) => {
                out.push_str(&value.to_string());
                rest = left;
            }
            None => {
                out.push_str("${");
                rest = behind;
            }
        }
        fitting(out.len())?;
    }
    out.push_str(rest);
    Ok(Value::text(out))
}

/// A length that a text may have.
fn fitting(length: usize) -> Result<()> {
    if length > MAX_WEIGHT { Err(too_large()) } else { Ok(()) }
}

/// The text of a value; null has none.
fn of_value(value: &Evaluated<'_>) -> Result<String> {
    match value.as_ref() {
        ValueRef::Null => Err(EvalError::new("expected a value, found null")),
        _ => Ok(shown(value)),
    }
}

fn shown(value: &Evaluated<'_>) -> String {
    let mut out = Vec::new();
    value.as_ref().render(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn int(value: &Evaluated<'_>) -> Result<Value> {
    Ok(Value::Int(match value.as_ref() {
        ValueRef::Int(n) => n,
        ValueRef::Float(n) if n.abs() < 9.2e18 => n as i64,
        ValueRef::Bool(value) => i64::from(value),
        _ => text(value)?.trim().parse().map_err(|_| no_number(value))?,
    }))
}

fn whole(value: &Evaluated<'_>) -> Result<i64> {
    match int(value)? {
        Value::Int(n) => Ok(n),
        _ => Ok(0),
    }
}

/// The largest mean of `random_poisson`: to draw takes time in proportion to it.
const MAX_POISSON_MEAN: f64 = 1e6;
/// Most characters of a random string.
const MAX_RANDOM_STRING: i64 = 1 << 20;

/// A number that is neither infinite nor NaN.
fn finite(value: &Evaluated<'_>) -> Result<f64> {
    let number = match value.as_ref() {
        ValueRef::Int(n) => n as f64,
        ValueRef::Float(n) => n,
        _ => text(value)?.trim().parse().map_err(|_| no_number(value))?,
    };
    if number.is_finite() { Ok(number) } else { Err(no_number(value)) }
}

/// A number, changed: by the first function if it is whole, by the second if not.
fn rounded(
    value: &Evaluated<'_>,
    of_int: impl Fn(i64) -> Option<i64>,
    of_float: impl Fn(f64) -> f64,
) -> Result<Value> {
    Ok(match value.as_ref() {
        ValueRef::Int(n) => Value::Int(of_int(n).ok_or_else(super::operators::overflow)?),
        ValueRef::Float(n) => Value::Float(of_float(n)),
        other => return Err(EvalError::new(format!("expected a number, found {}", other.kind()))),
    })
}

fn no_number(value: &Evaluated<'_>) -> EvalError {
    EvalError::new(format!("`{}` is not a number", shown(value)))
}

/// The time zone of dates, UTC if none is named.
fn zone(name: Option<&Evaluated<'_>>) -> Result<Zone> {
    name.map_or(Ok(Zone::UTC), |name| Zone::of(&text(name)?).map_err(EvalError::new))
}

fn memmem(all: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(all, part)
}
