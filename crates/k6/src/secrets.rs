//! Secrets of scripts, as `--secret-source` names them: given one by one, or in a file. Reads files.

use std::path::Path;

use squall_script::SecretSource;

/// The source that `secrets.get()` asks.
const DEFAULT: &str = "default";

/// The sources that texts such as `mock=name=first,default,user=x` or `file=secrets.txt` describe. What one has not named has the
/// name of its kind, and the only one is the default.
///
/// # Errors
/// A text has another form, a name comes twice, or a file cannot be read; in a sentence that shows no secret.
pub fn sources(texts: &[String]) -> Result<Vec<SecretSource>, String> {
    let mut sources: Vec<SecretSource> = Vec::new();
    for text in texts {
        let (kind, rest) = text.split_once(['=', ',']).unwrap_or((text, ""));
        let given = Given::of(rest);
        let secrets = match kind {
            "mock" => pairs(given.rest.iter().copied(), "mock"),
            "file" => in_file(&given.rest),
            "url" => Err("squall asks no URL for secrets: fetch them before the run, and give them with `file=PATH`".to_owned()),
            _ => Err("expected mock=NAME=VALUE,... or file=PATH".to_owned()),
        };
        let failed = |why: String| format!("--secret-source {}: {why}", shown(kind));
        let secrets = secrets.map_err(failed)?;
        let name = if given.name.is_empty() { kind } else { given.name };
        for name in [Some(name), given.is_default.then_some(DEFAULT)].into_iter().flatten() {
            if sources.iter().any(|own| own.name == name) {
                return Err(failed(format!(
                    "two sources are named `{name}`: give each one `name=...`, and only one `default`"
                )));
            }
            sources.push(SecretSource { name: name.to_owned(), secrets: secrets.clone() });
        }
    }
    if let [only] = sources.as_slice()
        && only.name != DEFAULT
    {
        sources.push(SecretSource { name: DEFAULT.to_owned(), ..only.clone() });
    }
    Ok(sources)
}

/// What stands behind the kind of a source.
struct Given<'t> {
    name: &'t str,
    is_default: bool,
    rest: Vec<&'t str>,
}

impl<'t> Given<'t> {
    fn of(text: &'t str) -> Given<'t> {
        let mut given = Given { name: "", is_default: false, rest: Vec::new() };
        for part in text.split(',').filter(|part| !part.is_empty()) {
            match (part, part.strip_prefix("name=")) {
                (DEFAULT, _) => given.is_default = true,
                (_, Some(name)) => given.name = name,
                _ => given.rest.push(part),
            }
        }
        given
    }
}

/// The secrets of a file: a line for each.
fn in_file(rest: &[&str]) -> Result<Vec<(String, String)>, String> {
    let path = match rest {
        [path] => path.strip_prefix("filename=").unwrap_or(path),
        _ => return Err("expected file=PATH".to_owned()),
    };
    let text = squall_plan::files::text(Path::new(path)).map_err(|why| format!("{path}: {why}"))?;
    pairs(text.lines().filter(|line| !line.trim().is_empty()), path)
}

/// Names and values. What is no pair may be a secret, and is not shown.
fn pairs<'t>(
    texts: impl Iterator<Item = &'t str>,
    place: &str,
) -> Result<Vec<(String, String)>, String> {
    let pair = |(at, text): (usize, &str)| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .ok_or_else(|| format!("{place}: entry {}: expected NAME=VALUE", at + 1))
    };
    texts.enumerate().map(pair).collect()
}

/// The beginning of a kind: what is none may be a secret.
fn shown(kind: &str) -> &str {
    if ["mock", "file", "url"].contains(&kind) { kind } else { "..." }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Result<Vec<SecretSource>, String> {
        let texts: Vec<String> = texts.iter().map(|own| (*own).to_owned()).collect();
        sources(&texts)
    }

    fn source(name: &str, secrets: &[(&str, &str)]) -> SecretSource {
        let secrets = secrets.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        SecretSource { name: name.to_owned(), secrets: secrets.collect() }
    }

    #[test]
    fn sources_have_the_names_that_k6_gives_them() {
        let pair = [("a", "x=1"), ("b", "y")];
        assert_eq!(of(&[]), Ok(Vec::new()));
        assert_eq!(
            of(&["mock=a=x=1,b=y"]),
            Ok(vec![source("mock", &pair), source("default", &pair)])
        );
        assert_eq!(of(&["mock,default,b=y"]).map(|own| own.len()), Ok(2));
        assert_eq!(
            of(&["mock=name=first,a=1", "mock=b=2,name=second,default"]),
            Ok(vec![
                source("first", &[("a", "1")]),
                source("second", &[("b", "2")]),
                source("default", &[("b", "2")]),
            ])
        );
    }

    #[test]
    fn a_file_has_a_line_for_each_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets");
        std::fs::write(&path, "a=1,2\n\nb=\n").expect("a file");
        let found = of(&[&format!("file=name=own,filename={}", path.display())]).expect("secrets");
        assert_eq!(found[0], source("own", &[("a", "1,2"), ("b", "")]));
        std::fs::write(&path, "a=1\nhunter2\n").expect("a file");
        let why = of(&[&format!("file={}", path.display())]).expect_err("a line that is none");
        assert!(why.ends_with("secrets: entry 2: expected NAME=VALUE"), "{why}");
        let why = of(&["file=/nowhere/at/all"]).expect_err("no file");
        assert!(why.contains("/nowhere/at/all"), "{why}");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for (texts, said) in [
            (&["mock=hunter2"][..], "mock: entry 1: expected NAME=VALUE"),
            (&["hunter2"], "...: expected mock=NAME=VALUE"),
            (&["file"], "expected file=PATH"),
            (&["url=urlTemplate=http://a/{key}"], "squall asks no URL"),
            (&["mock=a=1", "mock=a=2"], "two sources are named `mock`"),
            (
                &["mock=name=a,x=1,default", "mock=name=b,x=1,default"],
                "two sources are named `default`",
            ),
        ] {
            let why = of(texts).expect_err(said);
            assert!(why.contains(said) && !why.contains("hunter2"), "{why}");
        }
    }
}
