//! Java's formats of numbers, as far as counters have them. Pure.

/// What of Java's `DecimalFormat` numbers without a fraction and without groups have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecimalFormat {
    pub before: String,
    /// Least digits; zeros fill them.
    pub digits: usize,
    pub after: String,
}

impl DecimalFormat {
    /// A pattern; `None` if it asks for anything else.
    pub(super) fn parse(pattern: &str) -> Option<DecimalFormat> {
        let is_digit = |c: char| matches!(c, '0' | '#');
        let from = pattern.find(is_digit)?;
        let (before, rest) = pattern.split_at(from);
        let to = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(to);
        let is_plain =
            |text: &str| !text.contains(['.', ',', ';', '%', '\u{2030}', '\u{a4}', '\'']);
        let zeros = digits.trim_start_matches('#');
        let is_good = is_plain(before)
            && is_plain(after)
            && !after.contains(is_digit)
            && !after.starts_with('E')
            && !zeros.contains('#');
        let (before, after) = (before.to_owned(), after.to_owned());
        is_good.then_some(DecimalFormat { before, digits: zeros.len(), after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_whole_numbers() {
        let parsed = |pattern: &str| {
            DecimalFormat::parse(pattern).map(|format| (format.before, format.digits, format.after))
        };
        let good =
            |before: &str, digits, after: &str| Some((before.to_owned(), digits, after.to_owned()));
        assert_eq!(parsed("000"), good("", 3, ""));
        assert_eq!(parsed("user_##00@x"), good("user_", 2, "@x"));
        assert_eq!(parsed("#"), good("", 0, ""));
        for pattern in ["", "x", "0.00", "#,##0", "0#", "00-00", "0E0"] {
            assert_eq!(parsed(pattern), None, "{pattern}");
        }
    }
}
