//! Samplers that send nothing: they show, wait, or run a program.

use std::time::Duration;

use squall_plan::model::{Check, Exec, Request, StepKind, Thinking, UserTime};
use squall_plan::template::Template;

use super::made::Made;
use super::reader::Reader;
use super::texts::{expression, literal};
use super::{NO_LIMIT, Translator};
use crate::scope::Scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// A Debug Sampler: a sample of which nothing but its name is counted. What it shows of variables and properties
    /// only listeners would see.
    pub(super) fn debug_sample(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let reader = self.read(id);
        reader.pass(&[
            "displayJMeterProperties",
            "displayJMeterVariables",
            "displaySystemProperties",
        ]);
        reader.finish();
        // Scripts that do not look at it run as after any other.
        let (scripts, others) = self.without_scripts(held);
        self.refuse_looks(id, &others, &["ResultAction"]);
        self.made(id, None, Made::empty(), &scripts)
    }

    /// What comes after a sample: the scripts that do not look at it, nor judge it, and everything else.
    fn without_scripts(&self, held: &Scope) -> (Scope, Scope) {
        const OF_SAMPLE: [&str; 8] =
            ["prev", "Response", "Sample", "data", "ctx", "sampler", "Failure", "Assertion"];
        let is_apart = |id: &ElementId| {
            let script = super::scripted::script_of(self.tree.element(*id));
            script.is_some_and(|script| OF_SAMPLE.iter().all(|word| !script.contains(word)))
        };
        let split = |ids: &[ElementId]| ids.iter().copied().partition(is_apart);
        let (post_processors, other_processors) = split(&held.post_processors);
        let (assertions, other_assertions) = split(&held.assertions);
        let scripts = Scope { post_processors, assertions, ..Scope::default() };
        let others = Scope {
            post_processors: other_processors,
            assertions: other_assertions,
            ..Scope::default()
        };
        (scripts, others)
    }

    /// What would look at a sample of which nothing is kept is an obstacle, but for elements of some classes.
    fn refuse_looks(&self, id: ElementId, held: &Scope, but: &[&str]) {
        for other in held.assertions.iter().chain(&held.post_processors) {
            if self.tree.element(*other).known().is_some() && !but.contains(&self.class(*other)) {
                let name = &self.tree.element(*other).name;
                self.obstacle(id, format!("`{name}`, which looks at it"));
            }
        }
    }

    /// A Java Request, if it is one of the two that JMeter brings along: a sample that waits.
    pub(super) fn java(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        self.java_sample(id, held).unwrap_or_default()
    }

    fn java_sample(&self, id: ElementId, held: &Scope) -> Option<Vec<StepKind>> {
        let reader = self.read(id);
        let class = reader.constant("classname")?;
        let (time, mask, without) = match class.trim() {
            "org.apache.jmeter.protocol.java.test.JavaTest" => {
                ("Sleep_Time", "Sleep_Mask", ("100", "0xFF"))
            }
            "org.apache.jmeter.protocol.java.test.SleepTest" => {
                ("SleepTime", "SleepMask", ("1000", "0x3FF"))
            }
            other => {
                self.obstacle(id, format!("the Java class `{other}`"));
                return None;
            }
        };
        let given = self.tree.element(id).properties.arguments("arguments");
        let mut values = std::collections::BTreeMap::new();
        for argument in given {
            let (name, value) = (argument.text("Argument.name"), argument.text("Argument.value"));
            values.insert(name.unwrap_or_default(), value.unwrap_or_default());
        }
        reader.pass(&["arguments"]);
        reader.finish();
        let text = |name: &str, without: &str| {
            let source = values.get(name).copied().filter(|own| !own.is_empty()).unwrap_or(without);
            self.constant(source)
                .map_err(|what| self.obstacle(id, format!("{what} as {name}")))
                .ok()
        };
        // What is no number is what it is without one.
        let number = |name: &str, without: &str| {
            Some(whole(&text(name, without)?).or_else(|| whole(without)).unwrap_or(0))
        };
        let (time, mask) = (number(time, without.0)?, number(mask, without.1)?);
        let label = text("Label", "")?;
        let ok = text("Status", "OK")?.eq_ignore_ascii_case("OK").to_string();
        let given = |name: &str| self.pieces(id, values.get(name).copied().unwrap_or_default());
        let (code, data) = (given("ResponseCode"), given("ResultData"));
        let pause = match mask > 0 {
            true => format!("{time} + now_ms() % {mask}"),
            false => time.to_string(),
        };
        let pause = [super::texts::Piece::Expr(pause), super::texts::Piece::Text("ms".to_owned())];
        let steps = vec![StepKind::Think(Thinking::OfUser(self.template_of(id, &pause)))];
        let status = super::texts::whole(&code).unwrap_or_else(|| "0".to_owned());
        let name = Some(label.as_str()).filter(|label| !label.is_empty());
        Some(self.made(id, name, Made { steps, text: data, status, ok }, held))
    }

    /// An OS Process Sampler: a program that is run.
    pub(super) fn program(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let reader = self.read(id);
        let mut exec = Exec { name: Some(self.known_name(id)), ..Exec::default() };
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
        let timeout = reader.number_or_0("SystemSampler.timeout", 0).unwrap_or(0);
        let timeout = u64::try_from(timeout).ok().filter(|timeout| *timeout > 0);
        exec.timeout = Some(UserTime::Known(timeout.map_or(NO_LIMIT, Duration::from_millis)));
        let expected = self.pieces(id, reader.source("SystemSampler.expectedReturnCode"));
        let condition = match reader.flag("SystemSampler.checkReturnCode", false) {
            // Whatever it is.
            false => "true".to_owned(),
            true => match literal(&expected).map(str::trim) {
                Some(text) => format!("status == {}", text.parse::<i64>().unwrap_or(0)),
                None => format!("string(status) == {}", expression(&expected)),
            },
        };
        reader.finish();
        let mut seen = Request { status_errors: Some(false), ..Request::default() };
        let after = self.judged(held, &mut seen);
        self.refuse_heads(id, held);
        let condition = self.expression(id, &condition);
        exec.check.extend(condition.map(|expr| Check { expr, ..Check::default() }));
        let before = Self::before_facts(&seen);
        exec.counted = seen.counted;
        exec.extract = seen.extract;
        exec.check.extend(seen.check);
        let program = StepKind::Exec(Box::new(exec));
        before.into_iter().chain([program]).chain(after).collect()
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
