//! The parts of a plan beside its steps.

use std::collections::BTreeMap;
use std::time::Duration;

use super::node::{Kind, Node};
use super::read::{Fields, Reader};
use super::tables;
use crate::model::*;
use crate::span::Spanned;

/// Versions of HTTP, as `connections.http` names them.
pub(super) const HTTP: [(&str, HttpVersion); 3] =
    [("1.1", HttpVersion::V1), ("2", HttpVersion::V2), ("auto", HttpVersion::Auto)];

const ON_ERROR: [(&str, OnError); 4] = [
    ("continue", OnError::Continue),
    ("next_iteration", OnError::NextIteration),
    ("stop_user", OnError::StopUser),
    ("stop_run", OnError::StopRun),
];

const SESSION: [(&str, Session); 2] =
    [("per_iteration", Session::PerIteration), ("per_user", Session::PerUser)];

/// Most users of an open load, where the plan does not say: enough for a second's arrivals that take
/// 10 seconds each.
const MAX_USERS_SECONDS: f64 = 10.0;

impl Reader {
    pub(super) fn read_plan(&mut self, root: &Node) -> Plan {
        let Some(fields) = self.fields(root, &tables::PLAN) else { return Plan::default() };
        let target = self.template(fields.get("target"));
        let is_builtin = |target: &crate::template::Template| target.literal() == Some("builtin");
        let plan = Plan {
            name: self.string(fields.get("name")).unwrap_or_default(),
            target: target
                .map(|url| if is_builtin(&url) { Target::Builtin } else { Target::Url(url) }),
            vars: self.vars(fields.get("vars")),
            data: self.data(fields.get("data")),
            defaults: self.defaults(fields.get("defaults")),
            connections: self.connections(fields.get("connections")),
            allow_hosts: self.texts(fields.get("allow_hosts")),
            load: fields.get("load").and_then(|node| self.load(node)),
            scenarios: self.scenarios(fields.get("scenarios")),
            setup: self.steps(fields.get("setup")),
            teardown: self.steps(fields.get("teardown")),
            on_error: self.word(fields.get("on_error"), &ON_ERROR).unwrap_or_default(),
            graceful_stop: self.duration(fields.get("graceful_stop")),
            warmup: self.warmup(fields.get("warmup")),
            thresholds: self.texts(fields.get("thresholds")),
            seed: self.int(fields.get("seed")),
            bandwidth: self.bandwidths(fields.get("bandwidth")).unwrap_or_default(),
            session: self.word(fields.get("session"), &SESSION),
            max_names: fields.get("max_names").and_then(|node| {
                self.positive(Some(node)).map(|number| Spanned::new(number, node.span))
            }),
        };
        if plan.scenarios.is_empty() && fields.get("scenarios").is_none() {
            self.error(
                root.span,
                "the plan has no scenarios",
                "add `scenarios:` with a name, a load and steps",
            );
        }
        plan
    }

    fn texts(&mut self, node: Option<&Node>) -> Vec<Spanned<String>> {
        self.items(node).into_iter().filter_map(|item| self.text(Some(item))).collect()
    }

    fn vars(&mut self, node: Option<&Node>) -> Vec<Var> {
        let Some(node) = node else { return Vec::new() };
        let mut vars = Vec::new();
        for (name, node) in self.names(node) {
            self.identifier(&name);
            let is_long = matches!(&node.kind, Kind::Map(_)) && node.get("value").is_some();
            let (value, secret) = if is_long {
                let Some(fields) = self.fields(node, &tables::VAR) else { continue };
                (
                    fields.node.get("value").and_then(|value| self.json(value)),
                    self.bool(fields.get("secret")),
                )
            } else {
                (self.json(node), None)
            };
            let secret = secret.unwrap_or_else(|| crate::secrets::sounds_secret(&name.value));
            vars.extend(value.map(|value| Var { name, value, secret }));
        }
        vars
    }

    fn data(&mut self, node: Option<&Node>) -> Vec<DataSource> {
        let Some(node) = node else { return Vec::new() };
        let mut sources = Vec::new();
        for (name, node) in self.names(node) {
            self.identifier(&name);
            let Some(fields) = self.fields(node, &tables::DATA) else { continue };
            sources.extend(self.data_source(name, &fields));
        }
        sources
    }

    fn data_source(&mut self, name: Spanned<String>, fields: &Fields<'_>) -> Option<DataSource> {
        let (file, format) = match (self.path(fields.get("csv")), self.path(fields.get("jsonl"))) {
            (Some(file), None) => {
                let delimiter = match self.text(fields.get("delimiter")) {
                    None => b',',
                    Some(text) if text.value.len() == 1 => text.value.as_bytes()[0],
                    Some(text) if text.value == "\\t" => b'\t',
                    Some(text) => {
                        self.error(
                            text.span,
                            format!(
                                "invalid delimiter `{}`: expected a single ASCII character",
                                text.value
                            ),
                            "such as `,`, `;` or \"\\t\"",
                        );
                        b','
                    }
                };
                let columns = fields.get("header").map(|node| self.texts(Some(node)));
                let columns =
                    columns.map(|columns| columns.into_iter().map(|column| column.value).collect());
                (file, DataFormat::Csv { delimiter, columns })
            }
            (None, Some(file)) => (file, DataFormat::JsonLines),
            _ => {
                self.error(name.span, "a data source needs either `csv` or `jsonl`", "");
                return None;
            }
        };
        let pick =
            [("next", Pick::Next), ("random", Pick::Random), ("once_per_user", Pick::OncePerUser)];
        let share = [("all", Share::All), ("scenario", Share::Scenario), ("user", Share::User)];
        let at_end = [("cycle", AtEnd::Cycle), ("stop", AtEnd::Stop)];
        Some(DataSource {
            name,
            file,
            format,
            pick: self.word(fields.get("pick"), &pick).unwrap_or_default(),
            share: self.word(fields.get("share"), &share).unwrap_or_default(),
            at_end: self.word(fields.get("at_end"), &at_end).unwrap_or_default(),
        })
    }

    fn defaults(&mut self, node: Option<&Node>) -> Defaults {
        let Some(fields) = node.and_then(|node| self.fields(node, &tables::DEFAULTS)) else {
            return Defaults::default();
        };
        Defaults {
            headers: self.pairs(fields.get("headers")),
            timeout: self.timeouts(fields.get("timeout")),
            redirects: self.redirects(fields.get("redirects")),
            redirect_headers: self.redirect_headers(fields.get("redirect_headers")),
            compression: self.bool(fields.get("compression")),
            auth: self.auth(fields.get("auth")),
            max_body: self.size(fields.get("max_body")),
            max_decompression_ratio: self.positive(fields.get("max_decompression_ratio")),
            status_errors: self.bool(fields.get("status_errors")),
            retry_stale: self.bool(fields.get("retry_stale")),
            resources: self.resources(fields.get("resources")),
        }
    }

    /// Whether resources are loaded, or how.
    pub(super) fn resources(&mut self, node: Option<&Node>) -> Option<Resources> {
        let node = node?;
        let Kind::Map(_) = node.kind else {
            let load = self.bool(Some(node))?;
            return Some(Resources { load, ..Resources::default() });
        };
        let fields = self.fields(node, &tables::RESOURCES)?;
        let hosts = [("same", ResourceHosts::Same), ("all", ResourceHosts::All)];
        Some(Resources {
            load: true,
            limit: self.parallel_limit(fields.get("limit")),
            include: self.text(fields.get("include")),
            exclude: self.text(fields.get("exclude")),
            hosts: self.word(fields.get("hosts"), &hosts).unwrap_or_default(),
            cache: self.bool(fields.get("cache")).unwrap_or(true),
        })
    }

    /// How much may be done at the same time.
    pub(super) fn parallel_limit(&mut self, node: Option<&Node>) -> u32 {
        let most = u64::from(MAX_PARALLEL);
        match (node, self.int(node)) {
            (Some(node), Some(number)) if !(1..=most).contains(&number) => {
                self.error(
                    node.span,
                    format!("invalid limit {number}: expected a number from 1 to {most}"),
                    "it is how much is done at the same time",
                );
                DEFAULT_PARALLEL
            }
            (_, number) => number.map_or(DEFAULT_PARALLEL, |number| number as u32),
        }
    }

    /// One bandwidth for both directions, or one for each.
    fn bandwidths(&mut self, node: Option<&Node>) -> Option<Bandwidth> {
        let node = node?;
        if let Kind::Map(_) = node.kind {
            let fields = self.fields(node, &tables::BANDWIDTH)?;
            let (down, up) = (self.bandwidth(fields.get("down")), self.bandwidth(fields.get("up")));
            return Some(Bandwidth { down, up });
        }
        let both = self.bandwidth(Some(node));
        both.map(|both| Bandwidth { down: Some(both), up: Some(both) })
    }

    pub(super) fn redirects(&mut self, node: Option<&Node>) -> Option<u32> {
        self.small_int(node)
    }

    pub(super) fn redirect_headers(&mut self, node: Option<&Node>) -> Option<Vec<Spanned<String>>> {
        node.map(|node| self.texts(Some(node)))
    }

    pub(super) fn timeouts(&mut self, node: Option<&Node>) -> Timeouts {
        match node {
            Some(Node { kind: Kind::Map(_), .. }) => {
                let Some(fields) = node.and_then(|node| self.fields(node, &tables::TIMEOUT)) else {
                    return Timeouts::default();
                };
                Timeouts {
                    pool: self.duration(fields.get("pool")),
                    connect: self.duration(fields.get("connect")),
                    first_byte: self.duration(fields.get("first_byte")),
                    total: self.duration(fields.get("total")),
                }
            }
            node => Timeouts { total: self.duration(node), ..Timeouts::default() },
        }
    }

    pub(super) fn auth(&mut self, node: Option<&Node>) -> Option<Auth> {
        let node = node?;
        let fields = self.fields(node, &tables::AUTH)?;
        if let Some(bearer) = fields.get("bearer") {
            return self.template(Some(bearer)).map(Auth::Bearer);
        }
        let (login, digest) = match (fields.get("basic"), fields.get("digest")) {
            (Some(login), None) => (login, false),
            (None, Some(login)) => (login, true),
            _ => {
                self.error(node.span, "auth takes exactly one of basic, bearer and digest", "");
                return None;
            }
        };
        let fields = self.fields(login, &tables::LOGIN)?;
        let (user, password) =
            (self.template(fields.get("user")), self.template(fields.get("password")));
        match (user, password) {
            (Some(user), Some(password)) if digest => Some(Auth::Digest { user, password }),
            (Some(user), Some(password)) => Some(Auth::Basic { user, password }),
            _ => {
                self.error(login.span, "a login needs `user` and `password`", "");
                None
            }
        }
    }

    fn connections(&mut self, node: Option<&Node>) -> Connections {
        let Some(fields) = node.and_then(|node| self.fields(node, &tables::CONNECTIONS)) else {
            return Connections::default();
        };
        let reuse = self.reuse(&fields);
        let mut resolve = BTreeMap::new();
        if let Some(node) = fields.get("resolve") {
            for (host, node) in self.names(node) {
                resolve.insert(host.value, self.texts(Some(node)));
            }
        }
        Connections {
            reuse,
            http: self.word(fields.get("http"), &HTTP).unwrap_or_default(),
            resolve,
            source_addresses: self.texts(fields.get("source_addresses")),
            unix: self.path(fields.get("unix")).map(|path| path.value),
            proxy: self.template(fields.get("proxy")),
            tls: self.tls(fields.get("tls")),
        }
    }

    fn reuse(&mut self, fields: &Fields<'_>) -> ConnectionReuse {
        let words = [
            ("per_user", ConnectionReuse::PerUser),
            ("per_iteration", ConnectionReuse::PerIteration),
            ("pool", ConnectionReuse::Pool(0)),
        ];
        let reuse = self.word(fields.get("reuse"), &words).unwrap_or_default();
        let size = fields.get("pool_size");
        match (reuse, size) {
            (ConnectionReuse::Pool(_), Some(_)) => {
                let above_0 = self.positive(size).and_then(|_| self.small_int(size));
                return ConnectionReuse::Pool(above_0.unwrap_or(1));
            }
            (ConnectionReuse::Pool(_), None) => {
                let message = "a pool of connections needs a `pool_size`";
                self.error(fields.node.span, message, "add `pool_size: 100`");
            }
            (_, Some(node)) => {
                let message = "`pool_size` only applies to a pool of connections";
                self.error(node.span, message, "add `reuse: pool`, or leave out `pool_size`");
            }
            (_, None) => {}
        }
        reuse
    }

    fn tls(&mut self, node: Option<&Node>) -> Tls {
        let Some(fields) = node.and_then(|node| self.fields(node, &tables::TLS)) else {
            return Tls::default();
        };
        Tls {
            ca: self.path(fields.get("ca")).map(|path| path.value),
            cert: self.path(fields.get("cert")).map(|path| path.value),
            key: self.path(fields.get("key")).map(|path| path.value),
            server_name: self.string(fields.get("server_name")),
            insecure: self.bool(fields.get("insecure")).unwrap_or(false),
            resume: self.bool(fields.get("resume")),
        }
    }

    fn scenarios(&mut self, node: Option<&Node>) -> Vec<Scenario> {
        let Some(node) = node else { return Vec::new() };
        let mut scenarios = Vec::new();
        for (name, node) in self.names(node) {
            let Some(fields) = self.fields(node, &tables::SCENARIO) else { continue };
            let weight = fields.get("weight");
            scenarios.push(Scenario {
                load: fields.get("load").and_then(|node| self.load(node)),
                weight: weight
                    .and_then(|node| Some(Spanned::new(self.number(Some(node))?, node.span))),
                start_after: self.duration(fields.get("start_after")).unwrap_or_default(),
                defaults: self.defaults(fields.get("defaults")),
                on_error: self.word(fields.get("on_error"), &ON_ERROR),
                bandwidth: self.bandwidths(fields.get("bandwidth")),
                session: self.word(fields.get("session"), &SESSION),
                steps: self.steps(fields.get("steps")),
                span: name.span,
                name,
            });
        }
        scenarios
    }

    fn warmup(&mut self, node: Option<&Node>) -> Warmup {
        match node.map(|node| &node.kind) {
            Some(Kind::Scalar(text, _)) if text == "auto" => Warmup::Auto,
            Some(Kind::Scalar(text, _)) if text == "none" => Warmup::None,
            _ => self.duration(node).map(Warmup::Fixed).unwrap_or_default(),
        }
    }

    fn load(&mut self, node: &Node) -> Option<Spanned<Load>> {
        let fields = self.fields(node, &tables::LOAD)?;
        let stages = self.items(fields.get("stages"));
        let staged_rate = stages.iter().any(|stage| stage.get("rate").is_some());
        let load = if fields.get("rate").is_some() || staged_rate {
            Load::Open(self.open(&fields, &stages)?)
        } else {
            Load::Closed(self.closed(&fields, &stages)?)
        };
        Some(Spanned::new(load, node.span))
    }

    fn closed(&mut self, fields: &Fields<'_>, stages: &[&Node]) -> Option<Closed> {
        for key in ["arrivals", "max_users"] {
            if let Some(node) = fields.get(key) {
                self.error(
                    node.span,
                    format!("`{key}` only applies to an open workload"),
                    "add a `rate`, or leave it out",
                );
            }
        }
        let closed = Closed {
            users: self.int(fields.get("users")),
            ramp: self.duration(fields.get("ramp")).unwrap_or_default(),
            stages: self.stages(stages, "users"),
            pacing: self.duration(fields.get("pacing")),
            duration: self.duration(fields.get("for")),
            iterations: self.int(fields.get("iterations")),
            total_iterations: self.int(fields.get("total_iterations")),
            end: self
                .word(fields.get("end"), &[("each", End::Each), ("together", End::Together)])
                .unwrap_or_default(),
        };
        if let (Some(node), None) = (fields.get("end"), closed.iterations) {
            self.error(node.span, "`end` only applies to a load with `iterations`", "");
        }
        let span = fields.node.span;
        if closed.users.is_none() && closed.stages.is_empty() {
            self.error(span, "a load needs `users`, `rate` or `stages`", "");
            return None;
        }
        if !closed.stages.is_empty() && !closed.ramp.is_zero() {
            self.error(
                span,
                "`ramp` and `stages` cannot be combined",
                "make the ramp the first stage",
            );
        }
        let ends = closed.duration.is_some()
            || closed.iterations.is_some()
            || closed.total_iterations.is_some();
        if !ends && closed.stages.is_empty() {
            self.error(
                span,
                "this load never ends",
                "add `for: 1m`, `iterations` or `total_iterations`",
            );
        }
        Some(closed)
    }

    fn open(&mut self, fields: &Fields<'_>, stages: &[&Node]) -> Option<Open> {
        for key in ["users", "pacing", "iterations", "end"] {
            if let Some(node) = fields.get(key) {
                self.error(
                    node.span,
                    format!("`{key}` only applies to a closed workload"),
                    "replace `rate` by `users`, or leave it out",
                );
            }
        }
        let rate = self.rate(fields.get("rate"));
        let stages = self.stages(stages, "rate");
        let most = stages.iter().map(|stage| stage.level).chain(rate).fold(0.0, f64::max);
        let words = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
        let open = Open {
            rate,
            ramp: self.duration(fields.get("ramp")).unwrap_or_default(),
            arrivals: self.word(fields.get("arrivals"), &words).unwrap_or_default(),
            max_users: self.int(fields.get("max_users")).unwrap_or_else(|| {
                ((most * MAX_USERS_SECONDS).ceil() as u64).clamp(100, 1_000_000)
            }),
            duration: self.duration(fields.get("for")),
            total_iterations: self.int(fields.get("total_iterations")),
            stages,
        };
        let span = fields.node.span;
        if !open.stages.is_empty() && !open.ramp.is_zero() {
            self.error(
                span,
                "`ramp` and `stages` cannot be combined",
                "make the ramp the first stage",
            );
        }
        if open.duration.is_none() && open.total_iterations.is_none() && open.stages.is_empty() {
            self.error(span, "this load never ends", "add `for: 1m` or `total_iterations`");
        }
        Some(open)
    }

    fn stages(&mut self, nodes: &[&Node], level: &str) -> Vec<Stage> {
        let mut stages = Vec::new();
        for node in nodes {
            let Some(fields) = self.fields(node, &tables::STAGE) else { continue };
            let number = match level {
                "rate" => self.rate(fields.get("rate")),
                _ => self.number(fields.get("users")),
            };
            let over = self.duration(fields.get("over"));
            match (number, over) {
                (Some(level), over) => {
                    stages.push(Stage { level, over: over.unwrap_or(Duration::ZERO) })
                }
                (None, _) if fields.get(level).is_none() => {
                    self.error(node.span, format!("each stage of this load needs `{level}`"), "");
                }
                _ => {}
            }
        }
        stages
    }
}
