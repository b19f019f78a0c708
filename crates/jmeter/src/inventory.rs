//! What a plan is made of, element by element, and how far each is supported: what is said before a run, so that
//! no plan runs with a part of it silently left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::elements::{Role, Support, guessed_role};
use crate::functions;
use crate::properties::Properties;
use crate::text::Text;
use crate::translate::Obstacle;
use crate::tree::{Element, ElementId, Tree};

/// All elements of a plan with what becomes of each, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    pub entries: Vec<Entry>,
}

/// An element in an inventory.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub id: ElementId,
    /// How deep in the tree it stands, from 0.
    pub depth: usize,
    /// What JMeter's desk calls its kind, or its class if it is not known.
    pub kind: String,
    pub name: String,
    /// Its place in the tree: the names from the top down to it.
    pub path: String,
    /// What becomes of it.
    pub fate: Fate,
    /// Functions of JMeter that its texts call, with their underscores. Empty for one that takes no part.
    pub functions: BTreeSet<&'static str>,
}

impl Entry {
    /// Its place in the tree with its kind, as messages have it.
    pub fn place(&self) -> String {
        format!("{} ({})", self.path, self.kind)
    }
}

/// Why a plan does not run whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The element; `None`: the plan as a whole.
    pub element: Option<ElementId>,
    /// Its place in the tree.
    pub place: String,
    /// What of it has no equal.
    pub what: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// What becomes of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    Runs,
    /// Something of it has no equal: what, one text for each.
    Lacks(Vec<String>),
    /// It takes no part: it is a listener, or a tool of JMeter's desk.
    Ignored,
    /// It is a listener that sends nothing: why.
    Idle(String),
    /// It, or an element around it, is disabled: as in JMeter it takes no part.
    Disabled,
    /// It is known, and not supported.
    Missing,
    /// Nothing is known of it.
    Unknown,
}

impl Fate {
    /// Whether a plan with such an element cannot run whole.
    pub fn stops_the_plan(&self) -> bool {
        matches!(self, Fate::Lacks(_) | Fate::Missing | Fate::Unknown)
    }
}

/// Lists the elements of a plan; `obstacles` are those that its translation met, and `idle` the listeners that send nothing.
pub fn inventory(tree: &Tree, obstacles: &[Obstacle], idle: &[Obstacle]) -> Inventory {
    let mut lacks: BTreeMap<ElementId, Vec<String>> = BTreeMap::new();
    for Obstacle { element, what } in obstacles {
        lacks.entry(*element).or_default().push(what.clone());
    }
    let entries = tree.iter().map(|(id, element)| {
        let own = lacks.remove(&id);
        let why = idle.iter().find(|own| own.element == id).map(|own| own.what.clone());
        let fate = match (tree.takes_part(id), why) {
            (false, _) => Fate::Disabled,
            (true, Some(why)) => Fate::Idle(why),
            (true, None) => fate(element),
        };
        let fate = match (fate, own) {
            (fate @ (Fate::Missing | Fate::Unknown), _) | (fate, None) => fate,
            (_, Some(lacks)) => Fate::Lacks(lacks),
        };
        let is_active = !matches!(fate, Fate::Disabled | Fate::Ignored | Fate::Idle(_));
        Entry {
            id,
            depth: tree.around(id).count(),
            kind: element.known().map_or(element.class.as_str(), |known| known.title).to_owned(),
            name: element.name.clone(),
            path: tree.path(id),
            functions: if is_active { called(&element.properties) } else { BTreeSet::new() },
            fate,
        }
    });
    Inventory { entries: entries.collect() }
}

/// What becomes of an element that is enabled, if it lacks nothing.
fn fate(element: &Element) -> Fate {
    match element.known().map(|known| known.support) {
        Some(Support::Full | Support::Partly(_)) => Fate::Runs,
        Some(Support::Ignored | Support::Aside(_)) => Fate::Ignored,
        Some(Support::Missing) => Fate::Missing,
        None => match guessed_role(&element.class, &element.gui) {
            Some(Role::Listener) => Fate::Ignored,
            _ => Fate::Unknown,
        },
    }
}

/// The functions that texts of these properties call.
fn called(properties: &Properties) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    properties.each_text(&mut |text| {
        // In what cannot be split nothing is replaced, and nothing is called.
        let text = Text::parse(text, &functions::is_function).unwrap_or_default();
        found.extend(text.calls().into_iter().filter_map(|call| functions::find(&call.name)));
    });
    found
}

/// The properties that a plan asks for, disabled elements included: in functions, and in scripts.
pub fn asked_properties(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, element) in tree.iter() {
        element.properties.each_text(&mut |text| {
            for call in ["props.get(", "props.getProperty(", "JMeterUtils.getProperty("] {
                let behind = text.split(call).skip(1).map(str::trim_start);
                let names = behind
                    .filter_map(|own| own.strip_prefix(['"', '\''])?.split(['"', '\'']).next());
                found.extend(names.map(str::to_owned));
            }
            if !text.contains("${__") {
                return;
            }
            let text = Text::parse(text, &functions::is_function).unwrap_or_default();
            let calls = text.calls().into_iter();
            let calls = calls.filter(|call| matches!(call.name.as_str(), "__P" | "__property"));
            let names = calls.filter_map(|call| call.parameters.first()?.as_literal());
            found.extend(names.map(|name| name.trim().to_owned()));
        });
    }
    found
}

impl Inventory {
    /// The elements that keep the plan from running whole.
    pub fn obstacles(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.fate.stops_the_plan())
    }

    /// Why the plan does not run whole.
    pub fn reasons(&self) -> Vec<Reason> {
        let of_entry = |entry: &Entry| {
            let reason = |what: &str| Reason {
                element: Some(entry.id),
                place: entry.place(),
                what: what.to_owned(),
            };
            match &entry.fate {
                Fate::Lacks(lacks) => lacks.iter().map(|what| reason(what)).collect(),
                Fate::Unknown => vec![reason("nothing is known of this element")],
                _ => vec![reason("this element is not supported")],
            }
        };
        self.obstacles().flat_map(of_entry).collect()
    }

    /// Whether all of the plan is supported.
    pub fn is_whole(&self) -> bool {
        self.obstacles().next().is_none()
    }
}

/// The tree, an element a line: what becomes of it, its kind and its name.
impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            let (word, lacks) = match &entry.fate {
                Fate::Runs => ("runs", &[] as &[String]),
                Fate::Lacks(lacks) => ("lacks", lacks.as_slice()),
                Fate::Ignored => ("ignored", &[] as &[String]),
                Fate::Idle(why) => ("ignored", std::slice::from_ref(why)),
                Fate::Disabled => ("disabled", &[] as &[String]),
                Fate::Missing => ("missing", &[] as &[String]),
                Fate::Unknown => ("unknown", &[] as &[String]),
            };
            write!(f, "{word:<9} {:indent$}{}", "", entry.kind, indent = 2 * entry.depth)?;
            if entry.name != entry.kind {
                write!(f, " \"{}\"", entry.name)?;
            }
            if !lacks.is_empty() {
                let sends =
                    if matches!(entry.fate, Fate::Idle(_)) { "sends nothing: " } else { "" };
                write!(f, ": {sends}{}", lacks.join("; "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(elements: &str) -> Inventory {
        let text = format!("<jmeterTestPlan><hashTree>{elements}</hashTree></jmeterTestPlan>");
        inventory(&Tree::read(text.as_bytes()).expect("a plan"), &[], &[])
    }

    #[test]
    fn each_element_is_said_with_its_place() {
        let found = plan(
            r#"<ThreadGroup testname="users"/>
            <hashTree>
              <ResultCollector testname="View Results Tree"/><hashTree/>
              <com.example.Teapot testname="brew"/><hashTree/>
              <ThreadGroup testname="off" enabled="false"/>
              <hashTree><JSR223Sampler testname="inner"/><hashTree/></hashTree>
              <com.example.visualizers.Chart testname="chart"/><hashTree/>
            </hashTree>"#,
        );
        let fates: Vec<&Fate> = found.entries.iter().map(|entry| &entry.fate).collect();
        use Fate::{Disabled, Ignored, Unknown};
        assert_eq!(fates[1..], [&Ignored, &Unknown, &Disabled, &Disabled, &Ignored]);
        assert!(!found.is_whole());
        let reason = "users > brew (com.example.Teapot): nothing is known of this element";
        let reasons = found.reasons();
        assert_eq!(reasons.iter().map(Reason::to_string).collect::<Vec<_>>(), [reason]);
        assert_eq!(reasons[0].element, Some(found.entries[2].id));
        assert!(found.to_string().contains("unknown     com.example.Teapot \"brew\"\n"));
    }

    #[test]
    fn what_never_takes_part_stops_no_plan() {
        let found = plan(
            r#"<WorkBench testname="WorkBench"/><hashTree><X testname="x"/><hashTree/></hashTree>"#,
        );
        assert!(found.is_whole());
    }

    #[test]
    fn functions_are_found_wherever_they_stand() {
        let found = plan(
            r#"<com.example.Teapot testname="a">
                 <stringProp name="x">${__P(host,${__UUID})}/${__unknown(1)}</stringProp>
                 <collectionProp name="y"><elementProp name="" elementType="Argument">
                   <stringProp name="z">${__time()}</stringProp></elementProp></collectionProp>
               </com.example.Teapot><hashTree/>"#,
        );
        let expected = BTreeSet::from(["__P", "__UUID", "__time"]);
        assert_eq!(found.entries[0].functions, expected);
    }
}
