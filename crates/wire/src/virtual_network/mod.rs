//! Connections on virtual time: sockets whose other side is a script, and which of them a thread dials.

mod dial;
mod socket;

pub(crate) use self::dial::dial;
pub use self::{
    dial::set_network,
    socket::{Outbound, Path, Peer, VirtualSocket},
};
