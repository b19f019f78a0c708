//! `systemTags`: the tags that k6 gives what is measured, of which a script may ask for some. Pure.

use super::OptionError;
use super::value::At;

/// Those that are given if nothing else is said.
pub(super) const USUAL: [&str; 14] = [
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "service",
    "expected_response",
];
/// Those that are given only if they are asked for.
const MORE: [&str; 4] = ["iter", "vu", "ocsp_status", "ip"];
/// Those that nothing is grouped by: k6 calls them metadata.
const METADATA: [&str; 2] = ["iter", "vu"];

/// The tags that k6 is asked to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemTags(Vec<&'static str>);

impl Default for SystemTags {
    fn default() -> SystemTags {
        SystemTags(USUAL.to_vec())
    }
}

impl SystemTags {
    /// # Errors
    /// One of the list is unknown.
    pub(super) fn read(at: &At<'_>) -> Result<SystemTags, OptionError> {
        let known = || USUAL.iter().chain(&MORE);
        let one = |own: &At<'_>| {
            let text = own.text()?;
            let found = known().find(|name| **name == text.trim()).copied();
            found.ok_or_else(|| own.expected(&known().copied().collect::<Vec<_>>().join(", ")))
        };
        at.list()?.iter().map(one).collect::<Result<_, _>>().map(SystemTags)
    }

    /// Whether a tag is given: one of k6's that was not asked for is not, and all others are.
    pub fn gives(&self, name: &str) -> bool {
        self.asks_for(name) || !USUAL.iter().chain(&MORE).any(|own| *own == name)
    }

    /// Whether a tag of k6's was asked for.
    pub fn asks_for(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// Those that have a column in a table, in order.
    pub fn columns(&self) -> Vec<&'static str> {
        let mut columns: Vec<&'static str> = self.0.clone();
        columns.retain(|own| !METADATA.contains(own));
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_a_script_are_always_given() {
        let own = SystemTags(vec!["vu", "name", "ip"]);
        assert_eq!([own.gives("name"), own.gives("url"), own.gives("team")], [true, false, true]);
        assert_eq!(own.columns(), ["ip", "name"]);
        assert_eq!(SystemTags::default().columns().len(), 14);
    }
}
