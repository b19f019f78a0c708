//! Samplers that send nothing: they show, wait, or run a program.

use std::collections::BTreeMap;

use squall_plan::model::{Check, Exec, Request, StepKind, Thinking, UserTime};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::made::{CODE, HEADS, MESSAGE, Made, SENT};
use super::reader::Reader;
use super::request::Options;
use super::texts::{TextPiece, expression, literal, quoted};
use super::told::untold;
use super::{NO_LIMIT, Translator};
use crate::scope::Scope;
use crate::tree::ElementId;

/// The arguments of a Java Request, by their names.
type Arguments = BTreeMap<String, String>;

impl Translator<'_> {
    /// A Debug Sampler: a sample of nothing, if it shows nothing. What it shows of variables and properties is not known.
    pub(super) fn debug_sample(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let reader = self.read(id);
        // What is not said is not shown.
        let shown = [
            ("displayJMeterVariables", "JMeterVariables\n"),
            ("displayJMeterProperties", "JMeterProperties\n"),
            ("displaySystemProperties", "SystemProperties\n"),
        ];
        let shown = shown.iter().filter(|(name, _)| reader.flag(name, false));
        let sent: String = shown.map(|(_, what)| *what).collect();
        reader.finish();
        let mut made = Made::of(Vec::new());
        if !sent.is_empty() {
            // Scripts that do not look at it run as after any other.
            self.refuse_looks_at_body(id, &self.without_scripts(held));
            made.sent = vec![TextPiece::Text(sent)];
        }
        self.made(id, made, held)
    }

    /// What comes after a sample, without the scripts that neither look at it nor judge it.
    fn without_scripts(&self, held: &Scope) -> Vec<ElementId> {
        const OF_SAMPLE: [&str; 8] =
            ["prev", "Response", "Sample", "data", "ctx", "sampler", "Failure", "Assertion"];
        let is_apart = |id: &ElementId| {
            let script = super::scripted::script_of(self.tree.element(*id));
            script.is_some_and(|script| OF_SAMPLE.iter().all(|word| !script.contains(word)))
        };
        let all = held.post_processors.iter().chain(&held.assertions).copied();
        all.filter(|id| !is_apart(id)).collect()
    }

    /// What would look at a response that is not known is an obstacle.
    fn refuse_looks_at_body(&self, id: ElementId, others: &[ElementId]) {
        const ELSEWHERE: [&[&str]; 4] = [&HEADS, &MESSAGE, &SENT, &CODE];
        for other in others {
            let element = self.tree.element(*other);
            let looks = !(matches!(self.class(*other), "ResultAction" | "DurationAssertion")
                || self.is_of_variable(*other)
                || ELSEWHERE.iter().any(|parts| self.asks_for(*other, parts)));
            if looks && element.known().is_some() {
                self.obstacle(id, format!("`{}`, which looks at it", element.name));
            }
        }
    }

    /// A Java Request, if it is one of the two that JMeter brings along: a sample that waits.
    pub(super) fn java(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let options = Options::new(self, id, held, "JavaConfig");
        // JMeter makes the class before it looks at defaults.
        let class = self.read(id).constant("classname");
        options.pass(&["classname"]);
        let text = |argument: Option<&str>| argument.unwrap_or_default().to_owned();
        let given = options
            .readers()
            .iter()
            .flat_map(|reader| self.tree.element(reader.element).properties.arguments("arguments"));
        let mut values = Arguments::new();
        // The first that gives a value decides.
        for argument in given {
            let value = text(argument.text("Argument.value"));
            values.entry(text(argument.text("Argument.name"))).or_insert(value);
        }
        options.pass(&["arguments"]);
        options.finish();
        let made = match class.as_deref().map(str::trim) {
            Some("org.apache.jmeter.protocol.java.test.JavaTest") => self.java_test(id, &values),
            Some("org.apache.jmeter.protocol.java.test.SleepTest") => {
                // It takes the name of its first sample for all.
                self.known_name(id);
                self.java_pause(id, &values, [("SleepTime", 1_000), ("SleepMask", 0x3FF)]).map(
                    |pause| Made {
                        steps: vec![pause],
                        code: Vec::new(),
                        message: Vec::new(),
                        // It says how long it waited.
                        unknown: SENT.to_vec(),
                        ..Made::of(Vec::new())
                    },
                )
            }
            Some(other) => {
                self.obstacle(id, format!("the Java class `{other}`"));
                None
            }
            None => None,
        };
        made.map(|made| self.made(id, made, held)).unwrap_or_default()
    }

    /// The sample whose arguments say all that it comes to.
    fn java_test(&self, id: ElementId, values: &Arguments) -> Option<Made> {
        let said = |name: &str| {
            let source = values.get(name).map_or("", String::as_str);
            self.pieces(id, source)
        };
        let (label, sent) = (said("Label"), said("SamplerData"));
        let name = match label.as_slice() {
            [] => None,
            // Without a label it has its own name.
            [TextPiece::Expr(label)] => {
                let own = expression(&self.pieces(id, &self.tree.element(id).name));
                Some(vec![TextPiece::Expr(format!(
                    "string({label}) == \"\" ? {own} : string({label})"
                ))])
            }
            _ => Some(label),
        };
        let status = values.get("Status").map(|status| self.pieces(id, status));
        let ok = match status.as_deref().map(|status| (literal(status), status)) {
            None => "true".to_owned(),
            Some((Some(known), _)) => known.eq_ignore_ascii_case("OK").to_string(),
            Some((None, status)) => format!("lower({}) == \"ok\"", expression(status)),
        };
        let pause = self.java_pause(id, values, [("Sleep_Time", 100), ("Sleep_Mask", 0xFF)])?;
        Some(Made {
            name,
            steps: vec![pause],
            code: said("ResponseCode"),
            message: said("ResponseMessage"),
            sent,
            ok,
            ..Made::of(said("ResultData"))
        })
    }

    /// The wait of a Java Request: a time, and a part of the clock's that a mask says. What is no number is what it is
    /// without one.
    fn java_pause(
        &self,
        id: ElementId,
        values: &Arguments,
        times: [(&str, i64); 2],
    ) -> Option<StepKind> {
        let number = |(name, without): (&str, i64)| {
            let Some(source) = values.get(name) else { return Some(without) };
            let known = self.constant(source);
            let known =
                known.map_err(|what| self.obstacle(id, format!("{what} as {name}"))).ok()?;
            Some(whole(&known).unwrap_or(without))
        };
        let (time, mask) = (number(times[0])?, number(times[1])?);
        let pause = match time > 0 && mask > 0 {
            true => format!("{time} + now_ms() % {mask}"),
            false => time.max(0).to_string(),
        };
        let pause = [TextPiece::Expr(pause), TextPiece::Text("ms".to_owned())];
        Some(StepKind::Think(Thinking::OfUser(self.template_of(id, &pause))))
    }

    /// An OS Process Sampler: a program that is run.
    pub(super) fn program(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let reader = self.read(id);
        let mut exec = Exec { name: Some(self.name(id)), ..Exec::default() };
        let command = reader.source("SystemSampler.command");
        exec.command.push(self.template(id, command));
        exec.command.extend(
            self.listed(&reader, "SystemSampler.arguments").into_iter().map(|(_, value)| value),
        );
        exec.env = self.listed(&reader, "SystemSampler.environment");
        let path = |name: &str| {
            let source = reader.source(name);
            (!source.is_empty()).then(|| self.template(id, source))
        };
        exec.directory = path("SystemSampler.directory");
        exec.stdin = path("SystemSampler.stdin");
        exec.stdout = path("SystemSampler.stdout");
        exec.stderr = path("SystemSampler.stderr");
        let ok = self.program_result(&reader, &mut exec);
        reader.finish();
        let mut seen = Request::default();
        seen.http.status_errors = Some(false);
        let after = self.judged(held, &mut seen);
        if held.assertions.iter().any(|id| self.asks_for(*id, &SENT)) {
            exec.sent = self.program_told(id, &exec);
        }
        self.find_program(&mut exec);
        let unknown: &[&str] = if exec.sent.is_some() { &[] } else { &SENT };
        self.refuse_looks(id, held, unknown);
        // Without a check its code would be one.
        let ok = if self.assumes_success(held) { "true" } else { &ok };
        let condition = self.expression(id, ok);
        exec.check.extend(condition.map(|expr| Check { expr, ..untold() }));
        let before = Self::before_facts(&seen);
        exec.counted = seen.counted;
        exec.extract = seen.extract;
        exec.check.extend(seen.check);
        let program = StepKind::Exec(Box::new(exec));
        before.into_iter().chain([program]).chain(after).collect()
    }

    /// A program that is named by a path: Java seeks it from its working directory, and a plan from its own folder.
    fn find_program(&self, exec: &mut Exec) {
        let Some(base) = self.constants.started_in().map(std::path::Path::new) else { return };
        let directory = exec.directory.as_ref().map_or(Some(""), Template::literal);
        if let (Some(directory), Some(program)) = (directory, exec.command.first_mut()) {
            *program = std::mem::take(program).program_within(&base.join(directory));
        }
    }

    /// What the code of a program means: when it is none of an error, as an expression, and what is said of it.
    fn program_result(&self, reader: &Reader<'_>, exec: &mut Exec) -> String {
        // No program ends with this code.
        const TOO_LONG: u32 = 500;
        let id = reader.element;
        let timeout = reader.number_or_0("SystemSampler.timeout", 0).unwrap_or(0);
        let timeout = u64::try_from(timeout).ok().filter(|timeout| *timeout > 0);
        exec.timeout = Some(UserTime::Known(timeout.map_or(NO_LIMIT, super::milliseconds)));
        let expected = self.pieces(id, reader.source("SystemSampler.expectedReturnCode"));
        let mut ok = "true".to_owned();
        let mut message = quoted("OK");
        if reader.flag("SystemSampler.checkReturnCode", false) {
            let number = match literal(&expected).map(str::trim) {
                Some(text) => quoted(&text.parse::<i64>().unwrap_or(0).to_string()),
                None => expression(&expected),
            };
            ok = format!("string(status) == {number}");
            message = format!(
                "{ok} ? {message} : \"Unexpected return code.  Expected [\" + {number} + \"]. Actual [\" + string(status) + \"].\""
            );
        }
        if let Some(timeout) = timeout {
            let text = quoted(&format!("Process timeout reached after {timeout} milliseconds"));
            message = format!("status == {TOO_LONG} ? {text} : ({message})");
            ok = format!("status != {TOO_LONG} && {ok}");
            exec.timeout_status = Some(TOO_LONG);
        }
        exec.reason = Some(match message.as_str() {
            "\"OK\"" => Template::text("OK"),
            _ => self.template_of(id, &[TextPiece::Expr(message)]),
        });
        ok
    }

    /// What JMeter calls the data of a program that it runs; `None` where it is not known here.
    fn program_told(&self, id: ElementId, exec: &Exec) -> Option<Template> {
        let written = self.tree.element(id).properties.text("SystemSampler.directory");
        let folder = self.pieces(id, written.unwrap_or_default());
        let base = std::path::Path::new(self.constants.started_in()?);
        // Java takes nothing for the folder itself.
        let folder = match literal(&folder)? {
            "" => base.to_path_buf(),
            own => base.join(own),
        };
        let folder = folder.display().to_string().replace("${", "$${");
        let env = match exec.env.as_slice() {
            [] => String::new(),
            [(name, value)] => format!("{}={}", name.source(), value.source()),
            // In an order of Java's own.
            _ => return None,
        };
        let command: Vec<&str> = exec.command.iter().map(Template::source).collect();
        let command = command.join(" ");
        let source =
            format!("Working Directory: {folder}\nEnvironment: {{{env}}}\nExecuting: {command}");
        let told = Template::parse(&source, Span::default());
        told.map_err(|error| self.obstacle(id, error.message)).ok()
    }

    /// The arguments under a property: their names and values.
    fn listed(&self, reader: &Reader<'_>, name: &str) -> Vec<(Template, Template)> {
        let id = reader.element;
        reader.pass(&[name]);
        let own = self.tree.element(id).properties.arguments(name);
        let text = |text: Option<&str>| self.template(id, text.unwrap_or_default());
        own.map(|one| (text(one.text("Argument.name")), text(one.text("Argument.value")))).collect()
    }
}

/// A whole number as Java's `Integer.decode` reads it.
fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
