//! Pressure: for how much of the time tasks waited (PSI, Documentation/accounting/psi.rst of the kernel).

use std::time::Duration;

use crate::rates::Rate;
use crate::samples::Samples;
use crate::system::System;

/// What tasks wait for, and the metric that says so.
const WAITS: [(&str, &str); 3] =
    [("cpu", "pressure_cpu"), ("memory", "pressure_memory"), ("io", "pressure_io")];

/// The pressure of the host or of a control group.
#[derive(Debug, Default)]
pub(crate) struct Pressures([Rate; 3]);

impl Pressures {
    /// Puts the shares of the time in which some task waited; `file` says where each is.
    pub(crate) fn put(
        &mut self,
        system: &System,
        file: impl Fn(&str) -> String,
        now: Duration,
        into: &mut Samples,
    ) {
        for ((what, name), rate) in WAITS.into_iter().zip(&mut self.0) {
            let total = system.text(&file(what)).ok().and_then(|text| some_total(&text));
            let share = total.and_then(|us| rate.of(us / 1e6, now));
            into.put_known(name, share.map(|share| share.min(1.0)));
        }
    }
}

/// The time in which some task waited, in µs.
fn some_total(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_in_the_line_of_some() {
        let text =
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n";
        assert_eq!(some_total(text), Some(1_500_000.0));
        assert_eq!(some_total("full total=1"), None);
    }
}
