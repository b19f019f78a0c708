//! Where `--out` sends points. Pure.

use super::writer::Form;

/// The file of `--out csv` without a name.
const CSV_FILE: &str = "file.csv";
/// Outputs that are made by other means, and what to do.
const OTHERS: [(&str, &str); 10] = [
    ("influxdb", "ask for `squall run SCRIPT --out influxdb=URL`, which sends squall's figures"),
    (
        "experimental-prometheus-rw",
        "ask for `squall run SCRIPT --out remote-write=URL`, which sends squall's figures",
    ),
    ("opentelemetry", "ask for `squall run SCRIPT --out otlp=URL`, which sends squall's figures"),
    (
        "experimental-opentelemetry",
        "ask for `squall run SCRIPT --out otlp=URL`, which sends squall's figures",
    ),
    ("statsd", "ask for `squall run SCRIPT --out statsd=HOST:PORT`, which sends squall's figures"),
    ("web-dashboard", "ask for `squall run SCRIPT --ui`, which shows the run as a page"),
    ("summary", "use `--summary-export FILE`"),
    ("cloud", "squall sends nothing to a cloud: use json=FILE or csv=FILE"),
    ("kafka", "k6 has removed it too: use json=FILE or csv=FILE"),
    ("datadog", "k6 has removed it too: use json=FILE or csv=FILE"),
];

/// Where points go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointTarget {
    pub form: Form,
    /// `None`: the standard output.
    pub file: Option<String>,
}

impl PointTarget {
    /// Reads what follows `--out`: `json`, `json=FILE`, `csv` or `csv=FILE`.
    ///
    /// # Errors
    /// It is something else, in a sentence that says what was expected or what to do.
    pub fn parse(text: &str) -> Result<PointTarget, String> {
        let (kind, file) = match text.split_once('=') {
            Some((kind, file)) => (kind, Some(file).filter(|file| !file.is_empty())),
            None => (text, None),
        };
        if let Some(file) = file.filter(|file| file.ends_with(".gz")) {
            return Err(format!(
                "--out {text}: `{file}` would be compressed: expected a name without .gz; compress the file afterwards"
            ));
        }
        let file = file.map(str::to_owned);
        match kind {
            "json" => Ok(PointTarget { form: Form::Json, file: file.filter(|file| file != "-") }),
            "csv" => {
                let file = file.unwrap_or_else(|| CSV_FILE.to_owned());
                Ok(PointTarget { form: Form::Csv, file: Some(file).filter(|file| file != "-") })
            }
            _ => {
                let other = OTHERS.iter().find(|(own, _)| *own == kind);
                let help = other.map_or("expected json=FILE or csv=FILE", |(_, help)| help);
                Err(format!("--out {text}: `squall k6 run` cannot write to `{kind}`: {help}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_have_a_form_and_a_file() {
        for (text, form, file) in [
            ("json", Form::Json, None),
            ("json=-", Form::Json, None),
            ("json=a=b.json", Form::Json, Some("a=b.json")),
            ("csv", Form::Csv, Some(CSV_FILE)),
            ("csv=out.csv", Form::Csv, Some("out.csv")),
            ("csv=-", Form::Csv, None),
        ] {
            let file = file.map(str::to_owned);
            assert_eq!(PointTarget::parse(text), Ok(PointTarget { form, file }), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_written_to_says_what_can() {
        for (text, expected) in [
            ("json=a.gz", "without .gz"),
            ("influxdb=http://db", "--out influxdb=URL"),
            ("cloud", "json=FILE"),
            ("nothing", "expected json=FILE or csv=FILE"),
        ] {
            let error = PointTarget::parse(text).expect_err(text);
            assert!(error.contains(expected) && error.contains(text), "{error}");
        }
    }
}
