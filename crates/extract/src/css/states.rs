//! States of forms that names and attributes alone do not tell: the button that sends a form, groups of
//! radio buttons, and values between bounds (WHATWG HTML, 4.10 and 2.3.5).

use super::elements::Elements;
use crate::error::ExtractError;
use crate::markup::{DOCUMENT, NodeId};

const XHTML: &str = "http://www.w3.org/1999/xhtml";

impl Elements<'_> {
    /// Whether an element is of HTML: in XML by its namespace, in a page by what is around it.
    pub(super) fn is_html(&self, element: NodeId) -> Result<bool, ExtractError> {
        if !self.tree.is_html() {
            return Ok(self.tree.namespace(element, self.fuel)? == XHTML);
        }
        for id in std::iter::once(element).chain(self.tree.ancestors(element)) {
            self.fuel.burn(1)?;
            match self.tree.local_name(id) {
                "svg" | "math" => return Ok(false),
                // Within them HTML goes on.
                "foreignObject" | "desc" | "title" | "annotation-xml" | "mi" | "mo" | "mn"
                | "ms" | "mtext"
                    if id != element =>
                {
                    return Ok(true);
                }
                _ => {}
            }
        }
        Ok(true)
    }

    fn has_name(&self, element: NodeId, name: &str) -> bool {
        self.tree.is_element(element) && self.tree.local_name(element) == name
    }

    /// The form around an element, or the document.
    fn form(&self, element: NodeId) -> Result<Option<NodeId>, ExtractError> {
        for ancestor in self.tree.ancestors(element) {
            self.fuel.burn(1)?;
            if self.has_name(ancestor, "form") {
                return Ok(Some(ancestor));
            }
        }
        Ok(None)
    }

    /// Whether an element is the first button that sends its form.
    pub(super) fn is_default_button(&self, element: NodeId) -> Result<bool, ExtractError> {
        if !self.sends(element)? {
            return Ok(false);
        }
        let Some(form) = self.form(element)? else { return Ok(false) };
        for other in self.tree.descendants(form).take_while(|id| *id < element) {
            self.fuel.burn(1)?;
            if self.sends(other)? && self.form(other)? == Some(form) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an element is a button that sends its form.
    fn sends(&self, element: NodeId) -> Result<bool, ExtractError> {
        let is_button = self.has_name(element, "button");
        if !is_button && !self.has_name(element, "input") {
            return Ok(false);
        }
        let kind = self.attribute(element, "type")?.unwrap_or_default().to_ascii_lowercase();
        Ok(match kind.as_str() {
            "submit" => true,
            "image" => !is_button,
            "reset" | "button" => false,
            _ => is_button,
        })
    }

    /// Whether an element is a radio button, and none of its form and name is checked. One without a name
    /// is alone.
    pub(super) fn is_of_unchecked_group(&self, element: NodeId) -> Result<bool, ExtractError> {
        let Some(name) = self.radio_name(element)? else { return Ok(false) };
        if name.is_empty() {
            return Ok(self.attribute(element, "checked")?.is_none());
        }
        let form = self.form(element)?;
        for other in self.tree.descendants(form.unwrap_or(DOCUMENT)) {
            self.fuel.burn(1)?;
            if self.radio_name(other)? == Some(name)
                && self.attribute(other, "checked")?.is_some()
                && self.form(other)? == form
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name of an element that is a radio button; empty if it has none.
    fn radio_name(&self, element: NodeId) -> Result<Option<&str>, ExtractError> {
        let is_radio = self.has_name(element, "input")
            && self.attribute(element, "type")?.is_some_and(|k| k.eq_ignore_ascii_case("radio"));
        match is_radio {
            true => Ok(Some(self.attribute(element, "name")?.unwrap_or_default())),
            false => Ok(None),
        }
    }

    /// Whether the value of an input is within its bounds; `None`: it has none.
    pub(super) fn is_in_range(&self, element: NodeId) -> Result<Option<bool>, ExtractError> {
        if !self.has_name(element, "input") {
            return Ok(None);
        }
        let kind = self.attribute(element, "type")?.unwrap_or_default().to_ascii_lowercase();
        let read = |name| -> Result<Option<f64>, ExtractError> {
            let text = self.attribute(element, name)?.unwrap_or_default();
            self.fuel.burn_text(text.len())?;
            Ok(value_of(&kind, text))
        };
        let (least, most) = (read("min")?, read("max")?);
        if least.is_none() && most.is_none() {
            return Ok(None);
        }
        let Some(value) = read("value")? else { return Ok(Some(true)) };
        let above = least.is_none_or(|least| value >= least);
        let below = most.is_none_or(|most| value <= most);
        Ok(Some(match (least, most) {
            // From the evening to the morning.
            (Some(least), Some(most)) if kind == "time" && most < least => above || below,
            _ => above && below,
        }))
    }
}

/// Whether an element of HTML is none that a script has to define: the names of those have a hyphen
/// (WHATWG HTML, 4.13.3).
pub(super) fn is_defined(name: &str) -> bool {
    !name.contains('-') || name.contains(':') || !name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// What the value of an input of that type is worth in comparison with others of the type.
fn value_of(kind: &str, text: &str) -> Option<f64> {
    match kind {
        "number" | "range" => text.parse().ok().filter(|number: &f64| number.is_finite()),
        "date" => date(text),
        "month" => {
            let (year, month) = text.rsplit_once('-')?;
            Some(f64::from(self::year(year)? * 12 + number(month, 2, 1..=12)?))
        }
        "week" => {
            let (year, week) = text.rsplit_once("-W")?;
            let year = self::year(year)?;
            Some(f64::from(year * 53 + number(week, 2, 1..=weeks(year))?))
        }
        "time" => time(text),
        "datetime-local" => {
            let (day, hour) = text.split_once(['T', ' '])?;
            Some(date(day)? * 24.0 * 60.0 + time(hour)?)
        }
        _ => None,
    }
}

/// So many digits that are a number in a range.
fn number(text: &str, digits: usize, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { text.parse().ok()? } else { return None };
    range.contains(&number).then_some(number)
}

fn year(text: &str) -> Option<u32> {
    number(text, text.len().clamp(4, 6), 1..=999_999)
}

/// A day, as a number that grows with it.
fn date(text: &str) -> Option<f64> {
    let (month, day) = text.rsplit_once('-')?;
    let (year, month) = month.rsplit_once('-')?;
    let (year, month) = (self::year(year)?, number(month, 2, 1..=12)?);
    let days = match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    Some(f64::from((year * 12 + month) * 32 + number(day, 2, 1..=days)?))
}

fn time(text: &str) -> Option<f64> {
    let (hour, rest) = text.split_once(':')?;
    let (minute, second) = rest.split_once(':').unwrap_or((rest, "00"));
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    let fraction = number(fraction, fraction.len().clamp(1, 3), 0..=999)
        .map(|digits| f64::from(digits) / 10f64.powi(fraction.len() as i32))?;
    let minutes = number(hour, 2, 0..=23)? * 60 + number(minute, 2, 0..=59)?;
    Some(f64::from(minutes) + (f64::from(number(second, 2, 0..=59)?) + fraction) / 60.0)
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// How many weeks a year has (ISO 8601): 53 if it begins on a Thursday, or as a leap year on a Wednesday.
fn weeks(year: u32) -> u32 {
    let before = year - 1;
    // Day 1 of year 1 was a Monday.
    let first = (before * 365 + before / 4 - before / 100 + before / 400) % 7;
    if first == 3 || (first == 2 && is_leap(year)) { 53 } else { 52 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_html_has_them() {
        for (kind, smaller, larger) in [
            ("number", "-1", "2.5"),
            ("range", "1e2", "101"),
            ("date", "1999-12-31", "2000-01-01"),
            ("date", "2004-02-29", "2004-03-01"),
            ("month", "1999-12", "2000-01"),
            ("week", "2004-W53", "2005-W01"),
            ("time", "09:59:59.9", "10:00"),
            ("datetime-local", "2004-12-31T23:59", "2005-01-01 00:00"),
        ] {
            assert!(value_of(kind, smaller).unwrap() < value_of(kind, larger).unwrap(), "{kind}");
        }
        for (kind, text) in [
            ("number", "inf"),
            ("number", ""),
            ("date", "2003-02-29"),
            ("date", "1900-02-29"),
            ("date", "2003-2-01"),
            ("date", "0000-01-01"),
            ("date", "+2003-01-01"),
            ("month", "2003-13"),
            ("week", "1980-W53"),
            ("week", "2003-w01"),
            ("time", "24:00"),
            ("time", "10:00:"),
            ("time", "10:00:00."),
            ("text", "1"),
        ] {
            assert_eq!(value_of(kind, text), None, "{kind} {text}");
        }
    }

    #[test]
    fn long_years() {
        let long: Vec<u32> = (2000..2030).filter(|year| weeks(*year) == 53).collect();
        assert_eq!(long, [2004, 2009, 2015, 2020, 2026]);
    }
}
