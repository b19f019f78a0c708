//! Stacks of what `jfr print --events jdk.ExecutionSample` prints. Pure.

use std::io::{self, BufRead};

use squall_report::Stacks;

/// The stacks in the output of `jfr print`: for each sample a block that ends with `stackTrace = [`, a line for each method, the
/// innermost first (`Shop.hash(byte[]) line: 12`), and `]`.
///
/// # Errors
/// It cannot be read.
pub(crate) fn stacks(mut print: impl BufRead) -> io::Result<Stacks> {
    let (mut all, mut names, mut is_within) = (Stacks::default(), Vec::new(), false);
    let mut line = Vec::new();
    loop {
        line.clear();
        if print.read_until(b'\n', &mut line)? == 0 {
            return Ok(all);
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim() {
            "stackTrace = [" => is_within = true,
            "]" if is_within => {
                all.add(names.iter().map(String::as_str), 1);
                names.clear();
                is_within = false;
            }
            "..." => {}
            method if is_within => names.push(name(method)),
            _ => {}
        }
    }
}

/// The name of a method without its arguments and line: `Shop.hash`.
fn name(method: &str) -> String {
    let end = method.find('(').unwrap_or(method.len());
    method[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_of_a_recorded_print() {
        let text = include_str!("recorded/jfr-print.txt");
        let all = stacks(text.as_bytes()).expect("it is read");
        assert_eq!(all.hottest(1)[0].name, "Hot.burn", "{}", all.folded());
        assert!(all.folded().contains("Hot.main;Hot.burn "), "{}", all.folded());
        assert_eq!(stacks(&b"stackTrace = [\n a.b()"[..]).expect("it is read"), Stacks::default());
    }
}
