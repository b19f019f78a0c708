//! Tests of exports.

use serde_json::json;
use squall_metrics::{CheckResult, HostMetrics, Level, Load, Sample, ScenarioLoad};

use super::*;
use crate::meta::{Meta, PlannedLoad, ScenarioMeta};

fn recording() -> Recording {
    let mut recording = Recording::unnamed().expect("a file");
    for (worker, second) in [(0, 0), (1, 0), (0, 1)] {
        let mut slice = Slice::new(worker, second);
        if second == 0 {
            let mut key = RowKey::new(RowKind::Request, "buyer", "a, \"b\"");
            key.place.group.push("checkout".to_owned());
            slice.announce(NameId(0), key);
            slice.announce(NameId(1), RowKey::new(RowKind::Check, "buyer", "ok"));
            slice.announce(NameId(2), RowKey::new(RowKind::Iteration, "buyer", "iteration"));
        }
        slice.record(NameId(0), &Sample::ok(100));
        slice.record_check(NameId(1), CheckResult::Failed);
        slice.counters.users_active = 3;
        let in_flight = Level { most: 2, at_end: 1 };
        let load = ScenarioLoad { users: 3, in_flight, iterations_started: 5, arrivals_dropped: 0 };
        slice.load = Load { in_flight, scenarios: vec![(NameId(2), load)] };
        recording.append(&slice);
    }
    recording
}

fn run() -> Run {
    let points = vec![(0.0, 0.0), (2.0, 8.0)];
    let planned = PlannedLoad { unit: "users".to_owned(), points, ..PlannedLoad::default() };
    let buyer = ScenarioMeta { name: "buyer".to_owned(), planned, ..ScenarioMeta::default() };
    let mut host = HostMetrics::default();
    for second in 0..3u32 {
        let retransmits = u64::from(second) * 10;
        host.add(f64::from(second), HostSample { retransmits, ..HostSample::default() });
    }
    let meta = Meta { scenarios: vec![buyer], ..Meta::default() };
    Run { meta, host, ..Run::default() }
}

fn exported(format: Format) -> String {
    let mut out = Vec::new();
    export(&run(), &mut recording(), format, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_row_for_each_second_and_name() {
    let lines = exported(Format::Jsonl);
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of =
        |kind: &str| -> Vec<&Value> { lines.iter().filter(|line| line["kind"] == kind).collect() };
    assert_eq!(
        of("request").iter().map(|line| line["count"].as_u64()).collect::<Vec<_>>(),
        [Some(2), Some(1)]
    );
    assert_eq!(of("request")[0]["status"], json!({"200": 2}));
    assert_eq!((&of("check")[0]["failed"], &of("run")[0]["users_active"]), (&json!(2), &json!(6)));
    let first = of("scenario")[0];
    assert_eq!(
        (&first["planned_users"], &first["users_active"], &first["iterations_started"]),
        (&json!(4.0), &json!(6), &json!(10))
    );
    assert_eq!((&first["in_flight"], &first["in_flight_at_end"]), (&json!(4), &json!(2)));
    assert_eq!(of("run")[1]["planned_users"], json!(8.0));
    let host = of("host").into_iter().map(|line| line["retransmits"].as_u64());
    assert_eq!(host.collect::<Vec<_>>(), [Some(0), Some(10), Some(10)]);
}

#[test]
fn cells_are_quoted_where_they_must_be() {
    let text = exported(Format::Csv);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 4 + 3);
    assert!(
        lines[3].starts_with("0,request,buyer,checkout,\"a, \"\"b\"\"\",2,0,0,"),
        "{}",
        lines[3]
    );
}

#[test]
fn latencies_as_hdrhistogram_has_them() {
    let text = exported(Format::Hlog);
    let tags = text.lines().filter(|line| line.starts_with("Tag=")).count();
    assert_eq!(tags, 2, "{text}");
}

/// Another reader finds in Parquet what CSV says.
#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_rows_and_columns_of_csv() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    let mut file = tempfile::tempfile().expect("a file");
    export(&run(), &mut recording(), Format::Parquet, &mut file).expect("written");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows: Vec<Vec<String>> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| {
            let row = row.expect("a row");
            let cells = row.get_column_iter().map(|(_, field)| match field {
                Field::Null => String::new(),
                Field::Long(count) => count.to_string(),
                Field::Double(number) => json!(number).to_string(),
                Field::Str(text) => cell(Some(&json!(text))),
                other => panic!("{other:?}"),
            });
            cells.collect()
        })
        .collect();
    let csv = exported(Format::Csv);
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    assert_eq!(lines, csv.lines().skip(1).collect::<Vec<_>>());
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    assert_eq!(names.join(","), csv.lines().next().expect("a head"));
}

/// More rows than a group has.
#[cfg(feature = "parquet")]
#[test]
fn a_long_parquet_file_has_several_groups() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let mut file = tempfile::tempfile().expect("a file");
    let mut table = Table::new(&mut file, &columns().collect::<Vec<_>>()).expect("a file");
    (0..40_000).for_each(|second| {
        table.add(cells(&json!({"second": second}))).expect("written");
    });
    table.finish().expect("written");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows = reader.metadata().file_metadata().num_rows();
    assert_eq!((reader.num_row_groups(), rows), (3, 40_000));
}
