//! `https://jslib.k6.io/k6-summary`.

use super::{cases, once};

const IMPORTS: &str = "import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';
";

/// What `handleSummary` gets.
const DATA: &str = r#"const data = {
  options: { summaryTrendStats: ['avg', 'p(95)', 'count'], summaryTimeUnit: '' },
  root_group: { name: '', path: '', groups: [
      { name: 'buy', path: '::buy', groups: [], checks: [{ name: 'paid', path: '::buy::paid', passes: 9, fails: 1 }] },
    ], checks: [{ name: 'is 200', path: '::is 200', passes: 10, fails: 0 }] },
  metrics: {
    http_req_duration: { type: 'trend', contains: 'time', values: { avg: 12.345, 'p(95)': 1500, count: 10 },
      thresholds: { 'p(95)<200': { ok: false } } },
    'http_req_duration{expected_response:true}': { type: 'trend', contains: 'time', values: { avg: 1, 'p(95)': 0.5, count: 9 } },
    checks: { type: 'rate', contains: 'default', values: { rate: 0.95, passes: 19, fails: 1 }, thresholds: { 'rate>0.9': { ok: true } } },
    data_sent: { type: 'counter', contains: 'data', values: { count: 12345, rate: 123.4 } },
    vus: { type: 'gauge', contains: 'default', values: { value: 1, min: 1, max: 20 } },
  },
};
"#;

#[test]
fn a_summary_is_a_text_with_checks_and_metrics() {
    let script = format!(
        "{IMPORTS}{DATA}export default () => textSummary(data, {{ indent: ' ', enableColors: false }})"
    );
    let (_, result) = once(&script);
    let text: String =
        serde_json::from_str(&result.expect("no error").expect("a text")).expect("a text");
    let expected = "     ✓ is 200

     █ buy

       ✗ paid
        ↳  90% — ✓ 9 / ✗ 1

   ✓ checks.........................: 95.00% ✓ 19    ✗ 1
     data_sent......................: 12 kB  123 B/s
   ✗ http_req_duration..............: avg=12.35ms p(95)=1.5s  count=10
       { expected_response:true }...: avg=1ms     p(95)=500µs count=9
     vus............................: 1      min=1   max=20";
    assert_eq!(text, expected);
}

#[test]
fn colours_and_units_are_options() {
    let imports = format!("{IMPORTS}{DATA}");
    cases(
        &imports,
        &[
            ("textSummary(data).includes('\\u001b[31m✗\\u001b[0m http_req_duration')", "true"),
            ("textSummary(data, { enableColors: false }).includes('\\u001b')", "false"),
            (
                "textSummary(data, { enableColors: false, summaryTimeUnit: 's' }).includes('avg=0.01s')",
                "true",
            ),
            (
                "textSummary(data, { enableColors: false, indent: '>>' }).startsWith('>>    ✓ is 200')",
                "true",
            ),
            ("textSummary({ metrics: {} })", "\"\""),
        ],
    );
}

#[test]
fn thresholds_are_test_cases() {
    let script = format!(
        "{IMPORTS}{DATA}export default () => jUnit(data, {{ name: 'a <b>', classname: 'c' }})"
    );
    let (_, result) = once(&script);
    let text: String =
        serde_json::from_str(&result.expect("no error").expect("a text")).expect("a text");
    let expected = r#"<?xml version="1.0"?>
<testsuites tests="2" failures="1">
<testsuite name="a &lt;b&gt;" tests="2" failures="1">
<testcase name="http_req_duration - p(95)&lt;200" classname="c"><failure message="threshold exceeded" /></testcase>
<testcase name="checks - rate&gt;0.9" classname="c" />
</testsuite>
</testsuites>"#;
    assert_eq!(text, expected);
}

#[test]
fn values_are_written_for_people() {
    let time = "{ type: 'trend', contains: 'time' }";
    let data = "{ type: 'counter', contains: 'data' }";
    let table = [
        (format!("[0, 0.0005, 0.5, 12.345, 999.5, 1500, 61000, 3725000].map((own) => humanizeValue(own, {time}))"), r#"["0s","500ns","500µs","12.35ms","999.5ms","1.5s","1m1s","1h2m5s"]"#),
        (format!("['s', 'ms', 'us', ''].map((own) => humanizeValue(1234.5, {time}, own))"), r#"["1.23s","1234.50ms","1234500.00µs","1.23s"]"#),
        (format!("[0, 999, 1000, 12345, 1e6, 2.5e9].map((own) => humanizeValue(own, {data}))"), r#"["0 B","999 B","1.0 kB","12 kB","1.0 MB","2.5 GB"]"#),
        ("[0, 0.5, 0.99999, 1].map((own) => humanizeValue(own, { type: 'rate', contains: 'default' }))".to_owned(), r#"["0.00%","50.00%","99.99%","100.00%"]"#),
        ("[1, 1.23456789].map((own) => humanizeValue(own, { type: 'gauge', contains: 'default' }))".to_owned(), r#"["1","1.234568"]"#),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(own, value)| (own.as_str(), *value)).collect();
    cases(IMPORTS, &table);
}
