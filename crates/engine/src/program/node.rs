//! Which machine of several a program is compiled for: `${node}`, `${nodes}` and `${node_name}` in plans.

use squall_plan::value::Value;

/// A machine of those that run a plan together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are when the run begins.
    pub of: u32,
    /// Its name: that of the node in a fleet, or else of the machine.
    pub name: String,
}

impl Default for Node {
    /// The only one, by the name of the machine.
    fn default() -> Self {
        // Where the kernel does not say it, it is the one that is here.
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = match name.trim() {
            "" => "localhost".to_owned(),
            name => name.to_owned(),
        };
        Node { number: 1, of: 1, name }
    }
}

/// What plans call them.
pub(super) const NODE_FACTS: [&str; 3] = ["node", "nodes", "node_name"];

impl Node {
    /// What a name stands for in a plan, if it is one of these.
    pub(super) fn fact(&self, name: &str) -> Option<Value> {
        match name {
            "node" => Some(Value::Int(i64::from(self.number))),
            "nodes" => Some(Value::Int(i64::from(self.of))),
            "node_name" => Some(Value::Text(self.name.as_str().into())),
            _ => None,
        }
    }
}
