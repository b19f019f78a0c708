//! Metrics as other tools call them, and what they are here.

/// What was most likely meant by the metric `word`, which `rest` follows.
pub(super) fn meant(word: &str, rest: &str) -> Option<String> {
    let argument = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split(')').next());
    if matches!(word, "p" | "percentile" | "perc" | "pct") {
        let number = argument.unwrap_or_default().trim();
        let is_number = number.parse::<f64>().is_ok();
        return Some(format!("p{}", if is_number { number } else { "95" }));
    }
    let ours = match word.to_ascii_lowercase().as_str() {
        "avg" | "average" => "mean",
        "med" | "median" => "p50",
        "http_req_duration" | "latency" | "duration" | "response_time" | "responsetime" => "p95",
        "http_req_failed" | "fail_rate" | "failures" | "failed" | "failedrequests" => "error_rate",
        "rps" | "qps" | "throughput" | "http_reqs" | "requestspersec" => "rate",
        "requests" | "iterations" | "hits" => "count",
        _ => return None,
    };
    Some(ours.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::Threshold;

    #[test]
    fn words_of_others_are_told_ours() {
        for (text, ours) in [
            ("avg < 300ms", "`mean`"),
            ("p(95) < 300ms", "`p95`"),
            ("p(99.9) < 300ms", "`p99.9`"),
            ("med(login) < 1s", "`p50`"),
            ("http_req_failed < 1%", "`error_rate`"),
            ("rps > 100/s", "`rate`"),
        ] {
            let error = Threshold::parse(text).expect_err(text);
            assert!(error.message.contains("unknown metric"), "{}", error.message);
            let help = error.help.unwrap_or_default();
            assert!(help.contains(&format!("did you mean {ours}?")), "{help}");
        }
    }
}
