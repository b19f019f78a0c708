//! `squall URL ...`: turns flags into a plan, which then runs like any other.

use std::time::Duration;

use squall_plan::diagnostic::Sources;
use squall_plan::model::{
    Body, Closed, ConnectionReuse, Connections, HttpOptions, Load, Open, Plan, Request, Scenario,
    Step, StepKind, Target, Timeouts, Tls, UserTime,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;
use squall_plan::yaml::Loaded;
use squall_runner::Options;

use crate::args::OneLine;
use crate::exit::{CommandError, CommandResult};
use crate::generator::LoadFrom;
use crate::{labels, run};

/// How long, where neither a length nor a number of requests is given.
const DEFAULT_LENGTH: Duration = Duration::from_secs(10);

/// Runs the one-line command.
pub fn command(args: &OneLine) -> CommandResult {
    let plan = plan(args)?;
    // A quick run leaves no folder behind unless the flags ask for one.
    let loaded = Loaded { plan, sources: Sources::default(), warnings: Vec::new() };
    let options = Options { labels: labels::of(&args.output.label, None), ..Options::default() };
    run::run(&loaded, options, (&args.output, LoadFrom::Of(&args.fleet)), args.output.folder())
}

fn plan(args: &OneLine) -> Result<Plan, CommandError> {
    let url = args.url.clone().unwrap_or_default();
    let url = if url.contains("://") { url } else { format!("http://{url}") };
    let (body, has_body) = match &args.body {
        None => (Body::None, false),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => {
                let path = Template::text(path);
                (Body::File { path, decompress: false, replace: Vec::new() }, true)
            }
            None => (Body::Text(Template::text(text)), true),
        },
    };
    let method = match &args.method {
        Some(method) => method.to_ascii_uppercase(),
        None => if has_body { "POST" } else { "GET" }.to_owned(),
    };
    let headers = args.headers.iter().map(|header| split(header)).collect::<Result<_, _>>()?;
    let request = Request {
        method,
        headers,
        body,
        http: HttpOptions {
            redirects: Some(args.redirects),
            timeout: Timeouts { total: args.timeout.map(UserTime::from), ..Timeouts::default() },
            ..HttpOptions::default()
        },
        ..Request::get(Template::text(&url))
    };
    let load = load(args);
    let scenario = Scenario {
        name: named("url"),
        load: Some(Spanned { value: load, span: Span::default() }),
        steps: vec![Step { kind: StepKind::Request(Box::new(request)), span: Span::default() }],
        ..Scenario::default()
    };
    let reuse =
        if args.no_keepalive { ConnectionReuse::PerIteration } else { ConnectionReuse::PerUser };
    Ok(Plan {
        name: url.clone(),
        target: Some(Target::Url(Template::text(&url))),
        scenarios: vec![scenario],
        connections: Connections {
            reuse,
            http: args.http.into(),
            proxy: args.proxy.as_deref().map(Template::text),
            source_addresses: args
                .source_address
                .iter()
                .map(|own| named(&own.to_string()))
                .collect(),
            tls: Tls { insecure: args.insecure, ..Tls::default() },
            ..Connections::default()
        },
        graceful_stop: Some(Duration::from_secs(2)),
        ..Plan::default()
    })
}

fn load(args: &OneLine) -> Load {
    let length = match (args.duration, args.requests) {
        (None, None) => Some(DEFAULT_LENGTH),
        (length, _) => length,
    };
    match args.rate {
        Some(rate) => Load::Open(Open {
            rate: Some(rate),
            ramp: Duration::ZERO,
            stages: Vec::new(),
            arrivals: Default::default(),
            max_users: args.users,
            duration: length,
            total_iterations: args.requests,
        }),
        None => Load::Closed(Closed {
            users: Some(args.users),
            duration: length,
            total_iterations: args.requests,
            ..Closed::default()
        }),
    }
}

fn split(header: &str) -> Result<(Template, Template), CommandError> {
    match header.split_once(':') {
        Some((name, value)) => Ok((Template::text(name.trim()), Template::text(value.trim()))),
        // What was typed may be a credential.
        None => {
            let text = "-H: found no colon: expected 'Name: value', such as 'Accept: text/html'";
            Err(CommandError::bad_input(text))
        }
    }
}

fn named(name: &str) -> Spanned<String> {
    Spanned { value: name.to_owned(), span: Span::default() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use squall_plan::model::HttpVersion;

    use super::*;
    use crate::args::Arguments;

    fn typed(words: &[&str]) -> Plan {
        let arguments = Arguments::parse_from([&["squall"], words].concat());
        plan(&arguments.one_line).unwrap_or_else(|error| panic!("{}", error.text))
    }

    #[test]
    fn flags_are_parts_of_a_plan() {
        let made = typed(&["127.0.0.1:1/a", "--http", "2", "-k", "--no-keepalive", "-b", "x"]);
        assert_eq!(made.name, "http://127.0.0.1:1/a");
        assert_eq!(made.connections.http, HttpVersion::V2);
        assert_eq!(made.connections.reuse, ConnectionReuse::PerIteration);
        assert!(made.connections.tls.insecure);
        let by = typed(&["http://a", "-x", "http://p:1", "--source-address", "127.0.0.2,::1"]);
        assert_eq!(by.connections.proxy.as_ref().map(Template::source), Some("http://p:1"));
        let from: Vec<&str> =
            by.connections.source_addresses.iter().map(|own| own.value.as_str()).collect();
        assert_eq!(from, ["127.0.0.2", "::1"]);
        let StepKind::Request(request) = &made.scenarios[0].steps[0].kind else {
            panic!("{made:?}")
        };
        assert_eq!(request.method, "POST", "it has a body");
        let load = |words: &[&str]| match typed(words).scenarios[0].load.clone() {
            Some(load) => load.value,
            None => panic!("a load"),
        };
        let Load::Open(open) = load(&["http://a", "-r", "50", "-c", "7"]) else { panic!("a rate") };
        assert_eq!(
            (open.rate, open.max_users, open.duration),
            (Some(50.0), 7, Some(DEFAULT_LENGTH))
        );
        let Load::Closed(closed) = load(&["http://a", "-n", "9"]) else { panic!("users") };
        assert_eq!(
            (closed.users, closed.total_iterations, closed.duration),
            (Some(10), Some(9), None)
        );
    }
}
