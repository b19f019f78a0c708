//! The log of a run, in the form of k6's: what a script writes to its console, exceptions that nothing in it caught, and what
//! squall itself says. Goes to the standard error, the standard output or files.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use squall_engine::{Exchange, ExchangeFilter};
use squall_k6::options::HttpDebug;
use squall_metrics::ErrorKind;
use squall_report::Run;
use squall_runner::{
    Event, EventKind, Second, Sink, Start, Wanted, WantedExchanges, masked_body, masked_head,
    masked_request,
};

use crate::args::{K6Log, LogFormat, LogLevel, LogOutput};
use crate::out;

/// Words before a line that say how important it is.
const LEVELS: [(&str, LogLevel); 3] =
    [("error: ", LogLevel::Error), ("warning: ", LogLevel::Warning), ("debug: ", LogLevel::Debug)];

/// What lines begin with that say what a script has done to the run.
const OF_RUN: [&str; 2] =
    ["the script has ended the run: ", "the script marked the run as failed: "];

/// What lines come from that a script logs, ...
const CONSOLE: &str = "console";
/// ... and those of its requests and responses.
const HTTP: &str = "http-debug";
/// Most bytes of a message that are logged.
const MOST_OF_MESSAGE: usize = 1 << 20;

/// A log, which its copies share.
#[derive(Debug, Clone)]
pub struct Log(Arc<Places>);

/// Where lines go, and which.
#[derive(Debug)]
struct Places {
    format: LogFormat,
    /// The least important lines that are written.
    least: LogLevel,
    own: Place,
    /// Where what scripts log goes instead, and the least important of it that does.
    console: Option<(Place, LogLevel)>,
}

#[derive(Debug)]
enum Place {
    Stderr,
    Stdout,
    Nowhere,
    File(Mutex<File>),
}

/// A line of the log, without the characters that a terminal would obey.
#[derive(Debug, Clone, Copy)]
struct Line<'l> {
    /// In seconds since 1970.
    unix_s: u64,
    level: LogLevel,
    text: &'l str,
    /// What it comes from, if not from squall.
    source: Option<&'static str>,
}

impl Log {
    /// Opens the files of a log. Lines are added to those that are there.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn open(asked: &K6Log) -> Result<Log, String> {
        let level_of_all = if asked.verbose { LogLevel::Debug } else { LogLevel::Info };
        let (own, least) = match &asked.log_output {
            LogOutput::Stderr => (Place::Stderr, level_of_all),
            LogOutput::Stdout => (Place::Stdout, level_of_all),
            LogOutput::None => (Place::Nowhere, level_of_all),
            LogOutput::File(path, level) => (Place::of_file(path)?, level_of_all.max(*level)),
        };
        let console = asked.console_output.as_deref().map(Place::of_file).transpose()?;
        let console = console.map(|place| (place, level_of_all));
        Ok(Log(Arc::new(Places { format: asked.log_format, least, own, console })))
    }

    /// Says something now, as a line of a level.
    pub fn say(&self, level: LogLevel, text: &str) {
        let text = squall_base::escape_control(text);
        self.write(Line { unix_s: now(), level, text: &text, source: None });
    }

    fn write(&self, line: Line<'_>) {
        let Places { format, least, own, console } = &*self.0;
        // A file that has nothing else needs no word of where its lines are from.
        let (place, least, source) = match console {
            Some((place, least)) if line.source == Some(CONSOLE) => (place, least, None),
            _ => (own, least, line.source),
        };
        if line.level >= *least {
            place.write(&Line { source, ..line }.written(*format));
        }
    }
}

impl Place {
    fn of_file(path: &Path) -> Result<Place, String> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let failed = |error| format!("{}: the log cannot be written: {error}", path.display());
        file.map(|file| Place::File(Mutex::new(file))).map_err(failed)
    }

    /// That a line cannot be written is no reason to end a run.
    fn write(&self, line: &str) {
        match self {
            Place::Stderr => out::message(line),
            Place::Stdout => out::print(line),
            Place::Nowhere => {}
            Place::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(line.as_bytes());
            }
        }
    }
}

impl Line<'_> {
    fn written(&self, format: LogFormat) -> String {
        let Line { unix_s, level, text, source } = *self;
        let level = level.label();
        let line = match format {
            LogFormat::Raw => text.to_owned(),
            LogFormat::Json => {
                let mut line = json!({"level": level, "msg": text});
                if let Some(source) = source {
                    line["source"] = json!(source);
                }
                line["time"] = json!(time(unix_s));
                line.to_string()
            }
            LogFormat::Text => {
                let source = source.map(|own| format!(" source={own}")).unwrap_or_default();
                format!("time=\"{}\" level={level} msg={}{source}", time(unix_s), quoted(text))
            }
        };
        line + "\n"
    }
}

/// A text as k6's log has it: in quotes, unless it is one plain word. What the quotes could hide has a backslash, as in a
/// literal of Go (`%q` of its package fmt).
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = escape(rest).unwrap_or(0);
        match c {
            // It stands for a character that could not be shown.
            '\\' if length > 0 => out.push_str(&rest[..length].replace(['{', '}'], "")),
            '\\' | '"' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
        rest = &rest[length.max(c.len_utf8())..];
    }
    out.push('"');
    out
}

/// How long the escape is that a text begins with, if it is one of [`squall_base::escape_control`].
fn escape(text: &str) -> Option<usize> {
    let is_hex = |own: &str| !own.is_empty() && own.chars().all(|c| c.is_ascii_hexdigit());
    let rest = text.strip_prefix('\\')?;
    match rest.chars().next()? {
        'n' | 'r' => Some(2),
        'x' => rest.get(1..3).filter(|own| is_hex(own)).map(|_| 4),
        'u' => {
            let (number, _) = rest.strip_prefix("u{")?.split_once('}')?;
            is_hex(number).then_some(number.len() + 4)
        }
        _ => None,
    }
}

/// A time in seconds since 1970.
pub(super) fn time(unix_s: u64) -> String {
    let (year, month, day) =
        squall_base::calendar::date(i64::try_from(unix_s / 86_400).unwrap_or(0));
    let (hour, minute, second) = (unix_s / 3_600 % 24, unix_s / 60 % 60, unix_s % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Now, in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// Writes the lines that a run logs.
#[derive(Debug)]
pub struct RunLog {
    log: Log,
    /// When the run began, in seconds since 1970.
    began_unix_s: f64,
    /// The kinds of errors of requests of which one was logged.
    seen: HashSet<(ErrorKind, u16)>,
    /// What it logs of requests and responses, if anything.
    http_debug: Option<HttpDebug>,
}

impl RunLog {
    /// To a log.
    pub fn new(log: Log, http_debug: Option<HttpDebug>) -> RunLog {
        RunLog { log, began_unix_s: 0.0, seen: HashSet::new(), http_debug }
    }

    /// Logs what was sent and received.
    fn exchange(&self, exchange: &Exchange) {
        let secrets = &*exchange.secrets;
        let unix_s = (self.began_unix_s + exchange.at_us as f64 / 1e6) as u64;
        let is_full = self.http_debug == Some(HttpDebug::Full);
        // Without a connection nothing was sent.
        for hop in exchange.hops.iter().filter(|hop| !hop.request.is_empty()) {
            let request = masked_request(hop, secrets);
            let head = request.find("\r\n\r\n").filter(|_| !is_full).map(|end| end + 4);
            let mut texts =
                vec![format!("Request:\n{}\n", &request[..head.unwrap_or(request.len())])];
            if hop.is_answered {
                let body = if is_full { masked_body(hop, secrets) } else { String::new() };
                texts.push(format!("Response:\n{}{body}\n", masked_head(hop, secrets)));
            }
            for text in texts {
                let text = squall_base::escape_control(&text);
                let line = Line { unix_s, level: LogLevel::Info, text: &text, source: Some(HTTP) };
                self.log.write(line);
            }
        }
    }

    /// The level of an example of an error; `None`: one of its kind was logged. Each exception of a script is another.
    fn level_of(&mut self, kind: ErrorKind, status: u16) -> Option<LogLevel> {
        match kind {
            ErrorKind::Script => Some(LogLevel::Error),
            _ => self.seen.insert((kind, status)).then_some(LogLevel::Warning),
        }
    }
}

impl Sink for RunLog {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.began_unix_s = start.meta.started_unix;
        let exchanges = self
            .http_debug
            .map(|_| WantedExchanges { which: ExchangeFilter::All, bytes: MOST_OF_MESSAGE });
        Ok(Wanted { exchanges, ..Wanted::default() })
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let EventKind::Exchange(seen) = &event.kind {
            self.exchange(&seen.exchange);
        }
        let EventKind::Log { text, example, .. } = &event.kind else { return Ok(()) };
        let unix_s = (self.began_unix_s + event.at_s) as u64;
        let line = match example {
            Some(example) => {
                let level = self.level_of(example.kind, example.status);
                level.map(|level| Line { unix_s, level, text, source: None })
            }
            None => Some(of_script(unix_s, text)),
        };
        line.into_iter().for_each(|line| self.log.write(line));
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// A line that a script has logged, or what it has done to the run.
fn of_script(unix_s: u64, text: &str) -> Line<'_> {
    if OF_RUN.iter().any(|own| text.starts_with(own)) {
        return Line { unix_s, level: LogLevel::Error, text, source: None };
    }
    let leveled = LEVELS.iter().find_map(|(word, level)| Some((*level, text.strip_prefix(word)?)));
    let (level, text) = leveled.unwrap_or((LogLevel::Info, text));
    Line { unix_s, level, text, source: Some(CONSOLE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX_S: u64 = 1_795_898_573;

    #[test]
    fn lines_are_those_of_k6() {
        let at = "time=\"2026-11-28T20:42:53Z\"";
        for (text, expected) in [
            ("hello \"you\"", "level=info msg=\"hello \\\"you\\\"\" source=console"),
            ("hello", "level=info msg=hello source=console"),
            (r#"{"a":"\""} C:\dir"#, r#"level=info msg="{\"a\":\"\\\"\"} C:\\dir" source=console"#),
            // These are escapes of characters that cannot be shown.
            (
                r"two\nlines \x1b \u{202e}",
                r#"level=info msg="two\nlines \x1b \u202e" source=console"#,
            ),
            (r"\x \u{} \", r#"level=info msg="\\x \\u{} \\" source=console"#),
            ("warning: low on", "level=warning msg=\"low on\" source=console"),
            ("error: no", "level=error msg=no source=console"),
        ] {
            let line = of_script(UNIX_S, text).written(LogFormat::Text);
            assert_eq!(line, format!("{at} {expected}\n"));
        }
        let line = of_script(UNIX_S, "the script has ended the run: enough");
        assert_eq!((line.level, line.source), (LogLevel::Error, None));
        let line = of_script(UNIX_S, "debug: a \"b\"");
        assert_eq!(line.written(LogFormat::Raw), "a \"b\"\n");
        let json =
            r#"{"level":"debug","msg":"a \"b\"","source":"console","time":"2026-11-28T20:42:53Z"}"#;
        assert_eq!(line.written(LogFormat::Json), format!("{json}\n"));
    }

    #[test]
    fn lines_go_where_they_were_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let text = |name: &str| std::fs::read_to_string(path(name)).expect("a file");
        let asked = K6Log {
            log_output: LogOutput::File(path("own"), LogLevel::Warning),
            log_format: LogFormat::Raw,
            console_output: Some(path("console")),
            verbose: true,
            quiet: false,
            no_color: false,
        };
        let log = Log::open(&asked).expect("files");
        log.say(LogLevel::Info, "too little");
        log.say(LogLevel::Error, "enough");
        ["said", "warning: twice"].iter().for_each(|text| log.write(of_script(UNIX_S, text)));
        assert_eq!((text("own").as_str(), text("console").as_str()), ("enough\n", "said\ntwice\n"));
        let asked =
            K6Log { log_output: LogOutput::File(path("none/own"), LogLevel::Info), ..asked };
        assert!(Log::open(&asked).is_err_and(|why| why.contains("none/own")));
    }

    #[test]
    fn errors_of_requests_are_logged_once_for_each_kind() {
        let log = Log(Arc::new(Places {
            format: LogFormat::Text,
            least: LogLevel::Info,
            own: Place::Nowhere,
            console: None,
        }));
        let mut log = RunLog::new(log, None);
        let mut level = |kind, status| log.level_of(kind, status);
        assert_eq!(level(ErrorKind::ConnectRefused, 0), Some(LogLevel::Warning));
        assert_eq!(level(ErrorKind::ConnectRefused, 0), None);
        assert_eq!(level(ErrorKind::Script, 0), Some(LogLevel::Error));
        assert_eq!(level(ErrorKind::Script, 0), Some(LogLevel::Error));
    }
}
