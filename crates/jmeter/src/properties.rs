//! The properties of an element, in all the spellings that JMeter has had for them.

use crate::error::ReadError;
use crate::xml::{Document, NodeId};

/// Properties, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Properties(Vec<Property>);

#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name, such as `HTTPSampler.path`; empty in lists of values.
    pub name: String,
    pub value: PropertyValue,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValue {
    /// A text, number, or boolean as it was written: JMeter itself takes each for the others.
    Text(String),
    /// Properties under a class (`elementProp`), such as an argument.
    Element {
        /// The class, without its package if it is JMeter's own.
        class: String,
        /// Whether it was saved with a name, be that empty.
        is_named: bool,
        properties: Properties,
    },
    /// Values in order (`collectionProp`), or under names (`mapProp`).
    List(Vec<Property>),
    /// The fields of an object (`objProp`), such as what a listener saves.
    Fields(Vec<(String, String)>),
}

impl PropertyValue {
    /// Whether a text stands in it anywhere.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        match self {
            PropertyValue::Text(own) => own.contains(text),
            PropertyValue::Element { properties, .. } => properties.mention(text),
            PropertyValue::List(items) => items.iter().any(|own| own.value.mentions(text)),
            PropertyValue::Fields(_) => false,
        }
    }

    /// Shows all texts in it.
    pub(crate) fn each_text<'p>(&'p self, show: &mut dyn FnMut(&'p str)) {
        match self {
            PropertyValue::Text(text) => show(text),
            PropertyValue::Element { properties, .. } => properties.each_text(show),
            PropertyValue::List(items) => items.iter().for_each(|own| own.value.each_text(show)),
            PropertyValue::Fields(_) => {}
        }
    }
}

impl Properties {
    /// Shows the texts of all of them.
    pub(crate) fn each_text<'p>(&'p self, show: &mut dyn FnMut(&'p str)) {
        self.0.iter().for_each(|own| own.value.each_text(show));
    }

    /// Whether a text stands in one of them.
    pub(crate) fn mention(&self, text: &str) -> bool {
        self.0.iter().any(|own| own.value.mentions(text))
    }

    /// The properties in an XML element, and the tags in it that are none: no version of JMeter that is known
    /// writes them.
    ///
    /// # Errors
    /// A property is not whole: a reference that leads nowhere, or no name.
    pub(crate) fn read(
        document: &Document,
        of: NodeId,
    ) -> Result<(Properties, Vec<String>), ReadError> {
        let (mut found, mut unread) = (Vec::new(), Vec::new());
        for child in &document.node(of).children {
            match property(document, *child)? {
                Some(property) => found.push(property),
                None => unread.push(document.node(*child).tag.clone()),
            }
        }
        Ok((Properties(found), unread))
    }

    /// All, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Property> {
        self.0.iter()
    }

    /// A property. One that stands twice has its last value, as in JMeter.
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        self.0.iter().rev().find(|property| property.name == name).map(|property| &property.value)
    }

    /// A property as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            PropertyValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A property as text, unless it is empty: JMeter takes most properties that are empty for not given.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// A property that is true or false, and what holds without it. What is neither is false, as in Java.
    pub fn flag(&self, name: &str, without: bool) -> bool {
        self.given(name).map_or(without, |text| text.trim().eq_ignore_ascii_case("true"))
    }

    pub fn list(&self, name: &str) -> &[Property] {
        match self.get(name) {
            Some(PropertyValue::List(items)) => items,
            _ => &[],
        }
    }

    /// The properties of an element that is a property.
    pub fn element(&self, name: &str) -> Option<&Properties> {
        match self.get(name)? {
            PropertyValue::Element { properties, .. } => Some(properties),
            _ => None,
        }
    }

    /// The arguments under a property (`elementProp` with `Arguments.arguments`): their properties, in order.
    pub fn arguments(&self, name: &str) -> impl Iterator<Item = &Properties> {
        let list =
            self.element(name).map_or(&[] as &[Property], |own| own.list("Arguments.arguments"));
        elements(list)
    }
}

/// The properties of those values of a list that are elements.
pub fn elements(list: &[Property]) -> impl Iterator<Item = &Properties> {
    list.iter().filter_map(|item| match &item.value {
        PropertyValue::Element { properties, .. } => Some(properties),
        _ => None,
    })
}

/// An XML element as a property, if it is one.
fn property(document: &Document, id: NodeId) -> Result<Option<Property>, ReadError> {
    let node = document.node(id);
    let name = node.attribute("name").unwrap_or_default().to_owned();
    let (name, value) = match node.tag.as_str() {
        "stringProp" | "boolProp" | "intProp" | "longProp" | "floatProp" | "functionProp" => {
            (name, PropertyValue::Text(own_text(document, id)?))
        }
        // These have their name in them.
        "doubleProp" | "FloatProperty" => {
            (inner(document, id, "name"), PropertyValue::Text(inner(document, id, "value")))
        }
        "objProp" => (inner(document, id, "name"), PropertyValue::Fields(fields(document, id))),
        "elementProp" => {
            let class = node.attribute("elementType").unwrap_or_default();
            let class = crate::elements::without_package(class).to_owned();
            let (properties, _) = Properties::read(document, id)?;
            let is_named = node.attribute("testname").is_some();
            (name, PropertyValue::Element { class, is_named, properties })
        }
        "collectionProp" | "mapProp" => {
            (name, PropertyValue::List(Properties::read(document, id)?.0.0))
        }
        _ => return Ok(None),
    };
    Ok(Some(Property { name, value }))
}

/// The text of a property, which may be that of another that was written before.
fn own_text(document: &Document, id: NodeId) -> Result<String, ReadError> {
    let node = document.node(id);
    let Some(path) = node.attribute("reference") else { return Ok(node.text.clone()) };
    let target = document.follow(id, path).filter(|target| *target != id);
    let target = target.map(|target| document.node(target));
    match target.filter(|target| target.attribute("reference").is_none()) {
        Some(target) => Ok(target.text.clone()),
        None => Err(document.error_at(id, format!("the reference `{path}` leads nowhere"))),
    }
}

/// The text of the first XML element of a tag in another.
fn inner(document: &Document, id: NodeId, tag: &str) -> String {
    let children = document.node(id).children.iter().map(|child| document.node(*child));
    children
        .filter(|child| child.tag == tag)
        .map(|child| child.text.clone())
        .next()
        .unwrap_or_default()
}

/// The fields of an object's value.
fn fields(document: &Document, id: NodeId) -> Vec<(String, String)> {
    let children = document.node(id).children.iter().map(|child| document.node(*child));
    let value = children.filter(|child| child.tag == "value").flat_map(|value| &value.children);
    value
        .map(|field| document.node(*field))
        .map(|field| (field.tag.clone(), field.text.clone()))
        .collect()
}
