//! The modules that scripts find built in, written in JavaScript over a few functions of the host (`__host`).

/// Their names and texts. Each text is an expression: a function of the host's functions that returns the module's exports.
/// All users share these, and all that can be reached from them is frozen. A prototype that only their results lead to is to be
/// added to `host.hidden`; what belongs to a flow is to be kept in `host.flow()`.
pub const MODULES: [(&str, &str); 3] = [
    ("k6", include_str!("k6.js")),
    ("k6/metrics", include_str!("metrics.js")),
    ("k6/http", include_str!("http.js")),
];

/// The number of a module that is built in.
pub fn number(source: &str) -> Option<usize> {
    MODULES.iter().position(|(own, _)| *own == source)
}

/// Why a module is not there, in words that follow its name; `None`: nobody knows it.
pub fn refused(source: &str) -> Option<&'static str> {
    if source.starts_with("https://") || source.starts_with("http://") {
        return Some("squall imports nothing over the network while it runs");
    }
    let known = [
        ("k6/browser", "squall drives no browser"),
        ("k6/experimental/browser", "squall drives no browser"),
        ("k6/x/", "extensions are made for k6's own program"),
        ("k6/ws", "squall has no WebSocket yet"),
        ("k6/websockets", "squall has no WebSocket yet"),
        ("k6/net/grpc", "squall has no gRPC yet"),
        ("k6/html", "squall does not have this module"),
        ("k6/experimental/", "squall has no experimental modules of k6"),
    ];
    known.iter().find(|(own, _)| source.starts_with(own)).map(|(_, why)| *why)
}
