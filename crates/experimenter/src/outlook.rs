//! What is said of an experiment before it starts, and while it goes on.

use std::fmt::Write as _;
use std::time::Duration;

use squall_base::units::{counted, print_duration};
use squall_experiment::Repeats;
use squall_report::paragraph;

use crate::conduct::Notice;
use crate::needed::missing_programs;
use crate::prepared::Prepared;

/// Variants whose settings are listed.
const MAX_LISTED: usize = 64;

/// Most columns of a line.
const COLUMNS: usize = 100;

/// What an experiment would do, without a start: its variants and what each sets, the order of the runs, how long they take, and
/// what has to be allowed.
pub fn check(own: &Prepared) -> String {
    let is_drawn = own.is_seed_drawn && own.demand.seed.is_some();
    // A seed that is drawn now will not be that of the runs.
    let order = match is_drawn {
        true => {
            "in random order, by a seed that is drawn at the start; `seed: N` or --seed N fixes it"
                .to_owned()
        }
        false => order(own),
    };
    let mut text = told(own, 0, &order);
    if !is_drawn {
        for block in 0..own.demand.repeats.most() {
            let order = match own.demand.seed {
                Some(seed) => own.design.block(seed, block),
                None => (0..own.variants.len()).collect(),
            };
            let order: Vec<String> = order.iter().map(|at| (at + 1).to_string()).collect();
            let label = format!("  block {}: variants ", block + 1);
            paragraph(&mut text, &label, &order.join(", "), COLUMNS);
        }
    }
    let starts = own.variants.iter().any(|own| !own.programs.is_empty());
    let sets = own.variants.iter().any(|own| !own.sysctl.is_empty());
    for (flag, why) in [
        ("--allow-exec", starts.then_some("it starts programs")),
        ("--allow-sysctl", sets.then_some("it changes settings of the kernel")),
    ] {
        if let Some(why) = why {
            paragraph(&mut text, "  needs ", &format!("{flag}: {why}"), COLUMNS);
        }
    }
    if let Some(missing) = missing_programs(own) {
        paragraph(&mut text, "  ", &missing, COLUMNS);
    }
    text
}

/// What an experiment is going to do: its variants and what each sets, how many runs are left, and how long they take. `made` runs
/// are there already.
pub fn outlook(own: &Prepared, made: usize) -> String {
    told(own, made, &order(own))
}

fn told(own: &Prepared, made: usize, order: &str) -> String {
    let mut text = String::new();
    let mut line = |label: &str, what: &str| paragraph(&mut text, label, what, COLUMNS);
    line("", &format!("{}: {}", own.name, counted(own.variants.len() as u64, "variant")));
    for (number, variant) in own.variants.iter().enumerate().take(MAX_LISTED) {
        let sets =
            if variant.sets.is_empty() { "nothing".to_owned() } else { variant.sets.join(", ") };
        line(&format!("  {:>3}  ", number + 1), &format!("{}: sets {sets}", variant.name));
    }
    if own.variants.len() > MAX_LISTED {
        line("       ", &format!("and {} more", own.variants.len() - MAX_LISTED));
    }
    for (name, command) in &own.servers {
        line(&format!("  server `{name}`: "), &command.join(" "));
    }
    let measures: Vec<&str> = own.measures.iter().map(|own| own.text()).collect();
    line("  measured: ", &measures.join(", "));
    let blocks = own.demand.repeats.most();
    let runs = (blocks * own.variants.len()).saturating_sub(made);
    let most = if matches!(own.demand.repeats, Repeats::Until { .. }) { "at most " } else { "" };
    let left = if made > 0 { " left" } else { "" };
    let runs_left = format!("{most}{}{left}", counted(runs as u64, "run"));
    let blocks = counted(blocks as u64, "block");
    line("  ", &format!("{runs_left} in {blocks}: each variant once a block, {order}"));
    line("  ", &time(own, runs));
    text
}

/// The order of the runs in a block.
fn order(own: &Prepared) -> String {
    match own.demand.seed {
        None => "in the order of the file".to_owned(),
        Some(seed) => format!("in random order (seed {seed})"),
    }
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
        Notice::Block { .. } => String::new(),
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
