//! Whether intervals hold what they promise: synthetic series with known answers, on the path that a real
//! run takes. Prints Markdown tables. `bench/truth/series.py` runs it.
//!
//! Usage: series [RUNS] [PART]: runs a row (1,000), and `intervals`, `advice` or `steady` (all).

mod advice;
mod changes;
mod intervals;
mod process;
mod study;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().map_or(1_000, |text| text.parse().expect("a number of runs"));
    let part = arguments.next();
    let wanted = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if wanted("intervals") {
        intervals::table(runs);
    }
    if wanted("advice") {
        advice::table(runs);
    }
    if wanted("steady") {
        changes::table(runs);
    }
}
