//! Module Controllers: what they point at stands in their place, as if it had been written there.

use super::Obstacle;
use crate::elements::{Role, Support};
use crate::properties::PropertyValue;
use crate::tree::{Element, ElementId, Tree};

/// Modules in modules: more than anybody writes.
const DEPTH_LIMIT: usize = 16;
/// Elements that a plan may have with all that is put in place of modules.
pub(super) const ELEMENTS_LIMIT: usize = 200_000;

/// A tree in which modules, or files that are included, are in their places.
pub(super) struct Expanded {
    pub tree: Tree,
    /// Of each element, the one of the file that it is, or is a copy of.
    pub origins: Vec<ElementId>,
    pub obstacles: Vec<Obstacle>,
}

/// Puts what Module Controllers point at in their places.
pub(super) fn expand(tree: &Tree) -> Expanded {
    let mut expanded = Expanded::of(tree);
    let mut next = 0;
    // Those that come with a module are at the end, and get their turn.
    while let Some((id, element)) = expanded.tree.nth(next) {
        next += 1;
        if element.class != "ModuleController" || !expanded.tree.takes_part(id) {
            continue;
        }
        let path = path(element);
        let depth = expanded.tree.around(id).filter(|around| is_module(&expanded.tree, *around));
        let is_too_deep = depth.count() >= DEPTH_LIMIT || next > ELEMENTS_LIMIT;
        match target(tree, &path).filter(|_| !is_too_deep) {
            Some(target) => {
                let first = expanded.origins.len();
                expanded.tree.graft(target, id, &mut expanded.origins);
                expanded.look_at_copies(first, "not supported, and part of a module");
            }
            None => {
                let what = match is_too_deep {
                    true => "a module that has itself in it".to_owned(),
                    false => format!("`{}`, which is not there", path.join(" > ")),
                };
                expanded.obstacles.push(Obstacle { element: id, what });
            }
        }
    }
    expanded
}

impl Expanded {
    /// A tree as it is.
    pub(super) fn of(tree: &Tree) -> Expanded {
        let origins = tree.iter().map(|(id, _)| id).collect();
        Expanded { tree: tree.clone(), origins, obstacles: Vec::new() }
    }

    /// The same, of which the tree was made from another one that was expanded before.
    pub(super) fn after(mut self, before: Expanded) -> Expanded {
        self.origins.iter_mut().for_each(|origin| *origin = before.origins[origin.number()]);
        self.obstacles.extend(before.obstacles);
        self
    }

    /// The inventory sees the originals, which may be disabled or in another file: what of the copies is not supported
    /// is said here.
    pub(super) fn look_at_copies(&mut self, first: usize, what: &str) {
        let copies = self.tree.iter().skip(first).filter(|(id, _)| self.tree.takes_part(*id));
        let missing = copies.filter(|(_, element)| match element.known() {
            Some(known) => known.support == Support::Missing,
            None => {
                crate::elements::guessed_role(&element.class, &element.gui) != Some(Role::Listener)
            }
        });
        let found: Vec<Obstacle> =
            missing.map(|(element, _)| Obstacle { element, what: what.to_owned() }).collect();
        self.obstacles.extend(found);
    }
}

fn is_module(tree: &Tree, id: ElementId) -> bool {
    tree.element(id).class == "ModuleController"
}

/// The names that lead to a module, the test plan's first.
fn path(element: &Element) -> Vec<String> {
    let names = element.properties.list("ModuleController.node_path").iter();
    let names = names.filter_map(|name| match &name.value {
        PropertyValue::Text(text) => Some(text.clone()),
        _ => None,
    });
    names.collect()
}

/// What a path leads to. Its first name is that of the root above the test plan, which old versions called otherwise,
/// or that of the test plan itself.
fn target(tree: &Tree, path: &[String]) -> Option<ElementId> {
    let from = |names: &[String]| last_of_path(tree, &tree.roots, names);
    let below = path.get(1..).and_then(from);
    below.or_else(|| from(path)).filter(|target| !tree.roots.contains(target))
}

/// The last element that names lead to: several may have one name. No module is on the way.
fn last_of_path(tree: &Tree, among: &[ElementId], names: &[String]) -> Option<ElementId> {
    let (first, rest) = names.split_first()?;
    let named = among.iter().copied();
    let named = named.filter(|id| tree.element(*id).name == *first && !is_module(tree, *id));
    let mut found = named.filter_map(|id| match rest {
        [] => Some(id),
        _ => last_of_path(tree, &tree.element(id).children, rest),
    });
    found.next_back()
}
