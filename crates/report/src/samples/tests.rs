use squall_metrics::{ErrorKind, Phases};

use super::*;

fn good() -> RequestSample<'static> {
    RequestSample {
        unix_us: 1_700_000_000_123_456,
        run_phase: "load",
        scenario: "buyer",
        step: "3.1",
        worker: 1,
        user: 4,
        iteration: 7,
        trace_id: "0af7".to_owned(),
        name: "GET /a, \"b\"".into(),
        url: "http://shop.example/a".to_owned(),
        status: 200,
        latency_ns: 12_345_678,
        // pool, dns, connect, tls, first byte, body
        phases: Phases([
            None,
            None,
            Some(1_000_000),
            Some(2_000_000),
            Some(9_000_000),
            Some(345_678),
        ]),
        bytes_in: 70,
        bytes_out: 35,
        reused: false,
        users: (3, 5),
        scenario_number: 1,
        ..RequestSample::default()
    }
}

fn lost() -> RequestSample<'static> {
    RequestSample {
        name: "GET /b".into(),
        status: 0,
        error: Some((ErrorKind::TimeoutFirstByte, "after 1 s\n\u{1b}[2J".into())),
        latency_ns: 1_000_000_000,
        phases: Phases::default(),
        ..good()
    }
}

fn written(format: SampleFormat) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = SampleWriter::new(format, &mut out).expect("memory");
    [good(), lost()].iter().for_each(|sample| writer.write(sample).expect("memory"));
    writer.flush().expect("memory");
    writer.finish().expect("memory");
    out
}

fn lines(format: SampleFormat) -> Vec<String> {
    let text = String::from_utf8(written(format)).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn csv_has_a_line_for_each_sample() {
    let expected = [
        "at_unix_us,run_phase,scenario,step,worker,user,iteration,trace_id,name,url,redirects,status,error,detail,latency_us,pool_us,dns_us,connect_us,tls_us,first_byte_us,body_us,bytes_in,bytes_out,reused,users_active",
        "1700000000123456,load,buyer,3.1,1,4,7,0af7,\"GET /a, \"\"b\"\"\",http://shop.example/a,0,200,,,12345.678,,,1000,2000,9000,345.678,70,35,0,5",
        "1700000000123456,load,buyer,3.1,1,4,7,0af7,GET /b,http://shop.example/a,0,0,timeout_first_byte,after 1 s\\n\\x1b[2J,1000000,,,,,,,70,35,0,5",
    ];
    assert_eq!(lines(SampleFormat::Csv), expected);
}

#[test]
fn jtl_is_what_jmeter_writes() {
    let expected = [
        jtl::HEAD,
        "1700000000123,12,\"GET /a, \"\"b\"\"\",200,OK,buyer 1-5,text,true,,70,35,3,5,http://shop.example/a,12,0,3",
        "1700000000123,1000,GET /b,Non HTTP response code: java.net.SocketTimeoutException,Non HTTP response message: Read timed out,buyer 1-5,text,false,,70,35,3,5,http://shop.example/a,0,0,0",
    ];
    assert_eq!(lines(SampleFormat::Jtl), expected);
}

/// A spreadsheet would compute it.
#[test]
fn no_text_of_a_sample_is_a_formula() {
    for format in [SampleFormat::Csv, SampleFormat::Jtl] {
        let mut out = Vec::new();
        let mut writer = SampleWriter::new(format, &mut out).expect("memory");
        for name in ["=1+1", "@x", "-x"] {
            writer.write(&RequestSample { name: name.into(), ..good() }).expect("memory");
        }
        writer.finish().expect("memory");
        let text = String::from_utf8(out).expect("text");
        for shown in [",'=1+1,", ",'@x,", ",'-x,"] {
            assert!(text.contains(shown), "{text}");
        }
    }
}

#[test]
fn bytes_over_tcp_have_no_url_and_one_code_in_jtl() {
    let mut out = Vec::new();
    let mut writer = SampleWriter::new(SampleFormat::Jtl, &mut out).expect("memory");
    for sample in [good(), lost()] {
        let sample = RequestSample { url: "tcp://db.example:70".to_owned(), ..sample };
        writer.write(&sample).expect("memory");
    }
    writer.finish().expect("memory");
    let text = String::from_utf8(out).expect("text");
    let rows: Vec<_> = text.lines().skip(1).collect();
    assert!(rows[0].contains(",200,OK,") && rows[0].contains(",null,"), "{text}");
    let message = "org.apache.jmeter.protocol.tcp.sampler.ReadException: Error reading from server, bytes read: 70";
    assert!(rows[1].contains(&format!(",GET /b,500,\"{message}\",")), "{text}");
    assert!(rows[1].contains(",null,"), "{text}");
}

#[test]
fn jtl_has_the_requests_of_a_sample_and_groups() {
    let first = SamplePart {
        unix_us: 1_700_000_000_123_456,
        first_byte_us: 4_000,
        latency_us: 5_000,
        url: "http://shop.example/old".to_owned(),
        status: 302,
        bytes_in: 30,
        bytes_out: 20,
    };
    let last = SamplePart { unix_us: 1_700_000_000_130_000, url: String::new(), ..first.clone() };
    let sample = RequestSample { scenario_number: 2, parts: vec![first, last], ..good() };
    let group = GroupSample {
        unix_us: 1_700_000_000_123_456,
        duration_ns: 20_000_000,
        scenario: "buyer",
        scenario_number: 1,
        user: 4,
        name: "buy".into(),
        failed: true,
        samples: (3, 1),
        bytes_in: 7,
        bytes_out: 8,
        users: (3, 5),
        ..GroupSample::default()
    };
    let nothing = GroupSample { failed: false, samples: (0, 0), ..group.clone() };
    let mut out = Vec::new();
    let mut writer = SampleWriter::going_on(SampleFormat::Jtl, &mut out).expect("memory");
    writer.write(&sample).expect("memory");
    [&group, &nothing].iter().for_each(|group| writer.write_group(group).expect("memory"));
    writer.finish().expect("memory");
    let expected = [
        "1700000000123,12,\"GET /a, \"\"b\"\"\",200,OK,buyer 2-5,text,true,,70,35,3,5,http://shop.example/a,12,0,3",
        "1700000000123,5,\"GET /a, \"\"b\"\"-0\",302,Found,buyer 2-5,text,true,,30,20,3,5,http://shop.example/old,4,0,0",
        "1700000000130,5,\"GET /a, \"\"b\"\"-1\",302,Found,buyer 2-5,text,true,,30,20,3,5,,4,0,0",
        "1700000000123,20,buy,,\"Number of samples in transaction : 3, number of failing samples : 1\",buyer 1-5,,false,,7,8,3,5,null,0,0,0",
        "1700000000123,20,buy,200,OK,buyer 1-5,,true,,7,8,3,5,null,0,0,0",
    ];
    assert_eq!(String::from_utf8(out).expect("text").lines().collect::<Vec<_>>(), expected);
    let mut out = Vec::new();
    let mut writer = SampleWriter::new(SampleFormat::JtlXml, &mut out).expect("memory");
    let told = "told: after 1 s\n\u{1b}[2J";
    let asserted = RequestSample {
        name: "GET /c".into(),
        error: Some((ErrorKind::Check, told.into())),
        ..good()
    };
    [&sample, &lost(), &asserted].iter().for_each(|own| writer.write(own).expect("memory"));
    [group, nothing].iter().for_each(|group| writer.write_group(group).expect("memory"));
    writer.finish().expect("memory");
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="12" it="0" lt="12" ct="3" ts="1700000000123" s="true" lb="GET /a, &quot;b&quot;" rc="200" rm="OK" tn="buyer 2-5" dt="text" by="70" sby="35" ng="3" na="5">
  <httpSample t="5" it="0" lt="4" ct="0" ts="1700000000123" s="true" lb="GET /a, &quot;b&quot;-0" rc="302" rm="Found" tn="buyer 2-5" dt="text" by="30" sby="20" ng="3" na="5">
    <java.net.URL>http://shop.example/old</java.net.URL>
  </httpSample>
  <httpSample t="5" it="0" lt="4" ct="0" ts="1700000000130" s="true" lb="GET /a, &quot;b&quot;-1" rc="302" rm="Found" tn="buyer 2-5" dt="text" by="30" sby="20" ng="3" na="5">
    <java.net.URL></java.net.URL>
  </httpSample>
  <java.net.URL>http://shop.example/a</java.net.URL>
</httpSample>
<httpSample t="1000" it="0" lt="0" ct="0" ts="1700000000123" s="false" lb="GET /b" rc="Non HTTP response code: java.net.SocketTimeoutException" rm="Non HTTP response message: Read timed out" tn="buyer 1-5" dt="text" by="70" sby="35" ng="3" na="5">
  <java.net.URL>http://shop.example/a</java.net.URL>
</httpSample>
<httpSample t="12" it="0" lt="12" ct="3" ts="1700000000123" s="false" lb="GET /c" rc="200" rm="OK" tn="buyer 1-5" dt="text" by="70" sby="35" ng="3" na="5">
  <assertionResult>
    <name>told</name>
    <failure>true</failure>
    <error>false</error>
    <failureMessage>told: after 1 s&#10;�[2J</failureMessage>
  </assertionResult>
  <java.net.URL>http://shop.example/a</java.net.URL>
</httpSample>
<sample t="20" it="0" lt="0" ct="0" ts="1700000000123" s="false" lb="buy" rc="" rm="Number of samples in transaction : 3, number of failing samples : 1" tn="buyer 1-5" dt="" by="7" sby="8" ng="3" na="5"/>
<sample t="20" it="0" lt="0" ct="0" ts="1700000000123" s="true" lb="buy" rc="200" rm="OK" tn="buyer 1-5" dt="" by="7" sby="8" ng="3" na="5"/>

</testResults>
"#;
    assert_eq!(String::from_utf8(out).expect("text"), expected);
}

#[test]
fn a_page_fails_with_what_it_loads_and_has_that_behind_it() {
    let resource = |url: &str, status: i64| RequestSample {
        name: "page (image)".into(),
        url: url.to_owned(),
        status,
        error: (status >= 400).then(|| (ErrorKind::Status, "".into())),
        ..good()
    };
    let slow = RequestSample {
        parts: vec![SamplePart { status: 302, ..SamplePart::default() }; 2],
        ..resource("http://shop.example/b", 200)
    };
    let page = |resources| RequestSample {
        name: "page".into(),
        page: Some(LoadedPage { duration_ns: 50_000_000, resources }),
        ..good()
    };
    let written = |sample: &RequestSample<'_>| {
        let mut out = Vec::new();
        let mut writer = SampleWriter::going_on(SampleFormat::Jtl, &mut out).expect("memory");
        writer.write(sample).expect("memory");
        writer.finish().expect("memory");
        let text = String::from_utf8(out).expect("text");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let rest = "buyer 1-5,text";
    let expected = [
        format!(
            "1700000000123,50,page,200,\"Embedded resource download error:http://shop.example/a code:404 message:Not Found, \",{rest},false,,210,105,3,5,http://shop.example/a,12,0,3"
        ),
        format!(
            "1700000000123,12,page-0,200,OK,{rest},true,,70,35,3,5,http://shop.example/a,12,0,3"
        ),
        format!(
            "1700000000123,12,page-1,404,Not Found,{rest},false,,70,35,3,5,http://shop.example/a,12,0,3"
        ),
        format!(
            "1700000000123,12,page-2,200,OK,{rest},true,,70,35,3,5,http://shop.example/b,12,0,3"
        ),
        format!("0,0,page-2-0,302,Found,{rest},true,,0,0,3,5,,0,0,0"),
        format!("0,0,page-2-1,302,Found,{rest},true,,0,0,3,5,,0,0,0"),
    ];
    assert_eq!(
        written(&page(vec![resource("http://shop.example/a", 404), slow.clone()])),
        expected
    );
    // What is asserted of the page fails the whole, and what is asserted of a resource fails both.
    let asserted = |sample: RequestSample<'static>| RequestSample {
        error: Some((ErrorKind::Check, "never".into())),
        ..sample
    };
    let verdicts = |sample: &RequestSample<'_>| {
        let rows = written(sample);
        rows.iter().map(|row| row.contains(",true,")).collect::<Vec<_>>()
    };
    let fine = resource("http://shop.example/a", 200);
    assert_eq!(verdicts(&page(vec![fine.clone()])), [true; 3]);
    assert_eq!(verdicts(&asserted(page(vec![fine.clone()]))), [false, true, true]);
    let rows = written(&page(vec![asserted(fine)]));
    assert!(rows[0].contains(",200,OK,buyer 1-5,text,false,"), "{rows:?}");
}

#[test]
fn a_group_that_is_one_sample_has_its_parts_behind_it() {
    let phases = |connect_ns| {
        let mut phases = Phases::default();
        let at = squall_metrics::PHASES.iter().position(|own| *own == "connect").expect("a phase");
        phases.0[at] = Some(connect_ns);
        phases
    };
    let request = |name: &'static str, status, connect_ns| {
        let error = (status >= 400).then(|| (ErrorKind::Status, "".into()));
        let phases = phases(connect_ns);
        GroupPart::Request(Box::new(RequestSample {
            name: name.into(),
            status,
            error,
            phases,
            ..good()
        }))
    };
    let group = |name: &'static str, samples, parts| GroupSample {
        name: name.into(),
        scenario: "buyer",
        failed: true,
        samples,
        parts: Some(parts),
        ..GroupSample::default()
    };
    let inner = group("inner", (2, 1), vec![request("a", 200, 2_000_000), request("b", 404, 0)]);
    let all = vec![GroupPart::Group(Box::new(inner)), request("c", 500, 1_000_000)];
    let outer = group("outer", (2, 2), all);
    let written = |with_parts: bool| {
        let mut out = Vec::new();
        let writer = SampleWriter::going_on(SampleFormat::Jtl, &mut out).expect("memory");
        let mut writer = if with_parts { writer } else { writer.without_parts() };
        writer.write_group(&outer).expect("memory");
        writer.finish().expect("memory");
        let text = String::from_utf8(out).expect("text");
        let cells = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        let rows: Vec<Vec<String>> = cells.collect();
        // The message of a transaction has a comma of its own.
        rows.iter().map(|row| [&row[2], &row[3], &row[row.len() - 1]].map(String::clone)).collect()
    };
    let rows: Vec<[String; 3]> = written(true);
    // The code of the first that failed, and what all took to connect.
    let expected = [
        ["outer", "404", "3"],
        ["inner", "404", "2"],
        ["a", "200", "2"],
        ["b", "404", "0"],
        ["c", "500", "1"],
    ];
    assert_eq!(rows, expected.map(|row| row.map(str::to_owned)));
    assert_eq!(written(false), rows[..1]);
    // Its own time was too long, say.
    let late = |samples, parts| {
        let failure = "too long".into();
        let answer = PlanAnswer { status: "x".into(), reason: "OK".into(), failure };
        GroupSample { answer: Some(answer), ..group("late", samples, parts) }
    };
    let mut out = Vec::new();
    let mut writer = SampleWriter::going_on(SampleFormat::Jtl, &mut out).expect("memory");
    writer.write_group(&late((1, 0), vec![request("a", 200, 0)])).expect("memory");
    writer.write_group(&late((0, 0), Vec::new())).expect("memory");
    writer.finish().expect("memory");
    let text = String::from_utf8(out).expect("text");
    for samples in [1, 0] {
        let message = format!(
            "\"Number of samples in transaction : {samples}, number of failing samples : 0\""
        );
        let row = format!(",late,200,{message},buyer 0-1,,false,too long,");
        assert!(text.contains(&row), "{row}: {text}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_columns_of_csv() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&written(SampleFormat::Parquet)).expect("writable");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Long(count) => count.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
    let rows: Vec<Vec<String>> =
        rows.map(|row| row.get_column_iter().map(|(_, field)| text(field)).collect()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][8], "GET /a, \"b\"", "no escapes are needed");
    assert_eq!(rows[1].join(","), lines(SampleFormat::Csv)[2].replace("\\n\\x1b", "\n\u{1b}"));
}

#[test]
fn the_ending_says_the_form() {
    let of = |name: &str| SampleFormat::of(Path::new(name));
    assert_eq!(of("a/b.jtl"), Some(SampleFormat::Jtl));
    assert_eq!(
        [of("a.b.csv"), of("c.parquet")],
        [Some(SampleFormat::Csv), Some(SampleFormat::Parquet)]
    );
    assert_eq!([of("a"), of(".jtl"), of("a.json")], [None, None, None]);
}
