//! Goes along the axes of XPath, and tests the nodes that it meets.

use std::collections::HashSet;

use super::expression::{Axis, LocationStep, NodeTest};
use super::search::Search;
use super::value::Node;
use crate::error::ExtractError;
use crate::markup::{DOCUMENT, Kind, NodeId};

/// Takes a node, and says whether to go on.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Node) -> Result<bool, ExtractError>;

/// Visits nodes until one is enough.
fn each(nodes: impl Iterator<Item = NodeId>, visit: Visit<'_>) -> Result<bool, ExtractError> {
    for id in nodes {
        if !visit(Node::of(id))? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Search<'_> {
    /// Visits the nodes on an axis, in its direction.
    pub(super) fn along(
        &self,
        axis: Axis,
        node: Node,
        visit: Visit<'_>,
    ) -> Result<bool, ExtractError> {
        let (tree, id) = (self.tree, node.id);
        if node.attribute.is_some() {
            return self.along_from_attribute(axis, node, visit);
        }
        match axis {
            Axis::OneSelf => visit(node),
            Axis::Parent => each(tree.parent(id).into_iter(), visit),
            Axis::Child => each(tree.children(id), visit),
            Axis::Descendant => each(tree.descendants(id), visit),
            Axis::DescendantOrSelf => Ok(visit(node)? && each(tree.descendants(id), visit)?),
            Axis::Ancestor => each(tree.ancestors(id), visit),
            Axis::AncestorOrSelf => Ok(visit(node)? && each(tree.ancestors(id), visit)?),
            Axis::Following => each(tree.descendants(id).end..tree.len(), visit),
            Axis::Preceding => {
                let before = (DOCUMENT..id).rev();
                each(before.filter(|before| !tree.descendants(*before).contains(&id)), visit)
            }
            Axis::FollowingSibling => {
                let next = |id: &NodeId| tree.next_sibling(*id);
                each(std::iter::successors(tree.next_sibling(id), next), visit)
            }
            Axis::PrecedingSibling => {
                let previous = |id: &NodeId| tree.previous_sibling(*id);
                each(std::iter::successors(tree.previous_sibling(id), previous), visit)
            }
            Axis::Attribute => {
                for attribute in tree.attributes(id) {
                    let node = Node { id, attribute: Some(attribute) };
                    if !is_namespace(tree.attribute_name(attribute)) && !visit(node)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// An attribute has no children and no siblings, but a parent.
    fn along_from_attribute(
        &self,
        axis: Axis,
        node: Node,
        visit: Visit<'_>,
    ) -> Result<bool, ExtractError> {
        let element = Node::of(node.id);
        match axis {
            Axis::Parent => visit(element),
            Axis::OneSelf | Axis::DescendantOrSelf => visit(node),
            Axis::Ancestor => self.along(Axis::AncestorOrSelf, element, visit),
            Axis::AncestorOrSelf => Ok(visit(node)? && self.along(axis, element, visit)?),
            Axis::Following => each(node.id + 1..self.tree.len(), visit),
            Axis::Preceding => self.along(axis, element, visit),
            _ => Ok(true),
        }
    }

    /// Visits the nodes on an axis from any of several nodes, which are in document order and none an
    /// attribute: each node once, or as often as it has children, so that it takes one walk through the
    /// document. The order is any.
    pub(super) fn along_all(
        &self,
        axis: Axis,
        from: &[Node],
        visit: Visit<'_>,
    ) -> Result<(), ExtractError> {
        let tree = self.tree;
        let [first, .., last] = from else {
            return from.iter().try_for_each(|node| self.along(axis, *node, visit).map(drop));
        };
        match axis {
            Axis::Descendant | Axis::DescendantOrSelf => {
                let own = u32::from(axis == Axis::Descendant);
                let mut seen = DOCUMENT;
                for node in from {
                    let end = tree.descendants(node.id).end;
                    each((node.id + own).max(seen)..end, visit)?;
                    seen = seen.max(end);
                }
            }
            Axis::Following => {
                // The first node ends after one in it does, but not after one behind it.
                let within = from.iter().take_while(|n| n.id < tree.descendants(first.id).end);
                let end = within.map(|node| tree.descendants(node.id).end).min();
                each(end.unwrap_or(tree.len())..tree.len(), visit)?;
            }
            Axis::Preceding => drop(self.along(axis, *last, visit)?),
            Axis::FollowingSibling => self.along_siblings(axis, from.iter(), visit)?,
            Axis::PrecedingSibling => self.along_siblings(axis, from.iter().rev(), visit)?,
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut seen = HashSet::new();
                for node in from {
                    if axis == Axis::AncestorOrSelf {
                        visit(*node)?;
                    }
                    each(tree.ancestors(node.id).take_while(|id| seen.insert(*id)), visit)?;
                }
            }
            Axis::Attribute | Axis::Child | Axis::OneSelf | Axis::Parent => {
                for node in from {
                    self.along(axis, *node, visit)?;
                }
            }
        }
        Ok(())
    }

    /// Goes along a sibling axis from the first node of each parent: what is there from others is there
    /// from that one.
    fn along_siblings<'n>(
        &self,
        axis: Axis,
        from: impl Iterator<Item = &'n Node>,
        visit: Visit<'_>,
    ) -> Result<(), ExtractError> {
        let mut parents = HashSet::new();
        for node in from {
            if parents.insert(self.tree.parent(node.id)) {
                self.along(axis, *node, visit)?;
            }
        }
        Ok(())
    }

    /// Whether a node is one that a step asks for, predicates aside.
    pub(super) fn passes(&self, node: Node, step: &LocationStep) -> bool {
        let tree = self.tree;
        let kind = tree.kind(node.id);
        let is_attribute = node.attribute.is_some();
        // What a name stands for: attributes on their axis, elements on all others.
        let is_principal = match step.axis {
            Axis::Attribute => is_attribute,
            _ => !is_attribute && kind == Kind::Element,
        };
        match &step.test {
            NodeTest::Any => true,
            NodeTest::Star => is_principal,
            NodeTest::Local(name) => is_principal && tree.same_name(self.local_name(node), name),
            NodeTest::Full(name) => is_principal && tree.same_name(self.name(node), name),
            NodeTest::Prefix(prefix) => {
                let written = self.name(node).split_once(':');
                is_principal && written.is_some_and(|(p, _)| tree.same_name(p, prefix))
            }
            NodeTest::Text => !is_attribute && kind == Kind::Text,
            NodeTest::Comment => !is_attribute && kind == Kind::Comment,
            NodeTest::Instruction(target) => {
                !is_attribute
                    && kind == Kind::Instruction
                    && target.as_ref().is_none_or(|target| tree.name(node.id) == target)
            }
        }
    }
}

/// Whether an attribute declares a namespace and is none in the sense of XPath.
fn is_namespace(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}
