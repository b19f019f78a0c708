//! Which text a summary has, as `--summary-mode` says. Pure.

/// Which text a summary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryMode {
    /// The whole run, without the phases of requests.
    #[default]
    Compact,
    /// All metrics, and groups and scenarios besides.
    Full,
    /// None; `handleSummary` is not called either.
    Disabled,
}

impl SummaryMode {
    /// The mode of a name.
    ///
    /// # Errors
    /// The name is unknown, in a sentence that says what was expected.
    pub fn parse(name: &str) -> Result<SummaryMode, String> {
        match name {
            "compact" => Ok(SummaryMode::Compact),
            "full" => Ok(SummaryMode::Full),
            "disabled" => Ok(SummaryMode::Disabled),
            _ => Err(format!("unknown summary mode `{name}`: expected compact, full or disabled")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        assert_eq!(SummaryMode::parse("full"), Ok(SummaryMode::Full));
        assert_eq!(SummaryMode::parse("compact"), Ok(SummaryMode::default()));
        assert_eq!(SummaryMode::parse("disabled"), Ok(SummaryMode::Disabled));
        let error = SummaryMode::parse("legacy").expect_err("an error");
        assert!(
            error.contains("`legacy`") && error.contains("compact, full or disabled"),
            "{error}"
        );
    }
}
