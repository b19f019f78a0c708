//! What `/proc/PID` says of a process, see proc(5). Pure.

/// Of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// The first 15 bytes of its name.
    pub name: String,
    pub parent: u32,
    /// CPU time of its own, in ticks.
    pub ticks: u64,
    /// CPU time of its children that have ended, in ticks.
    pub children_ticks: u64,
    pub threads: u64,
    /// When it was started, in ticks since the host was: with its number, it is one process.
    pub start: u64,
    pub rss_pages: u64,
    /// Time for which it waited for disks, in ticks.
    pub io_ticks: u64,
}

impl Stat {
    /// Reads it; `None`: it is none. The name may hold spaces and brackets.
    pub(crate) fn parse(text: &str) -> Option<Stat> {
        let (open, close) = (text.find('(')?, text.rfind(')')?);
        let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
        // Fields are numbered from 3 on behind the name.
        let field =
            |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok());
        Some(Stat {
            name: text.get(open + 1..close)?.to_owned(),
            parent: u32::try_from(field(4)?).ok()?,
            ticks: field(14)? + field(15)?,
            children_ticks: field(16)? + field(17)?,
            threads: field(20)?,
            start: field(22)?,
            rss_pages: field(24)?,
            io_ticks: field(42).unwrap_or(0),
        })
    }
}

/// The soft limit of open files in `/proc/PID/limits`.
pub(crate) fn files_limit(limits: &str) -> Option<f64> {
    let rest = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The CPUs of a list such as `0-3,8`; at most 4,096.
pub(crate) fn cpus(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().take(4_096).collect()
}

/// The text behind a name in `/proc/PID/status`.
pub(crate) fn status<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAT: &str = "815 (a b) (c) S 1 815 815 0 -1 4194560 2520 900 0 0 31 12 7 3 20 0 5 0 \
                        1234 1000000 512 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 9 0 0";

    #[test]
    fn a_stat_is_read_behind_its_name() {
        let expected = Stat {
            name: "a b) (c".to_owned(),
            parent: 1,
            ticks: 43,
            children_ticks: 10,
            threads: 5,
            start: 1_234,
            rss_pages: 512,
            io_ticks: 9,
        };
        assert_eq!(Stat::parse(STAT), Some(expected));
        for cut in ["", "815", "815 (a) S 1", ")("] {
            assert_eq!(Stat::parse(cut), None, "{cut}");
        }
    }

    #[test]
    fn limits_and_cpus() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 1048576              files\n";
        assert_eq!(files_limit(limits), Some(1024.0));
        assert_eq!(files_limit("Max open files            unlimited"), None);
        assert_eq!(cpus("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(cpus("x,1"), [1]);
        assert_eq!(status("NSpid:\t12\t1\nThreads:\t3\n", "NSpid"), Some("12\t1"));
    }

    proptest! {
        #[test]
        fn anything_is_read_without_a_panic(text in ".{0,200}") {
            let _ = Stat::parse(&text);
            let _ = cpus(&text);
        }
    }
}
