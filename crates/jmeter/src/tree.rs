//! The elements of a plan, as JMeter's tree has them.

use squall_plan::span::Span;

use crate::elements::{self, Known};
use crate::error::ReadError;
use crate::properties::Properties;
use crate::xml::{Document, NodeId};

/// The number of an element in its tree: in the order of the file, each before what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(usize);

impl ElementId {
    /// Its number, from 0.
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// A plan as JMeter has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    elements: Vec<Element>,
    /// The elements at its top, usually the test plan alone.
    pub roots: Vec<ElementId>,
    /// The version of JMeter that has saved it, where it says so (since 2.8).
    pub saved_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// What it is, by its present name: JMeter's own classes without their packages, those of plug-ins with them.
    pub class: String,
    /// The class of its dialog, which tells what one class does in several roles; may be empty.
    pub gui: String,
    /// Its name, as the test names it.
    pub name: String,
    /// Whether it is enabled, without regard to the elements around it.
    pub enabled: bool,
    pub properties: Properties,
    /// Tags in it that are no properties, and were passed over.
    pub unread: Vec<String>,
    /// The element that it is below.
    pub parent: Option<ElementId>,
    /// The elements below it, in order.
    pub children: Vec<ElementId>,
    /// Where it stands in the file.
    pub span: Span,
}

impl Element {
    /// What squall knows of its class.
    pub fn known(&self) -> Option<&'static Known> {
        elements::find(&self.class)
    }
}

impl Tree {
    /// Reads a plan, the bytes of a `.jmx` file.
    ///
    /// # Errors
    /// It is no XML that JMeter would read (see [`ReadError`]), or no plan.
    pub fn read(bytes: &[u8]) -> Result<Tree, ReadError> {
        let document = Document::parse(bytes)?;
        let root = document.node(document.root());
        if root.tag != "jmeterTestPlan" {
            let message = format!("expected `jmeterTestPlan`, found `{}`", root.tag);
            return Err(document.error_at(document.root(), message));
        }
        let saved_by = root.attribute("jmeter").map(str::to_owned);
        let mut tree = Tree { elements: Vec::new(), roots: Vec::new(), saved_by };
        for child in &root.children {
            match document.node(*child).tag.as_str() {
                "hashTree" => {
                    let found = tree.below(&document, *child, None)?;
                    tree.roots.extend(found);
                }
                tag => {
                    let message = format!("expected `hashTree`, found `{tag}`");
                    return Err(document.error_at(*child, message));
                }
            }
        }
        if tree.roots.is_empty() {
            return Err(document.error_at(document.root(), "there is no element in the plan"));
        }
        Ok(tree)
    }

    /// Reads the elements in a `hashTree`: each is followed by one for what is below it. The depth is that of the
    /// document, which is bounded.
    fn below(
        &mut self,
        document: &Document,
        hash_tree: NodeId,
        parent: Option<ElementId>,
    ) -> Result<Vec<ElementId>, ReadError> {
        let mut found: Vec<ElementId> = Vec::new();
        let mut owner = None;
        for id in &document.node(hash_tree).children {
            if document.node(*id).tag != "hashTree" {
                let element = self.add(document, *id, parent)?;
                found.push(element);
                owner = Some(element);
                continue;
            }
            let Some(owner) = owner.take() else {
                return Err(document.error_at(*id, "this hashTree belongs to no element"));
            };
            let children = self.below(document, *id, Some(owner))?;
            self.elements[owner.0].children = children;
        }
        Ok(found)
    }

    fn add(
        &mut self,
        document: &Document,
        id: NodeId,
        parent: Option<ElementId>,
    ) -> Result<ElementId, ReadError> {
        let node = document.node(id);
        let (properties, unread) = Properties::read(document, id)?;
        let text = |attribute: &str| node.attribute(attribute).unwrap_or_default().to_owned();
        let gui = text("guiclass");
        let name = node.attribute("testname").or_else(|| properties.text("TestElement.name"));
        // As JMeter, which does not look at `testclass`: what was edited by hand may have a wrong one.
        let class = node.attribute("class").unwrap_or(&node.tag);
        self.elements.push(Element {
            class: elements::present_class(class, &gui).to_owned(),
            name: name.unwrap_or_default().to_owned(),
            enabled: node.attribute("enabled").is_none_or(|text| text.eq_ignore_ascii_case("true")),
            gui,
            properties,
            unread,
            parent,
            children: Vec::new(),
            span: node.span,
        });
        Ok(ElementId(self.elements.len() - 1))
    }

    /// An element.
    ///
    /// # Panics
    /// It is of a larger tree.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    /// The element of a number.
    pub(crate) fn nth(&self, number: usize) -> Option<(ElementId, &Element)> {
        self.elements.get(number).map(|element| (ElementId(number), element))
    }

    /// Puts a copy of an element, with all that is below it, at the end of what is below another. The copy itself is
    /// enabled, whatever the original is. `origins` gets the number of each copy's original.
    pub(crate) fn graft(
        &mut self,
        original: ElementId,
        below: ElementId,
        origins: &mut Vec<ElementId>,
    ) {
        let copy = ElementId(self.elements.len());
        let mut element = self.elements[original.0].clone();
        let children = std::mem::take(&mut element.children);
        element.parent = Some(below);
        element.enabled = true;
        self.elements.push(element);
        origins.push(origins[original.0]);
        self.elements[below.0].children.push(copy);
        for child in children {
            let is_enabled = self.elements[child.0].enabled;
            let place = self.elements.len();
            self.graft(child, copy, origins);
            self.elements[place].enabled = is_enabled;
        }
    }

    /// What the first test fragment of a plan holds, as a tree: that below the test plan, or beside it. A disabled one
    /// is one, too.
    pub(crate) fn fragment(&self) -> Option<Tree> {
        fn find(tree: &Tree, among: &[ElementId]) -> Option<ElementId> {
            let found =
                among.iter().copied().find_map(|id| match tree.element(id).class.as_str() {
                    "TestPlan" => Some(find(tree, &tree.element(id).children)),
                    "TestFragmentController" => Some(Some(id)),
                    _ => None,
                });
            found.flatten()
        }
        let fragment = find(self, &self.roots)?;
        Some(Tree { roots: self.element(fragment).children.clone(), ..self.clone() })
    }

    /// A tree without elements.
    pub(crate) fn empty() -> Tree {
        Tree { elements: Vec::new(), roots: Vec::new(), saved_by: None }
    }

    /// Puts copies of another tree's elements below one of this, in place of all that was there. They stand where that
    /// stands.
    pub(crate) fn adopt(&mut self, other: &Tree, below: ElementId) {
        for child in std::mem::take(&mut self.elements[below.0].children) {
            self.disable(child);
        }
        for root in &other.roots {
            self.adopt_one(other, *root, below);
        }
    }

    fn adopt_one(&mut self, other: &Tree, original: ElementId, below: ElementId) {
        let copy = ElementId(self.elements.len());
        let (element, span) = (other.element(original).clone(), self.elements[below.0].span);
        let children = element.children.clone();
        self.elements.push(Element { parent: Some(below), children: Vec::new(), span, ..element });
        self.elements[below.0].children.push(copy);
        children.into_iter().for_each(|child| self.adopt_one(other, child, copy));
    }

    /// Takes an element out, with what is below it.
    pub(crate) fn disable(&mut self, id: ElementId) {
        self.elements[id.0].enabled = false;
    }

    /// All elements, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (ElementId, &Element)> {
        self.elements.iter().enumerate().map(|(number, element)| (ElementId(number), element))
    }

    /// An element's children that are enabled, in order.
    pub fn enabled_children(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        let children = self.element(id).children.iter().copied();
        children.filter(|child| self.element(*child).enabled)
    }

    /// The elements around an element, the innermost first.
    pub fn around(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        std::iter::successors(self.element(id).parent, |id| self.element(*id).parent)
    }

    /// Whether an element and all around it are enabled, and it is not on the workbench: JMeter removes the others
    /// before a run.
    pub fn takes_part(&self, id: ElementId) -> bool {
        std::iter::once(id).chain(self.around(id)).all(|id| self.element(id).enabled)
            && self.around(id).all(|id| self.element(id).class != "WorkBench")
    }

    /// An element's place in the tree, as a person reads it: the names from the top down to it.
    pub fn path(&self, id: ElementId) -> String {
        let mut names: Vec<&str> =
            self.around(id).map(|around| self.element(around).name.as_str()).collect();
        names.reverse();
        names.push(&self.element(id).name);
        names.join(" > ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::PropertyValue;

    const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="shop">
      <boolProp name="TestPlan.serialize_threadgroups">true</boolProp>
    </TestPlan>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users" enabled="true">
        <intProp name="ThreadGroup.num_threads">5</intProp>
        <elementProp name="ThreadGroup.main_controller" elementType="org.apache.jmeter.control.LoopController">
          <stringProp name="LoopController.loops">2</stringProp>
        </elementProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSampler2 guiclass="HttpTestSampleGui2" testname="home" enabled="false">
          <collectionProp name="list"><stringProp name="">a</stringProp><stringProp reference="../stringProp"/></collectionProp>
          <FloatProperty><name>share</name><value>80.0</value><savedValue>0.0</savedValue></FloatProperty>
          <objProp><name>saveConfig</name><value class="X"><time>true</time></value></objProp>
          <novel name="n"/>
        </HTTPSampler2>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>"#;

    #[test]
    fn a_plan_is_a_tree_of_elements_with_properties() {
        let tree = Tree::read(PLAN.as_bytes()).expect("a plan");
        assert_eq!(tree.saved_by.as_deref(), Some("5.6.3"));
        let [(_, plan), (_, group), (id, request)] = *tree.iter().collect::<Vec<_>>().as_slice()
        else {
            panic!("three elements");
        };
        assert!(plan.properties.flag("TestPlan.serialize_threadgroups", false));
        assert_eq!(group.properties.text("ThreadGroup.num_threads"), Some("5"));
        let control = group.properties.element("ThreadGroup.main_controller").expect("a loop");
        assert_eq!(control.text("LoopController.loops"), Some("2"));
        assert_eq!((request.class.as_str(), request.enabled), ("HTTPSamplerProxy", false));
        assert_eq!(tree.path(id), "shop > users > home");
        assert_eq!(tree.enabled_children(tree.roots[0]).count(), 1);
        let list = request.properties.list("list").iter().map(|item| &item.value);
        assert!(list.eq([&PropertyValue::Text("a".into()), &PropertyValue::Text("a".into())]));
        assert_eq!(request.properties.text("share"), Some("80.0"));
        let fields = PropertyValue::Fields(vec![("time".into(), "true".into())]);
        assert_eq!(request.properties.get("saveConfig"), Some(&fields));
        assert_eq!(request.unread, ["novel"]);
    }

    #[test]
    fn what_is_no_plan_is_refused_at_its_place() {
        let refused = |text: &str| Tree::read(text.as_bytes()).expect_err("a refusal").to_string();
        assert_eq!(
            refused("<project/>"),
            "1:1: expected `jmeterTestPlan`, found `project` (in project)"
        );
        assert_eq!(
            refused("<jmeterTestPlan>\n<hashTree><hashTree/></hashTree></jmeterTestPlan>"),
            "2:11: this hashTree belongs to no element (in jmeterTestPlan > hashTree > hashTree)"
        );
        assert!(refused("<jmeterTestPlan/>").contains("there is no element in the plan"));
        assert!(
            refused("<jmeterTestPlan><hashTree><A><stringProp reference=\"../b\"/></A></hashTree></jmeterTestPlan>")
                .contains("the reference `../b` leads nowhere")
        );
    }
}
