//! The names of keys and subjects, in one place.

use super::units::Bytes;

/// Most letters of a node's or a run's name.
pub const NAME: usize = 64;

/// Whether a node or a run may be called so: letters, digits, `-` and `_`, at most 64.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// What a node says of itself: its [`Card`](super::messages::Card).
pub fn card(node: &str) -> String {
    format!("node.{node}")
}

/// All cards.
pub const CARDS: &str = "node.*";

/// The run that a node is called to: a [`Call`](super::messages::Call).
pub fn call(node: &str) -> String {
    format!("call.{node}")
}

/// The [`Order`](super::messages::Order) of a run.
pub fn order(run: &str) -> String {
    format!("run.{run}.order")
}

/// The nodes that a run wants of each zone, and the names of those that were ever given something of it, as JSON.
pub fn nodes(run: &str) -> String {
    format!("run.{run}.nodes")
}

/// A node's [`Assignment`](super::messages::Assignment).
pub fn share(run: &str, node: &str) -> String {
    format!("run.{run}.share.{node}")
}

/// The [`Changes`](super::messages::Changes) of a run.
pub fn changes(run: &str) -> String {
    format!("run.{run}.changes")
}

/// Who leads a run: a [`Leader`](super::messages::Leader).
pub fn leader(run: &str) -> String {
    format!("run.{run}.leader")
}

/// Is there when a run was released.
pub fn release(run: &str) -> String {
    format!("run.{run}.release")
}

/// All keys of a run.
pub fn of_run(run: &str) -> String {
    format!("run.{run}.>")
}

/// Subject of what a node records and says of itself, which is stored.
pub fn second(run: &str, node: &str) -> String {
    format!("squall.{run}.second.{node}")
}

/// The controller's own name among those who publish; no node can have it.
pub const MARK: &str = "~";

/// What the stream of a run stores.
pub fn stored(run: &str) -> String {
    format!("squall.{run}.second.*")
}

/// The node of a subject that is stored.
pub fn node_of<'s>(run: &str, subject: &'s str) -> Option<&'s str> {
    subject.strip_prefix("squall.")?.strip_prefix(run)?.strip_prefix(".second.")
}

/// Where the controller is asked for the time.
pub fn clock(run: &str) -> String {
    format!("squall.{run}.clock")
}

/// Where nodes are asked for messages again.
pub fn resend(run: &str) -> String {
    format!("squall.{run}.resend")
}

/// Where a node's heart beats.
pub fn heartbeat(node: &str) -> String {
    format!("squall.hb.{node}")
}

/// Where all nodes' hearts beat.
pub const HEARTBEATS: &str = "squall.hb.*";

/// The node of a heartbeat.
pub fn heart_of(subject: &str) -> Option<&str> {
    subject.strip_prefix("squall.hb.").filter(|node| is_name(node))
}

/// No bytes.
pub fn nothing() -> Bytes {
    Bytes::from(Vec::new())
}
