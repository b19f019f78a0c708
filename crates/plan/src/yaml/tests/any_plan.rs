//! Plans made from the description of their keys: each is read, and printed and read again is the same.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::keys::{Entry, Form, KeyShape, Of, Quantity, Rule, Shape, Table};
use crate::model::step_tables;

/// Numbers that decide what a plan is made of (Knuth's MMIX constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

fn value(shape: &Shape, dice: &mut Dice, depth: usize) -> Value {
    match shape {
        Shape::Text => json!(dice.one(&["a", "x y", "${user}", "5", "a: \"b\"\n# c", "$${x}"])),
        Shape::Pattern(..) => json!(dice.one(&["x", "5"])),
        Shape::Expression => json!(dice.one(&["1 == 1", "user + 1", "size(\"a\") > 2"])),
        Shape::Identifier => json!(dice.one(&["v", "w1"])),
        Shape::Path => json!(dice.one(&["a.bin", "b/c.txt"])),
        Shape::Bool => json!(dice.below(2) == 1),
        Shape::Int(least, most) => json!((least + dice.below(5) as u64).min(*most)),
        Shape::Number { .. } => json!(0.5 + dice.below(5) as f64),
        Shape::Quantity(Quantity::Time) => json!(dice.one(&["300ms", "2s", "1m30s", "1.5s"])),
        Shape::Quantity(what) => json!(dice.one(what.examples())),
        Shape::Any => {
            dice.one(&[json!(null), json!("a"), json!([1, {"b": 2.5}]), json!(true)]).clone()
        }
        Shape::Words(words) => match dice.one(words).0 {
            "true" => json!(true),
            word => json!(word),
        },
        Shape::Record(of) => table(&of(), dice, depth),
        Shape::List(item, least, most) => {
            let count = (least + dice.below(3)).min(*most);
            Value::Array((0..count).map(|_| value(item, dice, depth)).collect())
        }
        Shape::Names(item, naming) => {
            let count = if naming.least == 1 { 1 } else { dice.below(3) };
            let names = (0..count).map(|n| (format!("n{n}"), value(item, dice, depth)));
            Value::Object(names.collect())
        }
        Shape::Either(shapes) => {
            let shape = dice.below(shapes.len());
            value(&shapes[shape], dice, depth)
        }
        Shape::IfKey(_, shapes) => match dice.below(2) {
            0 => value(&shapes.0, dice, depth),
            _ => value(&shapes.1, dice, depth),
        },
        Shape::Steps(least) => {
            let count = least + dice.below(2);
            Value::Array((0..count).map(|_| step(dice, depth)).collect())
        }
    }
}

fn step(dice: &mut Dice, depth: usize) -> Value {
    if depth > 3 {
        return json!({"get": "/"});
    }
    let kinds = step_tables();
    // The last one is an include, for which a file would have to be there.
    let kind = dice.below(kinds.len() - 1);
    table(&kinds[kind], dice, depth + 1)
}

fn table(of: &Table, dice: &mut Dice, depth: usize) -> Value {
    let mut map = Map::new();
    entries(of, dice, depth, &mut map);
    let find = |name: &str| -> KeyShape {
        of.all_keys().into_iter().find(|key| key.key.name == name).expect("a key").clone()
    };
    // What has to be there comes last, since the others take away.
    let mut rules = of.rules.clone();
    rules.sort_by_key(|rule| matches!(rule, Rule::AnyOf(..)));
    for rule in &rules {
        let has = |name: &str| map.contains_key(name);
        match *rule {
            Rule::Excludes(a, b, _) if has(a) && has(b) => drop(map.remove(b)),
            Rule::Needs(key, other, _) if has(key) && !has(other) => drop(map.remove(key)),
            Rule::AnyOf(keys, ..) if !keys.iter().any(|key| has(key)) => {
                map.insert(keys[0].to_owned(), value(&find(keys[0]).shape, dice, depth));
            }
            Rule::OnlyWith { key, other, word, .. } => {
                map.remove(key);
                if map.get(other) == Some(&json!(word)) {
                    map.insert(key.to_owned(), value(&find(key).shape, dice, depth));
                }
            }
            Rule::NeededUnless { key, .. } => {
                map.insert(key.to_owned(), value(&find(key).shape, dice, depth));
            }
            _ => {}
        }
    }
    Value::Object(map)
}

fn entries(of: &Table, dice: &mut Dice, depth: usize, map: &mut Map<String, Value>) {
    for entry in &of.entries {
        match entry {
            Entry::Key(key) if key.key.required || dice.below(4) == 0 => {
                map.insert(key.key.name.to_owned(), value(&key.shape, dice, depth));
            }
            Entry::Key(_) => {}
            Entry::OneOf { required, tables } => {
                if *required || dice.below(2) == 0 {
                    let way = dice.below(tables.len());
                    entries(&tables[way], dice, depth, map);
                }
            }
        }
    }
}

#[test]
fn any_plan_is_read_and_printed_and_read_again_as_the_same() {
    let Shape::Record(plan) = Of::<Plan>::shape() else { panic!("a record") };
    let (all, good) = (Cell::new(0), Cell::new(0));
    proptest!(ProptestConfig::with_cases(500), |(seed in any::<u64>())| {
        let text = table(&plan(), &mut Dice(seed), 0).to_string();
        all.set(all.get() + 1);
        match read(&text) {
            Ok(plan) => {
                good.set(good.get() + 1);
                let printed = print(&plan, false);
                let again = read(&printed).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
                prop_assert_eq!(again, plan, "{}", printed);
            }
            // What the keys alone do not say.
            Err(errors) => for error in errors.lines().filter(|line| line.contains("error:")) {
                let known = [
                    "has a weight, but the plan has no load", "no scenario has a weight",
                    "share a pool of connections", "a load of 0 users", "a load of 0s",
                    "the text to replace cannot be empty", "can go on", "there is no scenario",
                    "error: expected ", "unknown variable `user`", "invalid pattern", "expected 1s or more",
                    "another feed goes to",
                ];
                prop_assert!(known.iter().any(|known| error.contains(known)), "{}\n{}", error, text);
            }
        }
    });
    assert!(good.get() * 5 > all.get(), "{} of {}", good.get(), all.get());
}
