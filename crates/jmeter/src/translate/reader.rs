//! The properties of an element while they are translated. What nobody has read and is not empty is an obstacle, so that
//! no option is dropped that was not thought of.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::Translator;
use crate::properties::{Properties, PropertyValue};
use crate::tree::ElementId;

/// The properties of an element, with a note of which were read.
pub(super) struct Reader<'t> {
    translator: &'t Translator<'t>,
    pub element: ElementId,
    properties: &'t Properties,
    seen: RefCell<BTreeSet<String>>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(
        translator: &'t Translator<'t>,
        element: ElementId,
        properties: &'t Properties,
    ) -> Reader<'t> {
        let seen = RefCell::new(BTreeSet::from(["TestPlan.comments".to_owned()]));
        Reader { translator, element, properties, seen }
    }

    fn see(&self, name: &str) {
        self.seen.borrow_mut().insert(name.to_owned());
    }

    /// Properties that change nothing here, whatever they are.
    pub(super) fn pass(&self, names: &[&str]) {
        names.iter().for_each(|name| self.see(name));
    }

    /// A property as it was written; empty if it is not given.
    pub(super) fn source(&self, name: &str) -> &'t str {
        self.see(name);
        self.properties.text(name).unwrap_or_default()
    }

    /// The value of a property that has to be known before the run; empty if it is not given. `None`, and an
    /// obstacle, if it is not known.
    pub(super) fn constant(&self, name: &str) -> Option<String> {
        let value = self.translator.constant(self.source(name));
        value
            .map_err(|what| {
                self.translator.obstacle(self.element, format!("{what} as {}", last(name)))
            })
            .ok()
    }

    /// A property that is a whole number, known before the run; `without` if it is not given.
    pub(super) fn number(&self, name: &str, without: i64) -> Option<i64> {
        let text = self.constant(name)?;
        if text.trim().is_empty() {
            return Some(without);
        }
        let number = text.trim().parse().ok();
        if number.is_none() {
            self.translator.obstacle(self.element, format!("`{text}` as {}", last(name)));
        }
        number
    }

    /// The same; what is no number is 0.
    pub(super) fn number_or_0(&self, name: &str, without: i64) -> Option<i64> {
        let text = self.constant(name)?;
        let text = text.trim();
        Some(if text.is_empty() { without } else { text.parse().unwrap_or(0) })
    }

    /// A property that is true or false.
    pub(super) fn flag(&self, name: &str, without: bool) -> bool {
        let text = self.constant(name).unwrap_or_default();
        if text.is_empty() { without } else { text.trim().eq_ignore_ascii_case("true") }
    }

    /// A list of elements, or of texts, as it stands.
    pub(super) fn list(&self, name: &str) -> &'t [crate::properties::Property] {
        self.see(name);
        self.properties.list(name)
    }

    /// The properties of an element that is a property.
    pub(super) fn inner(&self, name: &str) -> Option<Reader<'t>> {
        self.see(name);
        let inner = self.properties.element(name)?;
        Some(Reader::new(self.translator, self.element, inner))
    }

    /// An obstacle if a property is given.
    pub(super) fn given(&self, name: &str, what: &str) {
        if !self.source(name).is_empty() {
            self.translator.obstacle(self.element, what);
        }
    }

    /// An obstacle if a property is true.
    pub(super) fn refuse(&self, name: &str, what: &str) {
        if self.flag(name, false) {
            self.translator.obstacle(self.element, what);
        }
    }

    /// All has been read that is known: what is left and says something is an obstacle.
    pub(super) fn finish(self) {
        let seen = self.seen.borrow();
        for property in self.properties.iter().filter(|property| !seen.contains(&property.name)) {
            if says_something(&property.value) {
                let what = format!("the property `{}`", property.name);
                self.translator.obstacle(self.element, what);
            }
        }
        for tag in &self.translator.tree.element(self.element).unread {
            self.translator.obstacle(self.element, format!("the tag `{tag}`"));
        }
    }
}

/// The last part of a property's name, as people know it.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether there is anything in a value.
fn says_something(value: &PropertyValue) -> bool {
    match value {
        PropertyValue::Text(text) => !text.is_empty(),
        PropertyValue::Element { properties, .. } => {
            properties.iter().any(|property| says_something(&property.value))
        }
        PropertyValue::List(items) => !items.is_empty(),
        PropertyValue::Fields(fields) => !fields.is_empty(),
    }
}
