//! Which runs of an experiment count although their numbers are invalid.

use serde_json::{Value, json};

use crate::keys::{At, Bool, Form, Listed, Plain, Shape, Text};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;

/// Which runs count although their numbers are invalid.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CountInvalid {
    /// None: such a run is made again.
    #[default]
    No,
    /// All of them.
    All,
    /// Those whose numbers are invalid by no rule but these.
    By(Vec<Spanned<String>>),
}

/// The form: true or false, or names of rules.
pub struct BoolOrRules;

/// The names of rules.
type Rules = Listed<At<Text>, 1>;

impl Form for BoolOrRules {
    type Value = CountInvalid;
    fn shape() -> Shape {
        Shape::Either(vec![Bool::shape(), Rules::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<CountInvalid> {
        match node.core_bool() {
            Some(true) => Some(CountInvalid::All),
            Some(false) => Some(CountInvalid::No),
            None => Rules::read(reader, node).map(CountInvalid::By),
        }
    }
    fn print(value: &CountInvalid) -> Value {
        match value {
            CountInvalid::No => json!(false),
            CountInvalid::All => json!(true),
            CountInvalid::By(rules) => Rules::print(rules),
        }
    }
    fn is_given(value: &CountInvalid) -> bool {
        *value != CountInvalid::No
    }
}

impl Plain for CountInvalid {
    type Form = BoolOrRules;
}
