//! What differs between runs before their numbers are looked at: plan, load, target, machine, generator. Pure.

use super::about::RunAbout;
use super::document::Differing;
use crate::meta::Meta;
use squall_base::units::{bytes, percent};

/// Characters of a digest that are shown.
const DIGEST: usize = 12;
/// Runs whose lengths differ by more than this share are of another length.
const LENGTH: f64 = 0.2;

/// Machines of which other programs took shares of the CPU time that differ by more than this were not equally busy.
const BUSY: f64 = 0.2;

/// What is looked at: its name, what it is in a run, and whether numbers of runs in which it differs say less about
/// the target.
type Trait = (&'static str, fn(&Meta) -> String, bool);

const TRAITS: [Trait; 14] = [
    ("plan", |meta| meta.plan.clone(), true),
    ("target", target, true),
    ("load", load, true),
    ("plan's text", |meta| digest(meta, |name| name == "plan"), true),
    ("data", |meta| digest(meta, |name| name != "plan"), true),
    ("squall", |meta| meta.squall.clone(), true),
    ("nodes", |meta| meta.nodes.len().max(1).to_string(), true),
    ("machine", |meta| meta.machines(|own| own.host.clone()), true),
    ("processor", |meta| meta.machines(|own| own.cpu.clone()), true),
    ("CPUs", |meta| meta.cpus().to_string(), true),
    ("workers", |meta| meta.workers().to_string(), true),
    ("I/O backend", |meta| meta.machines(|own| own.io.clone()), true),
    (
        "system",
        |meta| meta.machines(|own| format!("{}, {}", own.os, bytes(own.memory_bytes))),
        false,
    ),
    ("seed", |meta| meta.seed.to_string(), false),
];

/// The target. A port of this machine itself is left out: the built-in target has another one in each run, and a
/// plan or a command line that names another port has another text.
fn target(meta: &Meta) -> String {
    let target = meta.target.clone().unwrap_or_default();
    let local =
        ["http://127.0.0.1:", "https://127.0.0.1:", "http://localhost:", "https://localhost:"];
    let port = local.iter().find_map(|begin| Some((begin.len(), target.strip_prefix(begin)?)));
    match port {
        Some((begin, rest)) => {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{}{rest}", &target[..begin - 1])
        }
        None => target,
    }
}

fn load(meta: &Meta) -> String {
    let each = meta.scenarios.iter().map(|own| match meta.scenarios.len() {
        1 => own.load.clone(),
        _ => format!("{}: {}", own.name, own.load),
    });
    each.collect::<Vec<_>>().join("; ")
}

fn digest(meta: &Meta, is_meant: fn(&str) -> bool) -> String {
    let own = meta.digests.iter().filter(|(name, _)| is_meant(name));
    let short = own.map(|(name, digest)| {
        let digest: String = digest.chars().take(DIGEST).collect();
        if name == "plan" {
            digest
        } else {
            format!("{} {digest}", name.trim_start_matches("data "))
        }
    });
    short.collect::<Vec<_>>().join(", ")
}

/// What differs between runs.
pub(super) fn differing(runs: &[&RunAbout]) -> Vec<Differing> {
    let traits = TRAITS.iter().map(|(what, of, matters)| Differing {
        what: (*what).to_owned(),
        values: runs.iter().map(|run| of(&run.meta)).collect(),
        matters: *matters,
    });
    let mut all: Vec<Differing> = traits.collect();
    // Another load or name is another text: to say so once is enough.
    let said = all[..3].iter().any(differs);
    all.retain(|own| differs(own) && !(said && own.what == "plan's text"));
    all.extend(busy(runs));
    let lengths: Vec<f64> =
        runs.iter().map(|run| (run.seconds.1 - run.seconds.0.min(run.seconds.1)) as f64).collect();
    let (least, most) =
        lengths.iter().fold((f64::MAX, 0.0f64), |(a, b), own| (a.min(*own), b.max(*own)));
    if most - least > LENGTH * most {
        let values = lengths.iter().map(|own| format!("{own} s")).collect();
        all.push(Differing { what: "seconds compared".to_owned(), values, matters: false });
    }
    all.sort_by_key(|own| !own.matters);
    all
}

/// How busy other programs kept the machine, if that differs.
fn busy(runs: &[&RunAbout]) -> Option<Differing> {
    let others: Vec<f64> = runs.iter().filter_map(|run| run.cpu_of_others).collect();
    let (least, most) =
        (others.iter().copied().reduce(f64::min)?, others.iter().copied().reduce(f64::max)?);
    let shown = |run: &&RunAbout| run.cpu_of_others.map_or("unknown".to_owned(), percent);
    (most - least > BUSY).then(|| Differing {
        what: "CPU time that other programs took".to_owned(),
        values: runs.iter().map(shown).collect(),
        matters: true,
    })
}

fn differs(own: &Differing) -> bool {
    own.values.iter().any(|value| *value != own.values[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Machine;
    use crate::meta::ScenarioMeta;

    #[test]
    fn what_differs_is_said_once_and_what_matters_first() {
        let scenario = |load: &str| {
            vec![ScenarioMeta {
                name: "s".to_owned(),
                load: load.to_owned(),
                ..ScenarioMeta::default()
            }]
        };
        let digests = |text: &str| [("plan".to_owned(), text.to_owned())].into_iter().collect();
        let machine = |io: &str| Machine { io: io.to_owned(), ..Machine::default() };
        let nodes = vec![machine("epoll")];
        let first = Meta { seed: 1, nodes, digests: digests("aa"), ..Meta::default() };
        let of =
            |meta: &Meta| RunAbout { meta: meta.clone(), seconds: (0, 30), ..RunAbout::default() };
        let what = |other: Meta| -> Vec<(String, bool)> {
            let found = differing(&[&of(&first), &of(&other)]);
            found.into_iter().map(|own| (own.what, own.matters)).collect()
        };
        assert_eq!(what(first.clone()), []);
        let other = Meta { seed: 2, nodes: vec![machine("io_uring")], ..first.clone() };
        assert_eq!(what(other), [("I/O backend".to_owned(), true), ("seed".to_owned(), false)]);
        let other = Meta { nodes: vec![machine("epoll"); 4], ..first.clone() };
        assert_eq!(what(other), [("nodes".to_owned(), true)]);
        let other = Meta { digests: digests("bb"), ..first.clone() };
        assert_eq!(what(other.clone()), [("plan's text".to_owned(), true)]);
        let other = Meta { scenarios: scenario("50/s"), ..other };
        assert_eq!(what(other), [("load".to_owned(), true)]);
        let at = |target: &str| Meta { target: Some(target.to_owned()), ..first.clone() };
        let of_targets =
            |one: &str, other: &str| differing(&[&of(&at(one)), &of(&at(other))]).len();
        assert_eq!(of_targets("http://127.0.0.1:39007", "http://127.0.0.1:40112"), 0);
        assert_eq!(of_targets("http://127.0.0.1:39007/a", "http://127.0.0.1:40112/b"), 1);
        assert_eq!(of_targets("http://a:80", "http://a:81"), 1);
        let beside = |others: f64| RunAbout { cpu_of_others: Some(others), ..of(&first) };
        let busy = differing(&[&beside(0.99), &beside(0.34)]);
        assert_eq!((busy[0].values[1].as_str(), busy[0].matters), ("34%", true));
        assert_eq!(differing(&[&beside(0.4), &beside(0.34)]).len(), 0);
        assert_eq!(differing(&[&beside(0.99), &of(&first)]).len(), 0, "one is unknown");
        let longer = RunAbout { seconds: (0, 60), ..of(&first) };
        assert_eq!(differing(&[&of(&first), &longer])[0].values, ["30 s", "60 s"]);
    }
}
