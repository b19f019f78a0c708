//! What `--out` asks for. Pure.

use std::time::Duration;

use squall_plan::feed_target::masked;

use super::csv::TimeFormat;
use super::push::PushTarget;
use super::variables::{Variables, time};
use super::writer::Form;
use super::{influxdb, opentelemetry, remote_write};

/// The file of `--out csv` without a name.
const CSV_FILE: &str = "file.csv";
/// What is expected in place of what is unknown.
const KNOWN: &str = "expected json, csv, influxdb, experimental-prometheus-rw or opentelemetry, with =WHERE behind those that take it";
/// Outputs that are made by other means, and what to do.
const OTHERS: [(&str, &str); 6] = [
    (
        "web-dashboard",
        "use `squall run SCRIPT --ui`, which shows the run as a page, or `squall ui`",
    ),
    (
        "cloud",
        "squall sends nothing to k6's cloud: use json=FILE, or an output such as opentelemetry",
    ),
    ("statsd", "k6 has removed it too: use `squall run SCRIPT --out statsd=HOST:PORT`"),
    ("datadog", "k6 has removed it too: use opentelemetry, which Datadog's agent takes"),
    (
        "kafka",
        "k6 has removed it too: use json=FILE, or opentelemetry with a collector that writes to Kafka",
    ),
    ("summary", "use `--summary-export FILE`"),
];

/// Where what is measured goes.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputTarget {
    /// To a file, or the standard output.
    File(PointTarget),
    /// To another system.
    Push(Box<PushTarget>),
}

/// A file, or the standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointTarget {
    pub form: Form,
    /// `None`: the standard output.
    pub file: Option<String>,
    /// What is kept is written that often.
    pub every: Duration,
    /// Sentences about what is set and has no effect.
    pub warnings: Vec<String>,
}

impl OutputTarget {
    /// Reads what follows `--out`: a kind, with `=` and where to behind it. `variables` are those of the environment.
    ///
    /// # Errors
    /// It is something else, or a variable of it is wrong; in a sentence that says what was expected or what to do.
    pub fn parse(text: &str, variables: &[(String, String)]) -> Result<OutputTarget, String> {
        let (kind, argument) = text.split_once('=').unwrap_or((text, ""));
        let variables = Variables::new(variables);
        let push =
            |own: Result<PushTarget, String>| own.map(|own| OutputTarget::Push(Box::new(own)));
        let target = match kind {
            "json" => Ok(OutputTarget::File(json(argument))),
            "csv" => csv(argument, &variables).map(OutputTarget::File),
            "influxdb" | "xk6-influxdb" => push(influxdb::target(argument, &variables)),
            "experimental-prometheus-rw" => push(remote_write::target(argument, &variables)),
            "opentelemetry" | "experimental-opentelemetry" => {
                push(opentelemetry::target(argument, &variables))
            }
            _ => {
                let other = OTHERS.iter().find(|(own, _)| *own == kind);
                let help = other.map_or(KNOWN, |(_, help)| help);
                Err(format!("`squall k6 run` has no output `{kind}`: {help}"))
            }
        };
        target.map_err(|why| format!("--out {}: {why}", masked(text)))
    }

    /// Sentences about what is set and has no effect.
    pub fn warnings(&self) -> &[String] {
        match self {
            OutputTarget::File(own) => &own.warnings,
            OutputTarget::Push(own) => &own.warnings,
        }
    }
}

/// The outputs that `K6_OUT` names, with commas between them, as k6 reads it.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|own| !own.is_empty())
}

/// A file, unless it is `-` or has no name.
fn file(name: &str) -> Option<String> {
    Some(name.to_owned()).filter(|name| !matches!(name.as_str(), "" | "-"))
}

fn json(argument: &str) -> PointTarget {
    let every = Duration::from_secs(1);
    PointTarget { form: Form::Json, file: file(argument), every, warnings: Vec::new() }
}

/// `FILE`, or `fileName=FILE,saveInterval=TIME,timeFormat=FORMAT`.
fn csv(argument: &str, variables: &Variables<'_>) -> Result<PointTarget, String> {
    const NAME: &str = "K6_CSV_FILENAME";
    const INTERVAL: &str = "K6_CSV_SAVE_INTERVAL";
    const FORMAT: &str = "K6_CSV_TIME_FORMAT";
    let mut name = variables.text(NAME).unwrap_or(CSV_FILE);
    let mut every = variables.time(INTERVAL)?.unwrap_or(Duration::from_secs(1));
    let format =
        |from: &str, text: &str| TimeFormat::parse(text).map_err(|why| format!("{from}: {why}"));
    let mut times = format(FORMAT, variables.text(FORMAT).unwrap_or("unix"))?;
    match argument.contains('=') {
        false if argument.is_empty() => {}
        false => name = argument,
        true => {
            for pair in argument.split(',') {
                match pair.split_once('=').unwrap_or((pair, "")) {
                    ("fileName", own) if !own.is_empty() => name = own,
                    ("saveInterval", own) => {
                        every = time(own).map_err(|why| format!("saveInterval: {why}"))?;
                    }
                    ("timeFormat", own) => times = format("timeFormat", own)?,
                    _ => {
                        return Err(format!(
                            "`{pair}`: expected fileName=FILE, saveInterval=TIME or timeFormat=FORMAT"
                        ));
                    }
                }
            }
        }
    }
    let warnings = variables.warnings("K6_CSV_", &[NAME, INTERVAL, FORMAT], &[]);
    Ok(PointTarget { form: Form::Csv(times), file: file(name), every, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, given: &[(&str, &str)]) -> Result<OutputTarget, String> {
        let given: Vec<(String, String)> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        OutputTarget::parse(text, &given)
    }

    #[test]
    fn files_have_a_form_and_a_name() {
        let csv = Form::Csv(TimeFormat::Unix);
        for (text, form, file) in [
            ("json", Form::Json, None),
            ("json=-", Form::Json, None),
            ("json=a=b.json", Form::Json, Some("a=b.json")),
            ("json=a.gz", Form::Json, Some("a.gz")),
            ("csv", csv, Some(CSV_FILE)),
            ("csv=out.csv", csv, Some("out.csv")),
            ("csv=-", csv, None),
            (
                "csv=fileName=a.csv,timeFormat=rfc3339",
                Form::Csv(TimeFormat::Rfc3339),
                Some("a.csv"),
            ),
        ] {
            let Ok(OutputTarget::File(own)) = of(text, &[]) else { panic!("{text}") };
            assert_eq!((own.form, own.file.as_deref()), (form, file), "{text}");
        }
        let given = [
            ("K6_CSV_FILENAME", "b.csv"),
            ("K6_CSV_TIME_FORMAT", "unix_milli"),
            ("K6_CSV_SAVE_INTERVAL", "5s"),
        ];
        let Ok(OutputTarget::File(own)) = of("csv", &given) else { panic!("a file") };
        let form = Form::Csv(TimeFormat::UnixMilli);
        assert_eq!((own.form, own.file.as_deref()), (form, Some("b.csv")));
        assert_eq!(own.every, Duration::from_secs(5));
    }

    #[test]
    fn others_are_systems() {
        for text in ["influxdb=http://h/db", "experimental-prometheus-rw", "opentelemetry"] {
            assert!(matches!(of(text, &[]), Ok(OutputTarget::Push(_))), "{text}");
        }
        assert_eq!(
            names("json=a, csv,,influxdb").collect::<Vec<_>>(),
            ["json=a", "csv", "influxdb"]
        );
    }

    #[test]
    fn what_cannot_be_written_to_says_what_can() {
        for (text, expected) in [
            ("web-dashboard", "--ui"),
            ("cloud", "json=FILE"),
            ("statsd", "statsd=HOST:PORT"),
            ("datadog", "opentelemetry"),
            ("kafka", "json=FILE"),
            ("nothing", "expected json, csv, influxdb"),
            ("csv=name=a", "expected fileName=FILE"),
            ("csv=timeFormat=iso", "timeFormat: expected unix"),
            ("influxdb=h:1", "expected a URL"),
        ] {
            let error = of(text, &[]).expect_err(text);
            assert!(error.contains(expected) && error.contains(text), "{error}");
        }
        let error = of("influxdb=udp://me:secret@h", &[]).expect_err("a scheme");
        assert!(!error.contains("secret"), "{error}");
    }
}
