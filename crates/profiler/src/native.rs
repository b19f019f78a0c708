//! Stacks of what `perf script` prints. Pure.

use std::io::{self, BufRead};

use squall_report::Stacks;

/// The stacks in the output of `perf script`: for each sample a line with its thread, and then a line for each function, the
/// innermost first: `ADDRESS NAME+OFFSET (FILE)`. An empty line ends it.
///
/// # Errors
/// It cannot be read.
pub(crate) fn stacks(mut script: impl BufRead) -> io::Result<Stacks> {
    let (mut all, mut names) = (Stacks::default(), Vec::new());
    let mut line = Vec::new();
    loop {
        line.clear();
        let is_over = script.read_until(b'\n', &mut line)? == 0;
        let text = String::from_utf8_lossy(&line);
        let is_function = text.starts_with([' ', '\t']) && !text.trim().is_empty();
        match is_function.then(|| function(text.trim())).flatten() {
            Some(name) => names.push(name),
            // A line of a sample's thread, or one between two samples.
            None if !is_function => {
                all.add(names.iter().map(String::as_str), 1);
                names.clear();
            }
            None => {}
        }
        if is_over {
            return Ok(all);
        }
    }
}

/// The name of a function; `None`: the place of a frame that is none.
fn function(line: &str) -> Option<String> {
    let (address, rest) = line.split_once(' ')?;
    u64::from_str_radix(address, 16).ok()?;
    // The file of a program that was built anew since it started is followed by that.
    let rest = rest.trim().replace(" (deleted))", ")");
    let (name, file) = rest.rsplit_once(" (").unwrap_or((&rest, ""));
    let file = file.trim_end_matches(')');
    if name == "[unknown]" {
        // The end of a stack that was unwound, or a function without a name of a file.
        let file = file.rsplit('/').next().unwrap_or_default();
        return (file != "[unknown]" && !file.is_empty())
            .then(|| format!("[{}]", file.trim_matches(['[', ']'])));
    }
    let name = match name.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => name,
    };
    let name = without_hash(name);
    let is_kernel = file.starts_with("[kernel") || file.starts_with("[guest.kernel");
    Some(if is_kernel { format!("{name} [kernel]") } else { name.to_owned() })
}

/// A name of Rust without the hash that its compiler adds: `::h` and 16 hexadecimal digits.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((own, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => own,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_of_a_recorded_script() {
        let text = include_str!("recorded/perf-script.txt");
        let all = stacks(text.as_bytes()).expect("it is read");
        assert_eq!(all.samples(), 4, "{}", all.folded());
        let hottest = all.hottest(2);
        assert_eq!(hottest[0].name, "core::str::<impl str>::split_at");
        assert_eq!((hottest[0].own, hottest[0].total), (2, 2));
        let folded = all.folded();
        assert!(folded.contains("__send;entry_SYSCALL_64_after_hwframe [kernel];"), "{folded}");
        assert!(folded.contains("[dash] 1"), "{folded}");
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        let text = "# comment\n\nmain 1 2.0: 1 cpu-clock:\n\tnothing\n\t 1f a::b::h0123456789abcdef+0x1 (/x (deleted))\n\t2 c (y)\n";
        assert_eq!(stacks(text.as_bytes()).expect("it is read").folded(), "c;a::b 1\n");
        assert_eq!(stacks(&b""[..]).expect("it is read"), Stacks::default());
    }
}
