//! What is said of an experiment before it starts, and while it goes on.

use std::fmt::Write as _;
use std::time::Duration;

use squall_base::units::{counted, print_duration};
use squall_experiment::Repeats;

use crate::conduct::Notice;
use crate::prepared::Prepared;

/// Variants whose settings are listed.
const MAX_LISTED: usize = 64;

/// What an experiment is going to do: its variants and what each sets, the order of the runs that are left, and how long they
/// take. `made` runs are there already. `with_order`: the whole order, not only how many.
pub fn outlook(own: &Prepared, made: usize, with_order: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}: {}", own.name, counted(own.variants.len() as u64, "variant"));
    for (number, variant) in own.variants.iter().enumerate().take(MAX_LISTED) {
        let sets =
            if variant.sets.is_empty() { "nothing".to_owned() } else { variant.sets.join(", ") };
        let _ = writeln!(text, "  {:>3}  {}: sets {sets}", number + 1, variant.name);
    }
    if own.variants.len() > MAX_LISTED {
        let _ = writeln!(text, "       and {} more", own.variants.len() - MAX_LISTED);
    }
    for (name, command) in &own.servers {
        let _ = writeln!(text, "  server `{name}`: {}", command.join(" "));
    }
    let measures: Vec<&str> = own.measures.iter().map(|own| own.text()).collect();
    let _ = writeln!(text, "  measured: {}", measures.join(", "));
    let blocks = own.demand.repeats.most();
    let runs = (blocks * own.variants.len()).saturating_sub(made);
    let most = if matches!(own.demand.repeats, Repeats::Until { .. }) { "at most " } else { "" };
    let order = match own.demand.seed {
        Some(seed) => format!("each variant once a block, in random order (seed {seed})"),
        None => "each variant once a block, in the order of the file".to_owned(),
    };
    let left = if made > 0 { " left" } else { "" };
    let _ = writeln!(
        text,
        "  {most}{}{left} in {}: {order}",
        counted(runs as u64, "run"),
        counted(blocks as u64, "block")
    );
    let _ = writeln!(text, "  {}", time(own, runs));
    if with_order {
        for block in 0..blocks {
            let order = match own.demand.seed {
                Some(seed) => own.design.block(seed, block),
                None => (0..own.variants.len()).collect(),
            };
            let order: Vec<String> = order.iter().map(|at| (at + 1).to_string()).collect();
            let _ = writeln!(text, "  block {}: variants {}", block + 1, order.join(", "));
        }
    }
    text
}

/// How long so many runs take, before any was made.
fn time(own: &Prepared, runs: usize) -> String {
    let of_block =
        own.block_length().map(|all| all.as_secs_f64() / own.variants.len().max(1) as f64);
    match of_block {
        Some(each) => {
            let all = Duration::from_secs_f64((each * runs as f64).clamp(0.0, 1e9));
            format!(
                "the loads alone take {}; what is started and stopped around them comes on top",
                shown(all)
            )
        }
        None => "how long it takes is known when the first run is over: a load of the plan ends by its iterations".to_owned(),
    }
}

/// A time as nobody needs it more precisely.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let step = if seconds >= 36_000.0 {
        600.0
    } else if seconds >= 600.0 {
        60.0
    } else {
        1.0
    };
    print_duration(Duration::from_secs_f64((seconds / step).ceil() * step))
}

/// A line about what has just happened.
pub fn notice(own: &Prepared, notice: &Notice<'_>) -> String {
    match notice {
        Notice::Preparing { variant } => format!(" preparing {variant}\n"),
        Notice::Made { run, variant, left, left_time } => {
            let values = match &run.failed {
                Some(why) => format!("failed: {why}"),
                None => {
                    let measures = own.measures().into_iter().zip(&run.values);
                    let values = measures.map(|(measure, value)| {
                        let shown = value.map_or_else(|| "-".to_owned(), |own| measure.show(own));
                        format!("{} {shown}", measure.name())
                    });
                    values.collect::<Vec<_>>().join(", ")
                }
            };
            let attempt =
                if run.attempt > 1 { format!(", attempt {}", run.attempt) } else { String::new() };
            let most =
                if matches!(own.demand.repeats, Repeats::Until { .. }) { "at most " } else { "" };
            let left = match left_time.filter(|_| *left > 0) {
                Some(time) => {
                    format!("; {most}{} left, about {}", counted(*left as u64, "run"), shown(time))
                }
                None => String::new(),
            };
            let mut text = format!(
                " run {} (block {}{attempt}) {variant}: {values}{left}\n",
                run.number,
                run.block + 1
            );
            for warning in &run.warnings {
                let _ = writeln!(text, "   {warning}");
            }
            text
        }
    }
}
