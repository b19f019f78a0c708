//! Quantities with units: the only grammar of squall that reads them, and its only formatter.

mod read;
mod show;

pub use read::{
    UnitError, parse_bandwidth, parse_duration, parse_rate, parse_share, parse_size, print_duration,
};
pub use show::{bytes, count, percent, rate, time};
