//! Quantities with units: the only grammar of squall that reads them, and its only formatter.

mod pattern;
mod read;
mod show;

pub use pattern::{
    pattern_of_bandwidths, pattern_of_ranges, pattern_of_rates, pattern_of_sizes, pattern_of_times,
};
pub use read::{
    UnitError, parse_bandwidth, parse_duration, parse_rate, parse_share, parse_size, print_duration,
};
pub use show::{bytes, count, counted, percent, rate, time};
