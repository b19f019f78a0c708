//! What the JMeter plans whose paths are given are made of, for scripts: lines with tabs between their fields.
//! `plan PATH whole|idle|lacks` (idle: whole, but no thread group has anything to do), `refused PATH REASON`, then for each plan once `element PATH KIND`, for each kind, or option of one, that it
//! lacks, and `function PATH NAME`, for each function that is called, and of one that squall reads `lines PATH REQUESTS EXACT FOR_PEOPLE`: how
//! many requests it has, and on how many lines it is written by `convert --exact` and by `convert`; each is read again and compared. With one path and `--tree`, the tree as a person reads it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use squall_jmeter::inventory::{Fate, Inventory};
use squall_jmeter::{Translation, TranslationContext, Tree, inventory, simplify, translate};
use squall_plan::model::{Plan, Step, StepKind};
use squall_plan::yaml::{load_str, print};

fn main() -> ExitCode {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    let tree_wanted = paths.iter().any(|path| path == "--tree");
    paths.retain(|path| path != "--tree");
    for path in paths {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        match Tree::read(&bytes) {
            Ok(tree) if tree_wanted => print!("{}", whole(&path, &tree).1),
            Ok(tree) => summary(&path, &tree),
            Err(error) => println!("refused\t{path}\t{error}"),
        }
    }
    ExitCode::SUCCESS
}

fn whole(path: &str, tree: &Tree) -> (Translation, Inventory) {
    let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
    let given = TranslationContext { folder, ..TranslationContext::default() };
    let translation = translate(tree, given);
    let found = inventory(tree, &translation.obstacles, &translation.idle);
    (translation, found)
}

fn summary(path: &str, tree: &Tree) {
    let (translation, found) = whole(path, tree);
    let how_far = match found.is_whole() {
        true if translation.is_idle => "idle",
        true => "whole",
        false => "lacks",
    };
    println!("plan\t{path}\t{how_far}");
    if found.is_whole() {
        lines(path, &translation.plan);
    }
    let kinds: BTreeSet<String> = found
        .obstacles()
        .flat_map(|entry| match &entry.fate {
            Fate::Lacks(lacks) => {
                lacks.iter().map(|what| format!("{}: {what}", entry.kind)).collect()
            }
            _ => vec![entry.kind.clone()],
        })
        .collect();
    kinds.iter().for_each(|kind| println!("element\t{path}\t{kind}"));
    let functions: BTreeSet<&str> =
        found.entries.iter().flat_map(|entry| entry.functions.iter().copied()).collect();
    functions.iter().for_each(|name| println!("function\t{path}\t{name}"));
}

/// How long a plan is in both of its forms, each of which is read again as the same plan.
fn lines(path: &str, plan: &Plan) {
    let read = |text: &str| load_str("plan", text, Path::new(""), &Default::default());
    let exact = print(plan, false);
    // What squall itself does not take is no plan.
    let Ok(loaded) = read(&exact) else { return };
    let mut plan = loaded.plan;
    assert_eq!(print(&plan, false), exact, "{path}: the plan that was read is another");
    simplify(&mut plan);
    // As `convert` has it, with paths relative to the folder.
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    for file in plan.data.iter_mut().map(|data| &mut data.file.value) {
        *file = file.strip_prefix(folder).unwrap_or(file).to_owned();
    }
    let text = print(&plan, false);
    match read(&text) {
        Ok(again) => assert_eq!(again.plan, plan, "{path}: what was simplified is read as another"),
        Err(errors) => panic!("{path}: {:?}\n{text}", errors.diagnostics),
    }
    let steps = plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    let requests: usize = steps.chain(&plan.setup).chain(&plan.teardown).map(requests).sum();
    println!("lines\t{path}\t{requests} {} {}", exact.lines().count(), text.lines().count());
}

fn requests(step: &Step) -> usize {
    match &step.kind {
        StepKind::Request(_) => 1,
        _ => step.inner().map(requests).sum(),
    }
}
