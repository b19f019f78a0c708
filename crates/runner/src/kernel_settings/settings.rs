//! The kernel settings that published advice names, and what they limit.

/// How a setting's numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// More is a higher limit.
    Most,
    /// The first and the last number of a range.
    Range,
    /// The least, the first and the largest size of a buffer, in bytes: more is a higher limit.
    Sizes,
    /// A choice or a time: no limit.
    Choice,
}

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    /// As `sysctl` names it.
    pub name: &'static str,
    pub measure: Measure,
    /// What it does, in a sentence.
    pub about: &'static str,
}

const fn setting(name: &'static str, measure: Measure, about: &'static str) -> Setting {
    Setting { name, measure, about }
}

use Measure::{Choice, Most, Range, Sizes};

/// All of them, those that load generators reach first at the top. Source of what they do: the kernel's
/// Documentation/networking/ip-sysctl.rst and Documentation/admin-guide/sysctl/{fs,net}.rst.
#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    setting("net.ipv4.ip_local_port_range", Range, "The local ports of outgoing connections, for each source address and destination."),
    setting("net.ipv4.tcp_tw_reuse", Choice, "Whether a new connection may take the port of one in TIME_WAIT after a second: 0 never, 1 always, 2 on loopback only."),
    setting("net.ipv4.tcp_max_tw_buckets", Most, "Most connections in TIME_WAIT. Those beyond it are forgotten at once, which frees their ports and is written to the kernel's log."),
    setting("net.ipv4.tcp_tw_recycle", Choice, "Ended TIME_WAIT early. It lost connections of clients behind one address, and is gone since Linux 4.12."),
    setting("net.ipv4.tcp_fin_timeout", Choice, "How long a closed connection waits for the other end to close, in s (FIN_WAIT_2). It does not shorten TIME_WAIT, which is 60 s."),
    setting("fs.nr_open", Most, "The highest limit of open files that a process may be given (`ulimit -n`)."),
    setting("fs.file-max", Most, "Open files of all processes together."),
    setting("net.core.somaxconn", Most, "Connections that wait to be accepted, for each listening socket. It limits servers."),
    setting("net.ipv4.tcp_max_syn_backlog", Most, "Connections of which only the first packet has come, for each listening socket. It limits servers."),
    setting("net.core.netdev_max_backlog", Most, "Packets that wait for a CPU. Those beyond it are dropped."),
    setting("net.core.rmem_max", Most, "The largest receive buffer that a program may ask for, in bytes. squall asks for none, so the kernel sizes them by tcp_rmem."),
    setting("net.core.wmem_max", Most, "The largest send buffer that a program may ask for, in bytes. squall asks for none, so the kernel sizes them by tcp_wmem."),
    setting("net.ipv4.tcp_rmem", Sizes, "The least, the first and the largest receive buffer of a connection, in bytes."),
    setting("net.ipv4.tcp_wmem", Sizes, "The least, the first and the largest send buffer of a connection, in bytes."),
];
