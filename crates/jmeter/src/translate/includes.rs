//! Include Controllers: the test fragment of another plan stands in their place, as if it had been written there.
//! Files are read, and nothing else is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::modules::{ELEMENTS_LIMIT, Expanded};
use super::{Obstacle, TranslationContext};
use crate::tree::{ElementId, Tree};

/// The property with what JMeter puts before each file's name.
const PREFIX: &str = "includecontroller.prefix";

/// Puts the fragments that Include Controllers name in their places.
pub(super) fn expand(tree: &Tree, given: &TranslationContext) -> Expanded {
    let mut expanded = Expanded::of(tree);
    // The files that led to each controller with a fragment, its own last.
    let mut chains: BTreeMap<ElementId, Vec<PathBuf>> = BTreeMap::new();
    let mut next = 0;
    // Those that come with a fragment are at the end, and get their turn.
    while let Some((id, element)) = expanded.tree.nth(next) {
        next += 1;
        if element.class != "IncludeController" || !expanded.tree.takes_part(id) {
            continue;
        }
        let name = element.properties.text("IncludeController.includepath").unwrap_or_default();
        let chain = expanded.tree.around(id).find_map(|around| chains.get(&around));
        let found = match next > ELEMENTS_LIMIT {
            true => Err(format!("more than {ELEMENTS_LIMIT} elements")),
            false => read(name, given, chain.map_or(&[], Vec::as_slice)),
        };
        match found {
            Ok(Some((fragment, chain))) => {
                let first = expanded.origins.len();
                expanded.tree.adopt(&fragment, id);
                let origin = expanded.origins[id.number()];
                expanded.origins.resize(expanded.tree.iter().count(), origin);
                expanded.look_at_copies(first, "not supported, and part of what is included");
                chains.insert(id, chain);
            }
            Ok(None) => expanded.tree.adopt(&Tree::empty(), id),
            Err(what) => expanded.obstacles.push(Obstacle { element: id, what }),
        }
    }
    expanded
}

/// The elements of a file's fragment, with the files that led to it; none if no file is named.
///
/// # Errors
/// There is no such file, it is no plan, or one that is being included already.
fn read(
    name: &str,
    given: &TranslationContext,
    chain: &[PathBuf],
) -> Result<Option<(Tree, Vec<PathBuf>)>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    if name.contains("${") {
        return Err(format!("`{name}`: JMeter replaces nothing in a file's name"));
    }
    let prefix = given.properties.get(PREFIX).map_or("", String::as_str);
    // With the prefix it is relative to where the program was started, without it to the plan.
    let started = PathBuf::from(format!("{prefix}{name}").trim());
    let file = match started.exists() || started.is_absolute() {
        true => started,
        false => given.folder.join(name.trim()),
    };
    let shown = |path: &Path| path.display().to_string();
    let bad = |what: String| format!("{}: {what}", shown(&file));
    let place = file.canonicalize().map_err(|error| bad(error.to_string()))?;
    let links: Vec<PathBuf> = chain.iter().cloned().chain([place.clone()]).collect();
    if chain.contains(&place) {
        let links: Vec<String> = links.iter().map(|file| shown(file)).collect();
        return Err(format!("a file that includes itself: {}", links.join(" > ")));
    }
    let text = squall_plan::files::text(&place).map_err(bad)?;
    let tree = Tree::read(text.as_bytes()).map_err(|error| bad(error.to_string()))?;
    // Of a plan without a fragment nothing is taken.
    Ok(Some((tree.fragment().unwrap_or_else(Tree::empty), links)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(elements: &str) -> String {
        format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="plan"/><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
        )
    }

    fn include(file: &str) -> String {
        format!(
            r#"<IncludeController testname="{file}"><stringProp name="IncludeController.includepath">{file}</stringProp></IncludeController><hashTree/>"#
        )
    }

    fn fragment(elements: &str) -> String {
        let fragment = r#"<TestFragmentController testname="f" enabled="false"/>"#;
        plan(&format!("<Other/><hashTree/>{fragment}<hashTree>{elements}</hashTree>"))
    }

    #[test]
    fn fragments_of_files_stand_in_the_place_of_controllers() {
        let folder = std::env::temp_dir().join(format!("squall-includes-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).expect("a temporary folder");
        let files = [
            (
                "a.jmx",
                fragment(&format!(
                    "<GenericController testname=\"in a\"/><hashTree>{}</hashTree>",
                    include("sub/b.jmx")
                )),
            ),
            (
                "sub/b.jmx",
                fragment(
                    r#"<GenericController testname="in b"/><hashTree/><Novel testname="n"/><hashTree/>"#,
                ),
            ),
            ("one.jmx", fragment(&include("two.jmx"))),
            ("two.jmx", fragment(&include("one.jmx"))),
            ("none.jmx", plan("")),
        ];
        for (name, text) in &files {
            std::fs::write(folder.join(name), text).expect("a temporary file");
        }
        let given = TranslationContext { folder: folder.clone(), ..TranslationContext::default() };
        let expanded = |files: &[&str]| {
            let all: String = files.iter().map(|file| include(file)).collect();
            expand(&Tree::read(plan(&all).as_bytes()).expect("a plan"), &given)
        };
        let two = expanded(&["a.jmx", "a.jmx", "none.jmx"]);
        let inner = two.tree.iter().find(|(_, element)| element.name == "in b").expect("it").0;
        assert_eq!(two.tree.path(inner), "plan > a.jmx > in a > sub/b.jmx > in b");
        assert_eq!(two.origins[inner.number()].number(), 1);
        let what = |expanded: &Expanded| {
            let what = expanded.obstacles.iter().map(|obstacle| obstacle.what.clone());
            what.collect::<Vec<_>>()
        };
        assert_eq!(what(&two), ["not supported, and part of what is included"; 2]);
        let [circle] = what(&expanded(&["one.jmx"])).try_into().expect("one obstacle");
        let links: Vec<&str> = circle.split(" > ").map(|file| &file[file.len() - 7..]).collect();
        assert!(circle.starts_with("a file that includes itself: "), "{circle}");
        assert_eq!(links, ["one.jmx", "two.jmx", "one.jmx"]);
        assert!(what(&expanded(&["never.jmx"]))[0].contains("never.jmx: No such file"));
        assert!(what(&expanded(&["${x}.jmx"]))[0].contains("replaces nothing"));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
