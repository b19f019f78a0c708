//! Where what stands in a module's text was written by its author. Lines stay where they were; columns move behind a change.

/// Of a line, the columns from which on others were written. All count from 1, in characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places(Vec<Change>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    line: usize,
    /// From here on ...
    column: usize,
    /// ... this column was written, and those after it count on, ...
    written: usize,
    /// ... or all of them stand for that one.
    is_one: bool,
}

impl Places {
    /// From a column of a line on, another one was written.
    pub(super) fn moved(&mut self, line: usize, column: usize, written: usize) {
        self.0.push(Change { line, column, written, is_one: false });
    }

    /// From a column of a line on, something stands for what was written at another one.
    pub(super) fn replaced(&mut self, line: usize, column: usize, written: usize) {
        self.0.push(Change { line, column, written, is_one: true });
    }

    /// The first line begins behind so many characters that its author has not written.
    pub(super) fn after(&mut self, prelude: usize) {
        for own in self.0.iter_mut().filter(|own| own.line == 1) {
            own.column += prelude;
        }
        self.0.insert(0, Change { line: 1, column: prelude + 1, written: 1, is_one: false });
    }

    /// The column in which a place was written.
    pub fn column(&self, line: usize, column: usize) -> usize {
        let end = self.0.partition_point(|own| (own.line, own.column) <= (line, column));
        match self.0[..end].last() {
            Some(own) if own.line == line && own.is_one => own.written,
            Some(own) if own.line == line => own.written + (column - own.column),
            _ => column,
        }
    }

    /// Makes the places in a file that a stack trace names (`path:line:column`) those that its author wrote.
    pub fn restore(&self, path: &str, stack: &mut String) {
        if !stack.contains(path) {
            return;
        }
        let lines: Vec<String> = stack.lines().map(|line| self.restored(path, line)).collect();
        *stack = lines.join("\n");
    }

    fn restored(&self, path: &str, line: &str) -> String {
        frame(path, line).map_or_else(
            || line.to_owned(),
            |(head, number, column, tail)| format!("{head}:{}{tail}", self.column(number, column)),
        )
    }
}

/// A line of a stack trace that names a place in a file: what is before the column, the line, the column, and the rest.
pub fn frame<'l>(path: &str, line: &'l str) -> Option<(&'l str, usize, usize, &'l str)> {
    let (end, tail) = line.strip_suffix(')').map_or((line, ""), |line| (line, ")"));
    let (head, column) = end.rsplit_once(':')?;
    let (file, number) = head.rsplit_once(':')?;
    let is_of_file = file.ends_with(&format!("({path}")) || file.ends_with(&format!(" {path}"));
    is_of_file.then_some(())?;
    Some((head, number.parse().ok()?, column.parse().ok()?, tail))
}
