//! When a profile begins. Pure.

use std::time::Duration;

use squall_analysis::{MovingWindow, Threshold, Totals};
use squall_metrics::Slice;
use squall_plan::model;

/// When a profile begins.
#[derive(Debug)]
pub(crate) enum Begin {
    /// So long after the start of the load.
    At(Duration),
    /// After a second that meets a requirement.
    When {
        threshold: Box<Threshold>,
        /// What knows the names of what is recorded.
        totals: Box<Totals>,
    },
}

impl Begin {
    /// As a plan says.
    ///
    /// # Errors
    /// What it says is no requirement of a second, in a sentence.
    pub fn of(profile: &model::Profile) -> Result<Begin, String> {
        let Some(when) = &profile.when else {
            return Ok(Begin::At(profile.at.unwrap_or_default()));
        };
        let text = when.value.as_str();
        let parsed = Threshold::parse(text).map_err(|error| error.message)?;
        if parsed.window().is_some() {
            return Err(format!("`{text}`: a profile looks at the last second: leave out `over`"));
        }
        let threshold =
            Threshold::parse(&format!("{text} over 1s")).map_err(|error| error.message)?;
        Ok(Begin::When { threshold: Box::new(threshold), totals: Box::default() })
    }

    /// Whether it begins now that a second is over.
    pub fn after(&mut self, second: u32, slices: &[Slice]) -> bool {
        match self {
            Begin::At(at) => Duration::from_secs(u64::from(second) + 1) >= *at,
            Begin::When { threshold, totals } => {
                totals.add_together(slices);
                let Some(mut window) = MovingWindow::new(threshold, second) else { return false };
                window.add(second, slices, totals);
                window.result().passed
            }
        }
    }

    /// Why it has not begun.
    pub fn missed(&self) -> String {
        match self {
            Begin::At(at) => format!("the load ended before {} s", at.as_secs_f64()),
            Begin::When { threshold, .. } => {
                let text = threshold.text().trim_end_matches(" over 1s");
                format!("there was no second with `{text}`")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{NameId, RowKey, RowKind, Sample};
    use squall_plan::span::{Span, Spanned};

    use super::*;

    fn of(when: &str) -> Result<Begin, String> {
        let when = Some(Spanned { value: when.to_owned(), span: Span::default() });
        Begin::of(&model::Profile { when, ..model::Profile::default() })
    }

    /// A second in which each request took so many ms.
    fn slice(second: u32, ms: u64) -> Slice {
        let mut slice = Slice::new(0, second);
        if second == 0 {
            slice.announce(NameId(0), RowKey::new(RowKind::Request, "a", "GET /"));
        }
        for _ in 0..10 {
            slice.record(NameId(0), &Sample::ok(ms * 1_000));
        }
        slice
    }

    #[test]
    fn it_begins_after_the_first_second_that_is_meant() {
        let mut begin = of("p99 > 500ms").expect("a requirement");
        let of = |second: u32| slice(second, if second == 3 { 700 } else { 10 });
        let begins: Vec<bool> = (0..5).map(|second| begin.after(second, &[of(second)])).collect();
        assert_eq!(begins, [false, false, false, true, false]);
        assert_eq!(begin.missed(), "there was no second with `p99 > 500ms`");
    }

    #[test]
    fn it_begins_at_its_time() {
        let profile =
            model::Profile { at: Some(Duration::from_secs(2)), ..model::Profile::default() };
        let mut begin = Begin::of(&profile).expect("a time");
        assert!(!begin.after(0, &[]) && begin.after(1, &[]));
        assert_eq!(begin.missed(), "the load ended before 2 s");
    }

    #[test]
    fn what_is_no_requirement_of_a_second_is_refused() {
        assert!(of("p99 >").is_err());
        assert!(of("p99 > 1s over 5s").is_err_and(|error| error.contains("leave out `over`")));
    }
}
