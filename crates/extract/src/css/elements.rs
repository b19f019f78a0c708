//! The elements of a tree as selectors look at them, each step paid with fuel.

use crate::error::ExtractError;
use crate::fuel::Fuel;
use crate::markup::{DOCUMENT, NodeId, Tree};

#[derive(Clone, Copy)]
pub(super) struct Elements<'t> {
    pub(super) tree: &'t Tree,
    pub(super) fuel: &'t Fuel,
}

impl<'t> Elements<'t> {
    pub(super) fn parent(&self, element: NodeId) -> Option<NodeId> {
        self.tree.parent(element).filter(|parent| *parent != DOCUMENT)
    }

    /// The element before this one among its siblings.
    pub(super) fn previous(&self, element: NodeId) -> Result<Option<NodeId>, ExtractError> {
        let mut next = self.tree.previous_sibling(element);
        while let Some(sibling) = next {
            self.fuel.burn(1)?;
            if self.tree.is_element(sibling) {
                return Ok(Some(sibling));
            }
            next = self.tree.previous_sibling(sibling);
        }
        Ok(None)
    }

    /// The element behind this one among its siblings.
    pub(super) fn next(&self, element: NodeId) -> Result<Option<NodeId>, ExtractError> {
        let mut next = self.tree.next_sibling(element);
        while let Some(sibling) = next {
            self.fuel.burn(1)?;
            if self.tree.is_element(sibling) {
                return Ok(Some(sibling));
            }
            next = self.tree.next_sibling(sibling);
        }
        Ok(None)
    }

    /// The value of an attribute; in HTML the case of its name does not matter.
    pub(super) fn attribute(
        &self,
        element: NodeId,
        name: &str,
    ) -> Result<Option<&'t str>, ExtractError> {
        self.fuel.burn(self.tree.attributes(element).len())?;
        Ok(attribute(self.tree, element, name))
    }
}

/// The value of an attribute; in HTML the case of its name does not matter.
pub(super) fn attribute<'t>(tree: &'t Tree, element: NodeId, name: &str) -> Option<&'t str> {
    let mut attributes = tree.attributes(element);
    let found = attributes.find(|a| tree.same_name(tree.attribute_name(*a), name))?;
    Some(tree.attribute_value(found))
}
