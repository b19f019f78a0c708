//! Steps: one known key of a map decides which kind a step is.

use super::node::{Kind, Node};
use super::read::{Fields, Reader};
use super::suggest::suggest;
use super::tables::{self, METHODS, STEPS};
use crate::expr::Expr;
use crate::model::*;
use crate::template::Template;

/// Deepest nesting of included files.
const MAX_INCLUDES: usize = 16;

impl Reader {
    pub(super) fn steps(&mut self, node: Option<&Node>) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in self.items(node) {
            if node.get("include").is_some() {
                steps.extend(self.include(node));
            } else if let Some(kind) = self.step(node) {
                steps.push(Step { kind, span: node.span });
            }
        }
        steps
    }

    fn step(&mut self, node: &Node) -> Option<StepKind> {
        let Kind::Map(entries) = &node.kind else {
            self.error(
                node.span,
                format!("expected a step, found {}", node.describe()),
                "such as `- get: /`",
            );
            return None;
        };
        let method = METHODS.iter().chain(&["request"]).find(|method| node.get(method).is_some());
        if method.is_some() {
            return self.request(node).map(|request| StepKind::Request(Box::new(request)));
        }
        let kind =
            STEPS[1..].iter().map(|table| table.keys[0].0).find(|key| node.get(key).is_some());
        match kind {
            Some("group") => self.group(node),
            Some("think") => self.think_step(node),
            Some("repeat") => self.repeat(node),
            Some("while") => {
                let fields = self.fields(node, &tables::WHILE)?;
                let condition = self.expr(fields.get("while"))?;
                Some(StepKind::While { condition, steps: self.steps(fields.get("steps")) })
            }
            Some("if") => {
                let fields = self.fields(node, &tables::IF)?;
                let condition = self.expr(fields.get("if"))?;
                let (then, otherwise) =
                    (self.steps(fields.get("then")), self.steps(fields.get("else")));
                Some(StepKind::If { condition, then, otherwise })
            }
            Some("for_each") => self.for_each(node),
            Some("choose") => self.choose(node),
            Some("round_robin") => self.round_robin(node),
            Some("once_per_user") => {
                let fields = self.fields(node, &tables::ONCE_PER_USER)?;
                Some(StepKind::OncePerUser(self.steps(fields.get("once_per_user"))))
            }
            Some("parallel") => self.parallel(node),
            Some("set") => self.set(node),
            Some("clear_cookies") => {
                let fields = self.fields(node, &tables::CLEAR_COOKIES)?;
                let node = fields.get("clear_cookies")?;
                if !self.bool(Some(node))? {
                    self.error(node.span, "`clear_cookies` takes `true`", "leave out the step");
                }
                Some(StepKind::ClearCookies)
            }
            Some("set_cookie") => {
                self.cookie(node).map(|cookie| StepKind::SetCookie(Box::new(cookie)))
            }
            Some("log") => {
                let fields = self.fields(node, &tables::LOG)?;
                self.template(fields.get("log")).map(StepKind::Log)
            }
            Some("stop") => {
                let fields = self.fields(node, &tables::STOP)?;
                let words = [
                    ("iteration", StopScope::Iteration),
                    ("user", StopScope::User),
                    ("run", StopScope::Run),
                ];
                self.word(fields.get("stop"), &words).map(StepKind::Stop)
            }
            Some("metric") => self.metric(node).map(|metric| StepKind::Metric(Box::new(metric))),
            Some("exec") => self.exec(node).map(|exec| StepKind::Exec(Box::new(exec))),
            _ => {
                self.unknown_step(node, entries);
                None
            }
        }
    }

    fn unknown_step(&mut self, node: &Node, entries: &[(Node, Node)]) {
        let known = || {
            METHODS
                .into_iter()
                .chain(["request"])
                .chain(STEPS[1..].iter().map(|table| table.keys[0].0))
        };
        let near = entries.iter().find_map(|(key, _)| match &key.kind {
            Kind::Scalar(name, _) => suggest(name, known()).map(|near| (key.span, name, near)),
            _ => None,
        });
        match near {
            Some((span, name, near)) => {
                self.error(
                    span,
                    format!("unknown step `{name}`"),
                    &format!("did you mean `{near}`?"),
                );
            }
            None => {
                let all = known().collect::<Vec<_>>().join(", ");
                self.error(node.span, "unknown step", &format!("steps are {all}"));
            }
        }
    }

    fn group(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::GROUP)?;
        let name = self.string(fields.get("group"))?;
        Some(StepKind::Group { name, steps: self.steps(fields.get("steps")) })
    }

    fn think_step(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::THINK)?;
        let node = fields.get("think")?;
        if let Some(normal) = node.get("normal") {
            let fields = self.fields(normal, &tables::NORMAL)?;
            let (mean, sd) = (self.duration(fields.get("mean"))?, self.duration(fields.get("sd"))?);
            return Some(StepKind::Think(Think::Normal { mean, sd }));
        }
        if let Some(mean) = node.get("exponential") {
            let mean = self.duration(Some(mean))?;
            return Some(StepKind::Think(Think::Exponential { mean }));
        }
        let text = self.text(Some(node))?;
        let Some((from, to)) = text.value.split_once("..") else {
            return self.duration(Some(node)).map(|time| StepKind::Think(Think::Fixed(time)));
        };
        let parse = |text: &str| squall_base::units::parse_duration(text.trim());
        match (parse(from), parse(to)) {
            (Ok(from), Ok(to)) if from <= to => Some(StepKind::Think(Think::Uniform(from, to))),
            (Ok(_), Ok(_)) => {
                self.error(
                    text.span,
                    format!("invalid range `{}`", text.value),
                    "write the shorter time first: 1s..3s",
                );
                None
            }
            (Err(error), _) | (_, Err(error)) => {
                self.error(text.span, error.0, "write a range as 1s..3s");
                None
            }
        }
    }

    fn repeat(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::REPEAT)?;
        let times = self.expr(fields.get("repeat"))?;
        let counter = self.text(fields.get("counter"));
        if let Some(counter) = &counter {
            self.identifier(counter);
        }
        let steps = self.steps(fields.get("steps"));
        Some(StepKind::Repeat { times, counter: counter.map(|counter| counter.value), steps })
    }

    fn for_each(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::FOR_EACH)?;
        let of = fields.get("for_each")?;
        let names = self.names(of);
        let [(item, list)] = names.as_slice() else {
            self.error(
                of.span,
                "for_each takes one variable and a list",
                "such as `for_each: {link: links}`",
            );
            return None;
        };
        self.identifier(item);
        let list = self.expr(Some(list))?;
        Some(StepKind::ForEach {
            item: item.value.clone(),
            list,
            steps: self.steps(fields.get("steps")),
        })
    }

    fn choose(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::CHOOSE)?;
        let mut choices = Vec::new();
        for node in self.items(fields.get("choose")) {
            let Some(fields) = self.fields(node, &tables::CHOICE) else { continue };
            let weight = match fields.get("weight") {
                Some(weight) => self.number(Some(weight)).unwrap_or(1.0),
                None => 1.0,
            };
            if weight <= 0.0 {
                self.error(node.span, "a weight must be above 0", "");
            }
            choices.push(Choice { weight, steps: self.steps(fields.get("steps")) });
        }
        if choices.is_empty() {
            self.error(node.span, "`choose` needs at least one choice", "");
            return None;
        }
        Some(StepKind::Choose(choices))
    }

    fn round_robin(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::ROUND_ROBIN)?;
        let mut branches = Vec::new();
        for node in self.items(fields.get("round_robin")) {
            let Some(fields) = self.fields(node, &tables::BRANCH) else { continue };
            branches.push(self.steps(fields.get("steps")));
        }
        if branches.is_empty() {
            self.error(node.span, "`round_robin` needs at least one branch", "");
            return None;
        }
        Some(StepKind::RoundRobin(branches))
    }

    fn parallel(&mut self, node: &Node) -> Option<StepKind> {
        let node = self.fields(node, &tables::PARALLEL)?.get("parallel")?;
        let (limit, list) = match node.kind {
            Kind::Map(_) => {
                let fields = self.fields(node, &tables::BRANCHES)?;
                (fields.get("limit"), fields.get("steps"))
            }
            _ => (None, Some(node)),
        };
        let limit = self.parallel_limit(limit);
        let steps = self.steps(list);
        if list.is_none_or(|list| matches!(&list.kind, Kind::List(items) if items.is_empty())) {
            self.error(node.span, "`parallel` needs at least one step", "");
            return None;
        }
        Some(StepKind::Parallel { limit, steps })
    }

    fn set(&mut self, node: &Node) -> Option<StepKind> {
        let fields = self.fields(node, &tables::SET)?;
        let mut values = Vec::new();
        for (name, value) in self.names(fields.get("set")?) {
            self.identifier(&name);
            values.extend(self.json(value).map(|value| (name, value)));
        }
        Some(StepKind::Set(values))
    }

    fn cookie(&mut self, node: &Node) -> Option<Cookie> {
        let fields = self.fields(node, &tables::SET_COOKIE)?;
        let node = fields.get("set_cookie")?;
        let fields = self.fields(node, &tables::COOKIE)?;
        let (url, domain, path) = (fields.get("url"), fields.get("domain"), fields.get("path"));
        if let (Some(node), true) = (url, domain.is_some() || path.is_some()) {
            let help = "leave out `url`, or `domain` and `path`";
            self.error(node.span, "a cookie has either `url`, or `domain` and `path`", help);
        }
        let (name, value) =
            (self.template(fields.get("name")), self.template(fields.node.get("value")));
        let (Some(name), Some(value)) = (name, value) else {
            if fields.get("name").is_none() || fields.node.get("value").is_none() {
                let help = "such as `set_cookie: {name: lang, value: en}`";
                self.error(node.span, "a cookie needs `name` and `value`", help);
            }
            return None;
        };
        let (url, domain) = (self.template(url), self.template(domain));
        Some(Cookie { name, value, url, domain, path: self.template(path) })
    }

    fn metric(&mut self, node: &Node) -> Option<Metric> {
        let outer = self.fields(node, &tables::METRIC)?;
        let node = outer.get("metric")?;
        let fields = self.fields(node, &tables::METRIC_VALUE)?;
        let missing = ["name", "kind"].into_iter().find(|key| fields.get(key).is_none());
        let kind = self.word(fields.get("kind"), &MetricKind::NAMES);
        let is_counter = kind == Some(MetricKind::Counter);
        let missing = missing.or((fields.get("value").is_none() && !is_counter).then_some("value"));
        if let Some(missing) = missing {
            self.error(
                node.span,
                format!("the metric has no `{missing}`"),
                "such as `metric: {name: stock, kind: gauge, value: stock}`",
            );
            return None;
        }
        let name = self.text(fields.get("name"))?;
        self.identifier(&name);
        let value = match fields.get("value") {
            Some(value) => self.expr(Some(value))?,
            None => Expr::parse("1", node.span).ok()?,
        };
        let mut tags = Vec::new();
        for (key, text) in fields.get("tags").map(|tags| self.names(tags)).unwrap_or_default() {
            self.identifier(&key);
            tags.push((key, self.template(Some(text))?));
        }
        Some(Metric { name, kind: kind?, value, tags })
    }

    fn exec(&mut self, node: &Node) -> Option<Exec> {
        let fields = self.fields(node, &tables::EXEC)?;
        let parts = self.items(fields.get("exec"));
        let command: Vec<Template> =
            parts.into_iter().filter_map(|part| self.template(Some(part))).collect();
        if command.is_empty() {
            self.error(
                node.span,
                "exec takes a program and its arguments",
                "such as `exec: [ls, -l]`",
            );
            return None;
        }
        Some(Exec {
            command,
            name: self.string(fields.get("name")),
            timeout: self.duration(fields.get("timeout")),
            extract: self.extracts(fields.get("extract")),
            check: self.checks(fields.get("check")),
        })
    }

    /// The steps of another file, in place of this step.
    fn include(&mut self, node: &Node) -> Vec<Step> {
        let Some(fields) = self.fields(node, &tables::INCLUDE) else { return Vec::new() };
        let Some(path) = self.path(fields.get("include")) else { return Vec::new() };
        if self.including.contains(&path.value) {
            self.error(path.span, "this file includes itself", "");
            return Vec::new();
        }
        if self.including.len() >= MAX_INCLUDES {
            let message = format!("includes are nested more than {MAX_INCLUDES} levels deep");
            self.error(path.span, message, "");
            return Vec::new();
        }
        let text = match std::fs::read_to_string(&path.value) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.value.display());
                self.error(path.span, message, "paths are relative to the folder of the plan");
                return Vec::new();
            }
        };
        let name = path.value.display().to_string();
        self.including.push(path.value);
        let root = self.parse(&name, &text);
        let steps = root.map(|root| self.steps(Some(root.get("steps").unwrap_or(&root))));
        self.including.pop();
        steps.unwrap_or_default()
    }

    fn request(&mut self, node: &Node) -> Option<Request> {
        let fields = self.fields(node, &tables::REQUEST)?;
        let lines: Vec<&str> = METHODS
            .into_iter()
            .chain(["request"])
            .filter(|method| fields.get(method).is_some())
            .collect();
        if lines.len() > 1 {
            self.error(
                node.span,
                format!("a step makes one request, and this one has {}", lines.join(" and ")),
                "",
            );
        }
        let (method, url) = match fields.get("request") {
            Some(line) => {
                let fields = self.fields(line, &tables::ANY_METHOD)?;
                let method = self.text(fields.get("method"))?;
                if method.value.is_empty()
                    || !method.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                {
                    self.error(
                        method.span,
                        format!("invalid method `{}`", method.value),
                        "use letters, digits and `-`",
                    );
                }
                (method.value.to_ascii_uppercase(), self.template(fields.get("url"))?)
            }
            None => {
                let method = lines.first()?;
                (method.to_ascii_uppercase(), self.template(fields.get(method))?)
            }
        };
        let body = self.body(&fields);
        Some(Request {
            method,
            url,
            name: self.template(fields.get("name")),
            query: self.pairs(fields.get("query")),
            headers: self.pairs(fields.get("headers")),
            body,
            auth: self.auth(fields.get("auth")),
            timeout: self.timeouts(fields.get("timeout")),
            redirects: self.redirects(fields.get("redirects")),
            compression: self.bool(fields.get("compression")),
            max_body: self.size(fields.get("max_body")),
            max_decompression_ratio: self.positive(fields.get("max_decompression_ratio")),
            response_body: self.response_body(fields.get("response_body")),
            status_errors: self.bool(fields.get("status_errors")),
            retry_stale: self.bool(fields.get("retry_stale")),
            resources: self.resources(fields.get("resources")),
            extract: self.extracts(fields.get("extract")),
            check: self.checks(fields.get("check")),
        })
    }

    fn file_body(&mut self, fields: &Fields<'_>) -> Option<Body> {
        let path = self.path(fields.get("file"))?;
        let mut replace = Vec::new();
        for (marker, node) in fields.get("replace").map(|node| self.names(node)).unwrap_or_default()
        {
            if marker.value.is_empty() {
                self.error(marker.span, "the text to replace cannot be empty", "");
                continue;
            }
            replace.push((marker, self.template(Some(node))?));
        }
        let decompress = self.bool(fields.get("decompress")).unwrap_or(false);
        Some(Body::File { path, decompress, replace })
    }

    fn response_body(&mut self, node: Option<&Node>) -> Option<ResponseBody> {
        const EXPECTED: &str = "discard, {hash: sha256}, {keep: 64KiB} or {file: PATH}";
        let node = node?;
        if let Kind::Map(_) = node.kind {
            let fields = self.fields(node, &tables::RESPONSE_BODY)?;
            return match (fields.get("hash"), fields.get("keep"), fields.get("file")) {
                (hash @ Some(_), None, None) => {
                    self.word(hash, &HashAlgorithm::NAMES).map(ResponseBody::Hash)
                }
                (None, keep @ Some(_), None) => self.size(keep).map(ResponseBody::Keep),
                (None, None, file @ Some(_)) => self.template(file).map(ResponseBody::File),
                // An unknown key has been reported.
                (None, None, None) if fields.has_unknown(&tables::RESPONSE_BODY) => None,
                _ => {
                    let message = "response_body takes exactly one of hash, keep and file";
                    self.error(node.span, message, "");
                    None
                }
            };
        }
        let text = self.text(Some(node))?;
        if text.value == "discard" {
            return Some(ResponseBody::Discard);
        }
        let hint = HashAlgorithm::NAMES.iter().find(|(name, _)| *name == text.value);
        let hint = hint.map(|(name, _)| format!("did you mean `{{hash: {name}}}`?"));
        let message = format!("invalid response_body `{}`: expected {EXPECTED}", text.value);
        self.error(text.span, message, &hint.unwrap_or_default());
        None
    }

    fn body(&mut self, fields: &Fields<'_>) -> Body {
        let kinds = ["body", "json", "form", "multipart"];
        let given: Vec<&str> =
            kinds.into_iter().filter(|kind| fields.get(kind).is_some()).collect();
        if given.len() > 1 {
            self.error(
                fields.node.span,
                format!("a request has one body, and this one has {}", given.join(" and ")),
                "",
            );
        }
        let body = match given.first() {
            Some(&"body") => match fields.get("body") {
                Some(node @ Node { kind: Kind::Map(_), .. }) => {
                    self.fields(node, &tables::BODY_FILE).and_then(|fields| self.file_body(&fields))
                }
                node => self.template(node).map(Body::Text),
            },
            Some(&"json") => fields.get("json").and_then(|node| self.json(node)).map(Body::Json),
            Some(&"form") => Some(Body::Form(self.pairs(fields.get("form")))),
            Some(_) => Some(Body::Multipart(self.parts(fields.get("multipart")))),
            None => None,
        };
        body.unwrap_or_default()
    }

    fn parts(&mut self, node: Option<&Node>) -> Vec<FormPart> {
        let Some(node) = node else { return Vec::new() };
        let mut parts = Vec::new();
        for (name, node) in self.names(node) {
            let name = match Template::parse(&name.value, name.span) {
                Ok(name) => name,
                Err(error) => {
                    self.report(error);
                    continue;
                }
            };
            let Kind::Map(_) = &node.kind else {
                let text = self.template(Some(node)).map(FormPartContent::Text);
                parts.extend(text.map(|content| FormPart { name, content, content_type: None }));
                continue;
            };
            let Some(fields) = self.fields(node, &tables::PART) else { continue };
            let content_type = self.string(fields.get("content_type"));
            let content = match (self.template(fields.get("text")), self.path(fields.get("file"))) {
                (Some(text), None) => FormPartContent::Text(text),
                (None, Some(path)) => {
                    FormPartContent::File { path, filename: self.string(fields.get("filename")) }
                }
                _ => {
                    self.error(node.span, "a part needs either `text` or `file`", "");
                    continue;
                }
            };
            parts.push(FormPart { name, content, content_type });
        }
        parts
    }

    fn extracts(&mut self, node: Option<&Node>) -> Vec<Extract> {
        let Some(node) = node else { return Vec::new() };
        let mut extracts = Vec::new();
        for (variable, node) in self.names(node) {
            self.identifier(&variable);
            let word = match &node.kind {
                Kind::Scalar(text, _) if text == "status" => Some(Extractor::Status),
                Kind::Scalar(text, _) if text == "body_hash" => Some(Extractor::BodyHash),
                Kind::Scalar(text, _) if text == "body_file" => Some(Extractor::BodyFile),
                _ => None,
            };
            if let Some(from) = word {
                extracts.push(Extract { variable, from, which: Match::First, default: None });
                continue;
            }
            let Some(fields) = self.fields(node, &tables::EXTRACT) else { continue };
            let Some(from) = self.extractor(&fields) else { continue };
            let which = self.which(fields.get("match"));
            let default = fields.node.get("default").and_then(|node| self.json(node));
            extracts.push(Extract { variable, from, which, default });
        }
        extracts
    }

    fn extractor(&mut self, fields: &Fields<'_>) -> Option<Extractor> {
        let kinds = ["regex", "between", "json", "css", "xpath", "header", "cookie"];
        let given: Vec<&str> =
            kinds.into_iter().filter(|kind| fields.get(kind).is_some()).collect();
        let [kind] = given.as_slice() else {
            let message = format!("an extract takes exactly one of {}", kinds.join(", "));
            self.error(fields.node.span, message, "");
            return None;
        };
        for (key, owner) in [("group", "regex"), ("attr", "css")] {
            if let Some(node) = fields.get(key).filter(|_| *kind != owner) {
                self.error(node.span, format!("`{key}` only applies to `{owner}`"), "");
            }
        }
        let node = fields.get(kind);
        Some(match *kind {
            "regex" => Extractor::Regex {
                pattern: self.text(node)?,
                group: self.small_int(fields.get("group")),
            },
            "between" => {
                let texts: Vec<_> =
                    self.items(node).into_iter().filter_map(|item| self.text(Some(item))).collect();
                let Ok([left, right]) = <[_; 2]>::try_from(texts) else {
                    self.error(
                        fields.node.span,
                        "`between` takes two strings: [before, after]",
                        "",
                    );
                    return None;
                };
                Extractor::Between { left, right }
            }
            "json" => Extractor::Json(self.text(node)?),
            "css" => {
                Extractor::Css { selector: self.text(node)?, attr: self.string(fields.get("attr")) }
            }
            "xpath" => Extractor::XPath(self.text(node)?),
            "header" => Extractor::Header(self.string(node)?),
            _ => Extractor::Cookie(self.string(node)?),
        })
    }

    fn which(&mut self, node: Option<&Node>) -> Match {
        let Some(text) = self.text(node) else { return Match::First };
        let is_number = text.value.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !text.value.is_empty() {
            return match text.value.parse::<u32>() {
                Ok(n) if n > 0 => Match::Nth(n),
                _ => {
                    let most = u32::MAX;
                    let message =
                        format!("invalid match {}: expected a number from 1 to {most}", text.value);
                    self.error(text.span, message, "matches are counted from 1");
                    Match::First
                }
            };
        }
        let words = [
            ("first", Match::First),
            ("last", Match::Last),
            ("all", Match::All),
            ("random", Match::Random),
        ];
        self.word(node, &words).unwrap_or_default()
    }

    fn checks(&mut self, node: Option<&Node>) -> Vec<Check> {
        let mut checks = Vec::new();
        for node in self.items(node) {
            let Kind::Map(_) = &node.kind else {
                let expr = self.expr(Some(node));
                checks.extend(expr.map(|expr| Check { expr, name: None, warn: false }));
                continue;
            };
            let Some(fields) = self.fields(node, &tables::CHECK) else { continue };
            let Some(expr) = self.expr(fields.get("expr")) else {
                if fields.get("expr").is_none() {
                    self.error(node.span, "a check needs `expr`", "");
                }
                continue;
            };
            let (name, warn) = (self.string(fields.get("name")), self.bool(fields.get("warn")));
            checks.push(Check { expr, name, warn: warn.unwrap_or(false) });
        }
        checks
    }
}
