//! JMeter's command line: what its words mean. Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// The plan (`-t`).
    pub plan: PathBuf,
    /// The file of samples (`-l`).
    pub samples: Option<PathBuf>,
    /// Whether that is to be made anew (`-f`).
    pub replaces: bool,
    /// JMeter's log (`-j`).
    pub log: Option<PathBuf>,
    /// The folder of the report (`-e`, `-o`).
    pub report: Option<PathBuf>,
    /// Files and values of properties, in their order.
    pub properties: Vec<Properties>,
    /// Where JMeter's own properties are (`-p`), in place of those beside the plan.
    pub main_properties: Option<PathBuf>,
    /// JMeter's folder (`-d`), whose `bin` has its properties.
    pub home: Option<PathBuf>,
    /// System properties (`-D`).
    pub system: BTreeMap<String, String>,
    /// Files of system properties (`-S`).
    pub system_files: Vec<PathBuf>,
    /// Whether what is not supported is left out (`--skip-unsupported`, which JMeter has not).
    pub skips_unsupported: bool,
    /// Options of squall's about a fleet, as they were typed, each with its value in the same word.
    pub fleet: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Properties {
    /// A file of them (`-q`, `-G FILE`).
    File(PathBuf),
    /// One (`-J`, `-G`).
    One(String, String),
}

/// How an option takes what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// A name and its value.
    Pair,
}

/// An option that is known: its letter, its name, what it takes.
type Known = (char, &'static str, Takes);

/// Those that do here what they do in JMeter.
const KNOWN: [Known; 20] = [
    ('n', "nongui", Takes::Nothing),
    ('t', "testfile", Takes::Value),
    ('l', "logfile", Takes::Value),
    ('f', "forceDeleteResultFile", Takes::Nothing),
    ('j', "jmeterlogfile", Takes::Value),
    ('e', "reportatendofloadtests", Takes::Nothing),
    ('o', "reportoutputfolder", Takes::Value),
    ('q', "addprop", Takes::Value),
    ('p', "propfile", Takes::Value),
    ('d', "homedir", Takes::Value),
    ('J', "jmeterproperty", Takes::Pair),
    ('G', "globalproperty", Takes::Pair),
    ('D', "systemproperty", Takes::Pair),
    ('S', "systemPropertyFile", Takes::Value),
    ('H', "proxyHost", Takes::Value),
    ('P', "proxyPort", Takes::Value),
    ('E', "proxyScheme", Takes::Value),
    ('N', "nonProxyHosts", Takes::Value),
    ('u', "username", Takes::Value),
    ('a', "password", Takes::Value),
];

/// Those of JMeter that squall has not, and what there is instead.
const REFUSED: [(char, &str, &str); 8] = [
    ('g', "reportonly", "a report is made of a run's folder: `squall report`"),
    (
        'r',
        "runremote",
        "to run on many machines, start `squall node --nats URL` on each, and give --nats URL --nodes N here (docs/fleet.md)",
    ),
    (
        'R',
        "remotestart",
        "to run on many machines, start `squall node --nats URL` on each of these hosts (or all at once: `squall fleet up --ssh FILE`), and give --nats URL --nodes N here (docs/fleet.md)",
    ),
    ('X', "remoteexit", "a node ends after one run if it was started with `squall node --once`"),
    ('s', "server", "a machine is lent to others by `squall node --nats URL` (docs/fleet.md)"),
    ('L', "loglevel", "the log has one level"),
    ('i', "jmeterlogconf", "the log has one form"),
    ('v', "version", "that is `squall --version`"),
];

/// The property that `-a` gives.
const PROXY_PASSWORD: &str = "http.proxyPass";

/// The option of ours.
const SKIP: &str = "skip-unsupported";

/// Reads JMeter's command line. As there, an option's value may stand behind it or be a word of its own
/// (`-lout.jtl`, `-l out.jtl`, `--logfile=out.jtl`), so may the value of a property (`-Jname=value`, `-Jname value`), and letters
/// that take none may be one word (`-nf`).
///
/// # Errors
/// An option that is not known, or that squall has not; one without its value; or what JMeter itself refuses. Values are not
/// repeated: they may be secret. `fleet`: names of squall's own options about a fleet, each with a value.
pub fn read(words: &[String], fleet: &[String]) -> Result<Asked, String> {
    let mut found = Found::default();
    let mut rest = words.iter().map(String::as_str).collect::<std::collections::VecDeque<_>>();
    while let Some(word) = rest.pop_front() {
        if let Some(long) = word.strip_prefix("--") {
            if long == SKIP {
                found.asked.skips_unsupported = true;
                continue;
            }
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            if fleet.iter().any(|own| own == name) {
                let value = value.or_else(|| rest.pop_front());
                let value = value.ok_or_else(|| format!("--{name}: its value is missing"))?;
                found.asked.fleet.push(format!("--{name}={value}"));
                continue;
            }
            let (letter, takes) = of_name(name)?;
            let value = match (takes, value) {
                (Takes::Nothing, _) => "",
                (_, Some(value)) => value,
                (_, None) => next(&mut rest, letter)?,
            };
            take(letter, takes, value, &mut rest, &mut found)?;
        } else if let Some(letters) = word.strip_prefix('-').filter(|own| !own.is_empty()) {
            short(letters, &mut rest, &mut found)?;
        } else {
            return Err("a word that belongs to no option".to_owned());
        }
    }
    found.whole()
}

/// The words of a command line as they may be shown: without the passwords of a proxy, whether there is one or not.
pub fn shown(line: impl Iterator<Item = String>, asked: &Asked) -> Vec<String> {
    let passwords = asked.properties.iter().filter_map(|own| match own {
        Properties::One(name, value) if name == PROXY_PASSWORD => Some(value.as_str()),
        Properties::One(..) | Properties::File(_) => None,
    });
    let passwords: Vec<&str> = passwords.filter(|own| !own.is_empty()).collect();
    let without = |word: String| {
        let rest = passwords.iter().find_map(|own| word.strip_suffix(own));
        let is_value =
            |rest: &&str| rest.is_empty() || rest.starts_with('-') || rest.ends_with('=');
        rest.filter(is_value).map_or(word.clone(), |rest| format!("{rest}***"))
    };
    line.map(without).collect()
}

/// A word of options with letters.
fn short<'w>(
    letters: &'w str,
    rest: &mut std::collections::VecDeque<&'w str>,
    found: &mut Found,
) -> Result<(), String> {
    let mut letters = letters.chars();
    while let Some(letter) = letters.next() {
        match of_letter(letter)? {
            Takes::Nothing => found.take(letter, "")?,
            takes => {
                let value = letters.as_str();
                let value = if value.is_empty() { next(rest, letter)? } else { value };
                return take(letter, takes, value, rest, found);
            }
        }
    }
    Ok(())
}

/// Takes an option. The value of a name without one is the next word, if that is no option.
fn take(
    letter: char,
    takes: Takes,
    value: &str,
    rest: &mut std::collections::VecDeque<&str>,
    found: &mut Found,
) -> Result<(), String> {
    let is_name = takes == Takes::Pair && !value.contains('=');
    match rest.front().filter(|word| is_name && !word.starts_with('-')) {
        Some(word) => {
            let pair = format!("{value}={word}");
            rest.pop_front();
            found.take(letter, &pair)
        }
        None => found.take(letter, value),
    }
}

fn next<'w>(
    rest: &mut std::collections::VecDeque<&'w str>,
    letter: char,
) -> Result<&'w str, String> {
    rest.pop_front().ok_or_else(|| format!("-{letter}: its value is missing"))
}

fn of_letter(letter: char) -> Result<Takes, String> {
    if let Some((_, _, takes)) = KNOWN.iter().find(|(own, _, _)| *own == letter) {
        return Ok(*takes);
    }
    Err(match REFUSED.iter().find(|(own, _, _)| *own == letter) {
        Some((_, name, why)) => format!("-{letter} (--{name}): {why}"),
        None => format!("-{letter}: JMeter has no such option"),
    })
}

fn of_name(name: &str) -> Result<(char, Takes), String> {
    if let Some((letter, _, takes)) = KNOWN.iter().find(|(_, own, _)| *own == name) {
        return Ok((*letter, *takes));
    }
    match REFUSED.iter().find(|(_, own, _)| *own == name) {
        Some((letter, ..)) => of_letter(*letter).map(|takes| (*letter, takes)),
        None => Err(format!("--{name}: JMeter has no such option")),
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    asked: Asked,
    is_without_desk: bool,
    has_plan: bool,
    wants_report: bool,
    /// What was said of a proxy, by letters.
    proxy: BTreeMap<char, String>,
}

impl Found {
    /// Takes an option with its value.
    fn take(&mut self, letter: char, value: &str) -> Result<(), String> {
        let path = || PathBuf::from(value);
        let asked = &mut self.asked;
        match letter {
            'n' => self.is_without_desk = true,
            't' => (self.has_plan, asked.plan) = (true, path()),
            'l' => asked.samples = Some(path()),
            'f' => asked.replaces = true,
            'j' => asked.log = Some(path()),
            'e' => self.wants_report = true,
            'o' => asked.report = Some(path()),
            'p' => asked.main_properties = Some(path()),
            'd' => asked.home = Some(path()),
            'q' => asked.properties.push(Properties::File(path())),
            'S' => asked.system_files.push(path()),
            'H' | 'P' | 'E' | 'N' | 'u' | 'a' => {
                self.proxy.insert(letter, value.to_owned());
            }
            _ => match (letter, value.split_once('=')) {
                ('D', Some((name, value))) => {
                    asked.system.insert(name.to_owned(), value.to_owned());
                }
                (_, Some((name, value))) => {
                    asked.properties.push(Properties::One(name.to_owned(), value.to_owned()));
                }
                ('G', None) => asked.properties.push(Properties::File(path())),
                (_, None) => return Err(format!("-{letter}: expected NAME=VALUE")),
            },
        }
        Ok(())
    }

    /// Says of a proxy what JMeter makes of it: system properties, and of who may use it properties of its own.
    fn say_proxy(&mut self) -> Result<(), String> {
        for (letter, other) in [('H', 'P'), ('P', 'H'), ('E', 'H'), ('a', 'u')] {
            if self.proxy.contains_key(&letter) && !self.proxy.contains_key(&other) {
                return Err(format!("-{letter} goes with -{other}"));
            }
        }
        for (letter, value) in std::mem::take(&mut self.proxy) {
            let name = match letter {
                'H' => "http.proxyHost",
                'P' => "http.proxyPort",
                'E' => "http.proxyScheme",
                'N' => "http.nonProxyHosts",
                'u' => "http.proxyUser",
                _ => PROXY_PASSWORD,
            };
            match letter {
                'u' | 'a' => self.asked.properties.push(Properties::One(name.to_owned(), value)),
                _ => {
                    self.asked.system.insert(name.to_owned(), value);
                }
            }
        }
        Ok(())
    }

    /// The whole, if it can be run.
    fn whole(mut self) -> Result<Asked, String> {
        if !self.is_without_desk {
            return Err("squall has no GUI: give -n, and a plan with -t".to_owned());
        }
        if !self.has_plan {
            return Err("the plan is missing: give it with -t".to_owned());
        }
        self.say_proxy()?;
        match (self.wants_report, &self.asked.samples, &self.asked.report) {
            (true, None, _) => return Err("-e goes with -l".to_owned()),
            (false, _, Some(_)) => return Err("-o goes with -e".to_owned()),
            // JMeter's own name.
            (true, _, None) => self.asked.report = Some(PathBuf::from("report-output")),
            _ => {}
        }
        Ok(self.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read(&words, &["nodes".to_owned(), "nats".to_owned()])
    }

    #[test]
    fn a_line_of_jmeters() {
        let asked = said(
            "-n -t plan.jmx -l out.jtl -j log -e -o dir -Jhost=a=b -G users=5 -Dx=y -qmore -p main -d home -Sfile -Gfile -f",
        );
        let one = |name: &str, value: &str| Properties::One(name.into(), value.into());
        let expected = Asked {
            plan: "plan.jmx".into(),
            samples: Some("out.jtl".into()),
            replaces: true,
            log: Some("log".into()),
            report: Some("dir".into()),
            properties: vec![
                one("host", "a=b"),
                one("users", "5"),
                Properties::File("more".into()),
                Properties::File("file".into()),
            ],
            main_properties: Some("main".into()),
            home: Some("home".into()),
            system: [("x".to_owned(), "y".to_owned())].into(),
            system_files: vec!["file".into()],
            skips_unsupported: false,
            fleet: Vec::new(),
        };
        assert_eq!(asked, Ok(expected.clone()));
        let long = "--nongui --testfile plan.jmx --logfile=out.jtl --jmeterlogfile log --reportatendofloadtests \
                    --reportoutputfolder=dir --jmeterproperty host=a=b --globalproperty users=5 --systemproperty x=y \
                    --addprop more --propfile main --homedir home --systemPropertyFile file --globalproperty file \
                    --forceDeleteResultFile";
        assert_eq!(said(long), Ok(expected));
        let apart = said("-n -t p -Jhost a -D x y -Gfile -J port 80 -G users 5");
        let expected = vec![
            one("host", "a"),
            Properties::File("file".into()),
            one("port", "80"),
            one("users", "5"),
        ];
        assert_eq!(apart.as_ref().map(|asked| &asked.properties), Ok(&expected));
        assert_eq!(apart.map(|asked| asked.system), Ok([("x".to_owned(), "y".to_owned())].into()));
        assert_eq!(said("-nft plan.jmx").map(|asked| asked.replaces), Ok(true));
        assert_eq!(
            said("-n -t p -l a -e").map(|asked| asked.report),
            Ok(Some("report-output".into()))
        );
    }

    #[test]
    fn a_fleet_is_asked_for_with_squalls_own_options() {
        let asked = said("-n -t p --nats nats://a --nodes=4 -Ja=b").expect("a good line");
        assert_eq!(asked.fleet, ["--nats=nats://a", "--nodes=4"]);
    }

    #[test]
    fn nothing_is_left_out_in_silence() {
        for (line, reason) in [
            ("-t plan.jmx", "-n"),
            ("-n", "-t"),
            ("-n -t", "-t: its value is missing"),
            ("-n -t p -J name", "-J: expected NAME=VALUE"),
            ("-n -t p -r", "give --nats URL --nodes N here"),
            ("-n -t p -R a,b", "squall fleet up --ssh FILE"),
            ("-n -t p -s", "`squall node --nats URL`"),
            ("-n -t p --nodes", "--nodes: its value is missing"),
            ("-n -t p --proxyHost h", "-H goes with -P"),
            ("-n -t p -P 80", "-P goes with -H"),
            ("-n -t p -L debug", "-L (--loglevel): the log has one level"),
            ("-n -t p -e", "-e goes with -l"),
            ("-n -t p -o dir", "-o goes with -e"),
            ("-n -t p -z", "-z: JMeter has no such option"),
            ("-n -t p --zeal", "--zeal: JMeter has no such option"),
            ("-n -t p more", "a word that belongs to no option"),
        ] {
            let error = said(line).expect_err(line);
            assert!(error.contains(reason), "{line}: {error}");
        }
        let given = said("-n -t p -H proxy -P80 --nonProxyHosts *.a.test|b -u ada -a swordfish");
        let given = given.expect("a good line");
        let names: Vec<&str> = given.system.keys().map(String::as_str).collect();
        assert_eq!(names, ["http.nonProxyHosts", "http.proxyHost", "http.proxyPort"]);
        let one = |name: &str, value: &str| Properties::One(name.into(), value.into());
        let credentials = [one("http.proxyPass", "swordfish"), one("http.proxyUser", "ada")];
        assert_eq!(given.properties, credentials);
        for (line, expected) in [
            ("-n -t p -u ada -a cat", "-n -t p -u ada -a ***"),
            ("-nt cat.jmx -uada -acat", "-nt cat.jmx -uada -a***"),
            (
                "-n -t wildcat --username ada --password=cat",
                "-n -t wildcat --username ada --password=***",
            ),
            ("-n -t p -J http.proxyPass=cat", "-n -t p -J http.proxyPass=***"),
            ("-n -t p -Jhttp.proxyPass= -Jcat=a", "-n -t p -Jhttp.proxyPass= -Jcat=a"),
        ] {
            let asked = said(line).expect("a line of JMeter's");
            let words = line.split_whitespace().map(str::to_owned);
            assert_eq!(shown(words, &asked).join(" "), expected);
        }
        assert!(said("-n -t p -a swordfish").is_err_and(|error| !error.contains("swordfish")));
    }
}
