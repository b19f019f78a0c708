//! How what some steps say is written.

use serde_json::{Value, json};

use crate::expr::Expr;
use crate::keys::{Expression, Form, Like, Naming, OwnName, Shape, Text};
use crate::nodes::{Node, Reader};

/// A variable and a list.
pub(crate) struct ItemOf;

impl Form for ItemOf {
    type Value = (String, Expr);
    fn shape() -> Shape {
        Shape::Names(Box::new(Shape::Expression), Naming { most: 1, ..Naming::from(1, true) })
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<(String, Expr)> {
        let names = reader.names(node);
        let [(item, list)] = names.as_slice() else {
            if node.is_map() {
                let help = "such as `for_each: {link: links}`";
                reader.error(node.span, "for_each takes one variable and a list", help);
            }
            return None;
        };
        reader.identifier(item);
        let list = Expression::read(reader, list);
        Some((item.value.clone(), list.unwrap_or_default()))
    }
    fn print((item, list): &(String, Expr)) -> Value {
        json!({item: list.source()})
    }
}

/// `true` for all of some, or the name of one.
pub(crate) struct AllOrNamed;

impl Form for AllOrNamed {
    type Value = Option<String>;
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Words(vec![("true", "")]), Like::<Text, OwnName>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Option<String>> {
        match node.core_bool() {
            Some(true) => Some(None),
            Some(false) => {
                reader.error(node.span, "expected `true`, or a name", "leave out the step");
                None
            }
            None => Text::read(reader, node).map(Some),
        }
    }
    fn print(value: &Option<String>) -> Value {
        value.as_ref().map_or(json!(true), Text::print)
    }
}
