//! What was typed by somebody who knows another tool, or who slipped: an error names squall's own word for it.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::arguments::Arguments;
use super::url::url;

/// Options of k6, wrk, hey, ab and JMeter, and of squall before, that commands on a plan do not have, and what to write
/// instead.
const OF_PLANS: &[(&[&str], &str)] = &[
    (&["--vus", "-u", "--user", "--connections", "--concurrency", "-c"], "--users N"),
    (&["--duration", "--time", "--length", "-d", "-z"], "--for TIME, such as --for 30s"),
    (&["--requests", "-n", "-i"], "--iterations N"),
    (&["--stage", "--stages"], "`stages` in the plan's load"),
    (&["--rps", "--qps", "--arrival-rate", "-r", "-R"], "--rate RATE, such as --rate 50/s"),
    (&["--ramp-up", "--rampup"], "--ramp TIME"),
    (&["--threads", "-t"], "--workers N for squall's own threads, --users N for virtual users"),
    (&["--url", "--host", "--base-url", "-H"], "--target URL"),
    (&["--summary-export", "--summary"], "--json FILE"),
    (&["--log", "-l", "--samples"], "--out samples=FILE.jtl (or .csv) for a row for each request"),
    (&["--log-requests"], "--out samples=FILE.jsonl for a line of JSON for each request"),
    (&["--report", "--html"], "--out html=FILE"),
    (&["--junit"], "--out junit=FILE"),
    (&["--output"], "--out"),
    (
        &["--insecure", "--insecure-skip-tls-verify", "-k"],
        "`connections: {tls: {insecure: true}}` in the plan",
    ),
    (&["--thresholds", "--threshold"], "`thresholds` in the plan"),
    (
        &[
            "--execution-segment",
            "--execution-segment-sequence",
            "--expect-workers",
            "--master",
            "--parallelism",
        ],
        "--nats URL --nodes N to run on many machines, each of which runs `squall node --nats URL`",
    ),
    (&["--mode"], "a plan whose load has `stages`, and run it with `squall run`"),
];

/// The same of the one-line command.
const OF_URLS: &[(&[&str], &str)] = &[
    (&["--vus", "-u", "--connections", "--concurrency"], "-c USERS"),
    (&["--time", "--length", "-z"], "-d TIME, such as -d 30s"),
    (&["--iterations", "-i", "--number"], "-n REQUESTS"),
    (&["--rps", "--qps", "-R", "--query-per-second"], "-r RATE, such as -r 50/s"),
    (&["--threads"], "--workers N for squall's own threads, -c USERS for virtual users"),
    (&["--data", "-D", "--post-data"], "-b BODY, or -b @FILE"),
    (&["-T", "--content-type"], "-H 'Content-Type: ...'"),
    (&["-a", "--user"], "-H 'Authorization: ...'"),
    (&["-X", "--request"], "-m METHOD"),
    (&["-L", "--location"], "--redirects N"),
    (&["--disable-keepalive"], "--no-keepalive"),
    (&["-s", "--script"], "a plan, for which `squall init` writes a beginning"),
    (&["--latency"], "nothing: latencies are always shown"),
    (&["--set", "--env"], "a plan, whose variables --set sets"),
    (&["--samples"], "--out samples=FILE.csv (or .jtl) for a row for each request"),
    (&["--log-requests"], "--out samples=FILE.jsonl for a line of JSON for each request"),
];

/// A refusal of what was typed, in which a refused URL, such as the target of a feed, shows no password.
pub fn masked(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidValue) {
        let shown = ContextValue::String(squall_feeds::masked(typed));
        error.insert(ContextKind::InvalidValue, shown);
    }
    error
}

/// An error of what was typed, with squall's word for what others call otherwise.
pub fn explained(error: clap::Error) -> clap::Error {
    let words: Vec<String> = std::env::args().skip(1).collect();
    with_remedy(error, &words)
}

fn with_remedy(error: clap::Error, words: &[String]) -> clap::Error {
    let Some(first) = words.first() else { return error };
    let command = Arguments::command();
    let is_command = command.find_subcommand(first).is_some();
    if !first.starts_with('-') && !is_command && error.use_stderr() {
        // A mistyped command is one, whatever stands behind it.
        if let Err(why) = url(first) {
            let text = format!("`{}`: {why}", squall_feeds::masked(first));
            return command.clone().error(ErrorKind::InvalidValue, text);
        }
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let typed = typed.split([' ', '=']).next().unwrap_or_default();
    let table = match first.as_str() {
        "run" | "try" | "limit" | "check" | "doctor" => OF_PLANS,
        _ if is_command => return error,
        _ => OF_URLS,
    };
    let Some((_, ours)) = table.iter().find(|(theirs, _)| theirs.contains(&typed)) else {
        return error;
    };
    let text = format!("unexpected argument `{typed}`: write {ours}");
    match command.find_subcommand(first) {
        Some(found) => found
            .clone()
            .bin_name(format!("squall {first}"))
            .error(ErrorKind::UnknownArgument, text),
        None => command.clone().error(ErrorKind::UnknownArgument, text),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn refused(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let all = std::iter::once("squall".to_owned()).chain(words.clone());
        let error = Arguments::try_parse_from(all).expect_err("a mistake");
        with_remedy(error, &words).to_string()
    }

    #[test]
    fn options_of_others_name_ours() {
        for (words, ours) in [
            (&["run", "p.yaml", "--vus", "5"][..], "`--vus`: write --users N"),
            (&["run", "p.yaml", "--duration", "3s"], "`--duration`: write --for TIME"),
            (&["run", "p.yaml", "--duration=3s"], "`--duration`: write --for TIME"),
            (&["http://a", "--vus", "5"], "`--vus`: write -c USERS"),
            (&["http://a", "-z", "5s"], "`-z`: write -d TIME"),
            (
                &["limit", "p.yaml", "--mode", "soak"],
                "`--mode`: write a plan whose load has `stages`",
            ),
            (&["run", "p.yaml", "--samples", "a.csv"], "`--samples`: write --out samples=FILE"),
            (&["run", "p.yaml", "--log-requests", "a"], "write --out samples=FILE.jsonl"),
            (&["http://a", "--samples=a.csv"], "`--samples`: write --out samples=FILE"),
            (&["http://a", "--log-requests", "a"], "write --out samples=FILE.jsonl"),
            (&["rnu", "p.yaml"], "`rnu`: neither a command nor a URL: did you mean `run`?"),
            (&["rnu", "p.yaml", "--users", "5"], "did you mean `run`?"),
            (&["p.yaml", "--users", "5"], "write `squall run p.yaml`"),
            (&["chekc", "p.yaml"], "did you mean `check`?"),
        ] {
            let text = refused(words);
            assert!(text.contains(ours), "{words:?}: {text}");
        }
    }

    #[test]
    fn no_option_of_ours_is_taken_for_one_of_others() {
        let command = Arguments::command();
        let has = |command: &clap::Command, flag: &str| {
            command.get_arguments().any(|own| {
                let long = own.get_long_and_visible_aliases().unwrap_or_default();
                let short = own.get_short_and_visible_aliases().unwrap_or_default();
                long.iter().any(|name| flag == format!("--{name}"))
                    || short.iter().any(|name| flag == format!("-{name}"))
            })
        };
        let run = command.find_subcommand("run").expect("a command");
        for (table, command) in [(OF_PLANS, run), (OF_URLS, &command)] {
            for flag in table.iter().flat_map(|(theirs, _)| *theirs) {
                assert!(!has(command, flag), "{flag}");
            }
        }
    }
}
