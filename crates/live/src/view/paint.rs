//! Writing on a part of the screen. Pure.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::theme::Theme;

/// The screen, and how things look on it.
pub struct Paint<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: Theme,
}

impl Paint<'_> {
    /// Writes a text at a column of a row of an area, cut off at the area's end; the column after it.
    pub fn text(&mut self, area: Rect, x: u16, row: u16, text: &str, style: Style) -> u16 {
        if row >= area.height || x >= area.width {
            return x;
        }
        let room = usize::from(area.width - x);
        let (end, _) = self.buffer.set_stringn(area.x + x, area.y + row, text, room, style);
        end - area.x
    }

    /// Writes texts one after the other, each in its style.
    pub fn texts(&mut self, area: Rect, x: u16, row: u16, texts: &[(&str, Style)]) -> u16 {
        texts.iter().fold(x, |x, (text, style)| self.text(area, x, row, text, *style))
    }

    /// Writes a text so that it ends before column `end`.
    pub fn right(&mut self, area: Rect, end: u16, row: u16, text: &str, style: Style) {
        let width = width(text).min(end);
        self.text(area, end - width, row, text, style);
    }
}

/// Columns of a text.
pub fn width(text: &str) -> u16 {
    let text = ratatui_core::text::Span::raw(text);
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// A text of at most so many columns; one that was cut ends with `…`.
pub fn fit(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if width(&out) + width(c.encode_utf8(&mut [0; 4])) + 1 > columns {
            break;
        }
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// A text in lines of at most so many columns, broken between words where that is possible.
pub fn wrap(text: &str, columns: u16, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| fit(line, columns)).collect()
}

/// The part of an area below its first rows.
pub fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// The first rows of an area.
pub fn top(area: Rect, rows: u16) -> Rect {
    Rect { height: rows.min(area.height), ..area }
}

/// Two halves of an area beside each other, with a gap.
pub fn halves(area: Rect) -> [Rect; 2] {
    let left = (area.width.saturating_sub(2)) / 2;
    let right = area.width.saturating_sub(left + 2);
    [Rect { width: left, ..area }, Rect { x: area.x + area.width - right, width: right, ..area }]
}

/// A bar of which a part is done.
pub fn bar(columns: u16, part: f64) -> String {
    let done = (part.clamp(0.0, 1.0) * f64::from(columns)).round() as usize;
    format!("{}{}", "█".repeat(done), "░".repeat(usize::from(columns) - done))
}

/// Seconds as a person reads them: `1m12s`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9) as u64;
    match (whole / 3_600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes:02}m{seconds:02}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(
            (fit("abc", 3), fit("abcd", 3), fit("abc", 0)),
            ("abc".into(), "ab…".into(), String::new())
        );
        assert_eq!(fit("日本語", 5), "日本…", "two columns each");
        assert_eq!(wrap("one two three four", 9, 9), ["one two", "three", "four"]);
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "three fo…"]);
    }

    #[test]
    fn bars_and_clocks() {
        assert_eq!((bar(4, 0.5), bar(2, 7.0)), ("██░░".into(), "██".into()));
        assert_eq!([0.4, 59.9, 61.0, 3_601.0].map(clock), ["0s", "59s", "1m01s", "1h00m01s"]);
    }
}
