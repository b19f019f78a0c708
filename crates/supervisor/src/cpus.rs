//! Sets of processors, as `taskset` and the kernel write them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Processors beyond this are not known to the kernel's own form of such a set.
const MAX_CPUS: usize = 1_024;

/// A set of processors: `0`, `0-2,5`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuSet(Vec<usize>);

impl CpuSet {
    /// Reads one.
    ///
    /// # Errors
    /// It is not written like that, in a sentence.
    pub fn parse(text: &str) -> Result<CpuSet, Error> {
        let wrong = || Error(format!("`{text}`: expected processors, such as 0 or 0-2,5"));
        let mut all = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            if first > last || last >= MAX_CPUS {
                return Err(wrong());
            }
            all.extend(first..=last);
        }
        all.sort_unstable();
        all.dedup();
        Ok(CpuSet(all))
    }

    /// Binds the thread that calls this, and all that it starts.
    ///
    /// # Errors
    /// None of them is there, or may be used.
    #[cfg(target_os = "linux")]
    pub fn bind(&self) -> Result<(), Error> {
        let mut set = rustix::thread::CpuSet::new();
        self.0.iter().for_each(|cpu| set.set(*cpu));
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(|error| Error(format!("processors {self} cannot be used: {error}")))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for cpu in &self.0 {
            match parts.last_mut() {
                Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
                _ => parts.push((*cpu, *cpu)),
            }
        }
        for (number, (first, last)) in parts.into_iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_printed() {
        for (text, shown) in [("0", "0"), ("5,0-2", "0-2,5"), ("1,1, 2", "1-2")] {
            assert_eq!(CpuSet::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", "a", "2-1", "0-", "1024", "0;1", "-1"] {
            assert!(CpuSet::parse(text).is_err_and(|error| error.0.contains("0-2,5")), "{text}");
        }
    }
}
