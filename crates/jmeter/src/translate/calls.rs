//! JMeter's functions as texts that are known before the run, or as expressions.

use std::path::Path;

use squall_plan::model::StepKind;

use super::texts::{Piece, THREAD, expression, literal, merged, quoted, whole};
use super::{Translator, assign, escapes};
use crate::text::{Call, Part, Text};

/// What JMeter's functions say of a file that is not there.
pub(super) const MISSING: &str = "**ERR**";

impl Translator<'_> {
    /// What a call gives.
    ///
    /// # Errors
    /// What of it has no equal.
    pub(super) fn call(&self, call: &Call) -> Result<Piece, String> {
        if let Some(text) = self.constants.asked(call) {
            return Ok(Piece::Text(text));
        }
        if let Some(language) = super::condition::language_of(&call.name) {
            return self.script_text(language, call);
        }
        let parameters = call.parameters.iter().map(|parameter| self.parameter(parameter));
        let mut parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let variable = assign::variable_of(call);
        variable.into_iter().for_each(|index| parameters[index].clear());
        let value = self.value_of_call(call, &parameters)?;
        match assign::set_by(call) {
            // Of a user-defined variable that other one is the main thread's, which nobody sees.
            Some(name) if !self.in_main_thread.get() => self.assigned(name, value),
            _ => Ok(value),
        }
    }

    /// What a call gives, given its parameters without the name of a variable.
    fn value_of_call(&self, call: &Call, parameters: &[Vec<Piece>]) -> Result<Piece, String> {
        let given =
            parameters.len() - parameters.iter().rev().take_while(|own| own.is_empty()).count();
        let known: Option<Vec<&str>> = parameters.iter().map(|pieces| literal(pieces)).collect();
        if let Some(piece) = self.property_set_in_run(&call.name, parameters) {
            return Ok(piece);
        }
        match (call.name.as_str(), known.as_deref()) {
            ("__counter", Some([flag, ..])) => {
                return self.counted(flag.trim().eq_ignore_ascii_case("true"));
            }
            ("__StringFromFile", Some([file])) | ("__StringFromFile", Some([file, ""])) => {
                return self.next_line(file.trim());
            }
            _ => {}
        }
        if let ("__split", [text, _, more @ ..]) = (call.name.as_str(), parameters) {
            let separators = more.first().map_or(Some(""), |separators| literal(separators));
            let separators = separators.ok_or("separators that only the run knows")?;
            return self.split_up(call, text, if separators.is_empty() { "," } else { separators });
        }
        let found = match (call.name.as_str(), known) {
            // An empty default is one.
            ("__P" | "__property", Some(known)) if !known.is_empty() => {
                self.constants.property(&call.name, &known).map(Piece::Text)
            }
            (name, Some(known)) => self.of_known(name, &known[..given]),
            (_, None) => None,
        };
        let found = found.or_else(|| self.of_pieces(&call.name, &parameters[..given]));
        found.ok_or_else(|| format!("the function `{}`, as it is used there", call.name))
    }

    /// What a function gives that reads a property which gets its value while the plan runs.
    fn property_set_in_run(&self, function: &str, parameters: &[Vec<Piece>]) -> Option<Piece> {
        let place = match function {
            "__P" => 1,
            "__property" if parameters.get(1).is_none_or(Vec::is_empty) => 2,
            _ => return None,
        };
        let name = literal(parameters.first()?)?;
        let variable = self.names.property(name).filter(|_| !self.is_defining.get())?;
        let without = match (parameters.get(place), function) {
            (Some(without), _) => expression(without),
            (None, "__P") => quoted("1"),
            (None, _) => quoted(name),
        };
        Some(Piece::Expr(format!("({variable} == null ? {without} : {variable})")))
    }

    /// A call all of whose parameters are known before the run, without those that are empty at the end.
    fn of_known(&self, function: &str, parameters: &[&str]) -> Option<Piece> {
        let text = |text: String| Some(Piece::Text(text));
        let expr = |text: &str| Some(Piece::Expr(text.to_owned()));
        match (function, parameters) {
            ("__UUID", []) => expr("uuid()"),
            ("__threadNum", []) => expr(THREAD),
            ("__threadGroupName", []) => expr("scenario"),
            ("__time", []) => expr("now_ms()"),
            ("__time", ["/1000"]) => expr("now()"),
            ("__time", [format]) => time(format).map(Piece::Expr),
            ("__RandomString", [length, characters]) => {
                let length: u32 = length.trim().parse().ok()?;
                Some(Piece::Expr(format!("random_string({length}, {})", quoted(characters.trim()))))
            }
            // Without characters to choose from Java takes any; these are as long as most of those.
            ("__RandomString", [length]) => {
                let length: u32 = length.trim().parse().ok()?;
                let any: String = ('\u{4e00}'..='\u{4eff}').collect();
                Some(Piece::Expr(format!("random_string({length}, {})", quoted(&any))))
            }
            ("__TestPlanName", []) => {
                text(self.file_name.clone()).filter(|_| !self.file_name.is_empty())
            }
            ("__escapeOroRegexpChars", [pattern]) if pattern.is_ascii() => {
                text(escapes::quoted_for_oro(pattern))
            }
            ("__unescapeHtml", [html]) => escapes::unescaped_html(html).and_then(text),
            ("__unescape", [escaped]) => escapes::unescaped(escaped).and_then(text),
            ("__char", [_, ..]) => {
                parameters.iter().map(|code| character(code)).collect::<Option<_>>().and_then(text)
            }
            ("__CSVRead", [file, column]) => self.field_of_row(file, column),
            ("__isPropDefined", [name]) => text(self.constants.has_property(name).to_string()),
            ("__FileToString", [name] | [name, "UTF-8" | "utf-8"]) => {
                // Relative to where the program was started, unlike the plan's data files.
                let file = Path::new(name.trim());
                let missing = (!file.exists()).then(|| MISSING.to_owned());
                missing.or_else(|| squall_plan::files::text(file).ok()).and_then(text)
            }
            _ => None,
        }
    }

    /// A call whose parameters the run may decide.
    fn of_pieces(&self, function: &str, parameters: &[Vec<Piece>]) -> Option<Piece> {
        let expr = |text: String| Some(Piece::Expr(text));
        match (function, parameters) {
            ("__Random", [low, high]) => expr(format!("random({}, {})", whole(low)?, whole(high)?)),
            // Where in a log it stands, and what is said of an error, nobody looks for.
            ("__log" | "__logn", [text, ..]) => {
                let logged = self.add_setting(|root| StepKind::Log(self.template_of(root, text)));
                logged.ok().filter(|()| !self.in_main_thread.get())?;
                match function {
                    "__log" => expr(expression(text)),
                    _ => Some(Piece::Text(String::new())),
                }
            }
            ("__samplerName", []) => self.name_of_sampler(),
            ("__intSum" | "__longSum", [_, _, ..]) => {
                // A last one that is no number is the name of a variable.
                let terms: Option<Vec<String>> =
                    parameters.iter().map(|term| whole(term)).collect();
                expr(terms?.join(" + "))
            }
            ("__eval", [text]) => self.evaluated(literal(text)?),
            ("__V", [name]) => self.value_named(name, None),
            ("__V", [name, without]) => self.value_named(name, Some(without)),
            ("__isVarDefined", [name]) => self.is_set(literal(name)?),
            ("__RandomFromMultipleVars", [names]) => self.any_of(literal(names)?),
            // Where the property is given it is known.
            ("__P", [name, without]) if !self.constants.has_property(literal(name)?.trim()) => {
                expr(expression(without))
            }
            // What the run sets may have anything in it that would have to be read then.
            ("__evalVar", [name]) if self.names.variable(literal(name)?).is_none() => {
                self.evaluated(self.constants.known(literal(name)?)??)
            }
            _ => escapes::of_text(function, parameters),
        }
    }

    /// The name of the sampler whose texts are read.
    fn name_of_sampler(&self) -> Option<Piece> {
        // A name that asks for itself has none yet.
        let sampler = self.sampler.take()?;
        let name = self.evaluated(&self.tree.element(sampler).name);
        self.sampler.set(Some(sampler));
        name
    }

    /// A text that is evaluated once more, if it is one piece.
    fn evaluated(&self, source: &str) -> Option<Piece> {
        let pieces = self.split(source).ok()?;
        Some(match pieces.as_slice() {
            [] => Piece::Text(String::new()),
            [only] => only.clone(),
            _ => Piece::Expr(expression(&pieces)),
        })
    }

    pub(super) fn parameter(&self, parameter: &Text) -> Result<Vec<Piece>, String> {
        let pieces = parameter.parts.iter().map(|part| match part {
            Part::Literal(text) => Ok(Piece::Text(text.clone())),
            Part::Variable(name) => self.variable(name),
            Part::Call(call) => self.call(call),
        });
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        // What is known is one text, and what is empty nothing.
        Ok(merged(pieces))
    }
}

/// A character by its number, decimal or hexadecimal (`0x41`).
fn character(code: &str) -> Option<char> {
    let code = code.trim();
    let number = match code.strip_prefix("0x").or_else(|| code.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    char::from_u32(number.ok()?)
}

/// The present moment in a format of Java's: milliseconds since 1970 divided, or a pattern.
fn time(format: &str) -> Option<String> {
    let format = match format {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        other => other,
    };
    if let Some(divisor) = format.strip_prefix('/') {
        let divisor: u32 = divisor.parse().ok().filter(|divisor| *divisor > 0)?;
        return Some(format!("now_ms() / {divisor}"));
    }
    if has_too_many_letters(format) {
        return Some(format!("fail({})", quoted(&format!("`{format}` is no format of dates"))));
    }
    let at = |pattern: &str| Some(format!("date(now_ms(), {})", quoted(&date_pattern(pattern)?)));
    // A year of weeks, which begin on Sundays, is that of the week's Saturday.
    let saturday = "now_ms() + (6 - int(date(now_ms(), \"%w\"))) * 86400000";
    let parts: Option<Vec<String>> = by_week_years(format)
        .iter()
        .map(|part| match part.strip_prefix('Y') {
            Some("Y") => Some(format!("date({saturday}, \"%y\")")),
            Some(_) => Some(format!("date({saturday}, \"%Y\")")),
            None => at(part),
        })
        .collect();
    Some(parts?.join(" + "))
}

/// A pattern in parts: the letters `Y` for a year of weeks are parts of their own.
fn by_week_years(pattern: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_text = false;
    for c in pattern.chars() {
        is_text ^= c == '\'';
        let is_year = |part: &String| part.starts_with('Y');
        let splits = match parts.last() {
            Some(last) if last.is_empty() => false,
            Some(last) => is_year(last) != (c == 'Y' && !is_text),
            None => true,
        };
        if splits {
            parts.push(String::new());
        }
        parts.last_mut().into_iter().for_each(|last| last.push(c));
    }
    parts
}

/// Whether Java refuses a pattern for a letter that stands too often in a row.
fn has_too_many_letters(pattern: &str) -> bool {
    let mut is_text = false;
    let mut run = (' ', 0);
    pattern.chars().any(|c| {
        is_text ^= c == '\'';
        run = if c == run.0 { (c, run.1 + 1) } else { (c, 1) };
        !is_text && "dHhKkms".contains(c) && run.1 > 2
    })
}

/// A pattern of Java's for dates as one of `date()`; `None` if it asks for something else.
fn date_pattern(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\'' {
            if rest.next_if_eq(&'\'').is_some() {
                out.push('\'');
                continue;
            }
            loop {
                match rest.next()? {
                    '\'' if rest.next_if_eq(&'\'').is_some() => out.push('\''),
                    '\'' => break,
                    '%' => out.push_str("%%"),
                    other => out.push(other),
                }
            }
            continue;
        }
        if !c.is_ascii_alphabetic() {
            out.push(c);
            if c == '%' {
                out.push(c);
            }
            continue;
        }
        let mut count = 1;
        while rest.next_if_eq(&c).is_some() {
            count += 1;
        }
        out.push_str(match (c, count) {
            ('y', 1 | 3 | 4) => "%Y",
            ('y', 2) => "%y",
            ('M', 2) => "%m",
            ('M', 3) => "%b",
            ('M', 4) => "%B",
            ('d', 1) => "%e",
            ('d', 2) => "%d",
            ('D', 3) => "%j",
            ('H', 2) => "%H",
            ('h', 2) => "%I",
            ('m', 2) => "%M",
            ('s', 2) => "%S",
            ('S', 3) => "%L",
            ('E', 1..=3) => "%a",
            ('E', 4) => "%A",
            ('a', 1) => "%p",
            ('Z', 1..=3) => "%z",
            ('z', 1..=3) => "UTC",
            ('X', 1) => "Z",
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_dates() {
        for (pattern, expected) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Some("%Y-%m-%dT%H:%M:%S.%LZ")),
            ("EEE, d MMM yy hh 'o''clock' a", Some("%a, %e %b %y %I o'clock %p")),
            ("''%", Some("'%%")),
            ("sss", None),
            ("'open", None),
        ] {
            assert_eq!(date_pattern(pattern).as_deref(), expected, "{pattern}");
        }
        assert_eq!(time("/60").as_deref(), Some("now_ms() / 60"));
        assert_eq!(by_week_years("YYYY-MM'Y'YY"), ["YYYY", "-MM'Y'", "YY"]);
        assert!(time("HH:mm:sss").is_some_and(|source| source.starts_with("fail(")));
        assert!(!has_too_many_letters("yyyy-MMM-dd 'sss' HH:mm:ss.SSS"));
        assert_eq!(time("YMD").as_deref(), Some(r#"date(now_ms(), "%Y%m%d")"#));
        assert_eq!(
            [character("65"), character("0x42"), character("x")],
            [Some('A'), Some('B'), None]
        );
    }
}
