//! What html5ever tells a page while it reads.

use std::borrow::Cow;
use std::cell::Ref;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName};

use super::super::limits::{ATTRIBUTES_LIMIT, too_many_attributes};
use super::super::tree::{self, Kind, NO_NAME};
use super::page::{Node, Page, some};

/// A look at the name of an element in the page.
#[derive(Debug)]
pub(super) struct NameRef<'p>(Ref<'p, QualName>);

impl ElemName for NameRef<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Page {
    type Handle = usize;
    type Output = ();
    type ElemName<'a> = NameRef<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> NameRef<'a> {
        // Asked for elements only; for others, it would be another name.
        let name = self.nodes.borrow()[*target].name_or_start as usize;
        NameRef(Ref::map(self.names.borrow(), |names| names.get(name).unwrap_or(&names[0])))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> usize {
        // Beyond the limit there is an error, and how many it were does not matter.
        let count = attrs.len().min(ATTRIBUTES_LIMIT) as u16;
        let name = self.name(name);
        let id = self.create(Kind::Element, name, self.keep_all(attrs));
        let node = &mut self.nodes.borrow_mut()[id];
        node.attribute_count = count;
        node.mathml_integration_point = flags.mathml_annotation_xml_integration_point;
        id
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.create(Kind::Comment, 0, self.keep(NO_NAME, &text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> usize {
        // HTML has no instructions: its parser makes them comments.
        self.create_comment(data)
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.place(child, *parent, None);
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        prev_element: &usize,
        child: NodeOrText<usize>,
    ) {
        match self.parent(*element) {
            Some(parent) => self.place(child, parent, Some(*element)),
            None => self.place(child, *prev_element, None),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &usize) -> usize {
        // The content of a template is found like any other.
        *target
    }

    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, new_node: NodeOrText<usize>) {
        if let Some(parent) = self.parent(*sibling) {
            self.place(new_node, parent, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &usize, attrs: Vec<Attribute>) {
        let Node { attributes_or_length: first, attribute_count: count, .. } =
            self.nodes.borrow()[*target];
        let missing: Vec<Attribute> = {
            let (names, known) = (self.names.borrow(), self.attributes.borrow());
            let has = |name: &QualName| {
                (first..first + u32::from(count))
                    .any(|at| names[known[at as usize].name as usize] == *name)
            };
            attrs.into_iter().filter(|attribute| !has(&attribute.name)).collect()
        };
        if missing.is_empty() {
            return;
        }
        self.burn(usize::from(count));
        let total = usize::from(count) + missing.len();
        if total > ATTRIBUTES_LIMIT {
            return self.fail(too_many_attributes());
        }
        // All attributes of an element stand together.
        let moved = self.attributes.borrow().len() as u32;
        for at in first..first + u32::from(count) {
            let mut attributes = self.attributes.borrow_mut();
            let tree::Attribute { name, value } = &attributes[at as usize];
            let copy = tree::Attribute { name: *name, value: value.clone() };
            attributes.push(copy);
        }
        self.keep_all(missing);
        let node = &mut self.nodes.borrow_mut()[*target];
        (node.attributes_or_length, node.attribute_count) = (moved, total as u16);
    }

    fn remove_from_parent(&self, target: &usize) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        loop {
            let child = some(self.nodes.borrow()[*node].first_child);
            let Some(child) = child else { return };
            self.detach(child);
            self.insert(child, *new_parent, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &usize) -> bool {
        self.nodes.borrow()[*handle].mathml_integration_point
    }
}
