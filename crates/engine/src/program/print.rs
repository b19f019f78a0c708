//! A program as text (`squall check --program`): one operation a line, jumps by number.

use std::fmt::{Display, Formatter, Result};

use squall_base::units::counted;

use super::call::UrlOp;
use super::compiled::Program;
use super::ops::{NameOp, PostOp};
use super::samples::{RequestOp, TcpTo};
use super::steps::{GroupName, Op, PassPart};
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

struct Line<'a>(&'a Op, &'a Program);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Line(op, program) = self;
        match op {
            Op::Request(request) => show_request(f, request, program),
            Op::Exec(exec) => match exec.row.name.known() {
                Some(name) => write!(f, "exec {}", program.row_name(name)),
                None => f.write_str("exec, of a name that the user's variables say"),
            },
            Op::Tcp(tcp) => match &tcp.to {
                TcpTo::Known(origin) => write!(f, "{}", program.origins[*origin as usize]),
                TcpTo::OfUser(_) => f.write_str("tcp, where the user's variables say"),
            },
            Op::Write(write) => write!(f, "write to {}", write.file.display()),
            Op::Look(look) => write!(f, "look, {}", Counted(&look.post)),
            Op::Think(think) => write!(f, "think {think:?}"),
            Op::ThinkOfUser(_) => write!(f, "think, as the user's variables say"),
            Op::Pace(pace) => {
                write!(f, "pace {} a second, {:?}", pace.rate.source(), pace.by)?;
                let exact = pace.exact.map_or(0.0, |exact| exact.over as f64 / 1e9);
                if exact > 0.0 { write!(f, ", exact over {exact:.1} s") } else { Ok(()) }
            }
            Op::Rendezvous(meeting) => {
                write!(f, "rendezvous {} of {} users", meeting.place, meeting.users)?;
                meeting
                    .timeout
                    .map_or(Ok(()), |timeout| write!(f, ", {:.1} s at most", timeout as f64 / 1e9))
            }
            Op::EnterSection(_) => f.write_str("critical section"),
            Op::LeaveSection => f.write_str("end of critical section"),
            Op::Enter { name: GroupName::Known(name), .. } => {
                write!(f, "group {}", program.row_name(*name))
            }
            Op::Enter { .. } => f.write_str("group (named when it runs)"),
            Op::Leave { .. } => write!(f, "end of group"),
            Op::Set { slot, .. } => write!(f, "set {}", program.variable_name(*slot)),
            Op::Repeat { limit, counter, .. } => {
                write!(f, "repeat: r{limit} = times, r{counter} = 0")
            }
            Op::Pass { counter, limit, end, .. } => {
                write!(f, "if r{counter} == r{limit} go to {end}, else r{counter} += 1")
            }
            Op::Each { index, .. } => write!(f, "for each: r{index} = 0"),
            Op::Element { index, item, end, .. } => {
                write!(f, "{} = element r{index}, or go to {end}", program.variable_name(*item))
            }
            Op::Unless { to, .. } => write!(f, "unless the condition holds go to {to}"),
            Op::Jump(to) => write!(f, "go to {to}"),
            Op::Choose { cumulative, targets } => {
                f.write_str("choose")?;
                let mut below = 0.0;
                for (share, target) in cumulative.iter().zip(targets) {
                    write!(f, " {:.1}%: {target}", (share - below) * 100.0)?;
                    below = *share;
                }
                Ok(())
            }
            Op::RoundRobin { turn, targets } => write!(f, "round robin by r{turn}: {targets:?}"),
            Op::OncePerUser { otherwise } => {
                write!(f, "after the first iteration go to {otherwise}")
            }
            Op::Passes(passes) => {
                match &passes.part {
                    PassPart::First(part) => write!(f, "after {} passes", part.source())?,
                    PassPart::Percent(part) => {
                        write!(f, "in all but {}% of passes", part.source())?
                    }
                }
                write!(f, " go to {}", passes.otherwise)
            }
            Op::Shuffle { order, turn } => write!(f, "shuffle: r{order} = order, r{turn} = 0"),
            Op::Shuffled { turn, targets, end, .. } => {
                write!(f, "shuffled by r{turn}: {targets:?}, then {end}")
            }
            Op::Parallel(parallel) => {
                write!(f, "at most {} at the same time:", parallel.limit)?;
                for branch in &parallel.branches {
                    write!(f, " {}..{}", branch.ops.start, branch.ops.end)?;
                }
                write!(f, ", then go to {}", parallel.end)
            }
            Op::NextRow(feed) => {
                write!(f, "next row of {}", program.feeds[usize::from(*feed)].name)
            }
            Op::ClearCookies(None) => f.write_str("clear cookies"),
            Op::ClearCookies(Some(jar)) => write!(f, "clear cookies of jar {jar}"),
            Op::ClearCache(None) => f.write_str("clear the cache"),
            Op::ClearCache(Some(cache)) => write!(f, "clear cache {cache}"),
            Op::SetCookie(_) => f.write_str("set a cookie"),
            Op::Log(_) => f.write_str("log"),
            Op::Stop(scope) => write!(f, "stop {scope:?}"),
            Op::Metric(metric) => write!(f, "{} {}", metric.key.kind.label(), metric.key.label()),
        }
    }
}

/// How many extracts and checks there are.
struct Counted<'a>(&'a [PostOp]);

impl Display for Counted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let checks = self.0.iter().filter(|op| matches!(op, PostOp::Check(_))).count();
        let counts = [(self.0.len() - checks, "extract"), (checks, "check")];
        let said = counts.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(number, what)| counted(*number as u64, what)).collect();
        f.write_str(&said.join(", "))
    }
}

fn show_request(
    f: &mut Formatter<'_>,
    RequestOp { call, policy }: &RequestOp,
    program: &Program,
) -> Result {
    match &policy.row.name {
        NameOp::Static(name) => write!(f, "request {}", program.row_name(*name))?,
        NameOp::Rendered(_) => f.write_str("request (named when it runs)")?,
        NameOp::FromUrl => write!(f, "request {} (named by its URL)", call.method)?,
    }
    match (&call.prepared, &call.url) {
        (Some(prepared), _) => write!(f, ", {} bytes rendered", prepared.bytes.len())?,
        (None, UrlOp::Any(_)) => f.write_str(", URL known when it runs")?,
        (None, _) => f.write_str(", rendered each time")?,
    }
    if !policy.post.is_empty() {
        write!(f, ", {}", Counted(&policy.post))?;
    }
    match policy.limits.keep {
        0 => Ok(()),
        u64::MAX => f.write_str(", body kept"),
        bytes => write!(f, ", first {bytes} bytes of the body kept"),
    }
}
