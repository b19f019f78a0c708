//! Plans of JMeter from the command line: what is said of them, what is refused, and what runs.

use std::ffi::OsStr;
use std::process::Command;

use crate::common::peer::{Peer, response};
use crate::common::squall;

/// A plan with one request, and this in its thread group besides.
fn plan(besides: &str) -> String {
    format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="shop"/><hashTree>
        <ThreadGroup testname="users">
          <stringProp name="ThreadGroup.num_threads">${{__P(users,1)}}</stringProp>
          <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <stringProp name="LoopController.loops">2</stringProp>
            <boolProp name="LoopController.continue_forever">false</boolProp>
          </elementProp>
        </ThreadGroup><hashTree>{besides}
        <HTTPSamplerProxy testname="home">
          <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
          <stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
          <stringProp name="HTTPSampler.path">/home</stringProp>
        </HTTPSamplerProxy><hashTree/>
        </hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// What squall says and prints with these arguments, in a folder with this plan as `plan.jmx`.
fn said(plan: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.jmx"), plan).expect("writable");
    let done = squall(folder.path(), args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn a_plan_that_is_whole_runs_as_it_is_and_as_it_is_converted() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    });
    let port = format!("-Jport={}", peer.address.port());
    let (code, out, errors) = said(&plan(""), &["check", "plan.jmx", &port]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("runs      ") && out.contains("HTTP Request \"home\""), "{out}");
    let run = ["run", "plan.jmx", &port, "-Jusers=3", "-q", "-w", "1"];
    let (code, _, errors) = said(&plan(""), &run);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(peer.seen().len(), 6, "3 threads, each 2 loops");
    let (code, out, errors) = said(&plan(""), &["convert", "plan.jmx", &port]);
    assert_eq!(code, Some(0), "{errors}");
    let loaded = squall_runner::load_str("plan.yaml", &out).expect("a plan of squall");
    assert_eq!(loaded.plan.scenarios.len(), 1);
}

#[test]
fn loops_count_as_in_jmeter_and_what_no_extractor_found_is_not_sent() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    });
    let request = |path: &str, below: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="r"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
            <stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
            <stringProp name="HTTPSampler.path">{path}</stringProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"#
        )
    };
    let counter = r#"<CounterConfig testname="c"><stringProp name="CounterConfig.start">1</stringProp>
        <stringProp name="CounterConfig.incr">1</stringProp><stringProp name="CounterConfig.name">n</stringProp></CounterConfig><hashTree/>"#;
    let nothing = r#"<RegexExtractor testname="x"><stringProp name="RegexExtractor.refname">id</stringProp>
        <stringProp name="RegexExtractor.regex">id=([0-9]+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
        <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
    let looped = format!(
        r#"<WhileController testname="w"><stringProp name="WhileController.condition">${{__jexl3(${{n}} &lt; 3)}}</stringProp>
        </WhileController><hashTree>{counter}{}</hashTree>"#,
        request("/${n}", nothing)
    );
    let besides = looped + &request("/x?id=${id}", "") + &request("/caf\u{e9}#top", "");
    let port = format!("-Jport={}", peer.address.port());
    let run = ["run", "plan.jmx", &port, "-q", "-w", "1", "--json"];
    let (code, out, errors) = said(&plan(&besides), &run);
    // Where no threshold says how many may not be sent, two of ten are too many.
    assert_eq!(code, Some(1), "{errors}");
    let seen = peer.seen();
    let lines: Vec<&str> = seen.iter().filter_map(|seen| seen.head.split(" HTTP").next()).collect();
    let each = ["GET /caf%C3%A9", "GET /home"];
    assert_eq!(lines, [&["GET /1", "GET /2", "GET /3"][..], &each, &each].concat());
    let result: serde_json::Value = serde_json::from_str(&out).expect("a result");
    let totals = &result["totals"];
    assert_eq!(
        (&totals["count"], &totals["errors"], &totals["not_sent"]),
        (&7.into(), &0.into(), &2.into()),
        "{out}"
    );
}

#[test]
fn a_plan_with_something_that_has_no_equal_is_refused_with_its_place() {
    let brew = plan(r#"<com.example.Teapot testname="brew"/><hashTree/>"#);
    let reason = "shop > users > brew (com.example.Teapot): nothing is known of this element";
    for command in ["check", "run", "convert", "try"] {
        let (code, out, errors) = said(&brew, &[command, "plan.jmx", "-Jport=1"]);
        assert_eq!(code, Some(2), "{command}: {errors}");
        assert!(errors.contains(reason), "{command}: {errors}");
        assert_eq!(out.contains(&format!("# Left out: {reason}\n")), command == "convert");
    }
    let (code, _, errors) = said("<jmeterTestPlan><hashTree>", &["check", "plan.jmx"]);
    assert_eq!(code, Some(2));
    assert!(errors.starts_with("squall: plan.jmx: 1:"), "{errors}");
}

#[test]
fn what_is_not_supported_is_left_out_if_that_is_wanted() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    });
    let brew = plan(r#"<com.example.Teapot testname="brew"/><hashTree/>"#);
    let reason = "shop > users > brew (com.example.Teapot): nothing is known of this element";
    let warning = "plan.jmx:8:33: warning: shop > users > brew (com.example.Teapot): left out: \
                   nothing is known of this element\n";
    let port = format!("-Jport={}", peer.address.port());
    for command in ["check", "run", "convert"] {
        let (code, out, errors) = said(&brew, &[command, "plan.jmx", &port, "--skip-unsupported"]);
        assert_eq!(code, Some(0), "{command}: {errors}");
        let told = if command == "convert" { &out } else { &errors };
        let words = if command == "convert" { reason } else { warning };
        assert!(told.contains(words), "{command}: {told}");
    }
    assert_eq!(peer.seen().len(), 2, "one thread, 2 loops");
    let teapot = brew.replace("HTTPSamplerProxy", "com.example.Kettle");
    let (code, _, errors) = said(&teapot, &["run", "plan.jmx", "--skip-unsupported"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("nothing is left that sends anything"), "{errors}");
}

/// A build that runs JMeter runs squall with the same words.
#[test]
fn the_command_line_is_jmeters() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("500 No", "no"));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(file(name), text).expect("writable");
    write("plan.jmx", &plan(""));
    write("user.properties", "port = 1\nusers = 3\n");
    write("more.properties", &format!("port = {}\n", peer.address.port()));
    let run = |more: &[&str]| {
        let line = ["jmeter", "-n", "-t", "plan.jmx", "-q", "more.properties", "-l", "out.jtl"];
        let done = squall(folder.path(), &[&line[..], more].concat());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let rows = || std::fs::read_to_string(file("out.jtl")).expect("samples").lines().count();
    let (code, out, errors) = run(&["-j", "run.log", "-e", "-o", "report"]);
    assert_eq!(code, Some(0), "requests that fail are for who reads the samples: {errors}");
    assert!(out.contains("summary =      6 in 00:00:0"), "{out}");
    assert!(out.contains("Err:     6 (100.00%)\n"), "{out}");
    assert_eq!((peer.seen().len(), rows()), (6, 7));
    let log = std::fs::read_to_string(file("run.log")).expect("a log");
    assert!(log.contains(" INFO squall: load begins\n"), "{log}");
    let report = std::fs::read_to_string(file("report/index.html")).expect("a report");
    assert!(report.contains("<html"), "{report}");
    let (code, _, errors) = run(&["-Jusers=1"]);
    assert_eq!((code, rows()), (Some(0), 9), "the file goes on: {errors}");
    let (code, _, errors) = run(&["-e", "-o", "other"]);
    assert_eq!((code, errors.contains("-e refuses")), (Some(2), true), "{errors}");
    let (code, _, errors) = run(&["-f", "-e", "-o", "report", "-Gusers=1"]);
    assert_eq!((code, rows()), (Some(0), 3), "the file is made anew: {errors}");
    let (code, _, errors) = run(&["-Djavax.net.ssl.keyStore=own.p12", "-Jusers=1"]);
    assert_eq!((code, errors.contains("own.p12")), (Some(2), true), "it is not there: {errors}");
    let (code, _, errors) = run(&["-Jhttpclient4.retrycount=1", "-Jusers=1"]);
    assert_eq!((code, errors.contains("httpclient4.retrycount")), (Some(0), true), "{errors}");
    // JMeter's folder: what it was shipped with is nothing to speak of, and what the user has beside goes before it.
    std::fs::create_dir_all(file("home/bin")).expect("a folder");
    write("home/bin/jmeter.properties", "users = 2\nserver.rmi.localport = 4000\n");
    std::fs::rename(file("user.properties"), file("home/bin/user.properties")).expect("moved");
    let (code, _, errors) = run(&["-f", "-d", "home"]);
    assert_eq!((code, rows(), errors.contains("server.rmi")), (Some(0), 7, false), "{errors}");
    write("home/bin/user.properties", "");
    let (code, _, errors) = run(&["-f", "-d", "home"]);
    assert_eq!((code, rows()), (Some(0), 5), "{errors}");
    for (option, reason) in
        [("-r", "squall node --nats"), ("-Jjmeter.save.saveservice.output_format=db", "csv or xml")]
    {
        let (code, _, errors) = run(&[option]);
        assert_eq!((code, errors.contains(reason)), (Some(2), true), "{option}: {errors}");
    }
}

/// Samples as XML go on where those of the last run ended; a plan without threads has none, and is no failure.
#[test]
fn samples_are_xml_and_none_where_nothing_runs() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.jmx"), plan("")).expect("writable");
    let port = format!("-Jport={}", peer.address.port());
    let run = |users: &str| {
        let xml = "-Jjmeter.save.saveservice.output_format=xml";
        let line = ["jmeter", "-n", "-t", "plan.jmx", "-l", "out.xml", xml, &port, users];
        let done = squall(folder.path(), &line);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read_to_string(folder.path().join("out.xml")).expect("samples")
    };
    let first = run("-Jusers=0");
    assert_eq!((first.matches("<httpSample ").count(), peer.seen().len()), (0, 0), "{first}");
    run("-Jusers=1");
    let last = run("-Jusers=2");
    assert_eq!((last.matches("<httpSample ").count(), peer.seen().len()), (6, 6), "{last}");
    assert!(last.starts_with(first.trim_end_matches("\n</testResults>\n")), "{last}");
    assert!(last.ends_with("</httpSample>\n\n</testResults>\n"), "{last}");
    assert_eq!(last.matches("testResults").count(), 2, "{last}");
}

/// Variables of one, properties of the other: both flags give either, and each says what it does not know.
#[test]
fn values_are_given_to_all_plans_in_one_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("plan.xml", &plan(""));
    let own = "target: 'http://127.0.0.1:${port}'\nvars: {port: 1, users: 1}\n\
               scenarios: {a: {load: {users: '${users}', for: 1s}, steps: [{get: /}]}}\n";
    write("plan.txt", own);
    write("values.env", "port=2\nother=1\n");
    for plan in ["plan.xml", "plan.txt"] {
        for given in [["--set", "users=3"], ["-J", "users=3"]] {
            let line = [&["check", plan, "--env-file", "values.env"][..], &given].concat();
            let done = squall(folder.path(), &line);
            let out = String::from_utf8_lossy(&done.stdout);
            assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{plan}");
            assert!(out.contains("3 virtual users"), "{plan}: {out}");
        }
        let done = squall(folder.path(), &["check", plan, "-Jport=1", "-Jusres=3"]);
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(errors.contains(": `usres`: the plan "), "{plan}: {errors}");
        assert!(errors.contains("hint: did you mean `users`?"), "{plan}: {errors}");
    }
}

#[test]
fn an_environment_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.jmx"), plan("")).expect("writable");
    let done = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["check", "plan.jmx", "-Jport=1"])
        .env("SQUALL_VAR_a", OsStr::from_bytes(b"\xff"))
        .current_dir(folder.path())
        .output()
        .expect("squall runs");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}

/// What is wrong with a plan is said of its elements, and of nothing that its author did not write.
#[test]
fn messages_name_the_elements_of_the_plan() {
    let upload = r#"<HTTPSamplerProxy testname="send"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.method">POST</stringProp><elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs">
        <collectionProp name="HTTPFileArgs.files"><elementProp name="f" elementType="HTTPFileArg">
        <stringProp name="File.path">nowhere.png</stringProp><stringProp name="File.paramname">f</stringProp></elementProp>
        </collectionProp></elementProp></HTTPSamplerProxy><hashTree/>"#;
    let unused = r#"<CounterConfig testname="count"><stringProp name="CounterConfig.name">n</stringProp></CounterConfig><hashTree/>"#;
    let within = format!(
        r#"<LoopController testname="twice"><stringProp name="LoopController.loops">2</stringProp></LoopController>
        <hashTree>{unused}{upload}</hashTree>"#
    );
    let (code, _, errors) = said(&plan(&within), &["check", "plan.jmx", "-Jport=1"]);
    assert_eq!(code, Some(2), "{errors}");
    let place = "shop > users > twice > send (HTTP Request): cannot open ";
    assert!(errors.contains("plan.jmx:9:") && errors.contains(place), "{errors}");
    assert_eq!(errors.lines().last(), Some("1 error"), "{errors}");
    let good = plan(&within).replace("nowhere.png", "plan.jmx");
    let (code, _, errors) = said(&good, &["check", "plan.jmx", "-Jport=1"]);
    let place = "warning: shop > users > twice > count (Counter): the variable `n` is never used\n";
    assert_eq!((code, errors.contains(place)), (Some(0), true), "{errors}");
    assert_eq!(errors.matches("warning: ").count(), 1, "{errors}");
}

/// What a property's name calls secret is text of the plan's requests, and shows nowhere.
#[test]
fn a_property_that_is_secret_is_masked() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("404 Not here", "no"));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let text = plan("").replace("/home", "/home/${__P(api.token)}");
    std::fs::write(folder.path().join("plan.jmx"), text).expect("writable");
    let port = format!("-Jport={}", peer.address.port());
    let args = ["run", "plan.jmx", &port, "-Japi.token=swordfish-77", "--out", "samples=log.jsonl"];
    let done = squall(folder.path(), &args);
    assert!(peer.seen()[0].head.starts_with("GET /home/swordfish-77 "), "it is sent");
    let mut texts = vec![done.stdout, done.stderr];
    let mut folders = vec![folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => texts.push(std::fs::read(path).expect("readable")),
            }
        }
    }
    assert!(texts.len() > 6, "{}", texts.len());
    for text in texts {
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("swordfish"), "{text}");
    }
}

/// A Backend Listener of a class with these parameters.
fn backend(class: &str, parameters: &[(&str, &str)]) -> String {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
            <stringProp name="Argument.value">{value}</stringProp></elementProp>"#
        )
    };
    let arguments: String = parameters.iter().map(argument).collect();
    format!(
        r#"<BackendListener testname="{class}"><elementProp name="arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>
        <stringProp name="classname">org.apache.jmeter.visualizers.backend.{class}</stringProp></BackendListener><hashTree/>"#
    )
}

#[test]
fn backend_listeners_feed_their_receivers_and_show_no_secret() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    });
    let carbon = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("-Jport={}", peer.address.port());
    let to = format!("-Jcarbon={}", carbon.local_addr().expect("an address").port());
    let (say, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in carbon.incoming().flatten() {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut stream, &mut text).expect("text");
            say.send(text).expect("the test waits");
        }
    });
    let graphite = [
        ("graphiteHost", "127.0.0.1"),
        ("graphitePort", "${__P(carbon)}"),
        ("rootMetricsPrefix", "p."),
    ];
    let influxdb = [
        ("influxdbUrl", "http://me:hidden-word@127.0.0.1:1/write?db=x"),
        ("influxdbToken", "${__P(way_in)}"),
    ];
    let listeners = backend("graphite.GraphiteBackendListenerClient", &graphite)
        + &backend("influxdb.InfluxdbBackendListenerClient", &influxdb)
        + &backend("influxdb.InfluxDBRawBackendListenerClient", &[]);
    let text = plan(&listeners);
    let given = [&*port, &*to, "-Jway_in=other-word"];
    let (code, out, errors) = said(&text, &[&["check", "plan.jmx"][..], &given].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(out.matches("runs          Backend Listener").count(), 2, "{out}");
    assert!(out.contains("RawBackendListenerClient\": sends nothing: its class"), "{out}");
    // One user, once, feeds nothing.
    let (code, ..) = said(&text, &[&["try", "plan.jmx"][..], &given].concat());
    assert_eq!((code, told.try_recv().is_err()), (Some(0), true));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.jmx"), &text).expect("writable");
    for command in [&["run", "plan.jmx", "-o", "runs"][..], &["jmeter", "-n", "-t", "plan.jmx"]] {
        let done = squall(folder.path(), &[command, &given].concat());
        let said =
            [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(done.status.code(), Some(0), "{said:?}");
        assert!(said.iter().any(|text| text.contains("points were lost")), "{said:?}");
        assert!(
            !said.iter().any(|text| text.contains("hidden-word") || text.contains("other-word")),
            "{said:?}"
        );
        let lines: String = told.try_iter().collect();
        assert!(
            lines.contains("p.all.a.count 2 ") && lines.contains("p.test.startedT 1 "),
            "{lines}"
        );
    }
    let run = std::fs::read_dir(folder.path().join("runs")).expect("a folder").next();
    let run = run.expect("a run").expect("a readable entry").path();
    for file in std::fs::read_dir(run).expect("a folder") {
        let file = file.expect("a readable entry").path();
        let bytes = std::fs::read(&file).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains("hidden-word") && !text.contains("other-word"),
            "{}",
            file.display()
        );
    }
}
