//! The URL of a one-line command, or what was meant instead.

use std::path::Path;

use clap::Subcommand as _;
use squall_plan::diagnostic::nearest;

use super::commands::Command;

/// A URL, or a host. A bare word is more likely a command that was mistyped.
pub(super) fn url(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty: expected a URL, such as http://127.0.0.1:8080/".to_owned());
    }
    if let Some(meant) = mistyped_scheme(text) {
        return Err(format!("did you mean `{meant}`?"));
    }
    if text.starts_with(['.', '/']) && Path::new(text).is_dir() {
        let hint = "a host's URL begins with http://, and a plan is a file: `squall run FILE`";
        return Err(format!("this is a folder, not a URL: {hint}"));
    }
    if is_file(text) {
        let hint = format!(
            "to run it as a plan, write `squall run {text}`; a host's URL begins with http://"
        );
        return Err(format!("this is a file, not a URL: {hint}"));
    }
    if text == "localhost" || !text.chars().all(is_word) {
        return Ok(text.to_owned());
    }
    let command = Command::augment_subcommands(clap::Command::new("squall"));
    let known = command.get_subcommands().map(clap::Command::get_name).chain(["help", "version"]);
    let word = text.to_ascii_lowercase();
    let hint = match word.as_str() {
        "start" | "exec" => "did you mean `run`?".to_owned(),
        "validate" | "lint" => "did you mean `check`?".to_owned(),
        "serve" | "server" => "did you mean `target`?".to_owned(),
        _ => match nearest(&word, known) {
            Some("version") => "did you mean `--version`?".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("for a host of this name write http://{text}/"),
        },
    };
    Err(format!("neither a command nor a URL: {hint}"))
}

/// What was meant by a URL whose scheme is mistyped, which would be taken for a host: `http:/a`, `http//a`, `http://http:a`.
fn mistyped_scheme(text: &str) -> Option<String> {
    let (scheme, rest) = behind_scheme(text)?;
    let (scheme, rest) = match rest.strip_prefix("://") {
        // A host may have this name, with or without a port, where the scheme is written out.
        Some(rest) => behind_scheme(rest).filter(|(_, rest)| {
            let behind = rest.strip_prefix(':');
            behind.is_some_and(|port| !port.starts_with(|c: char| c.is_ascii_digit()))
        })?,
        None if !rest.starts_with([':', '/']) => return None,
        None if !rest.starts_with(':') && !rest.starts_with("//") && is_file(text) => return None,
        None => (scheme, rest),
    };
    Some(format!("{scheme}://{}", rest.trim_start_matches([':', '/'])))
}

/// The scheme of HTTP that a text begins with, and the rest.
fn behind_scheme(text: &str) -> Option<(&'static str, &str)> {
    ["https", "http"].into_iter().find_map(|scheme| {
        let (begin, rest) = text.split_at_checked(scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some((scheme, rest))
    })
}

/// Whether a text without a scheme names a file: one that is there, or what looks like the path of a plan.
fn is_file(text: &str) -> bool {
    if text.contains("://") || text == "localhost" {
        return false;
    }
    // What has a dot or a port before its first slash is a host, whatever its path ends in.
    let is_of_host = text
        .split_once('/')
        .is_some_and(|(host, _)| host == "localhost" || host.contains(['.', ':']));
    let ends_as_plan = [".yaml", ".yml", ".jmx", ".json"]
        .iter()
        .any(|end| text.to_ascii_lowercase().ends_with(end));
    text.starts_with(['.', '/']) || (ends_as_plan && !is_of_host) || Path::new(text).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_scheme_is_not_a_host() {
        for (text, meant) in [
            ("http:/127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("http//127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https:127.0.0.1", "https://127.0.0.1"),
            ("HTTP:/a/b.json", "http://a/b.json"),
            ("http/a.example", "http://a.example"),
            ("http://https://a", "https://a"),
            ("http//a?to=http://b", "http://a?to=http://b"),
        ] {
            let known = url(text);
            assert_eq!(known, Err(format!("did you mean `{meant}`?")), "{text}");
        }
        for host in ["http://http/", "http://http:80/", "httpbin.example", "https.example:81/a"] {
            assert_eq!(url(host).as_deref(), Ok(host));
        }
        assert!(url("http/shop.yaml").is_err_and(|error| error.contains("`squall run")));
    }

    #[test]
    fn blanks_and_folders_are_no_urls() {
        for (text, part) in [
            ("", "it is empty"),
            (" ", "it is empty"),
            ("check ", "did you mean `check`?"),
            ("/", "this is a folder, not a URL"),
            ("..", "this is a folder, not a URL"),
        ] {
            let error = url(text).expect_err(text);
            assert!(error.contains(part), "{text:?}: {error}");
        }
        assert_eq!(url(" localhost:1/a ").as_deref(), Ok("localhost:1/a"));
    }

    #[test]
    fn a_file_is_no_url() {
        for file in [
            "shop.yaml",
            "Shop.YML",
            "a.jmx",
            "plans/a.json",
            "./nofile",
            "../a",
            "/a/b",
            "Cargo.toml",
        ] {
            let error = url(file).expect_err(file);
            assert!(error.contains(&format!("`squall run {file}`")), "{error}");
        }
        let hosts = [
            "localhost",
            "a.example",
            "http://a/b.json",
            "127.0.0.1:80/b.json",
            "localhost/b.json",
            "[::1]:80/",
        ];
        for host in hosts {
            assert_eq!(url(host).as_deref(), Ok(host));
        }
    }

    #[test]
    fn a_word_is_a_command_that_was_mistyped() {
        for (word, meant) in [
            ("rnu", "`run`"),
            ("RUN", "`run`"),
            ("verison", "`--version`"),
            ("version", "`--version`"),
            ("lint", "`check`"),
        ] {
            let error = url(word).expect_err(word);
            assert!(error.contains(meant), "{error}");
        }
    }
}
