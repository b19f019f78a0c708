//! JSON lines: a line for each point, to a file, a pipe, or the standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use squall_base::escape_json;

use crate::outbox::{DeliveryError, Receiver};
use crate::points::Point;
use crate::table::Number;
use crate::timeline::Moment;

/// The points of a second.
pub fn encode(at: Moment, points: &[Point]) -> Vec<u8> {
    let mut out = String::new();
    for point in points {
        let tags = point.tags.iter().map(|(name, value)| (name.clone(), json!(value)));
        let fields = point.fields.iter().map(|(name, number)| ((*name).to_owned(), value(*number)));
        let line = json!({
            "time": at.unix_s,
            "second": at.second,
            "measurement": point.measurement,
            "tags": tags.collect::<Map<String, Value>>(),
            "fields": fields.collect::<Map<String, Value>>(),
        });
        out.push_str(&escape_json(&line.to_string()));
        out.push('\n');
    }
    out.into_bytes()
}

fn value(number: Number) -> Value {
    match number {
        Number::Sum(number) => json!(number),
        Number::Amount(number) | Number::Level(number) => json!(number),
    }
}

/// Where lines are written.
pub struct Lines {
    out: Out,
    /// Whether the last write failed, so that it may have left a part of a line.
    is_torn: bool,
}

enum Out {
    /// A pipe that was not opened yet: that waits for somebody who reads it.
    Pipe(PathBuf),
    Open(Box<dyn Write + Send>),
}

impl Lines {
    /// To a file, which is overwritten, a pipe, or for `-` the standard output.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn open(path: &str) -> io::Result<Lines> {
        let is_pipe = |path: &Path| path.metadata().is_ok_and(|own| own.file_type().is_fifo());
        let out = match path {
            "-" => Out::Open(Box::new(io::stdout())),
            path if is_pipe(path.as_ref()) => Out::Pipe(path.into()),
            path => Out::Open(Box::new(File::create(path)?)),
        };
        Ok(Lines { out, is_torn: false })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Out::Pipe(path) = &self.out {
            self.out = Out::Open(Box::new(OpenOptions::new().write(true).open(path)?));
        }
        let Out::Open(out) = &mut self.out else { return Ok(()) };
        if self.is_torn {
            out.write_all(b"\n")?;
        }
        self.is_torn = true;
        out.write_all(bytes)?;
        out.flush()?;
        self.is_torn = false;
        Ok(())
    }
}

impl Receiver for Lines {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        // A part of it may be there already.
        self.write(bytes).map_err(DeliveryError::lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{
        points,
        tests::{example, scraped},
    };

    #[test]
    fn a_point_is_a_line() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let text = encode(at, &points(&example(), &Vec::new()));
        let text = String::from_utf8(text).expect("text");
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 6);
        let row = &lines[1];
        assert_eq!(row["measurement"], "squall_requests");
        assert_eq!((&row["time"], &row["second"]), (&json!(1_700_000_004.25), &json!(4)));
        assert_eq!(row["tags"]["name"], "GET /a b");
        assert_eq!((&row["fields"]["count"], &row["fields"]["errors"]), (&json!(3), &json!(1)));
    }

    #[test]
    fn what_was_scraped_has_the_tag_of_its_monitor() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let text = String::from_utf8(encode(at, &points(&scraped(), &Vec::new()))).expect("text");
        let of = |kind: &str| json!({"kind": "gauge", "name": "hits", "tag_kind": kind, "monitor": "db", "tag_name": "n", "tag_scenario": "s"});
        let lines = text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON"));
        let tags: Vec<Value> = lines.map(|line: Value| line["tags"].clone()).collect();
        assert_eq!(tags, [of("a"), of("b")]);
    }
}
