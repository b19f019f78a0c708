//! The variables of the environment that an output is set up by. Pure.

use std::time::Duration;

use squall_base::units::parse_duration;
use squall_plan::feed_target::masked;

/// Those of one output.
#[derive(Debug)]
pub(super) struct Variables<'v> {
    all: &'v [(String, String)],
}

impl<'v> Variables<'v> {
    pub fn new(all: &'v [(String, String)]) -> Variables<'v> {
        Variables { all }
    }

    /// What is read from these.
    #[cfg(test)]
    pub fn with<T>(given: &[(&str, &str)], read: impl FnOnce(&Variables<'_>) -> T) -> T {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let all: Vec<(String, String)> = given.iter().map(own).collect();
        read(&Variables { all: &all })
    }

    /// Those that begin so, without that beginning. One that is empty is as good as none.
    pub fn beginning(&self, with: &str) -> impl Iterator<Item = (&'v str, &'v str)> {
        let given = self.all.iter().filter(|(_, value)| !value.is_empty());
        given.filter_map(move |(name, value)| Some((name.strip_prefix(with)?, value.as_str())))
    }

    pub fn text(&self, name: &str) -> Option<&'v str> {
        let found = self.all.iter().find(|(own, value)| own == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// # Errors
    /// The value is neither `true` nor `false`, in a sentence.
    pub fn is_on(&self, name: &str) -> Result<bool, String> {
        match self.text(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(other) => Err(format!("{name}: expected true or false, found `{other}`")),
        }
    }

    /// A time; a number without a unit is in ms.
    ///
    /// # Errors
    /// The value is neither, or 0, in a sentence.
    pub fn time(&self, name: &str) -> Result<Option<Duration>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        time(text).map(Some).map_err(|why| format!("{name}: {why}"))
    }

    /// # Errors
    /// One of these is given, of which squall has nothing like; in a sentence that says what to do.
    pub fn refuse(&self, refused: &[(&str, &str)]) -> Result<(), String> {
        let given = refused.iter().find(|(name, _)| self.text(name).is_some());
        given.map_or(Ok(()), |(name, help)| Err(format!("{name}: {help}")))
    }

    /// Sentences about those that have no effect, and about those that begin so but are unknown.
    pub fn warnings(&self, beginning: &str, known: &[&str], idle: &[(&str, &str)]) -> Vec<String> {
        let warning = |(rest, _): (&str, &str)| {
            let name = format!("{beginning}{rest}");
            if let Some((_, why)) = idle.iter().find(|(own, _)| *own == name) {
                return Some(format!("{name} has no effect: {why}"));
            }
            let is_known =
                known.iter().any(|own| name == *own || own.ends_with('_') && name.starts_with(own));
            (!is_known)
                .then(|| format!("{name} has no effect: `squall k6 run` knows no such variable"))
        };
        self.beginning(beginning).filter_map(warning).collect()
    }
}

/// A time that is above 0, as k6 writes it.
///
/// # Errors
/// It is not, in a sentence.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let ms = text.parse::<u64>().ok().map(Duration::from_millis);
    let time = ms.or_else(|| parse_duration(text).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("expected a time above 0, such as 5s, found `{text}`"))
}

/// A URL with a user and a password before its host.
///
/// # Errors
/// It does not begin with `http://` or `https://`.
pub(super) fn with_user(url: &str, user: &str, password: &str) -> Result<String, String> {
    let expected = || format!("expected a URL of http or https, found `{}`", masked(url));
    let (scheme, rest) = url.split_once("://").ok_or_else(expected)?;
    Ok(format!("{scheme}://{}:{}@{rest}", encoded(user), encoded(password)))
}

/// A text as it stands in a part of a URL.
pub(super) fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_what_is_unknown_is_said() {
        let all = [
            ("K6_A_T", "1500"),
            ("K6_A_S", "true"),
            ("K6_A_X", "1"),
            ("K6_A_E", ""),
            ("K6_A_I", "2"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = Variables::new(&all);
        assert_eq!(own.time("K6_A_T"), Ok(Some(Duration::from_millis(1_500))));
        assert_eq!((own.is_on("K6_A_S"), own.is_on("K6_A_E")), (Ok(true), Ok(false)));
        assert!(
            own.is_on("K6_A_T").is_err_and(|why| why.contains("K6_A_T: expected true or false"))
        );
        assert!(own.time("K6_A_S").is_err_and(|why| why.contains("a time above 0")));
        let warnings = own.warnings("K6_A_", &["K6_A_T", "K6_A_S"], &[("K6_A_I", "why")]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("K6_A_X has no effect: `squall k6 run` knows"));
        assert_eq!(warnings[1], "K6_A_I has no effect: why");
        assert_eq!(
            own.refuse(&[("K6_A_X", "leave it out")]),
            Err("K6_A_X: leave it out".to_owned())
        );
        assert_eq!(
            with_user("http://h/p", "me", "a/b@ü").as_deref(),
            Ok("http://me:a%2Fb%40%C3%BC@h/p")
        );
    }
}
