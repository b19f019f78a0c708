//! The rows of a result as CSV (RFC 4180), a line each: requests, groups, iterations and checks. Times are in µs,
//! and count what was given up with the time that it had waited. Second by second there is `squall export`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::document::{CheckRow, Row, RunDocument};
use crate::group_path::group_path;

const HEAD: &str = "kind,scenario,group,name,tags,count,errors,error_rate,rate,bytes_in,bytes_out,mean_us,p50_us,p75_us,p90_us,p95_us,p99_us,p999_us,max_us,given_up,corrected_p50_us,corrected_p99_us,cut_off,not_sent,retries";

/// A line for each row.
pub fn csv(run: &RunDocument) -> String {
    let rows = run.requests.iter().chain(&run.groups).chain(&run.iterations).map(row);
    let lines = rows.chain(run.checks.iter().map(check));
    let mut out = format!("{HEAD}\n");
    for cells in lines {
        out.push_str(&cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}

fn row(own: &Row) -> Vec<String> {
    let mut cells = vec![
        own.kind.clone(),
        own.scenario.clone().unwrap_or_default(),
        group_path(&own.group),
        own.name.clone(),
        tags(&own.tags),
    ];
    cells.extend([own.count, own.errors].map(|number| number.to_string()));
    cells.extend([own.error_rate, own.rate].map(|number| number.to_string()));
    cells.extend([own.bytes_in, own.bytes_out].map(|number| number.to_string()));
    let given_up = own.latency_with_timeouts_us.as_ref();
    let times = match given_up {
        Some(t) => [t.mean, t.p50, t.p75, t.p90, t.p95, t.p99, t.p999, t.max],
        None if own.latency_us.count == 0 => [None; 8],
        None => {
            let t = &own.latency_us;
            [t.mean, t.p50, t.p75, t.p90, t.p95, t.p99, t.p999, t.max].map(Some)
        }
    };
    let text = |time: Option<f64>| time.map_or(String::new(), |time| time.to_string());
    cells.extend(times.map(text));
    cells.push(given_up.map_or(0, |own| own.given_up).to_string());
    let corrected = own.corrected_latency_us.as_ref();
    cells.extend([corrected.map(|own| own.p50), corrected.map(|own| own.p99)].map(text));
    cells.extend([own.cut_off, own.not_sent, own.retries].map(|number| number.to_string()));
    cells
}

fn check(own: &CheckRow) -> Vec<String> {
    let count = own.passed + own.failed + own.warned;
    let share = if count > 0 { own.failed as f64 / count as f64 } else { 0.0 };
    let mut cells = vec![
        "check".to_owned(),
        own.scenario.clone(),
        group_path(&own.group),
        own.name.clone(),
        tags(&own.tags),
    ];
    cells.extend([count.to_string(), own.failed.to_string(), share.to_string()]);
    cells.resize(HEAD.split(',').count(), String::new());
    cells
}

/// Tags, as in `country=at team=a`.
fn tags(tags: &BTreeMap<String, String>) -> String {
    tags.iter().map(|(tag, own)| format!("{tag}={own}")).collect::<Vec<_>>().join(" ")
}

/// A cell, in quotes where RFC 4180 wants them. One that a spreadsheet would take for a formula begins with an apostrophe.
pub(crate) fn quoted(cell: &str) -> Cow<'_, str> {
    let is_formula = match cell.chars().next() {
        Some('=' | '+' | '@' | '\t' | '\r') => true,
        Some('-') => cell.parse::<f64>().is_err(),
        _ => false,
    };
    let cell: Cow<'_, str> = if is_formula { format!("'{cell}").into() } else { cell.into() };
    match cell.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")).into(),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let cells = ["a", "a,b", "a\"b", "=1+1", "-x", "-1.5", "a\nb"].map(quoted);
        assert_eq!(cells, ["a", "\"a,b\"", "\"a\"\"b\"", "'=1+1", "'-x", "-1.5", "\"a\nb\""]);
    }
}
