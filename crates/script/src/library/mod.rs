//! The modules that scripts find built in, written in JavaScript over a few functions of the host (`__host`).

/// Their names and texts. Each text is an expression: a function of the host's functions, and of the modules before it, that
/// returns the module's exports. All users share these, and all that can be reached from them is frozen. A prototype that only
/// their results lead to is to be added to `host.hidden`; what belongs to a flow is to be kept in `host.flow()`.
///
/// Scripts import those whose names begin with `k6`, and by their URLs those with `jslib`; the others make globals, or are for
/// those after them.
pub const MODULES: [(&str, &str); 16] = [
    ("frozen", include_str!("frozen.js")),
    ("random", include_str!("random.js")),
    ("files", include_str!("files.js")),
    ("text", include_str!("text.js")),
    ("k6", include_str!("k6.js")),
    ("k6/metrics", include_str!("metrics.js")),
    ("k6/http", include_str!("http.js")),
    ("k6/encoding", include_str!("encoding.js")),
    ("k6/crypto", include_str!("crypto.js")),
    ("k6/timers", include_str!("timers.js")),
    ("k6/execution", include_str!("execution.js")),
    ("k6/data", include_str!("data.js")),
    ("k6/secrets", include_str!("secrets.js")),
    ("jslib/url", include_str!("url.js")),
    ("jslib/k6-utils", include_str!("k6_utils.js")),
    ("jslib/k6-summary", include_str!("k6_summary.js")),
];

/// Where the library of k6 is, of which some modules are built in, whatever their version.
const JSLIB: &str = "https://jslib.k6.io/";

/// The number of a module that is built in.
pub fn number(source: &str) -> Option<usize> {
    let name = match source.strip_prefix(JSLIB) {
        Some(own) => {
            let (name, rest) = own.split_once('/')?;
            let (_version, file) = rest.split_once('/')?;
            (file == "index.js").then(|| format!("jslib/{name}"))?
        }
        None if source.starts_with("k6") => source.to_owned(),
        None => return None,
    };
    MODULES.iter().position(|(own, _)| *own == name)
}

/// Why a module is not there, in words that follow its name; `None`: nobody knows it.
pub fn refused(source: &str) -> Option<&'static str> {
    let known = [
        ("k6/browser", "squall drives no browser"),
        ("k6/experimental/browser", "squall drives no browser"),
        ("k6/x/", "extensions are made for k6's own program"),
        ("k6/ws", "squall has no WebSocket yet"),
        ("k6/websockets", "squall has no WebSocket yet"),
        ("k6/net/grpc", "squall has no gRPC yet"),
        ("k6/html", "squall does not have this module"),
        ("k6/experimental/", "squall has no experimental modules of k6"),
        (
            "k6/",
            "squall has k6, k6/crypto, k6/data, k6/encoding, k6/execution, k6/http, k6/metrics, k6/secrets and k6/timers",
        ),
    ];
    known.iter().find(|(own, _)| source.starts_with(own)).map(|(_, why)| *why)
}
