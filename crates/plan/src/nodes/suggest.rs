//! Words that people bring along: other spellings of a plan's words, and those of other tools, each
//! with the plan's own word for it. They are not accepted, but an error names the right one.

use super::node::{Kind, Node};
use crate::diagnostic::nearest;

/// Words of others, small letters without `_` and `-`, and the plan's words for them: the first one
/// that may stand at the place is suggested.
const FOREIGN: &[(&str, &[&str])] = &[
    // The load.
    ("vus", &["users"]),
    ("threads", &["users"]),
    ("virtualusers", &["users"]),
    ("concurrency", &["users"]),
    ("maxvus", &["max_users"]),
    ("duration", &["for", "over"]),
    ("time", &["for", "over"]),
    ("length", &["for", "over"]),
    ("loops", &["iterations"]),
    ("requests", &["total_iterations"]),
    ("holdfor", &["for"]),
    ("hold", &["over"]),
    ("for", &["over"]),
    ("ramp", &["over"]),
    ("rampup", &["ramp"]),
    ("rampuptime", &["ramp"]),
    ("rps", &["rate"]),
    ("qps", &["rate"]),
    ("hatchrate", &["rate"]),
    ("spawnrate", &["ramp"]),
    ("arrivalrate", &["rate"]),
    ("arrivals", &["rate"]),
    ("throughput", &["rate"]),
    ("target", &["users"]),
    ("starttime", &["start_after"]),
    ("startdelay", &["start_after"]),
    ("pace", &["pacing"]),
    ("grace", &["graceful_stop"]),
    // The plan.
    ("baseurl", &["target"]),
    ("variables", &["vars"]),
    ("env", &["vars"]),
    ("feeder", &["data"]),
    ("feeders", &["data"]),
    ("executor", &["load"]),
    ("injectionprofile", &["load"]),
    ("speed", &["bandwidth"]),
    ("connection", &["connections"]),
    // Connections.
    ("mode", &["reuse"]),
    ("shared", &["pool"]),
    ("size", &["pool_size"]),
    ("from", &["source_addresses"]),
    ("localips", &["source_addresses"]),
    ("localaddress", &["source_address", "source_addresses"]),
    ("nonproxyhosts", &["no_proxy"]),
    ("dns", &["resolve"]),
    ("hosts", &["resolve", "allow_hosts"]),
    // Requests.
    ("save", &["response_body"]),
    ("discardresponsebodies", &["response_body"]),
    ("sha256", &["hash"]),
    ("md5", &["hash"]),
    ("xxh3", &["hash"]),
    ("first", &["keep"]),
    ("unpack", &["decompress"]),
    ("gzip", &["compression"]),
    ("maxratio", &["max_decompression_ratio"]),
    ("followredirects", &["redirects"]),
    ("assert", &["check"]),
    ("asserts", &["check"]),
    ("expect", &["check"]),
    ("validate", &["check"]),
    ("checks", &["check"]),
    ("assertion", &["check"]),
    ("assertions", &["check"]),
    ("saveas", &["extract"]),
    ("correlation", &["extract"]),
    ("params", &["query"]),
    ("url", &["get"]),
    ("http", &["get"]),
    // Steps.
    ("sleep", &["think"]),
    ("wait", &["think"]),
    ("delay", &["think"]),
    ("thinktime", &["think"]),
    ("pause", &["think"]),
    ("transaction", &["group"]),
    ("loop", &["repeat"]),
    ("foreach", &["for_each"]),
    ("randomswitch", &["choose"]),
    ("interleave", &["round_robin"]),
    ("throttle", &["pace"]),
    ("randomorder", &["shuffle"]),
    ("eachinturn", &["round_robin"]),
    ("roundrobinswitch", &["round_robin"]),
    ("once", &["once_per_user"]),
    ("onceonly", &["once_per_user"]),
    ("batch", &["parallel"]),
    ("concurrent", &["parallel"]),
];

/// The known word that was most likely meant: the same but for capitals, `_` and `-`; the word for
/// what others call so; or one that differs by a typing error.
pub(super) fn suggest<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    translated(word, known.clone()).or_else(|| nearest(word, known))
}

/// The same of a step. A word that has its place elsewhere is no typing error of a step.
pub(super) fn suggest_step<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    translated(word, known.clone())
        .or_else(|| if home(word).is_none() { nearest(word, known) } else { None })
}

/// The known word that is the same but for capitals, `_` and `-`, or that says what others call so.
fn translated<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let plain = plain(word);
    let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == plain);
    let mut ours = foreign.into_iter().flat_map(|(_, ours)| ours.iter().copied());
    known
        .clone()
        .find(|own| self::plain(own) == plain)
        .or_else(|| ours.find_map(|ours| known.clone().find(|own| *own == ours)))
}

/// Keys that are often written one level too high or too low, and where they belong.
const HOMES: &[(&[&str], &str)] = &[
    (
        &[
            "users",
            "rate",
            "ramp",
            "stages",
            "pacing",
            "arrivals",
            "max_users",
            "for",
            "iterations",
            "total_iterations",
            "endless",
            "graceful_ramp_down",
        ],
        "a load, as in `load: {users: 10, for: 1m}`",
    ),
    (
        &["check", "extract", "headers", "query", "json", "form", "body", "redirects"],
        "a request, as in `- get: /` with `check:` below `get`",
    ),
    (&["steps"], "a scenario, or a step such as `group`"),
    (
        &["scenarios", "thresholds", "vars", "data", "connections", "graceful_stop"],
        "the plan itself, not further in",
    ),
    (&["decompress"], "a body that is a file, as in `body: {file: a.gz, decompress: true}`"),
    (
        &["pool_size", "reuse", "source_addresses", "no_proxy", "resolve", "tls"],
        "`connections`, as in `connections: {tls: {insecure: true}}`",
    ),
    (&["think", "group", "repeat", "get", "post"], "a list of steps, as in `steps: [{get: /}]`"),
];

/// Where a word belongs that is known, but not where it stands.
pub(super) fn home(word: &str) -> Option<String> {
    let all = || HOMES.iter().flat_map(|(words, _)| words.iter().copied());
    let plain = plain(word);
    let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == plain);
    let ours = foreign.into_iter().flat_map(|(_, ours)| ours.iter().copied());
    let ours = ours
        .chain(all().filter(|own| self::plain(own) == plain))
        .find(|ours| all().any(|own| own == *ours))?;
    let (_, place) = HOMES.iter().find(|(words, _)| words.contains(&ours))?;
    Some(format!("`{ours}` belongs to {place}"))
}

/// What was meant by a key that is not one of a mapping with this title, where it is a text that was meant.
pub(super) fn as_text(title: &str, name: &str, value: &Node) -> Option<String> {
    as_threshold(title, name, value).or_else(|| as_expression(title, name, value))
}

/// A threshold as a text, where its metric was written as a key: `{p95: 300ms}`, `{p95: "< 300ms"}`, `{http_req_duration: ["p(95)<300"]}`.
fn as_threshold(title: &str, name: &str, value: &Node) -> Option<String> {
    if title != "a threshold" {
        return None;
    }
    let limit = match &value.kind {
        Kind::Scalar(text, _) if text.trim_start().starts_with(['<', '>', '=', '!']) => {
            text.trim().to_owned()
        }
        Kind::Scalar(text, _) if !text.is_empty() => format!("< {}", text.trim()),
        _ => return Some("a threshold is a text, such as `- p95 < 300ms`".to_owned()),
    };
    Some(format!("a threshold is a text: write `- {name} {limit}`"))
}

/// What a text was meant to be where a mapping with this title was expected.
pub(super) fn as_mapping(title: &str, text: &str) -> Option<String> {
    if title != "a data source" {
        return None;
    }
    let key = if text.ends_with(".jsonl") || text.ends_with(".ndjson") { "jsonl" } else { "csv" };
    Some(format!("write `{{{key}: {text}}}`"))
}

/// What a text was meant to be that is none of the facts that an extract may be.
pub(super) fn as_extract(text: &str) -> String {
    let text = text.trim();
    let quoted = format!("'{}'", text.replace('\'', "''"));
    match text {
        _ if text.starts_with('$') => format!("write `{{json: {quoted}}}`"),
        _ if text.starts_with("//") => format!("write `{{xpath: {quoted}}}`"),
        _ => format!(
            "to look for a pattern write `{{regex: {quoted}}}`, with a group `(...)` around what is wanted"
        ),
    }
}

/// A check as an expression, where a fact of the response was written as a key of it.
fn as_expression(title: &str, name: &str, value: &Node) -> Option<String> {
    if title != "a check" || !matches!(name, "status" | "body_bytes") {
        return None;
    }
    let number = match &value.kind {
        Kind::Scalar(text, _) if text.parse::<u64>().is_ok() => text,
        _ => "200",
    };
    Some(format!("a check is an expression, such as `check: {name} == {number}`"))
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Such a name as expressions have it: without the dot that it begins with, and with `_` in place of `-`.
pub(crate) fn as_variable(name: &str) -> String {
    let name = name.trim_matches(|c| matches!(c, '.' | '-')).replace('-', "_");
    if name.is_empty() { "name".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_understood() {
        let known = ["users", "pacing", "graceful_stop", "for"];
        for (word, ours) in [
            ("gracefulStop", Some("graceful_stop")),
            ("pace", Some("pacing")),
            ("VUs", Some("users")),
            ("duration", Some("for")),
            ("usrs", Some("users")),
            ("unpack", None),
            ("sleep", None),
            ("zebra", None),
        ] {
            assert_eq!(suggest(word, known.into_iter()), ours, "{word}");
        }
    }

    #[test]
    fn words_in_the_wrong_place_are_sent_home() {
        for (word, place) in [
            ("vus", "`users` belongs to a load"),
            ("assert", "`check` belongs to a request"),
            ("grace", "`graceful_stop` belongs to the plan itself"),
            ("unpack", "`decompress` belongs to a body that is a file"),
            ("connection", "`connections` belongs to the plan itself"),
        ] {
            assert!(home(word).is_some_and(|home| home.starts_with(place)), "{word}");
        }
        assert_eq!(home("zebra"), None);
    }

    #[test]
    fn every_foreign_word_can_be_found() {
        for (theirs, _) in FOREIGN {
            assert_eq!(plain(theirs), *theirs);
            assert_eq!(FOREIGN.iter().filter(|(other, _)| other == theirs).count(), 1, "{theirs}");
        }
    }
}
