//! Monitors: what is wrong with one beyond its form, how one is typed as a flag, and what of it is secret. Pure.

use crate::diagnostic::Diagnostic;
use crate::feed_target::parts;
use crate::model::{HostWord, Monitor, MonitorCommand, MonitorKind, Plan, Prometheus};
use crate::series_selector::SeriesSelector;
use crate::span::{Span, Spanned};

/// What a flag looks like.
const FLAG: &str = "expected NAME=KIND:VALUE, such as server=port:8080";
/// Longest name.
const MAX_NAME: usize = 60;

/// What is wrong with the monitors of a plan.
pub(crate) fn problems(plan: &Plan) -> Vec<Diagnostic> {
    plan.monitor.iter().flat_map(problems_of).collect()
}

fn problems_of(monitor: &Monitor) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = problem_of_name(&monitor.name).into_iter().collect();
    let mut add = |span: Span, problem: Result<(), String>| {
        found.extend(problem.err().map(|text| Diagnostic::error(span, text)));
    };
    match &monitor.kind {
        MonitorKind::Prometheus(own) => {
            add(own.url.span, problem_of_url(&own.url.value, &["http", "https"]));
            for text in &own.metrics {
                add(text.span, SeriesSelector::parse(&text.value).map(|_| ()));
            }
        }
        MonitorKind::Nginx(url) => add(url.span, problem_of_url(&url.value, &["http", "https"])),
        MonitorKind::Postgres(url) => {
            add(url.span, problem_of_url(&url.value, &["postgres", "postgresql"]));
        }
        MonitorKind::Cgroup(path) if path.split('/').any(|part| part == "..") => {
            add(monitor.name.span, Err("a control group is named without `..`".to_owned()));
        }
        MonitorKind::Process(name) if name.contains('/') => {
            let text = format!("`{name}`: expected the name of a program, without its folder");
            add(monitor.name.span, Err(text));
        }
        _ => {}
    }
    found
}

fn problem_of_name(name: &Spanned<String>) -> Option<Diagnostic> {
    let is_good = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let text = &name.value;
    let is_good = !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_good);
    let message =
        "invalid name of a monitor: expected letters, digits, `_`, `-` and `.`, at most 60";
    (!is_good).then(|| Diagnostic::error(name.span, message))
}

fn problem_of_url(url: &str, schemes: &[&str]) -> Result<(), String> {
    let shown = schemes.iter().map(|own| format!("{own}://")).collect::<Vec<_>>().join(" or ");
    let (scheme, _, rest) = parts(url).ok_or_else(|| format!("expected a URL with {shown}"))?;
    if !schemes.contains(&scheme) || rest.is_empty() || rest.starts_with(['/', '?', '#']) {
        return Err(format!("expected a URL with {shown} and a host"));
    }
    match rest.contains('@') {
        // A password with a `/` or `?` would end the host, and be shown as a part of the path.
        true => {
            Err("what is special in a password is percent-encoded, such as %2F for `/`".to_owned())
        }
        false => Ok(()),
    }
}

impl Monitor {
    /// Reads a monitor as it is typed: `NAME=KIND:VALUE`.
    ///
    /// # Errors
    /// It is none, in a sentence without what may be secret.
    pub fn of_flag(text: &str) -> Result<Monitor, String> {
        let (name, rest) = text.split_once('=').ok_or(FLAG)?;
        let (kind, value) = rest.split_once(':').ok_or(FLAG)?;
        if value.is_empty() {
            return Err(FLAG.to_owned());
        }
        let spanned = || Spanned { value: value.to_owned(), span: Span::default() };
        let number = |most: u64| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("{kind}: expected a number from 1 to {most}"))
        };
        let kind = match kind {
            "host" if value == "local" => MonitorKind::Host(HostWord::Local),
            "host" => return Err("host: expected `local`".to_owned()),
            "pid" => MonitorKind::Pid(number(4_194_304)?),
            "port" => MonitorKind::Port(number(65_535)?),
            "process" => MonitorKind::Process(value.to_owned()),
            "cgroup" => MonitorKind::Cgroup(value.to_owned()),
            "prometheus" => {
                MonitorKind::Prometheus(Prometheus { url: spanned(), metrics: Vec::new() })
            }
            "nginx" => MonitorKind::Nginx(spanned()),
            "postgres" => MonitorKind::Postgres(spanned()),
            "command" => MonitorKind::Command(MonitorCommand {
                line: value.split_whitespace().map(str::to_owned).collect(),
                timeout: None,
            }),
            _ => {
                return Err(format!(
                    "unknown kind of monitor `{kind}`: expected host, pid, port, process, cgroup, prometheus, nginx, postgres or command"
                ));
            }
        };
        let name = Spanned { value: name.to_owned(), span: Span::default() };
        let own = Monitor { name, kind };
        match problems_of(&own).into_iter().next() {
            Some(problem) => Err(problem.message),
            None => Ok(own),
        }
    }

    /// The URL that it asks, if it asks one.
    pub fn url(&self) -> Option<&str> {
        match &self.kind {
            MonitorKind::Prometheus(own) => Some(&own.url.value),
            MonitorKind::Nginx(url) | MonitorKind::Postgres(url) => Some(&url.value),
            _ => None,
        }
    }

    /// Its kind, and where it is, without what is secret.
    pub fn shown(&self) -> String {
        match &self.kind {
            MonitorKind::Host(HostWord::Local) => "host local".to_owned(),
            MonitorKind::Pid(pid) => format!("process {pid}"),
            MonitorKind::Port(port) => format!("processes that listen at port {port}"),
            MonitorKind::Process(name) => format!("processes with the name {name}"),
            MonitorKind::Cgroup(path) => format!("control group {path}"),
            MonitorKind::Prometheus(_) => format!("prometheus {}", self.masked_url()),
            MonitorKind::Nginx(_) => format!("nginx {}", self.masked_url()),
            MonitorKind::Postgres(_) => format!("postgres {}", self.masked_url()),
            MonitorKind::Command(own) => format!("command {}", own.line.join(" ")),
        }
    }

    fn masked_url(&self) -> String {
        crate::feed_target::masked(self.url().unwrap_or_default())
    }

    /// Whether it runs a program.
    pub fn runs_a_program(&self) -> bool {
        matches!(self.kind, MonitorKind::Command(_))
    }

    /// A text, such as a part of the command line, in which its URL is shown without its secrets.
    pub fn masked_in(&self, text: &str) -> String {
        self.url().map_or_else(|| text.to_owned(), |url| text.replace(url, &self.masked_url()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_a_monitor() {
        let shown = |text: &str| {
            Monitor::of_flag(text).map(|own| format!("{}: {}", own.name.value, own.shown()))
        };
        for (text, expected) in [
            ("server=port:8080", "server: processes that listen at port 8080"),
            ("here=host:local", "here: host local"),
            ("java=process:java", "java: processes with the name java"),
            ("a=cgroup:system.slice/nginx.service", "a: control group system.slice/nginx.service"),
            (
                "db=postgres:postgres://me:s3cret@db:5432/shop",
                "db: postgres postgres://***@db:5432/shop",
            ),
            (
                "m=prometheus:http://127.0.0.1:9187/metrics",
                "m: prometheus http://127.0.0.1:9187/metrics",
            ),
            ("far=command:ssh db ./numbers", "far: command ssh db ./numbers"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected));
        }
        for (text, error) in [
            ("port:8080", FLAG),
            ("a=8080", FLAG),
            ("a=port:", FLAG),
            ("a=port:0", "port: expected a number from 1 to 65535"),
            ("a=host:db1", "host: expected `local`"),
            ("a=nginx:127.0.0.1", "expected a URL with http:// or https://"),
            ("a=postgres:http://x", "expected a URL with postgres:// or postgresql:// and a host"),
            (
                "a b=port:1",
                "invalid name of a monitor: expected letters, digits, `_`, `-` and `.`, at most 60",
            ),
            ("a=process:/bin/x", "`/bin/x`: expected the name of a program, without its folder"),
        ] {
            assert_eq!(shown(text).expect_err(text), error);
        }
        assert!(shown("a=x:1").expect_err("unknown").contains("unknown kind of monitor `x`"));
    }

    #[test]
    fn a_password_is_not_shown() {
        let own = Monitor::of_flag("db=postgres:postgres://me:s3cret@db/shop").expect("one");
        let masked = own.masked_in("--monitor=db=postgres:postgres://me:s3cret@db/shop");
        assert_eq!(masked, "--monitor=db=postgres:postgres://***@db/shop");
    }
}
