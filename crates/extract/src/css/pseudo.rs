//! Reads pseudo-classes: those that say in one word what names and attributes say, and those that have
//! tests of their own.

use super::parse::{List, alone, identifier, list, selectors, skip_space, word};
use super::{Among, Direction, Test};
use crate::CompileError;
use crate::cursor::Cursor;

/// What can be disabled, with all that is in it if it is a field set.
macro_rules! control {
    () => {
        ":is(button, input, select, textarea, fieldset)"
    };
}

/// What is checked, or the default, when the page arrives.
const CHECKED: &str = "input:is([type=checkbox], [type=radio])[checked], option[selected]";

/// Pseudo-classes of HTML and what they stand for there (WHATWG HTML, 4.16.3). Forms are in the state in
/// which the page arrives.
const STATES: [(&str, &str); 14] = [
    ("any-link", ":is(a, area)[href]"),
    ("link", ":is(a, area)[href]"),
    ("checked", CHECKED),
    ("default", CHECKED),
    ("indeterminate", "input[type=checkbox][indeterminate], progress:not([value])"),
    ("required", ":is(input, select, textarea)[required]"),
    ("optional", ":is(input, select, textarea):not([required])"),
    (
        // With a field set all is disabled that is in it, but for what is in its first legend.
        "disabled",
        concat!(
            control!(),
            "[disabled], :is(optgroup, option)[disabled], optgroup[disabled] > option, \
             fieldset[disabled] > ",
            control!(),
            ", fieldset[disabled] > :not(legend:first-of-type) ",
            control!(),
        ),
    ),
    ("enabled", concat!(":is(", control!(), ", optgroup, option):not(:disabled)")),
    (
        "read-write",
        ":is(textarea, input:not([type=hidden], [type=range], [type=color], [type=checkbox], \
         [type=radio], [type=file], [type=submit], [type=image], [type=reset], [type=button]))\
         :not([readonly], :disabled), [contenteditable=''], [contenteditable=true i]",
    ),
    ("read-only", ":not(:read-write)"),
    (
        "placeholder-shown",
        "input:is(:not([type]), [type=''], [type=text], [type=search], [type=url], [type=tel], \
         [type=email], [type=password], [type=number])[placeholder]:not([placeholder=''])\
         :is(:not([value]), [value='']), textarea[placeholder]:not([placeholder='']):empty",
    ),
    ("open", ":is(details, dialog)[open]"),
    ("muted", ":is(audio, video)[muted]"),
];

/// What a user has done with a page, what a browser has made of it, or what needs scripts: in a response
/// no element is so, and these select nothing.
const NEVER: [&str; 21] = [
    "active",
    "autofill",
    "current",
    "focus",
    "focus-visible",
    "focus-within",
    "fullscreen",
    "future",
    "host",
    "host-context",
    "hover",
    "local-link",
    "modal",
    "past",
    "paused",
    "playing",
    "popover-open",
    "target",
    "target-within",
    "user-invalid",
    "visited",
];

/// Reads a pseudo-class.
pub(super) fn read(cursor: &mut Cursor<'_>, tests: &mut Vec<Test>) -> Result<(), CompileError> {
    let start = cursor.clone();
    cursor.next();
    if cursor.starts_with(":") {
        return Err(start
            .error("pseudo-elements are not part of a response")
            .help("take an attribute with `attr`; the text of the element is taken by default"));
    }
    let name = identifier(cursor, false)?.to_ascii_lowercase();
    if cursor.eat("(") {
        skip_space(cursor);
        let test = cursor.nested(|cursor| function(cursor, &name, &start))?;
        tests.push(test);
        skip_space(cursor);
        return cursor.expect(")");
    }
    let nth = |among, from_end| Test::Nth { step: 0, offset: 1, from_end, among };
    match name.as_str() {
        "root" | "scope" => tests.push(Test::Root),
        "empty" => tests.push(Test::Empty),
        "first-child" => tests.push(nth(Among::All, false)),
        "last-child" => tests.push(nth(Among::All, true)),
        "only-child" => tests.extend([nth(Among::All, false), nth(Among::All, true)]),
        "first-of-type" => tests.push(nth(Among::SameName, false)),
        "last-of-type" => tests.push(nth(Among::SameName, true)),
        "only-of-type" => tests.extend([nth(Among::SameName, false), nth(Among::SameName, true)]),
        "defined" => tests.extend([Test::Defined, Test::Html]),
        "in-range" => tests.extend([Test::InRange(true), Test::Html]),
        "out-of-range" => tests.extend([Test::InRange(false), Test::Html]),
        name if NEVER.contains(&name) => tests.push(Test::Is(Vec::new())),
        _ => {
            let state = STATES.iter().find(|(known, _)| *known == name);
            let (_, selector) = state.ok_or_else(|| unknown(&start, &name))?;
            let mut list = selectors(selector)?;
            match name.as_str() {
                "default" => list.push(alone(Test::DefaultButton)),
                "indeterminate" => list.push(alone(Test::UncheckedGroup)),
                _ => {}
            }
            tests.extend([Test::Is(list), Test::Html]);
        }
    }
    Ok(())
}

fn unknown(start: &Cursor<'_>, name: &str) -> CompileError {
    start.error(format!("`:{name}` is not known")).help(
        "known are :root, :scope, :empty, :is(), :where(), :not(), :has(), :contains(), :lang(), :dir(), \
         :link, :any-link, :checked, :default, :defined, :disabled, :enabled, :indeterminate, :in-range, :muted, \
         :open, :optional, :out-of-range, :placeholder-shown, :read-only, :read-write, :required, \
         :first-child, :last-child, :only-child, :nth-child(), :nth-last-child(), \
         and the same with -of-type",
    )
}

/// Reads a pseudo-class with arguments, behind its bracket.
fn function(cursor: &mut Cursor<'_>, name: &str, start: &Cursor<'_>) -> Result<Test, CompileError> {
    let (of_type, from_end) = match name {
        // `:matches()` is what `:is()` was called before.
        "is" | "where" | "matches" => return Ok(Test::Is(list(cursor, List::Forgiving)?)),
        "not" => return Ok(Test::Not(list(cursor, List::Whole)?)),
        "has" => return Ok(Test::Has(list(cursor, List::Relative)?)),
        "contains" | "-soup-contains" => {
            return Ok(Test::Contains { texts: words(cursor)?, own: false });
        }
        "-soup-contains-own" => return Ok(Test::Contains { texts: words(cursor)?, own: true }),
        "lang" => return Ok(Test::Language(words(cursor)?)),
        "dir" => return direction(cursor),
        "current" | "host" | "host-context" => {
            list(cursor, List::Whole)?;
            return Ok(Test::Is(Vec::new()));
        }
        "nth-child" => (false, false),
        "nth-last-child" => (false, true),
        "nth-of-type" => (true, false),
        "nth-last-of-type" => (true, true),
        _ => return Err(unknown(start, name)),
    };
    let (step, offset) = step_and_offset(cursor)?;
    let space = skip_space(cursor);
    let among = match of_type {
        true => Among::SameName,
        false if space && eat_word(cursor, "of") => Among::Matching(list(cursor, List::Whole)?),
        false => Among::All,
    };
    Ok(Test::Nth { step, offset, from_end, among })
}

/// Reads texts separated by commas.
fn words(cursor: &mut Cursor<'_>) -> Result<Vec<String>, CompileError> {
    let mut words = Vec::new();
    loop {
        skip_space(cursor);
        words.push(word(cursor)?);
        skip_space(cursor);
        if !cursor.eat(",") {
            return Ok(words);
        }
    }
}

fn direction(cursor: &mut Cursor<'_>) -> Result<Test, CompileError> {
    let start = cursor.clone();
    match identifier(cursor, false)?.to_ascii_lowercase().as_str() {
        "ltr" => Ok(Test::Direction(Direction::LeftToRight)),
        "rtl" => Ok(Test::Direction(Direction::RightToLeft)),
        _ => Err(start.expected("ltr or rtl")),
    }
}

/// Reads `word`, in any capitals, if it is next.
fn eat_word(cursor: &mut Cursor<'_>, word: &str) -> bool {
    let next = cursor.rest().get(..word.len());
    let found = next.is_some_and(|next| next.eq_ignore_ascii_case(word));
    if found {
        cursor.rewind(cursor.offset() + word.len());
    }
    found
}

/// Reads `odd`, `even`, `3`, `2n+1`, `-n + 3` and their like.
fn step_and_offset(cursor: &mut Cursor<'_>) -> Result<(i64, i64), CompileError> {
    for (word, step_and_offset) in [("odd", (2, 1)), ("even", (2, 0))] {
        if eat_word(cursor, word) {
            return Ok(step_and_offset);
        }
    }
    let negative = cursor.eat("-");
    if !negative {
        cursor.eat("+");
    }
    let number = digits(cursor)?;
    let sign = if negative { -1 } else { 1 };
    if !cursor.eat("n") && !cursor.eat("N") {
        let number = number.ok_or_else(|| cursor.expected("a number, 2n+1, odd or even"))?;
        return Ok((0, sign * number));
    }
    let step = sign * number.unwrap_or(1);
    skip_space(cursor);
    let negative = cursor.eat("-");
    if !negative && !cursor.eat("+") {
        return Ok((step, 0));
    }
    skip_space(cursor);
    let offset = digits(cursor)?.ok_or_else(|| cursor.expected("a number"))?;
    Ok((step, if negative { -offset } else { offset }))
}

fn digits(cursor: &mut Cursor<'_>) -> Result<Option<i64>, CompileError> {
    let start = cursor.clone();
    match cursor.take_while(|c| c.is_ascii_digit()) {
        "" => Ok(None),
        digits => match digits.parse::<i32>() {
            Ok(number) => Ok(Some(number.into())),
            Err(_) => Err(start.error("the number is too large")),
        },
    }
}
