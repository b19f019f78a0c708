//! The keys of a plan: the reader knows no others, and the JSON Schema is made from them.

/// A key, what may stand behind it, and a sentence.
pub(super) struct Key(pub &'static str, pub Form, pub &'static str);

/// What may stand behind a key.
pub(super) enum Form {
    Text,
    Bool,
    Int,
    Number,
    Duration,
    Size,
    Rate,
    Bandwidth,
    Any,
    Think,
    OneOf(&'static [&'static str]),
    /// Keys of a table.
    Of(&'static Table),
    /// A list of these, or one.
    List(&'static Form),
    /// Names of the user's choice.
    Names(&'static Form),
    Either(&'static [Form]),
    Steps,
}

/// Keys that stand together.
pub(super) struct Table {
    pub name: &'static str,
    pub keys: &'static [Key],
}

use Form::*;

pub(super) static PLAN: Table = Table {
    name: "a plan",
    keys: &[
        Key("name", Text, "name of the test; default: the file's name"),
        Key("target", Text, "base URL of requests, or `builtin` for the built-in target"),
        Key("vars", Names(&Either(&[Of(&VAR), Any])), "variables known to every user"),
        Key("data", Names(&Of(&DATA)), "feeders: files of rows"),
        Key("defaults", Of(&DEFAULTS), "what every request gets unless it says otherwise"),
        Key("connections", Of(&CONNECTIONS), "how connections are made and reused"),
        Key(
            "allow_hosts",
            List(&Text),
            "hosts that requests may go to beside those that the plan names",
        ),
        Key("load", Of(&LOAD), "one load shared by the scenarios that have a weight"),
        Key("scenarios", Names(&Of(&SCENARIO)), "the kinds of virtual users"),
        Key("setup", Steps, "steps that run once before the load"),
        Key("teardown", Steps, "steps that run once after the load"),
        Key("on_error", OneOf(ON_ERROR), "what a failed request does to its user"),
        Key(
            "graceful_stop",
            Duration,
            "how long what is in flight at the end may take; default 30s",
        ),
        Key(
            "warmup",
            Either(&[OneOf(&["auto", "none"]), Duration]),
            "what is cut off the beginning of the run for its steady part; default auto",
        ),
        Key("thresholds", List(&Text), "rules that judge the run"),
        Key("seed", Int, "seed of everything random"),
        Key(
            "bandwidth",
            Either(&[Bandwidth, Of(&BANDWIDTH)]),
            "limit of each user's bytes a second",
        ),
        Key("session", OneOf(&["per_iteration", "per_user"]), SESSION),
        Key(
            "max_names",
            Int,
            "how many names of requests are counted separately, at least those known before the run; default 1000",
        ),
    ],
};

const SESSION: &str = "how long cookies, variables and negotiated credentials last; default per_iteration for arrivals at a rate, per_user for users";

pub(super) static BANDWIDTH: Table = Table {
    name: "a bandwidth",
    keys: &[Key("down", Bandwidth, "of responses"), Key("up", Bandwidth, "of requests")],
};

pub(super) static VAR: Table = Table {
    name: "a variable",
    keys: &[
        Key("value", Any, "its value"),
        Key("secret", Bool, "whether it is masked in every output"),
    ],
};

pub(super) static DATA: Table = Table {
    name: "a data source",
    keys: &[
        Key("csv", Text, "a CSV file"),
        Key("jsonl", Text, "a file of JSON objects, one a line"),
        Key("delimiter", Text, "what is between fields of a CSV file; default `,`"),
        Key("header", List(&Text), "names of the columns, where the file has no header line"),
        Key(
            "pick",
            OneOf(&["next", "random", "once_per_user"]),
            "which row an iteration gets; default next",
        ),
        Key("share", OneOf(&["all", "scenario", "user"]), "who advances together; default all"),
        Key("at_end", OneOf(&["cycle", "stop"]), "what happens after the last row; default cycle"),
    ],
};

pub(super) static DEFAULTS: Table = Table {
    name: "defaults",
    keys: &[
        Key("headers", Names(&Text), "headers"),
        Key("timeout", Either(&[Duration, Of(&TIMEOUT)]), "limits of time"),
        Key("redirects", Int, "most redirects followed; default 0"),
        Key("redirect_headers", List(&Text), REDIRECT_HEADERS),
        Key("compression", Bool, "whether compressed responses are asked for"),
        Key("auth", Of(&AUTH), "credentials"),
        Key("max_body", Size, "most bytes of a response's body"),
        Key(
            "max_decompression_ratio",
            Int,
            "most decompressed bytes for each byte of a compressed body; default 200",
        ),
        Key("status_errors", Bool, "whether a status of 400 and above is an error; default true"),
        Key("retry_stale", Bool, RETRY_STALE),
        Key(
            "resources",
            Either(&[Bool, Of(&RESOURCES)]),
            "images, styles, scripts, frames and icons of a page, loaded with it; default false",
        ),
    ],
};

pub(super) static RESOURCES: Table = Table {
    name: "resources",
    keys: &[
        Key("limit", Int, "most requests at the same time, from 1 to 1000; default 6"),
        Key("include", Text, "regular expression that the URL of each must match"),
        Key("exclude", Text, "regular expression that it must not match"),
        Key(
            "hosts",
            OneOf(&["same", "all"]),
            "the host of the page (the default), or all that requests may go to",
        ),
        Key("cache", Bool, "whether users have a cache for them; default true"),
    ],
};

const REDIRECT_HEADERS: &str =
    "headers (credentials, Host) that follow a redirect to another origin; default none";
const RETRY_STALE: &str = "whether a request is repeated on a new connection where the target had closed the old one before it was delivered; default true";

pub(super) static TIMEOUT: Table = Table {
    name: "a timeout",
    keys: &[
        Key("pool", Duration, "waiting for a connection of the plan's own pool; default 60s"),
        Key("connect", Duration, "name look-up, connect, TLS; default 10s"),
        Key("first_byte", Duration, "from the send to the first byte"),
        Key("total", Duration, "the whole request; default 60s"),
    ],
};

pub(super) static AUTH: Table = Table {
    name: "auth",
    keys: &[
        Key("basic", Of(&LOGIN), "HTTP Basic"),
        Key("bearer", Text, "a bearer token"),
        Key("digest", Of(&LOGIN), "HTTP Digest"),
    ],
};

pub(super) static LOGIN: Table = Table {
    name: "a login",
    keys: &[Key("user", Text, "user name"), Key("password", Text, "password")],
};

pub(super) static CONNECTIONS: Table = Table {
    name: "connections",
    keys: &[
        Key(
            "reuse",
            OneOf(&["per_user", "per_iteration", "pool"]),
            "who uses a connection again: a user over all its iterations (the default), a user within one iteration, or all users those of a pool",
        ),
        Key("pool_size", Int, "most connections of the pool, over all workers"),
        Key(
            "http",
            Either(&[OneOf(&["1.1", "2", "auto"]), Number]),
            "version of HTTP: 1.1 (the default), 2, or auto: what the target prefers over TLS, 1.1 without",
        ),
        Key(
            "resolve",
            Names(&List(&Text)),
            "host or host:port to the addresses used in place of DNS",
        ),
        Key("source_addresses", List(&Text), "local addresses to connect from, used in turn"),
        Key("unix", Text, "Unix socket in place of TCP"),
        Key("proxy", Text, "HTTP proxy, http://[user:password@]host:port"),
        Key("tls", Of(&TLS), "TLS"),
    ],
};

pub(super) static TLS: Table = Table {
    name: "tls",
    keys: &[
        Key("ca", Text, "PEM file of certificates trusted beside the system's"),
        Key("cert", Text, "PEM file of the client's certificate"),
        Key("key", Text, "PEM file of the client's private key"),
        Key("server_name", Text, "name sent and verified in place of the host"),
        Key("insecure", Bool, "accept any certificate"),
        Key("resume", Bool, "whether sessions are resumed; default true"),
    ],
};

pub(super) static SCENARIO: Table = Table {
    name: "a scenario",
    keys: &[
        Key("load", Of(&LOAD), "its load"),
        Key("weight", Number, "its part of the plan's shared load"),
        Key("start_after", Duration, "when its load starts"),
        Key("defaults", Of(&DEFAULTS), "defaults of its requests, before the plan's"),
        Key("on_error", OneOf(ON_ERROR), "what a failed request does to its user"),
        Key(
            "bandwidth",
            Either(&[Bandwidth, Of(&BANDWIDTH)]),
            "limit of each user's bytes a second",
        ),
        Key("session", OneOf(&["per_iteration", "per_user"]), SESSION),
        Key("steps", Steps, "what a user does in one iteration"),
    ],
};

const ON_ERROR: &[&str] = &["continue", "next_iteration", "stop_user", "stop_run"];

pub(super) static LOAD: Table = Table {
    name: "a load",
    keys: &[
        Key("users", Int, "closed workload: a number of virtual users"),
        Key("rate", Rate, "open workload: arrivals at a rate, such as 500/s"),
        Key("ramp", Duration, "time over which users start, or the rate rises"),
        Key("stages", List(&Of(&STAGE)), "users or rate over time"),
        Key("pacing", Duration, "distance between the starts of a user's iterations"),
        Key("arrivals", OneOf(&["even", "poisson"]), "distances of arrivals; default even"),
        Key("max_users", Int, "most users at a time of an arrival rate"),
        Key("for", Duration, "length, ramp included"),
        Key("iterations", Int, "iterations of each user"),
        Key("total_iterations", Int, "iterations of all users together"),
        Key(
            "end",
            OneOf(&["each", "together"]),
            "whether all users end as soon as the first has done its iterations; default each",
        ),
    ],
};

pub(super) static STAGE: Table = Table {
    name: "a stage",
    keys: &[
        Key("users", Number, "users at its end"),
        Key("rate", Rate, "rate at its end"),
        Key("over", Duration, "its length"),
    ],
};

/// Keys of a step that makes it a request, beside its own.
pub(super) const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

pub(super) static REQUEST: Table = Table {
    name: "a request",
    keys: &[
        Key("get", Text, "GET this URL"),
        Key("post", Text, "POST to this URL"),
        Key("put", Text, "PUT to this URL"),
        Key("patch", Text, "PATCH this URL"),
        Key("delete", Text, "DELETE this URL"),
        Key("head", Text, "HEAD of this URL"),
        Key("options", Text, "OPTIONS of this URL"),
        Key("request", Of(&ANY_METHOD), "any method"),
        Key("name", Text, "name under which it is counted"),
        Key("query", Names(&Any), "query parameters"),
        Key("headers", Names(&Text), "headers"),
        Key("body", Either(&[Text, Of(&BODY_FILE)]), "body: a text, or a file"),
        Key("json", Any, "JSON body"),
        Key("form", Names(&Any), "form body"),
        Key("multipart", Names(&Either(&[Text, Of(&PART)])), "multipart form body"),
        Key("auth", Of(&AUTH), "credentials"),
        Key("timeout", Either(&[Duration, Of(&TIMEOUT)]), "limits of time"),
        Key("redirects", Int, "most redirects followed"),
        Key("redirect_headers", List(&Text), REDIRECT_HEADERS),
        Key("compression", Bool, "whether a compressed response is asked for"),
        Key("max_body", Size, "most bytes of the response's body"),
        Key(
            "max_decompression_ratio",
            Int,
            "most decompressed bytes for each byte of a compressed body",
        ),
        Key(
            "response_body",
            Either(&[OneOf(&["discard"]), Of(&RESPONSE_BODY)]),
            "what becomes of the response's body; default: what checks and extracts need is kept",
        ),
        Key("status_errors", Bool, "whether a status of 400 and above is an error"),
        Key("retry_stale", Bool, RETRY_STALE),
        Key(
            "resources",
            Either(&[Bool, Of(&RESOURCES)]),
            "images, styles, scripts, frames and icons of a page, loaded with it; default false",
        ),
        Key("extract", Names(&Either(&[Text, Of(&EXTRACT)])), "values taken from the response"),
        Key("check", List(&Either(&[Text, Of(&CHECK)])), "assertions about the response"),
    ],
};

pub(super) static ANY_METHOD: Table = Table {
    name: "a request line",
    keys: &[Key("method", Text, "method"), Key("url", Text, "URL")],
};

pub(super) static BODY_FILE: Table = Table {
    name: "a body",
    keys: &[
        Key("file", Text, "a file, sent as a stream"),
        Key("decompress", Bool, "whether the file is compressed with gzip and sent decompressed"),
        Key("replace", Names(&Text), "texts in the file, and what is sent in their place"),
    ],
};

pub(super) static RESPONSE_BODY: Table = Table {
    name: "response_body",
    keys: &[
        Key("hash", OneOf(&["md5", "sha256", "xxh3"]), "hash of the body, known as `body_hash`"),
        Key("keep", Size, "so much of the body's beginning is kept, and the rest discarded"),
        Key("file", Text, "a file that the body is written to; its path is known as `body_file`"),
    ],
};

pub(super) static PART: Table = Table {
    name: "a part",
    keys: &[
        Key("text", Text, "a text"),
        Key("file", Text, "a file"),
        Key("filename", Text, "the file's name as it is sent"),
        Key("content_type", Text, "content type"),
    ],
};

pub(super) static EXTRACT: Table = Table {
    name: "an extract",
    keys: &[
        Key("regex", Text, "regular expression"),
        Key("group", Int, "group of the regular expression; default 1, or 0 without groups"),
        Key("between", List(&Text), "text before, text after"),
        Key("json", Text, "JSONPath"),
        Key("css", Text, "CSS selector"),
        Key("attr", Text, "attribute of the selected element; default: its text"),
        Key("xpath", Text, "XPath"),
        Key("header", Text, "header of the response"),
        Key("cookie", Text, "cookie"),
        Key(
            "match",
            Either(&[OneOf(&["first", "last", "all", "random"]), Int]),
            "which match; default first",
        ),
        Key("default", Any, "value if nothing matches"),
    ],
};

pub(super) static CHECK: Table = Table {
    name: "a check",
    keys: &[
        Key("expr", Text, "expression that must be true"),
        Key("name", Text, "what it is called"),
        Key("warn", Bool, "only counted, no error"),
    ],
};

pub(super) static GROUP: Table = Table {
    name: "a group",
    keys: &[
        Key("group", Text, "name of a span of steps, timed as a whole"),
        Key("steps", Steps, "its steps"),
    ],
};
pub(super) static THINK: Table = Table {
    name: "a think step",
    keys: &[Key("think", Think, "wait: 1s, 1s..3s, {normal: {mean, sd}}, {exponential: mean}")],
};
pub(super) static NORMAL: Table = Table {
    name: "a normal distribution",
    keys: &[Key("mean", Duration, "mean"), Key("sd", Duration, "standard deviation")],
};
pub(super) static REPEAT: Table = Table {
    name: "a repeat step",
    keys: &[
        Key("repeat", Either(&[Int, Text]), "how many times: a number or an expression"),
        Key("counter", Text, "variable that holds the number of the pass, from 0"),
        Key("steps", Steps, "its steps"),
    ],
};
pub(super) static WHILE: Table = Table {
    name: "a while step",
    keys: &[Key("while", Text, "steps while this holds"), Key("steps", Steps, "its steps")],
};
pub(super) static IF: Table = Table {
    name: "an if step",
    keys: &[
        Key("if", Text, "condition"),
        Key("then", Steps, "steps if it holds"),
        Key("else", Steps, "steps if not"),
    ],
};
pub(super) static FOR_EACH: Table = Table {
    name: "a for_each step",
    keys: &[
        Key("for_each", Names(&Text), "variable: list"),
        Key("steps", Steps, "steps for each element"),
    ],
};
pub(super) static CHOOSE: Table = Table {
    name: "a choose step",
    keys: &[Key("choose", List(&Of(&CHOICE)), "one of several, by weight")],
};
pub(super) static CHOICE: Table = Table {
    name: "a choice",
    keys: &[Key("weight", Number, "its weight; default 1"), Key("steps", Steps, "its steps")],
};
pub(super) static ROUND_ROBIN: Table = Table {
    name: "a round_robin step",
    keys: &[Key("round_robin", List(&Of(&BRANCH)), "the next one each time")],
};
pub(super) static BRANCH: Table =
    Table { name: "a branch", keys: &[Key("steps", Steps, "its steps")] };
pub(super) static ONCE_PER_USER: Table = Table {
    name: "a once_per_user step",
    keys: &[Key("once_per_user", Steps, "steps in a user's first iteration only")],
};
pub(super) static PARALLEL: Table = Table {
    name: "a parallel step",
    keys: &[Key(
        "parallel",
        Either(&[Steps, Of(&BRANCHES)]),
        "steps at the same time: a list, or {limit, steps}",
    )],
};
pub(super) static BRANCHES: Table = Table {
    name: "parallel",
    keys: &[
        Key("limit", Int, "most steps at the same time, from 1 to 1000; default 6"),
        Key("steps", Steps, "its steps, each a flow of its own"),
    ],
};
pub(super) static SET: Table =
    Table { name: "a set step", keys: &[Key("set", Names(&Any), "variables and their values")] };
pub(super) static CLEAR_COOKIES: Table = Table {
    name: "a clear_cookies step",
    keys: &[Key("clear_cookies", Bool, "true: forget all of the user's cookies")],
};
pub(super) static SET_COOKIE: Table = Table {
    name: "a set_cookie step",
    keys: &[Key("set_cookie", Of(&COOKIE), "a cookie for the user, as a response might set it")],
};
pub(super) static COOKIE: Table = Table {
    name: "a cookie",
    keys: &[
        Key("name", Text, "its name"),
        Key("value", Text, "its value"),
        Key("url", Text, "the page whose response would have set it"),
        Key(
            "domain",
            Text,
            "the host that it goes to, with those below; default: the target's alone",
        ),
        Key("path", Text, "the path that it goes to, with those below; default /"),
    ],
};
pub(super) static LOG: Table =
    Table { name: "a log step", keys: &[Key("log", Text, "line for the run's log")] };
pub(super) static STOP: Table = Table {
    name: "a stop step",
    keys: &[Key("stop", OneOf(&["iteration", "user", "run"]), "what ends")],
};
pub(super) static METRIC: Table = Table {
    name: "a metric step",
    keys: &[Key("metric", Of(&METRIC_VALUE), "a value of a metric of the plan's own")],
};
pub(super) static METRIC_VALUE: Table = Table {
    name: "a metric",
    keys: &[
        Key("name", Text, "name, as thresholds call it"),
        Key(
            "kind",
            OneOf(&["counter", "gauge", "rate", "trend"]),
            "adds values up; keeps the last, smallest and largest; keeps the share of true ones; keeps their distribution",
        ),
        Key(
            "value",
            Text,
            "expression: a number, or for a rate also true or false; default 1 for a counter",
        ),
        Key("tags", Names(&Text), "values under different tags are recorded separately"),
    ],
};
pub(super) static EXEC: Table = Table {
    name: "an exec step",
    keys: &[
        Key("exec", List(&Text), "program and arguments; needs --allow-exec"),
        Key("name", Text, "name under which it is counted"),
        Key("timeout", Duration, "limit of time; default 60s"),
        Key("extract", Names(&Either(&[Text, Of(&EXTRACT)])), "values taken from its output"),
        Key("check", List(&Either(&[Text, Of(&CHECK)])), "assertions about its output"),
    ],
};
pub(super) static INCLUDE: Table =
    Table { name: "an include", keys: &[Key("include", Text, "steps of another file")] };

/// The kinds of steps. The first key of each, or any method of a request, decides.
pub(super) static STEPS: [&Table; 19] = [
    &REQUEST,
    &GROUP,
    &THINK,
    &REPEAT,
    &WHILE,
    &IF,
    &FOR_EACH,
    &CHOOSE,
    &ROUND_ROBIN,
    &ONCE_PER_USER,
    &PARALLEL,
    &SET,
    &CLEAR_COOKIES,
    &SET_COOKIE,
    &LOG,
    &STOP,
    &METRIC,
    &EXEC,
    &INCLUDE,
];
