//! Which runs count although their numbers are invalid: what an experiment studies may be just that. Pure.

use squall_analysis::{Reason, VALIDITY_RULES, Validity};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{CountInvalid, Experiment};

/// Which runs count although their numbers are invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// Those whose numbers are invalid by no other rule; none: such a run does not count.
    By(Vec<String>),
    /// All.
    All,
}

/// What the file says of them.
///
/// # Errors
/// A rule has a name that no rule has.
pub(crate) fn counting(own: &Experiment) -> Result<Counting, Diagnostic> {
    let rules = match &own.count_invalid {
        CountInvalid::No => &[][..],
        CountInvalid::All => return Ok(Counting::All),
        CountInvalid::By(rules) => rules,
    };
    match rules.iter().find(|own| !VALIDITY_RULES.contains(&own.value.as_str())) {
        Some(unknown) => {
            let message = format!("`count_invalid`: unknown rule of validity `{}`", unknown.value);
            let help = format!("the rules are {}", VALIDITY_RULES.join(", "));
            Err(Diagnostic::error(unknown.span, message).with_help(&help))
        }
        None => Ok(Counting::By(rules.iter().map(|own| own.value.clone()).collect())),
    }
}

impl Counting {
    /// The rules by which the numbers of a run are invalid that counts; none: they are not.
    ///
    /// # Errors
    /// The run does not count: the reason that makes its numbers invalid.
    pub(crate) fn rules<'r>(&self, reasons: &'r [Reason]) -> Result<Vec<String>, &'r Reason> {
        let invalid = || reasons.iter().filter(|own| own.validity() == Validity::Invalid);
        let counts = |own: &Reason| match self {
            Counting::All => true,
            Counting::By(rules) => rules.iter().any(|rule| rule == own.rule),
        };
        match invalid().find(|own| !counts(own)) {
            Some(reason) => Err(reason),
            None => Ok(invalid().map(|own| own.rule.to_owned()).collect()),
        }
    }

    /// As results have it.
    pub(crate) fn shown(&self) -> Vec<String> {
        match self {
            Counting::All => vec!["all".to_owned()],
            Counting::By(rules) => rules.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(rule: &'static str, weight: Validity) -> Reason {
        let (observed, advice) = (String::new(), String::new());
        Reason { rule, effect: None, weight, observed, advice, nodes: Vec::new() }
    }

    #[test]
    fn numbers_count_that_are_invalid_by_the_named_rules_alone() {
        let reasons = [
            reason("ports", Validity::Invalid),
            reason("unsteady", Validity::Questionable),
            reason("steal", Validity::Invalid),
        ];
        let by = |rules: &[&str]| Counting::By(rules.iter().map(ToString::to_string).collect());
        let found = |own: Counting, reasons| own.rules(reasons).map_err(|own| own.rule);
        assert_eq!(found(by(&[]), &reasons[..]), Err("ports"));
        assert_eq!(found(by(&["ports"]), &reasons[..]), Err("steal"));
        assert_eq!(found(by(&["ports"]), &reasons[..2]), Ok(vec!["ports".to_owned()]));
        assert_eq!(found(by(&[]), &reasons[1..2]), Ok(Vec::new()));
        assert_eq!(
            found(Counting::All, &reasons[..]),
            Ok(["ports", "steal"].map(str::to_owned).to_vec())
        );
    }
}
