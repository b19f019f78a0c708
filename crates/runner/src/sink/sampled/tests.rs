//! What becomes of parts whose group, or whose page, a full queue has dropped.

use super::open::MOST;
use super::*;

/// What is told: the names of requests, each with those of its resources, and of groups with those of their parts.
fn shown(part: &GroupPart<'_>) -> String {
    let all = |names: Vec<String>| format!("({})", names.join(" "));
    match part {
        GroupPart::Request(own) => {
            let loaded = own.page.as_ref().map(|page| {
                let names = page.resources.iter().map(|own| own.name.to_string());
                format!("{} ns {}", page.duration_ns, all(names.collect()))
            });
            format!("{}{}", own.name, loaded.unwrap_or_default())
        }
        GroupPart::Group(own) => {
            let parts = own.parts.as_ref().map(|parts| all(parts.iter().map(shown).collect()));
            format!("{}{}", own.name, parts.unwrap_or_default())
        }
    }
}

/// What those who listen to samples with groups are told.
#[derive(Default)]
struct Listener {
    sampled: Sampled,
    told: Vec<String>,
}

impl Listener {
    fn new() -> Listener {
        Listener { sampled: Sampled::new(true, []), told: Vec::new() }
    }

    fn event(&mut self, kind: EventKind) {
        let told = &mut self.told;
        let event = Event { at_s: 0.0, kind };
        let heard = self.sampled.event(&event, &mut |part| {
            told.push(shown(&part));
            Ok(())
        });
        heard.expect("nobody fails");
    }

    fn exchange(&mut self, exchange: &Arc<Exchange>) {
        let exchange = exchange.clone();
        self.event(EventKind::Exchange(SeenExchange { phase: Phase::Load, exchange }));
    }

    fn group(&mut self, group: SeenGroup) {
        self.event(EventKind::Group { phase: Phase::Load, group: Arc::new(group) });
    }
}

fn exchange(name: &str, part_of: u64) -> Arc<Exchange> {
    Arc::new(Exchange {
        name: name.to_owned(),
        part_of: Some(part_of),
        is_of_page: name.starts_with('/'),
        ..Exchange::default()
    })
}

fn group(name: &str, number: u64, part_of: Option<u64>) -> SeenGroup {
    let one_sample = Some(number);
    SeenGroup { name: name.to_owned(), one_sample, part_of, ..SeenGroup::default() }
}

fn page(number: u64, part_of: Option<u64>) -> SeenGroup {
    SeenGroup { is_page: true, duration_ns: 7, ..group("page", number, part_of) }
}

#[test]
fn parts_of_groups_whose_end_was_dropped_do_not_pile_up() {
    let mut listener = Listener::new();
    // The first two groups of three, of which the second has another in it, never end.
    listener.exchange(&exchange("lost", 0));
    listener.exchange(&exchange("inner", 2));
    listener.group(group("of the second", 2, Some(1)));
    listener.exchange(&exchange("kept", 3));
    let part = exchange("more", 4);
    let more = MOST - 4;
    (0..more).for_each(|_| listener.exchange(&part));
    assert!(listener.told.is_empty(), "{:?}", listener.told);
    listener.exchange(&part);
    assert_eq!(listener.told, ["lost"]);
    listener.exchange(&part);
    assert_eq!(listener.told, ["lost", "of the second(inner)"]);
    // Two have made room for two.
    listener.exchange(&part);
    assert_eq!(listener.told.len(), 2);
    listener.group(group("third", 3, None));
    assert_eq!(listener.told[2], "third(kept)");
    listener.event(EventKind::PhaseBegan(Phase::Teardown));
    assert_eq!(listener.told.len(), 3 + more + 3);
}

#[test]
fn what_ends_makes_room() {
    let mut listener = Listener::new();
    let part = exchange("a", 0);
    for round in 1..=3 {
        (0..MOST).for_each(|_| listener.exchange(&part));
        listener.group(group("g", 0, None));
        assert_eq!(listener.told.len(), round);
    }
}

#[test]
fn a_page_that_was_dropped_is_none_of_its_resources() {
    let mut listener = Listener::new();
    listener.exchange(&exchange("home", 1));
    listener.exchange(&exchange("/a.png", 1));
    listener.exchange(&exchange("/b.png", 1));
    listener.group(page(1, None));
    assert_eq!(listener.told, ["home7 ns (/a.png /b.png)"]);
    listener.exchange(&exchange("/a.png", 2));
    listener.exchange(&exchange("/b.png", 2));
    listener.group(page(2, None));
    assert_eq!(listener.told[1..], ["/a.png", "/b.png"]);
    // In a group they are parts of that.
    listener.exchange(&exchange("/a.png", 4));
    listener.group(page(4, Some(3)));
    listener.group(group("g", 3, None));
    assert_eq!(listener.told[3..], ["g(/a.png)"]);
    // And one whose resources were dropped is alone.
    listener.exchange(&exchange("home", 5));
    listener.group(page(5, None));
    assert_eq!(listener.told[4..], ["home"]);
}
