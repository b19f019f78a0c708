//! The hosts of `squall fleet up --ssh FILE`: a host a line, with what its node is called, where it is and how much it takes.
//! Pure.

use std::collections::HashMap;

use crate::args;

/// Most hosts: each has a process of ssh on this machine.
const MAX_HOSTS: usize = 1_000;

/// A host, and the node that is to run on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// As ssh takes it: a name, an address, `user@host`, `ssh://user@host:port`.
    pub host: String,
    /// Name of the node.
    pub name: String,
    /// Where it is.
    pub zone: Option<String>,
    /// Its part of the load.
    pub weight: f64,
}

/// Reads a list of hosts. `file` stands before each mistake, with its line and column.
///
/// # Errors
/// All mistakes, each in a line.
pub fn read(file: &str, text: &str) -> Result<Vec<Host>, String> {
    let (mut hosts, mut mistakes) = (Vec::new(), Vec::new());
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        match host(line) {
            Ok(None) => {}
            Ok(Some(host)) => match lines.insert(host.name.clone(), number) {
                None => hosts.push(host),
                Some(first) => mistakes.push(format!(
                    "{file}:{number}:1: the node `{}` is in line {first} already: give one of them another name, such as name={}-b",
                    host.name, host.name
                )),
            },
            Err((column, why)) => mistakes.push(format!("{file}:{number}:{column}: {why}")),
        }
    }
    match mistakes.is_empty() {
        false => Err(mistakes.join("\n")),
        true if hosts.is_empty() => {
            Err(format!("{file}: it names no host: write one a line, such as `10.0.0.7 zone=eu`"))
        }
        true if hosts.len() > MAX_HOSTS => {
            Err(format!("{file}: at most {MAX_HOSTS} hosts can be started by ssh; it names {}", hosts.len()))
        }
        true => Ok(hosts),
    }
}

/// A line; `None`: it is empty, or a comment. A mistake has its column.
fn host(line: &str) -> Result<Option<Host>, (usize, String)> {
    let line = &line[..line.find('#').unwrap_or(line.len())];
    let mut words = words(line);
    let Some((column, address)) = words.next() else { return Ok(None) };
    // What begins like an option would be one to ssh.
    if address.starts_with('-') || address.contains('=') {
        let text = format!("expected a host, found `{address}`: the host comes first");
        return Err((column, text));
    }
    let (mut name, mut zone, mut weight) = (None, None, None);
    for (column, word) in words {
        let wrong = |why: String| (column, format!("`{word}`: {why}"));
        let (key, value) =
            word.split_once('=').ok_or_else(|| wrong("expected name=, zone= or weight=".into()))?;
        let is_again = match key {
            "name" => name.replace(args::name(value).map_err(wrong)?).is_some(),
            "zone" => zone.replace(args::name(value).map_err(wrong)?).is_some(),
            "weight" => weight.replace(args::weight(value).map_err(wrong)?).is_some(),
            _ => return Err(wrong("expected name=, zone= or weight=".into())),
        };
        if is_again {
            return Err(wrong(format!("`{key}` is there twice")));
        }
    }
    let name = name.unwrap_or_else(|| name_of(address));
    Ok(Some(Host { host: address.to_owned(), name, zone, weight: weight.unwrap_or(1.0) }))
}

/// The words of a line, each with its column, from 1.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().map(move |word| {
        // Both are of the same text: the distance of their beginnings is where the word stands.
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        (line[..at].chars().count() + 1, word)
    })
}

/// The name of the node on a host that has none of its own: the host's, as far as a name may have its letters.
fn name_of(address: &str) -> String {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let named = host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let name: String = named.take(64).collect();
    match name.trim_matches('-') {
        "" => "host".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_line() {
        let text = "# Europe\n10.0.0.7 zone=eu weight=2\n\n  ada@us-1.example.com:22   name=big  zone=us # new\nlocalhost\n";
        let host = |host: &str, name: &str, zone: Option<&str>, weight| Host {
            host: host.into(),
            name: name.into(),
            zone: zone.map(Into::into),
            weight,
        };
        let expected = vec![
            host("10.0.0.7", "10-0-0-7", Some("eu"), 2.0),
            host("ada@us-1.example.com:22", "big", Some("us"), 1.0),
            host("localhost", "localhost", None, 1.0),
        ];
        assert_eq!(read("hosts.txt", text), Ok(expected));
    }

    #[test]
    fn a_mistake_has_its_place() {
        for (text, why) in [
            ("", "h: it names no host"),
            ("# nothing\n", "h: it names no host"),
            ("a\n  a", "h:2:1: the node `a` is in line 1 already"),
            ("a.b\na-b", "h:2:1: the node `a-b` is in line 1 already"),
            ("a\n-oProxyCommand=sh", "h:2:1: expected a host"),
            ("  zone=eu", "h:1:3: expected a host"),
            ("a zone", "h:1:3: `zone`: expected name=, zone= or weight="),
            ("a  wait=3", "h:1:4: `wait=3`: expected name="),
            ("ä zone=e.u", "h:1:3: `zone=e.u`: a name has letters"),
            ("a weight=0", "h:1:3: `weight=0`: expected a number"),
            ("a zone=eu zone=us", "h:1:11: `zone=us`: `zone` is there twice"),
        ] {
            let error = read("h", text).expect_err(text);
            assert!(error.starts_with(why), "{text:?}: {error}");
        }
        let all = read("h", "a x\nb y\nc").expect_err("two mistakes");
        assert_eq!(all.lines().count(), 2, "{all}");
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let mut random = 7_u64;
        let letters: Vec<char> = "a-@=# \t\n:.zonename1é\u{0}".chars().collect();
        for _ in 0..2_000 {
            let text: String = (0..random % 40)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    letters[(random >> 33) as usize % letters.len()]
                })
                .collect();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 1;
            for host in read("h", &text).unwrap_or_default() {
                assert!(!host.host.starts_with('-') && args::name(&host.name).is_ok(), "{text:?}");
            }
        }
    }
}
