//! A search of `squall limit` with simulated steps in the place of runs. Pure.

use squall_analysis::Threshold;
use squall_limit::{LevelKind, Limit, LoadStep, Next, Records, Search, StepOutcome};

use squall_base::random::Random;

use crate::queue::Queue;

/// Most steps, and the first level, as `squall limit` has them if nobody says otherwise.
const MAX_STEPS: usize = 50;
const FROM: f64 = 10.0;

/// Searches a queue's sustained maximum with steps of so many seconds. A step begins with an empty queue, as
/// `squall limit` waits after a step that broke until the target has recovered.
pub fn search(queue: &Queue, seconds: u32, seed: u64) -> Limit {
    let mut random = Random::new(seed);
    let requirement = Threshold::parse(&format!("p99 < {}ms", queue.p99_ms)).expect("it is one");
    let search = Search { by: LevelKind::Rate, from: FROM, to: None, max_steps: MAX_STEPS };
    let mut steps = Vec::new();
    let end = loop {
        match search.next(&steps, true) {
            Next::Try(level) => steps.push(step(queue, level, seconds, &requirement, &mut random)),
            Next::Done(end) => break end,
        }
    };
    Limit::new(queue.name.to_owned(), LevelKind::Rate, steps, end)
}

/// Whether a level below `answer` violated the requirement at least as often as it met it.
pub fn is_contradicted(steps: &[LoadStep], answer: f64) -> bool {
    let count = |level, outcome| {
        steps.iter().filter(|step| step.level == level && step.outcome() == outcome).count()
    };
    steps.iter().map(|step| step.level).filter(|level| *level < answer).any(|level| {
        let violated = count(level, StepOutcome::Violated);
        violated > 0 && violated >= count(level, StepOutcome::Met)
    })
}

fn step(
    queue: &Queue,
    level: f64,
    seconds: u32,
    requirement: &Threshold,
    random: &mut Random,
) -> LoadStep {
    let first = seconds.div_ceil(5);
    let mut records = Records::new(first, seconds - first);
    for slice in queue.step(level, first, seconds, random) {
        records.add(&slice);
    }
    records.step(level, Some(level), std::slice::from_ref(requirement))
}
