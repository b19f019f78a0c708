//! Users of a script, on one realm.

use std::path::Path;

use crate::engine::Step;
use crate::files::Files;
use crate::graph::Graph;
use crate::host::Numbers;
use crate::stage::{ScriptUser, Stage, StageOptions};
use crate::{Answer, Event, Level, Wait};

/// Files of a test.
pub(crate) struct Texts<'t>(pub &'t [(&'t str, &'t str)]);

impl Files for Texts<'_> {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        let own = self.0.iter().find(|(own, _)| Path::new(own) == path);
        own.map(|(_, text)| text.as_bytes().to_vec()).ok_or("not there".to_owned())
    }
    fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|(own, _)| Path::new(own) == path)
    }
}

pub(crate) fn stage(files: &[(&str, &str)]) -> Stage {
    let graph = Graph::read(Path::new(files[0].0), &Texts(files));
    let graph = graph.unwrap_or_else(|error| panic!("{error}"));
    let env = vec![("HOST".to_owned(), "h:1".to_owned())];
    let options = StageOptions { env, ..StageOptions::default() };
    let stage = Stage::new(&graph, &options).expect("memory");
    stage.unwrap_or_else(|thrown| panic!("{thrown}"))
}

/// Runs the default function of each user some times, all in turn; what each told, in its order.
pub(crate) fn run(stage: &Stage, users: u64, iterations: u64) -> Vec<Vec<String>> {
    let made: Vec<ScriptUser> = (1..=users)
        .map(|user| {
            stage.user(Numbers { user, iteration: 0 }, &[]).unwrap_or_else(|own| panic!("{own}"))
        })
        .collect();
    stage.open();
    let functions: Vec<_> =
        made.iter().map(|user| stage.exported(user, "default").unwrap().unwrap()).collect();
    let mut told: Vec<Vec<String>> = made.iter().map(|_| Vec::new()).collect();
    stage.told();
    for iteration in 0..iterations {
        let mut fibers: Vec<_> = functions
            .iter()
            .map(|function| Some(stage.call(function, Vec::new()).expect("a stack")))
            .collect();
        while fibers.iter().any(Option::is_some) {
            for (at, fiber) in fibers.iter_mut().enumerate() {
                let Some(own) = fiber else { continue };
                let numbers = Numbers { user: at as u64 + 1, iteration };
                let step = stage.resume(own, numbers, Answer::Ready);
                let mut say = |text: String| told[at].push(text);
                for event in stage.told() {
                    say(match event {
                        Event::Check { name, ok, tags } => format!("{name}={ok}{tags:?}"),
                        Event::Enter(name) => format!("<{name}"),
                        Event::Leave => ">".to_owned(),
                        Event::Metric { number, value, tags } => {
                            format!("#{number}={value}{tags:?}")
                        }
                        Event::Log { level: Level::Info, text } => text,
                        Event::Log { level, text } => format!("{level:?}: {text}"),
                        Event::Abort(why) => format!("abort: {why}"),
                        Event::Fail(why) => format!("fail: {why}"),
                    });
                }
                match step {
                    Step::Wait(Wait::Sleep(time)) => say(format!("{time:?}")),
                    Step::Wait(other) => say(format!("{other:?}")),
                    Step::Done(result) => {
                        if let Err(thrown) = result {
                            say(thrown.to_string());
                        }
                        *fiber = None;
                    }
                }
            }
        }
    }
    told
}

#[test]
fn checks_groups_and_sleeps_are_told_in_order() {
    let script = "
import { check, group, sleep, fail } from 'k6';
export default function () {
  group('outer', () => {
    check({ a: 1 }, { 'is 1': (own) => own.a === 1, no: false }, { kind: 'x' });
    group('inner', () => sleep(0.5));
  });
  try { group('bad', () => { throw new Error('no') }) } catch (e) { console.warn(e.message) }
  fail('over');
}";
    let told = run(&stage(&[("/t/a.js", script)]), 1, 1).remove(0);
    let expected = [
        "<outer",
        "is 1=true[(\"kind\", \"x\")]",
        "no=false[(\"kind\", \"x\")]",
        "<inner",
        "500ms",
        ">",
        ">",
        "<bad",
        ">",
        "Warn: no",
    ];
    assert_eq!(told[..expected.len()], expected);
    assert!(told.last().unwrap().starts_with("Error: over"), "{told:?}");
}

#[test]
fn what_stands_at_the_top_is_each_users_own() {
    let script = "
import { sleep } from 'k6';
import { next } from './lib.js';
import { Counter } from 'k6/metrics';
const own = new Counter('own');
let seen = [];
const mine = __VU;
export const options = { vus: 3 };
export default function () {
  seen.push(__VU);
  sleep(__VU / 100);
  own.add(next());
  console.log(mine, __VU, __ITER, seen.join(), __ENV.HOST);
}";
    let lib = "let count = 0; export function next() { return ++count }";
    let stage = stage(&[("/t/a.js", script), ("/t/lib.js", lib)]);
    for (at, told) in run(&stage, 64, 3).into_iter().enumerate() {
        let user = at + 1;
        let lines = (0..3).flat_map(|iteration| {
            let seen = vec![user.to_string(); iteration + 1].join(",");
            [
                format!("{:?}", std::time::Duration::from_millis(10 * user as u64)),
                format!("#0={}[]", iteration + 1),
                format!("{user} {user} {iteration} {seen} h:1"),
            ]
        });
        assert_eq!(told, lines.collect::<Vec<_>>());
    }
    assert_eq!(stage.metrics().len(), 1);
    let user = stage.user(Numbers::default(), &[]).unwrap();
    assert_eq!(stage.json(&user, "options").unwrap().as_deref(), Some("{\"vus\":3}"));
    assert_eq!(stage.json(&user, "none").unwrap(), None);
    assert!(stage.exported(&user, "options").is_err());
}

#[test]
fn metrics_are_made_before_users_run() {
    let script =
        "import { Trend } from 'k6/metrics'; export default function () { new Trend('late') }";
    let told = run(&stage(&[("/t/a.js", script)]), 1, 1).remove(0);
    assert!(told[0].contains("metrics must be made where the script begins"), "{told:?}");
}
