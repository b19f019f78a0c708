//! A plan as YAML that reads back as the same plan.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::parts::HTTP;
use crate::model::*;
use crate::secrets::Secrets;
use crate::span::Spanned;
use crate::template::Template;
use squall_base::units::print_duration;

/// A plan as YAML. With `mask_secrets` the values of secret variables, and every text that holds one,
/// are masked: the result then no longer runs as it did.
pub fn print(plan: &Plan, mask_secrets: bool) -> String {
    let secrets = if mask_secrets { plan.secrets() } else { Secrets::default() };
    let mut out = String::new();
    block(&mut out, &plan_value(plan), 0, &|text: &str| secrets.mask(text));
    out
}

/// Writes maps and lists as blocks, texts in double quotes as JSON has them, which YAML reads.
fn block(out: &mut String, value: &Value, depth: usize, mask: &dyn Fn(&str) -> String) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                // Writing to a String cannot fail.
                let _ = write!(out, "{pad}{}:", json!(mask(key)));
                behind(out, value, depth, mask);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{pad}-");
                behind(out, item, depth, mask);
            }
        }
        other => {
            let _ = writeln!(out, "{pad}{}", scalar(other, mask));
        }
    }
}

fn behind(out: &mut String, value: &Value, depth: usize, mask: &dyn Fn(&str) -> String) {
    let nested = matches!(value, Value::Object(map) if !map.is_empty())
        || matches!(value, Value::Array(items) if !items.is_empty());
    if nested {
        out.push('\n');
        block(out, value, depth + 1, mask);
    } else {
        let _ = writeln!(out, " {}", scalar(value, mask));
    }
}

fn scalar(value: &Value, mask: &dyn Fn(&str) -> String) -> String {
    match value {
        Value::String(text) => json!(mask(text)).to_string(),
        other => {
            let shown = other.to_string();
            let masked = mask(&shown);
            if masked == shown { shown } else { json!(masked).to_string() }
        }
    }
}

fn warmup(warmup: Warmup) -> Option<String> {
    match warmup {
        Warmup::Auto => None,
        Warmup::None => Some("none".to_owned()),
        Warmup::Fixed(time) => Some(print_duration(time)),
    }
}

/// Builds a map, leaving out what is not given.
#[derive(Default)]
struct Entries(Map<String, Value>);

impl Entries {
    fn put(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    /// Puts a map or list that is not empty.
    fn some(self, key: &str, value: Value) -> Self {
        let empty = matches!(&value, Value::Object(map) if map.is_empty())
            || matches!(&value, Value::Array(items) if items.is_empty());
        if empty { self } else { self.put(key, value) }
    }

    fn time(self, key: &str, time: Option<Duration>) -> Self {
        self.maybe(key, time.map(print_duration))
    }

    fn text(self, key: &str, text: Option<&Template>) -> Self {
        self.maybe(key, text.map(Template::source))
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn plan_value(plan: &Plan) -> Value {
    let vars = plan.vars.iter().map(|var| {
        let value = json!({"value": json_value(&var.value), "secret": var.secret});
        (var.name.value.clone(), value)
    });
    let scenarios = plan
        .scenarios
        .iter()
        .map(|scenario| (scenario.name.value.clone(), scenario_value(scenario)));
    let data = plan.data.iter().map(|data| (data.name.value.clone(), data_value(data)));
    let target = plan.target.as_ref().map(|target| match target {
        Target::Builtin => "builtin",
        Target::Url(url) => url.source(),
    });
    let texts = |texts: &[crate::span::Spanned<String>]| {
        json!(texts.iter().map(|text| &text.value).collect::<Vec<_>>())
    };
    Entries::default()
        .put("name", plan.name.clone())
        .maybe("target", target)
        .some("vars", Value::Object(vars.collect()))
        .some("data", Value::Object(data.collect()))
        .some("defaults", defaults_value(&plan.defaults))
        .some("connections", connections_value(&plan.connections))
        .some("allow_hosts", texts(&plan.allow_hosts))
        .maybe("load", plan.load.as_ref().map(|load| load_value(&load.value)))
        .put("on_error", on_error(plan.on_error))
        .time("graceful_stop", plan.graceful_stop)
        .maybe("warmup", warmup(plan.warmup))
        .some("thresholds", texts(&plan.thresholds))
        .maybe("seed", plan.seed)
        .some("bandwidth", bandwidth_value(plan.bandwidth))
        .maybe("session", plan.session.map(session))
        .maybe("max_names", plan.max_names.as_ref().map(|number| number.value))
        .some("setup", steps_value(&plan.setup))
        .put("scenarios", Value::Object(scenarios.collect()))
        .some("teardown", steps_value(&plan.teardown))
        .done()
}

fn bandwidth_value(bandwidth: Bandwidth) -> Value {
    let text = |bytes: u64| format!("{bytes}B/s");
    Entries::default()
        .maybe("down", bandwidth.down.map(text))
        .maybe("up", bandwidth.up.map(text))
        .done()
}

fn session(session: Session) -> &'static str {
    match session {
        Session::PerIteration => "per_iteration",
        Session::PerUser => "per_user",
    }
}

fn on_error(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Continue => "continue",
        OnError::NextIteration => "next_iteration",
        OnError::StopUser => "stop_user",
        OnError::StopRun => "stop_run",
    }
}

fn json_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => json!(value),
        Json::Int(value) => json!(value),
        Json::Float(value) => json!(value),
        Json::Text(text) => json!(text.source()),
        Json::List(items) => Value::Array(items.iter().map(json_value).collect()),
        Json::Map(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.source().to_owned(), json_value(value)))
                .collect(),
        ),
    }
}

fn pairs_value(pairs: &[(Template, Template)]) -> Value {
    Value::Object(
        pairs.iter().map(|(key, value)| (key.source().to_owned(), json!(value.source()))).collect(),
    )
}

fn data_value(data: &DataSource) -> Value {
    let file = data.file.value.display().to_string();
    let entries = match &data.format {
        DataFormat::Csv { delimiter, columns } => Entries::default()
            .put("csv", file)
            .put(
                "delimiter",
                if *delimiter == b'\t' {
                    "\\t".to_owned()
                } else {
                    char::from(*delimiter).to_string()
                },
            )
            .maybe("header", columns.as_ref().map(|columns| json!(columns))),
        DataFormat::JsonLines => Entries::default().put("jsonl", file),
    };
    let pick = match data.pick {
        Pick::Next => "next",
        Pick::Random => "random",
        Pick::OncePerUser => "once_per_user",
    };
    let share = match data.share {
        Share::All => "all",
        Share::Scenario => "scenario",
        Share::User => "user",
    };
    let at_end = if data.at_end == AtEnd::Cycle { "cycle" } else { "stop" };
    entries.put("pick", pick).put("share", share).put("at_end", at_end).done()
}

fn defaults_value(defaults: &Defaults) -> Value {
    Entries::default()
        .some("headers", pairs_value(&defaults.headers))
        .some("timeout", timeouts_value(&defaults.timeout))
        .maybe("redirects", defaults.redirects)
        .maybe("compression", defaults.compression)
        .maybe("auth", defaults.auth.as_ref().map(auth_value))
        .maybe("max_body", defaults.max_body)
        .maybe("max_decompression_ratio", defaults.max_decompression_ratio)
        .maybe("status_errors", defaults.status_errors)
        .maybe("retry_stale", defaults.retry_stale)
        .maybe("resources", defaults.resources.as_ref().map(resources_value))
        .done()
}

fn resources_value(resources: &Resources) -> Value {
    if !resources.load {
        return json!(false);
    }
    let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone());
    Entries::default()
        .put("limit", resources.limit)
        .maybe("include", text(&resources.include))
        .maybe("exclude", text(&resources.exclude))
        .put("hosts", if resources.hosts == ResourceHosts::Same { "same" } else { "all" })
        .put("cache", resources.cache)
        .done()
}

fn timeouts_value(timeout: &Timeouts) -> Value {
    Entries::default()
        .time("pool", timeout.pool)
        .time("connect", timeout.connect)
        .time("first_byte", timeout.first_byte)
        .time("total", timeout.total)
        .done()
}

fn auth_value(auth: &Auth) -> Value {
    let login = |user: &Template, password: &Template| json!({"user": user.source(), "password": password.source()});
    match auth {
        Auth::Basic { user, password } => json!({"basic": login(user, password)}),
        Auth::Digest { user, password } => json!({"digest": login(user, password)}),
        Auth::Bearer(token) => json!({"bearer": token.source()}),
    }
}

fn connections_value(connections: &Connections) -> Value {
    let (reuse, pool_size) = match connections.reuse {
        ConnectionReuse::PerUser => (None, None),
        ConnectionReuse::PerIteration => (Some("per_iteration"), None),
        ConnectionReuse::Pool(size) => (Some("pool"), Some(size)),
    };
    let texts =
        |list: &[Spanned<String>]| json!(list.iter().map(|text| &text.value).collect::<Vec<_>>());
    let resolve = connections.resolve.iter().map(|(host, to)| (host.clone(), texts(to)));
    let path =
        |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let tls = &connections.tls;
    let tls = Entries::default()
        .maybe("ca", path(&tls.ca))
        .maybe("cert", path(&tls.cert))
        .maybe("key", path(&tls.key))
        .maybe("server_name", tls.server_name.clone())
        .maybe("insecure", tls.insecure.then_some(true))
        .maybe("resume", tls.resume);
    let http = HTTP.iter().find(|(_, version)| *version == connections.http);
    let http = http.filter(|(_, version)| *version != HttpVersion::default());
    Entries::default()
        .maybe("reuse", reuse)
        .maybe("pool_size", pool_size)
        .maybe("http", http.map(|(word, _)| *word))
        .some("resolve", Value::Object(resolve.collect()))
        .some("source_addresses", texts(&connections.source_addresses))
        .maybe("unix", path(&connections.unix))
        .text("proxy", connections.proxy.as_ref())
        .some("tls", tls.done())
        .done()
}

fn scenario_value(scenario: &Scenario) -> Value {
    Entries::default()
        .maybe("load", scenario.load.as_ref().map(|load| load_value(&load.value)))
        .maybe("weight", scenario.weight.as_ref().map(|weight| weight.value))
        .time("start_after", Some(scenario.start_after).filter(|time| !time.is_zero()))
        .some("defaults", defaults_value(&scenario.defaults))
        .maybe("on_error", scenario.on_error.map(on_error))
        .maybe("bandwidth", scenario.bandwidth.map(bandwidth_value))
        .maybe("session", scenario.session.map(session))
        .put("steps", steps_value(&scenario.steps))
        .done()
}

/// A rate that reads back as the same number.
fn rate(rate: f64) -> String {
    format!("{rate}/s")
}

fn load_value(load: &Load) -> Value {
    let ramp = |ramp: Duration| Some(ramp).filter(|ramp| !ramp.is_zero());
    match load {
        Load::Closed(closed) => {
            let stages = closed
                .stages
                .iter()
                .map(|stage| json!({"users": stage.level, "over": print_duration(stage.over)}));
            Entries::default()
                .maybe("users", closed.users)
                .time("ramp", ramp(closed.ramp))
                .some("stages", stages.collect())
                .time("pacing", closed.pacing)
                .time("for", closed.duration)
                .maybe("iterations", closed.iterations)
                .maybe("total_iterations", closed.total_iterations)
                .maybe("end", (closed.end == End::Together).then_some("together"))
                .done()
        }
        Load::Open(open) => {
            let stages = open.stages.iter().map(
                |stage| json!({"rate": rate(stage.level), "over": print_duration(stage.over)}),
            );
            Entries::default()
                .maybe("rate", open.rate.map(rate))
                .time("ramp", ramp(open.ramp))
                .some("stages", stages.collect())
                .put("arrivals", if open.arrivals == Arrivals::Even { "even" } else { "poisson" })
                .put("max_users", open.max_users)
                .time("for", open.duration)
                .maybe("total_iterations", open.total_iterations)
                .done()
        }
    }
}

fn steps_value(steps: &[Step]) -> Value {
    Value::Array(steps.iter().map(|step| step_value(&step.kind)).collect())
}

fn step_value(kind: &StepKind) -> Value {
    match kind {
        StepKind::Request(request) => request_value(request),
        StepKind::Exec(exec) => exec_value(exec),
        StepKind::Think(think) => json!({"think": think_value(think)}),
        StepKind::Group { name, steps } => json!({"group": name, "steps": steps_value(steps)}),
        StepKind::Repeat { times, counter, steps } => Entries::default()
            .put("repeat", times.source())
            .maybe("counter", counter.clone())
            .put("steps", steps_value(steps))
            .done(),
        StepKind::While { condition, steps } => {
            json!({"while": condition.source(), "steps": steps_value(steps)})
        }
        StepKind::If { condition, then, otherwise } => Entries::default()
            .put("if", condition.source())
            .put("then", steps_value(then))
            .some("else", steps_value(otherwise))
            .done(),
        StepKind::ForEach { item, list, steps } => {
            json!({"for_each": {item: list.source()}, "steps": steps_value(steps)})
        }
        StepKind::Choose(choices) => {
            let choices = choices.iter().map(
                |choice| json!({"weight": choice.weight, "steps": steps_value(&choice.steps)}),
            );
            json!({"choose": choices.collect::<Vec<_>>()})
        }
        StepKind::RoundRobin(branches) => {
            let branches = branches.iter().map(|steps| json!({"steps": steps_value(steps)}));
            json!({"round_robin": branches.collect::<Vec<_>>()})
        }
        StepKind::OncePerUser(steps) => json!({"once_per_user": steps_value(steps)}),
        StepKind::Parallel { limit, steps } => {
            json!({"parallel": {"limit": limit, "steps": steps_value(steps)}})
        }
        StepKind::Set(values) => {
            let values = values.iter().map(|(name, value)| (name.value.clone(), json_value(value)));
            json!({"set": Value::Object(values.collect())})
        }
        StepKind::ClearCookies => json!({"clear_cookies": true}),
        StepKind::SetCookie(cookie) => {
            let entries = Entries::default()
                .put("name", cookie.name.source())
                .put("value", cookie.value.source())
                .text("url", cookie.url.as_ref())
                .text("domain", cookie.domain.as_ref())
                .text("path", cookie.path.as_ref());
            json!({"set_cookie": entries.done()})
        }
        StepKind::Log(text) => json!({"log": text.source()}),
        StepKind::Stop(scope) => json!({"stop": match scope {
            StopScope::Iteration => "iteration",
            StopScope::User => "user",
            StopScope::Run => "run",
        }}),
        StepKind::Metric(metric) => json!({"metric": metric_value(metric)}),
    }
}

fn metric_value(metric: &Metric) -> Value {
    let kind = MetricKind::NAMES.iter().find(|(_, kind)| *kind == metric.kind);
    let tags = metric.tags.iter().map(|(key, text)| (key.value.clone(), json!(text.source())));
    Entries::default()
        .put("name", metric.name.value.clone())
        .maybe("kind", kind.map(|(name, _)| *name))
        .put("value", metric.value.source())
        .some("tags", Value::Object(tags.collect()))
        .done()
}

fn think_value(think: &Think) -> Value {
    match think {
        Think::Fixed(time) => json!(print_duration(*time)),
        Think::Uniform(from, to) => {
            json!(format!("{}..{}", print_duration(*from), print_duration(*to)))
        }
        Think::Normal { mean, sd } => {
            json!({"normal": {"mean": print_duration(*mean), "sd": print_duration(*sd)}})
        }
        Think::Exponential { mean } => json!({"exponential": print_duration(*mean)}),
    }
}

fn request_value(request: &Request) -> Value {
    let line = json!({"method": request.method, "url": request.url.source()});
    let entries = Entries::default()
        .put("request", line)
        .text("name", request.name.as_ref())
        .some("query", pairs_value(&request.query))
        .some("headers", pairs_value(&request.headers));
    let entries = match &request.body {
        Body::None => entries,
        Body::Text(text) => entries.put("body", text.source()),
        Body::File { path, decompress, replace } => {
            let pairs =
                replace.iter().map(|(marker, value)| (marker.value.clone(), json!(value.source())));
            let file = Entries::default()
                .put("file", path.value.display().to_string())
                .maybe("decompress", decompress.then_some(true))
                .some("replace", Value::Object(pairs.collect()));
            entries.put("body", file.done())
        }
        Body::Json(json) => entries.put("json", json_value(json)),
        Body::Form(pairs) => entries.put("form", pairs_value(pairs)),
        Body::Multipart(parts) => {
            let parts = parts.iter().map(|part| (part.name.source().to_owned(), part_value(part)));
            entries.put("multipart", Value::Object(parts.collect()))
        }
    };
    entries
        .maybe("auth", request.auth.as_ref().map(auth_value))
        .some("timeout", timeouts_value(&request.timeout))
        .maybe("redirects", request.redirects)
        .maybe("compression", request.compression)
        .maybe("max_body", request.max_body)
        .maybe("max_decompression_ratio", request.max_decompression_ratio)
        .maybe("response_body", request.response_body.as_ref().map(response_body_value))
        .maybe("status_errors", request.status_errors)
        .maybe("retry_stale", request.retry_stale)
        .maybe("resources", request.resources.as_ref().map(resources_value))
        .some("extract", extracts_value(&request.extract))
        .some("check", checks_value(&request.check))
        .done()
}

fn response_body_value(body: &ResponseBody) -> Value {
    match body {
        ResponseBody::Discard => json!("discard"),
        ResponseBody::Hash(algorithm) => {
            let name = HashAlgorithm::NAMES.iter().find(|(_, known)| known == algorithm);
            json!({"hash": name.map_or("", |(name, _)| name)})
        }
        ResponseBody::Keep(bytes) => json!({"keep": bytes}),
        ResponseBody::File(path) => json!({"file": path.source()}),
    }
}

fn part_value(part: &FormPart) -> Value {
    let entries = Entries::default();
    let entries = match &part.content {
        FormPartContent::Text(text) => entries.put("text", text.source()),
        FormPartContent::File { path, filename } => entries
            .put("file", path.value.display().to_string())
            .maybe("filename", filename.clone()),
    };
    entries.maybe("content_type", part.content_type.clone()).done()
}

fn extracts_value(extracts: &[Extract]) -> Value {
    Value::Object(
        extracts
            .iter()
            .map(|extract| (extract.variable.value.clone(), extract_value(extract)))
            .collect(),
    )
}

fn extract_value(extract: &Extract) -> Value {
    let entries = Entries::default();
    let entries = match &extract.from {
        Extractor::Regex { pattern, group } => {
            entries.put("regex", pattern.value.clone()).maybe("group", *group)
        }
        Extractor::Between { left, right } => {
            entries.put("between", json!([left.value, right.value]))
        }
        Extractor::Json(path) => entries.put("json", path.value.clone()),
        Extractor::Css { selector, attr } => {
            entries.put("css", selector.value.clone()).maybe("attr", attr.clone())
        }
        Extractor::XPath(path) => entries.put("xpath", path.value.clone()),
        Extractor::Header(name) => entries.put("header", name.clone()),
        Extractor::Cookie(name) => entries.put("cookie", name.clone()),
        Extractor::Status => return json!("status"),
        Extractor::BodyHash => return json!("body_hash"),
        Extractor::BodyFile => return json!("body_file"),
    };
    let which = match extract.which {
        Match::First => json!("first"),
        Match::Nth(n) => json!(n),
        Match::Last => json!("last"),
        Match::All => json!("all"),
        Match::Random => json!("random"),
    };
    entries.put("match", which).maybe("default", extract.default.as_ref().map(json_value)).done()
}

fn checks_value(checks: &[Check]) -> Value {
    let check = |check: &Check| {
        Entries::default()
            .put("expr", check.expr.source())
            .maybe("name", check.name.clone())
            .maybe("warn", check.warn.then_some(true))
            .done()
    };
    Value::Array(checks.iter().map(check).collect())
}

fn exec_value(exec: &Exec) -> Value {
    Entries::default()
        .put("exec", json!(exec.command.iter().map(Template::source).collect::<Vec<_>>()))
        .maybe("name", exec.name.clone())
        .time("timeout", exec.timeout)
        .some("extract", extracts_value(&exec.extract))
        .some("check", checks_value(&exec.check))
        .done()
}
