//! What short scripts calculate with, as expressions of squall: their operators and methods by the rules of their
//! language. What two languages, or a value that is known only later, would make unclear is refused.

use super::Language;
use super::Language::{BeanShell, Groovy, JavaScript, Jexl};

/// What is known of a value before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::translate) enum Kind {
    Text,
    /// A text, or null.
    MaybeText,
    Number,
    Bool,
    Null,
    /// What a variable's text stands for: most often a number.
    Any,
    /// A part of what was read as JSON.
    Json,
    /// A moment, in milliseconds since 1970.
    Date,
    /// What random numbers are drawn from.
    Random,
    Slurper,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::translate) struct Script {
    pub kind: Kind,
    /// The expression that gives it.
    pub source: String,
}

type Result<T> = std::result::Result<T, String>;

impl Script {
    pub(super) fn new(kind: Kind, source: impl Into<String>) -> Script {
        Script { kind, source: source.into() }
    }

    /// Whether it is a text that is written there, without the signs of patterns.
    fn is_plain_text(&self) -> bool {
        let inner = self.source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let is_sign = |c: char| "\\\"$.^*+?()[]{}|".contains(c);
        self.kind == Kind::Text && inner.is_some_and(|inner| !inner.contains(is_sign))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::MaybeText)
    }

    /// As a text; an error when it runs if it is null.
    pub(in crate::translate) fn text(&self) -> String {
        match self.kind {
            Kind::Text => self.source.clone(),
            _ => format!("string({})", self.source),
        }
    }

    /// As a part of a text: null is a word there.
    fn joined(&self) -> String {
        match self.kind {
            Kind::Text => self.source.clone(),
            Kind::Null => "\"null\"".to_owned(),
            Kind::Number | Kind::Bool => format!("string({})", self.source),
            _ => format!("({} == null ? \"null\" : string({}))", self.source, self.source),
        }
    }

    /// An element of it, by its place or name.
    pub(super) fn at(&self, key: &str) -> Script {
        Script::new(Kind::Json, format!("{}[{key}]", self.source))
    }

    pub(super) fn number(&self) -> String {
        match self.kind {
            Kind::Number => self.source.clone(),
            _ => format!("number({})", self.source),
        }
    }

    /// Whether it counts as true.
    pub(super) fn truth(&self, language: Language) -> Result<Script> {
        let Script { kind, source } = self;
        let source = match (kind, language) {
            (Kind::Bool, _) => source.clone(),
            (Kind::Null, _) => "false".to_owned(),
            (Kind::Number, Groovy | JavaScript | Jexl) => format!("({source} != 0)"),
            (Kind::Any | Kind::Json, Groovy | JavaScript | Jexl) => {
                format!("!({source} in [false, 0, \"\", null])")
            }
            (Kind::Text, Groovy | JavaScript) => format!("({source} != \"\")"),
            (Kind::MaybeText, Groovy | JavaScript) => format!("!({source} in [null, \"\"])"),
            (Kind::Text, Jexl) => format!("(lower({source}) == \"true\")"),
            _ => return Err("a condition other than a comparison".to_owned()),
        };
        Ok(Script::new(Kind::Bool, source))
    }
}

/// `a == b`.
pub(super) fn equal(language: Language, strict: bool, a: &Script, b: &Script) -> Result<Script> {
    use Kind::{Any, Bool, Json, MaybeText, Null, Number, Text};
    let of = |kind| if kind == Json { Any } else { kind };
    let plain = format!("({} == {})", a.source, b.source);
    let source = match (language, of(a.kind), of(b.kind)) {
        (_, Null, Null) => "true".to_owned(),
        (_, Null | Any | MaybeText, Null | MaybeText) | (_, MaybeText | Null, Any) => plain,
        (_, Null, _) | (_, _, Null) => "false".to_owned(),
        (_, Text | MaybeText, Text | MaybeText) | (_, Number, Number) | (_, Bool, Bool) => plain,
        (JavaScript, ..) if strict => plain,
        (Jexl, Bool, _) | (Jexl, _, Bool) => {
            format!("({} == {})", a.truth(language)?.source, b.truth(language)?.source)
        }
        (Jexl, Text | MaybeText, Number) | (Jexl, Number, Text | MaybeText) => {
            format!("(double({}) == double({}))", a.source, b.source)
        }
        (JavaScript | Jexl, ..) => format!("loose_equal({}, {})", a.source, b.source),
        // A number is no text there, whatever it looks like.
        (Groovy, Any, _) | (Groovy, _, Any) => plain,
        (BeanShell, Any, Number | Bool | Any) | (BeanShell, Number | Bool, Any) => plain,
        (Groovy | BeanShell, ..) => return Err("values of two kinds that are compared".to_owned()),
    };
    Ok(Script::new(Kind::Bool, source))
}

/// `a < b` and the like.
pub(super) fn order(language: Language, sign: &str, a: &Script, b: &Script) -> Result<Script> {
    let source = match (a.is_text(), b.is_text()) {
        (true, true) if language != BeanShell => format!("({} {sign} {})", a.source, b.source),
        (true, _) | (_, true) if matches!(language, Groovy | BeanShell) => {
            return Err("a text that is compared with a number".to_owned());
        }
        _ => format!("({} {sign} {})", a.number(), b.number()),
    };
    Ok(Script::new(Kind::Bool, source))
}

/// `a + b` and the like.
pub(super) fn calculate(language: Language, sign: &str, a: &Script, b: &Script) -> Result<Script> {
    let has_text = a.is_text() || b.is_text();
    if sign == "+" && has_text {
        if language == Jexl && !(a.is_text() && b.is_text()) {
            return Err("a text and a number that are added".to_owned());
        }
        return Ok(Script::new(Kind::Text, format!("({} + {})", a.joined(), b.joined())));
    }
    if has_text && matches!(language, Groovy | BeanShell) {
        return Err(format!("`{sign}` with a text"));
    }
    let (a, b) = (a.number(), b.number());
    let source = match (sign, language) {
        // There it is a fraction, where Java would drop it.
        ("/", JavaScript | Groovy) => format!("(double({a}) / double({b}))"),
        _ => format!("({a} {sign} {b})"),
    };
    Ok(Script::new(Kind::Number, source))
}

/// `a.name(arguments)`, or `a.name`.
pub(super) fn method(
    language: Language,
    a: &Script,
    name: &str,
    arguments: &[Script],
) -> Result<Script> {
    use Kind::{Bool, Number, Text};
    let unknown = || Err(format!("the method `{name}`"));
    // On null Java breaks off, and so does this.
    let own = match a.kind {
        Kind::Text | Kind::MaybeText => a.text(),
        Kind::Date | Kind::Random | Kind::Slurper => return of_object(a.kind, name, arguments),
        _ if name == "toString" => return Ok(Script::new(Text, a.text())),
        Kind::Json if name == "size" && arguments.is_empty() => {
            return Ok(Script::new(Number, format!("size({})", a.source)));
        }
        _ => return unknown(),
    };
    let (kind, source) = match (name, arguments) {
        ("equals", [b]) if b.is_text() => (Bool, format!("({own} == {})", b.source)),
        ("equalsIgnoreCase", [b]) if b.is_text() => {
            (Bool, format!("(lower({own}) == lower({}))", b.text()))
        }
        ("contains" | "includes", [b]) if b.is_text() => {
            (Bool, format!("contains({own}, {})", b.text()))
        }
        ("startsWith" | "endsWith", [b]) if b.is_text() => {
            (Bool, format!("{name}({own}, {})", b.text()))
        }
        ("isEmpty", []) => (Bool, format!("({own} == \"\")")),
        ("length" | "size", []) => (Number, format!("size({own})")),
        ("trim", []) => (Text, format!("trim({own})")),
        ("toLowerCase", []) => (Text, format!("lower({own})")),
        ("toUpperCase", []) => (Text, format!("upper({own})")),
        ("toString", []) => (Text, own),
        ("concat", [b]) if b.is_text() => (Text, format!("({own} + {})", b.text())),
        // JavaScript replaces the first alone.
        ("replace", [b, c]) if language != JavaScript && b.is_text() && c.is_text() => {
            (Text, format!("replace({own}, {}, {})", b.text(), c.text()))
        }
        // A pattern without signs is a text.
        ("replaceAll", [b, c]) if b.is_plain_text() && c.is_plain_text() => {
            (Text, format!("replace({own}, {}, {})", b.text(), c.text()))
        }
        ("substring", [b]) if b.kind == Number => (Text, format!("substring({own}, {})", b.source)),
        ("substring", [b, c]) if b.kind == Number && c.kind == Number => {
            (Text, format!("substring({own}, {}, {})", b.source, c.source))
        }
        ("toInteger" | "toLong", []) if language == Groovy => (Number, format!("int({own})")),
        ("toDouble" | "toFloat" | "toBigDecimal", []) if language == Groovy => {
            (Number, format!("double({own})"))
        }
        _ => return unknown(),
    };
    Ok(Script::new(kind, source))
}

/// `owner.name(arguments)` of a class, or a function, whose owner is empty.
pub(super) fn function(owner: &str, name: &str, arguments: &[Script]) -> Result<Script> {
    use Kind::{Bool, Number, Text};
    let unknown = || match owner {
        "" => Err(format!("the function `{name}`")),
        _ => Err(format!("`{owner}.{name}`")),
    };
    if let Some(made) = of_nothing(owner, name, arguments) {
        return Ok(made);
    }
    let [a] = arguments else { return unknown() };
    let (kind, source) = match (owner, name) {
        ("Math", "round" | "floor" | "ceil" | "abs") => (Number, format!("{name}({})", a.number())),
        ("Integer", "parseInt" | "valueOf") | ("Long", "parseLong" | "valueOf") => {
            (Number, format!("int({})", a.text()))
        }
        ("", "parseInt") => (Number, format!("int({})", a.text())),
        ("Double", "parseDouble" | "valueOf")
        | ("Float", "parseFloat" | "valueOf")
        | ("", "parseFloat") => (Number, format!("double({})", a.text())),
        ("", "Number") => (Number, format!("number({})", a.source)),
        ("", "String") | ("String", "valueOf") => (Text, a.text()),
        ("Integer" | "Long" | "Double" | "Boolean", "toString") => (Text, a.text()),
        ("URLEncoder", "encode") if a.is_text() => (Text, format!("form_encode({})", a.text())),
        ("URLDecoder", "decode") if a.is_text() => (Text, format!("form_decode({})", a.text())),
        ("Boolean", "parseBoolean" | "valueOf") => {
            (Bool, format!("(lower({}) == \"true\")", a.text()))
        }
        ("", "empty") if a.is_text() => (Bool, format!("({} in [null, \"\"])", a.source)),
        ("", "size") if a.is_text() => (Number, format!("size({})", a.text())),
        _ => return unknown(),
    };
    Ok(Script::new(kind, source))
}

/// What a method of an object gives that is no text.
fn of_object(kind: Kind, name: &str, arguments: &[Script]) -> Result<Script> {
    let (kind, source) = match (kind, name, arguments) {
        (Kind::Date, "getTime", []) => (Kind::Number, "now_ms()".to_owned()),
        (Kind::Random, "nextInt", [below]) => {
            (Kind::Number, format!("random(0, {} - 1)", below.number()))
        }
        (Kind::Slurper, "parseText", [text]) if text.is_text() => {
            (Kind::Json, format!("json_decode({})", text.text()))
        }
        _ => return Err(format!("the method `{name}`")),
    };
    Ok(Script::new(kind, source))
}

/// What functions give that need no value, or several.
fn of_nothing(owner: &str, name: &str, arguments: &[Script]) -> Option<Script> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let (kind, source) = match (owner, name, arguments) {
        ("UUID", "randomUUID", []) => (Kind::Text, "uuid()".to_owned()),
        ("System", "currentTimeMillis", []) => (Kind::Number, "now_ms()".to_owned()),
        ("Math", "random", []) => (Kind::Number, "random_float()".to_owned()),
        ("URLEncoder", "encode", [text, _]) if text.is_text() => {
            (Kind::Text, format!("form_encode({})", text.text()))
        }
        ("RandomStringUtils", "randomAlphanumeric", [length]) => {
            (Kind::Text, format!("random_string({})", length.number()))
        }
        ("RandomStringUtils", "randomAlphabetic", [length]) => {
            (Kind::Text, format!("random_string({}, \"{LETTERS}\")", length.number()))
        }
        ("RandomStringUtils", "randomNumeric", [length]) => {
            (Kind::Text, format!("random_string({}, \"0123456789\")", length.number()))
        }
        _ => return None,
    };
    Some(Script::new(kind, source))
}

/// Whether a type is one of numbers.
pub(super) fn is_number_type(name: &str) -> bool {
    matches!(name, "int" | "long" | "double" | "float" | "Integer" | "Long" | "Double" | "Float")
}

/// `a as type`.
pub(super) fn cast(a: &Script, to: &str) -> Result<Script> {
    let (kind, source) = match to {
        "int" | "Integer" | "long" | "Long" => (Kind::Number, format!("int({})", a.source)),
        "double" | "Double" | "float" | "Float" | "BigDecimal" => {
            (Kind::Number, format!("double({})", a.source))
        }
        "String" => (Kind::Text, a.text()),
        _ => return Err(format!("`as {to}`")),
    };
    Ok(Script::new(kind, source))
}
