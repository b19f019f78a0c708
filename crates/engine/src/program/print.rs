//! A program as text (`squall check --program`): one operation a line, jumps by number.

use std::fmt::{Display, Formatter, Result};

use squall_plan::expr::Slot;
use squall_wire::Origin;

use super::compiled::Program;
use super::op::{Legend, Op, Operation, on_op};
use crate::profile::{LoadProfile, Shape};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "program {}", self.name)?;
        for (index, origin) in self.origins.iter().enumerate() {
            let known = &*origin.host != "builtin.invalid";
            let origin = if known { origin.to_string() } else { "the built-in target".to_owned() };
            writeln!(f, "  origin {index}: {origin}")?;
        }
        for (slot, name) in self.variables.iter().enumerate() {
            let name = if name.is_empty() { "(a loop's list)" } else { name };
            writeln!(f, "  variable {slot}: {name}")?;
        }
        for name in &self.shared {
            writeln!(f, "  shared variable: {name}")?;
        }
        for feed in &self.feeds {
            writeln!(f, "  data {}: {} rows", feed.name, feed.source.rows())?;
        }
        for unit in &self.loads {
            writeln!(f, "  load: {}", Described(unit, self))?;
        }
        for scenario in &self.scenarios {
            writeln!(f, "scenario {}", scenario.name)?;
            for (pc, op) in scenario.ops.iter().enumerate() {
                writeln!(f, "  {pc:4}  {}", Line(op, self))?;
            }
            writeln!(f, "  {:4}  next iteration", scenario.ops.len())?;
        }
        Ok(())
    }
}

/// A load in words.
struct Described<'a>(&'a LoadProfile, &'a Program);

impl Display for Described<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Described(unit, program) = self;
        match &unit.shape {
            Shape::Closed(_) => {
                write!(f, "closed workload, at most {} virtual users", unit.most_users())?
            }
            Shape::Open(_) => {
                write!(f, "open workload, at most {} virtual users", unit.most_users())?;
            }
        }
        if let Some(end) = unit.end() {
            write!(f, ", until {:.1} s", end as f64 / 1e9)?;
        }
        for member in &unit.members {
            write!(f, ", {}", program.scenarios[member.scenario].name)?;
            if unit.members.len() > 1 {
                write!(f, " (weight {})", member.weight)?;
            }
        }
        Ok(())
    }
}

impl Legend for Program {
    fn row(&self, row: u32) -> &str {
        self.row_name(row)
    }
    fn variable(&self, slot: Slot) -> &str {
        self.variable_name(slot)
    }
    fn feed(&self, feed: u16) -> &str {
        &self.feeds[usize::from(feed)].name
    }
    fn origin(&self, origin: u32) -> &Origin {
        &self.origins[origin as usize]
    }
}

struct Line<'a>(&'a Op, &'a Program);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Line(op, program) = self;
        on_op!(*op, own => own.print(f, *program))
    }
}
